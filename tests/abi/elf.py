# SPDX-License-Identifier: BSD-2-Clause
"""What a shared library exports, imports and needs, as readelf tells it."""
import re
import subprocess
import sys


def readelf(path, *options):
    """What readelf says; ends the program with a message when the file cannot be read."""
    done = subprocess.run(["readelf", "--wide", *options, str(path)], text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"FAILED: {done.stderr.strip()} (has it been built?)")
    return done.stdout


class Elf:
    """The dynamic section of a file. Symbols are "name@VERSION", or "name" where they have no version."""

    def __init__(self, path):
        text = readelf(path, "--dynamic", "--dyn-syms", "--version-info")
        self.path = path
        self.needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
        soname = re.search(r"\(SONAME\).*\[(.*)\]", text)
        self.soname = soname.group(1) if soname else None
        self.exports, self.imports = set(), set()
        # A symbol's row: number, value, size, type, binding, visibility, section, name and version.
        symbol = re.compile(r"^ +\d+: [0-9a-f]+ +\S+ (\w+) +(?:GLOBAL|WEAK|UNIQUE) +\w+ +(\w+) (\S+)", re.M)
        for row in symbol.finditer(text):
            kind, section, name = row.groups()
            name = name.replace("@@", "@")
            if section == "UND":
                self.imports.add(name)
            elif section != "ABS" and kind != "SECTION":
                self.exports.add(name)
        # Which library each needed version is expected from.
        self.version_sources = {}
        for block in re.finditer(r"File: (\S+)(.*?)(?=File: |\Z)", text, re.S):
            for version in re.findall(r"Name: (\S+) +Flags", block.group(2)):
                self.version_sources.setdefault(version, block.group(1))

    def imports_from(self, library):
        """The symbols that this file wants from the library of that soname."""
        return {symbol for symbol in self.imports
                if "@" in symbol and self.version_sources.get(symbol.partition("@")[2]) == library}


def read_list(path):
    """The first word of each line of a golden file, without comments."""
    with open(path, encoding="utf-8") as lines:
        return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}
