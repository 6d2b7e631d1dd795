#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Check that the library has every symbol that the programs of a distribution import from libibverbs.so.1.

A public symbol that is missing fails, and so does one named with --required. Missing private symbols, which
providers import, are listed as not there yet.

The golden list has a line per symbol and package, "name@VERSION package". Make it anew with --gather, from
folders that each hold the unpacked files of one package and have its name:

  apt-get download PACKAGE ... && for each: dpkg-deb -x PACKAGE.deb FOLDER/PACKAGE
  imports.py --gather FOLDER > LIST
"""
import argparse
import collections
import pathlib
import sys

from elf import Elf

LIBRARY = "libibverbs.so.1"


def is_private(symbol):
    return "@IBVERBS_PRIVATE_" in symbol


def gather(folder):
    """Print the list for the packages unpacked in a folder, the public symbols first."""
    rows = set()
    for package in sorted(folder.iterdir()):
        for path in package.rglob("*"):
            if path.is_symlink() or not path.is_file():
                continue
            with path.open("rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            rows |= {(is_private(symbol), symbol, package.name) for symbol in Elf(path).imports_from(LIBRARY)}
    print("# Symbols that packages import from libibverbs.so.1: public ones.")
    section = False
    for private, symbol, package in sorted(rows):
        if private and not section:
            print("# Private ones.")
            section = True
        print(symbol, package)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path, nargs="?")
    parser.add_argument("--list", type=pathlib.Path, help="golden list")
    parser.add_argument("--required", nargs="*", default=[], help="private symbols that must be there")
    parser.add_argument("--gather", type=pathlib.Path, metavar="FOLDER", help="print a new list instead")
    arguments = parser.parse_args()
    if arguments.gather:
        gather(arguments.gather)
        return 0
    if not arguments.library or not arguments.list:
        parser.error("give a library and a --list, or --gather")

    packages = collections.defaultdict(set)
    for line in arguments.list.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            symbol, package = line.split()
            packages[symbol].add(package)
    exports = Elf(arguments.library).exports
    missing = sorted(set(packages) - exports)
    failures = [symbol for symbol in missing if not is_private(symbol) or symbol in arguments.required]
    failures += [symbol for symbol in arguments.required if symbol not in packages and symbol not in exports]

    print(f"{len(packages) - len(missing)} of {len(packages)} imported symbols are there")
    not_yet = [symbol for symbol in missing if symbol not in failures]
    if not_yet:
        print("private symbols not there yet:", *not_yet, sep="\n  ")
    for symbol in failures:
        print(f"FAILED: {symbol} is missing; imported by", *sorted(packages[symbol]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
