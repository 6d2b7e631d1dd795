#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Turn golden lists into a C source that compiles only if the installed headers declare all that they must.

Names are "function NAME" or "macro NAME", one a line. Signatures are the lines "function TYPE NAME(TYPES)
[VERSION]" of a layout file, where NAME may be a release's own spelling (__NAME_1_1). A function that
programs get from another header than these is left out with --elsewhere. Macros are lines "NAME VALUE",
with any expression, or "NAME" alone.
"""
import argparse
import pathlib
import re

SIGNATURE = re.compile(r"^function (.*?)(?:__(\w+)_1_\d+|(\w+))\((.*)\)  \[(\S+)\]$", re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=pathlib.Path, required=True)
    parser.add_argument("--signatures", type=pathlib.Path, required=True)
    parser.add_argument("--macros", type=pathlib.Path, required=True)
    parser.add_argument("--elsewhere", nargs="*", default=[], help="functions that other headers declare")
    parser.add_argument("-i", "--include", action="append", required=True,
                        help="header, with brackets or quotes")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()

    lines = [f"#include {header}" for header in arguments.include]
    macros, functions, declarations = [], set(), []
    for line in arguments.names.read_text(encoding="utf-8").splitlines():
        kind, name = line.split()
        (macros.append if kind == "macro" else functions.add)(name)
    for line in arguments.macros.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(" ")
        macros.append(name)
        # A pointer is no constant expression.
        if value.strip() and "*" not in value:
            lines.append(f"_Static_assert((unsigned long long)({name}) == (unsigned long long)({value}), "
                         f'"{name} is {value}");')
    for name in macros:
        lines += [f"#ifndef {name}", f'#error "the macro {name} is missing"', "#endif"]
    unused = set(arguments.elsewhere)
    signatures = arguments.signatures.read_text(encoding="utf-8")
    for result, old_name, plain_name, parameters, _ in SIGNATURE.findall(signatures):
        name = old_name or plain_name
        unused.discard(name)
        if name in arguments.elsewhere:
            continue
        functions.add(name)
        declarations.append(f"{result.strip()} ({name})({parameters or 'void'});")
    if unused:
        parser.error("no signature of " + " ".join(sorted(unused)))
    # Parentheses keep a macro of that name from being used. Only what is declared has an address, and only a
    # declaration of the same type may follow it.
    lines += [f"extern __typeof__(&({name})) address_of_{name};" for name in sorted(functions)]
    lines += declarations
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
