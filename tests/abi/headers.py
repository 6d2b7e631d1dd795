#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compile the installed headers with one compiler as each version of its language, with warnings as errors.

A program that uses all headers is compiled as each version, and again as one that is linked statically; as
the first version each header is compiled alone too. Versions that the compiler does not know are listed as
left out. Exits with 77 when there is no such compiler, so that the test counts as skipped.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
WARNINGS = ["-Wall", "-Wextra", "-Wcast-align", "-Wshadow", "-Wundef", "-pedantic", "-Werror"]
# The newest versions have two names, of which a compiler may know the draft's only.
VERSIONS = {
    "c": ["c89", "gnu89", "c99", "gnu99", "c11", "gnu11", "c17", "gnu17", "c2x", "gnu2x", "c23", "gnu23"],
    "c++": ["c++11", "gnu++11", "c++14", "c++17", "gnu++17", "c++20", "gnu++20", "c++2b", "gnu++2b", "c++23",
            "c++2c", "c++26"],
}
LANGUAGE_WARNINGS = {"c": ["-Wstrict-prototypes"], "c++": ["-Wold-style-cast", "-Wnon-virtual-dtor"]}
# The list of providers for static linking needs variadic macros.
WITHOUT_VARIADIC_MACROS = {"c89", "gnu89"}
STATIC = "-DRDMA_STATIC_PROVIDERS=rxe,siw"


def compile_source(command, source):
    """What the compiler has against a source text: nothing when it is content."""
    done = subprocess.run(command + ["-c", "-o", "/dev/null", "-"],
                          input=source, text=True, capture_output=True)
    if done.returncode == 0:
        return done.stderr.strip()
    return done.stderr.strip() or f"exit code {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compiler", help="gcc, g++, clang, clang++ or a path to one")
    parser.add_argument("language", choices=VERSIONS)
    parser.add_argument("--include", type=pathlib.Path, required=True,
                        help="the folder that holds infiniband/")
    parser.add_argument("--program", type=pathlib.Path, required=True, help="a source that uses the headers")
    parser.add_argument("--private", nargs="*", default=[],
                        help="headers of infiniband/ that no program includes")
    arguments = parser.parse_args()

    if not shutil.which(arguments.compiler):
        print(f"skipped: there is no {arguments.compiler} here")
        return SKIPPED

    headers = sorted(str(path.relative_to(arguments.include))
                     for path in arguments.include.glob("infiniband/**/*.h")
                     if path.name not in arguments.private)
    program = arguments.program.read_text()
    compiler = [arguments.compiler, "-x", arguments.language, f"-I{arguments.include}"]
    left_out, failures, checked = [], 0, 0
    for version in VERSIONS[arguments.language]:
        if compile_source(compiler + [f"-std={version}"], ""):
            left_out.append(version)
            continue
        command = compiler + [f"-std={version}"] + WARNINGS + LANGUAGE_WARNINGS[arguments.language]
        sources = {"the program": (command, program)}
        if not checked:
            sources.update((header, (command, f"#include <{header}>\n")) for header in headers)
        if version not in WITHOUT_VARIADIC_MACROS:
            sources["the static program"] = (command + [STATIC], program)
        for name, (this_command, source) in sources.items():
            checked += 1
            message = compile_source(this_command, source)
            if message:
                failures += 1
                print(f"{version}: {name}:\n{message}\n")
    print(f"{checked} sources compiled, {failures} failed; versions that {arguments.compiler} does not know:",
          " ".join(left_out) or "none")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
