#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Check what the library exports, and what the library and its providers need.

The library exports no symbol that is not in the golden lists. Public symbols of the golden list that it
lacks are listed; with --complete they and private ones are failures. The library and the providers need no shared library
but the few that a host program has anyway, and nothing of a C++ runtime.
"""
import argparse
import pathlib
import re
import sys

from elf import Elf, read_list

ALLOWED_LIBRARIES = re.compile(r"lib(c\.so\.6|nl-3\.so\.200|nl-route-3\.so\.200)|ld-linux.*")
# Mangled names, exceptions and type information, and the calls that a compiler makes for them.
CXX_RUNTIME = re.compile(r"(_Z|__cxa_(?!finalize\b)|__gxx_|_Unwind_|__dynamic_cast|_?_?emutls)")
CXX_VERSIONS = re.compile(r"(GLIBCXX|CXXABI|GCC)_")


def dependencies(elf, own):
    """Complaints about what a file needs at run time."""
    for library in sorted(elf.needed - own):
        if not ALLOWED_LIBRARIES.fullmatch(library):
            yield f"{elf.path.name} needs {library}"
    for symbol in sorted(elf.imports):
        name, _, version = symbol.partition("@")
        if CXX_RUNTIME.match(name) or CXX_VERSIONS.match(version):
            yield f"{elf.path.name} imports {symbol}, of a C++ or compiler runtime"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("providers", type=pathlib.Path, nargs="*",
                        help="provider plugins, or folders of them")
    parser.add_argument("--public", required=True, help="golden list of all public symbols")
    parser.add_argument("--private", nargs="+", required=True,
                        help="golden lists of private symbols that may be there")
    parser.add_argument("--own-private", metavar="VERSION", required=True,
                        help="version of the library's own provider interface, which may have any name")
    parser.add_argument("--complete", action="store_true", help="every public symbol must be there")
    arguments = parser.parse_args()

    public = read_list(arguments.public)
    private = set().union(*map(read_list, arguments.private))
    library = Elf(arguments.library)
    providers = []
    for path in arguments.providers:
        providers += sorted(path.glob("*.so")) if path.is_dir() else [path]

    failures = []
    if library.soname != "libibverbs.so.1":
        failures.append(f"the library's soname is {library.soname}, not libibverbs.so.1")
    for symbol in sorted(library.exports - public - private):
        if symbol.partition("@")[2] != arguments.own_private:
            failures.append(f"exported, but not in any golden list: {symbol}")
    missing = sorted(public - library.exports)
    if arguments.complete:
        if lacking := missing + sorted(private - library.exports):
            failures.append("not exported: " + " ".join(lacking))
    failures += dependencies(library, set())
    for provider in providers:
        elf = Elf(provider)
        failures += dependencies(elf, {"libibverbs.so.1"})
        for symbol in sorted(elf.imports_from("libibverbs.so.1") - library.exports):
            failures.append(f"{provider.name} imports {symbol}, which the library does not export")

    print(f"{len(public & library.exports)} of {len(public)} public symbols exported, "
          f"{len(library.exports & private)} of {len(private)} foreign private ones; "
          f"{len(providers)} providers looked at")
    if missing and not arguments.complete:
        print("public symbols not there yet:", *missing, sep="\n  ")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
