#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compare the public functions of the built library, with all types that they reach, to those of the
reference release.

A function whose type, or a type that it reaches, differs is a failure, and so is a public function that the
reference has not. Functions that the library lacks are listed; with --complete they are failures. Needs
abidiff (package abigail-tools) and debug information in the library; exits with 77 where one of them is
missing, so that the test counts as skipped.
"""
import argparse
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from elf import readelf

SKIPPED = 77
# abidiff's exit code is a set of bits: these two mean that it did not compare.
FAILED_TO_COMPARE = 1 | 2


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--reference", type=pathlib.Path, required=True,
                        help="libabigail XML, compressed with xz")
    parser.add_argument("--suppressions", type=pathlib.Path, required=True,
                        help="what abidiff is to pass over")
    parser.add_argument("--complete", action="store_true", help="every public function must be there")
    arguments = parser.parse_args()

    if not shutil.which("abidiff"):
        print("skipped: there is no abidiff here (package abigail-tools)")
        return SKIPPED
    if ".debug_info" not in readelf(arguments.library, "--sections"):
        print("skipped: the library has no debug information (build type RelWithDebInfo or Debug has)")
        return SKIPPED

    with tempfile.NamedTemporaryFile(suffix=".abi") as reference:
        reference.write(lzma.decompress(arguments.reference.read_bytes()))
        reference.flush()
        done = subprocess.run(["abidiff", "--harmless", "--suppressions", str(arguments.suppressions),
                               reference.name, str(arguments.library)], text=True, capture_output=True)
    if done.returncode < 0 or done.returncode & FAILED_TO_COMPARE:
        print(done.stdout, done.stderr, f"FAILED: abidiff ended with {done.returncode}", sep="\n")
        return 1

    marked = {mark: re.findall(rf"^ *\[{mark}\] .*$", done.stdout, re.M) for mark in "ACD"}
    print(f"{len(marked['C'])} changed, {len(marked['A'])} added, {len(marked['D'])} missing")
    failed = bool(marked["C"] or marked["A"] or (marked["D"] and arguments.complete))
    if failed:
        print(done.stdout)
        print("FAILED: the public interface differs from the reference's")
    else:
        print(*marked["D"], sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
