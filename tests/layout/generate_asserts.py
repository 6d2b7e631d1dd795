#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Turn a file of layout facts into a C source of static assertions about a set of headers.

The source compiles as C11 and as C++20, and defines nothing but assertions: compile it with -fsyntax-only, or
with --main link it into a program. Each size, offset, member type and enumerator that differs is one compiler
error that names it.

A facts file holds blocks of this form (other blocks, such as functions, are passed over):

  struct NAME size BYTES            (or union)
        OFFSET  MEMBER  TYPE        MEMBER may be a path (wr.ud.ah); TYPE[infinite] is a flexible array;
                                    OFFSET:BIT is a bit-field, which gets no assertion of its own
  enum NAME                         (or enum <anon> FIRST_ENUMERATOR)
    ENUMERATOR  VALUE

A macros file holds lines of "NAME VALUE"; those whose value is a number are compared.
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass, field

PROLOGUE = """\
#ifdef __cplusplus
#define LAYOUT_ASSERT(condition, message) static_assert(condition, message)
#define LAYOUT_SAME_TYPE(object, ...) layout_same_type<decltype(object), __VA_ARGS__>::value
template <class A, class B> struct layout_same_type { static constexpr bool value = __is_same(A, B); };
template <class A, class B> struct layout_same_type<A &, B> : layout_same_type<A, B> {};
template <class A, class B> struct layout_same_type<const A, B> : layout_same_type<A, B> {};
#else
#define LAYOUT_ASSERT(condition, message) _Static_assert(condition, message)
#define LAYOUT_SAME_TYPE(object, ...) __builtin_types_compatible_p(__typeof__(object), __VA_ARGS__)
#endif
#define LAYOUT_MEMBER(type, member) (((type *)0)->member)
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wpedantic"
"""


@dataclass
class Member:
    offset: int
    bit_field: bool
    path: str
    type: str


@dataclass
class Block:
    kind: str  # "struct", "union" or "enum"
    name: str  # for an anonymous enum its first enumerator
    size: int = 0
    members: list = field(default_factory=list)  # of Member, or of (enumerator, value)

    def reference(self):
        return f"{self.kind} {self.name}"


def read_facts(path):
    """The blocks of a facts file, in its order."""
    blocks = []
    block = None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if not line.startswith(" "):
                block = None
                if match := re.fullmatch(r"(struct|union) (\w+) size (\d+)", line):
                    block = Block(match[1], match[2], int(match[3]))
                elif match := re.fullmatch(r"enum (?:<anon> )?(\w+)", line):
                    block = Block("enum", match[1])
                elif re.match(r"(struct|union|enum)\b", line):
                    raise ValueError(f"{path}:{number}: not a heading that is understood: {line}")
                if block:
                    blocks.append(block)
                continue
            if block is None:
                continue
            pattern = r" +(\w+) +(-?\d+)" if block.kind == "enum" else r" +(\d+)(:\d+)? +([\w.]+) +(.+)"
            match = re.fullmatch(pattern, line)
            if not match:
                raise ValueError(f"{path}:{number}: not a member of {block.reference()}: {line.strip()}")
            if block.kind == "enum":
                block.members.append((match[1], int(match[2])))
            else:
                block.members.append(Member(int(match[1]), bool(match[2]), match[3], match[4]))
    return blocks


def read_macros(path):
    """The (name, expression) pairs of a macros file whose expression is a number."""
    pairs = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            name, _, value = line.strip().partition(" ")
            if name and not name.startswith("#") and re.fullmatch(r"[0-9a-fA-FxXuUlL()<>|+\- ]+", value):
                pairs.append((name, value))
    return pairs


def preprocess(command, includes, macros):
    """What the headers expand to, and which of the macros they define."""
    source = "".join(f"#include {name}\n" for name in includes)
    source += "".join(f"#ifdef {name}\nlayout_defined {name}\n#endif\n" for name, _ in macros)
    run = subprocess.run(command + ["-E", "-P", "-x", "c", "-"], input=source, capture_output=True, text=True)
    if run.returncode != 0:
        raise ValueError(f"{' '.join(command)} cannot preprocess the headers:\n{run.stderr}")
    return run.stdout


def body_after(text, start):
    """The text between the brace at or after start and the one that closes it."""
    depth = 0
    for position in range(start, len(text)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
            if depth == 0:
                return text[start:position]
    return ""


def keep_defined(blocks, macros, text):
    """What the headers define of the facts; the size of a struct that lacks a member is left out too."""
    enumerators = set()
    for match in re.finditer(r"\benum\b[^;{}()]*\{", text):
        enumerators.update(re.findall(r"\b[A-Za-z_]\w*", body_after(text, match.end() - 1)))
    kept = []
    for block in blocks:
        if block.kind == "enum":
            present = [member for member in block.members if member[0] in enumerators]
        else:
            attribute = r"(?:__attribute__\s*\(\(.*?\)\)\s*)?"
            match = re.search(rf"\b{block.kind}\s+{block.name}\s*{attribute}\{{", text)
            if not match:
                continue
            words = set(re.findall(r"\w+", body_after(text, match.end() - 1)))
            present = [member for member in block.members if words.issuperset(member.path.split("."))]
        if present:
            size = block.size if len(present) == len(block.members) else 0
            kept.append(Block(block.kind, block.name, size, present))
    defined = set(re.findall(r"\blayout_defined (\w+)", text))
    return kept, [macro for macro in macros if macro[0] in defined]


def select(blocks, patterns, omitted):
    """The blocks that a pattern matches, without what was omitted by name."""
    unused = set(patterns)
    unknown = set(omitted)
    chosen = []
    for block in blocks:
        matching = {pattern for pattern in patterns if re.fullmatch(pattern, block.name)}
        unused -= matching
        if patterns and not matching:
            continue
        if block.name in omitted and block.kind != "enum":
            unknown.discard(block.name)
            continue
        members = []
        for member in block.members:
            name = member[0] if block.kind == "enum" else f"{block.name}.{member.path}"
            if name in omitted:
                unknown.discard(name)
            else:
                members.append(member)
        chosen.append(Block(block.kind, block.name, block.size, members))
    if unused:
        raise ValueError("nothing in the facts is matched by: " + " ".join(sorted(unused)))
    if unknown:
        raise ValueError("nothing in the facts is named: " + " ".join(sorted(unknown)))
    return chosen


def assertions(blocks, macros, check_types, aligned):
    """One line of C per fact."""
    def check(condition, message):
        return f'LAYOUT_ASSERT({condition}, "{message}");'

    for block in blocks:
        if block.kind == "enum":
            for name, value in block.members:
                yield check(f"{name} == {value}", f"{name} is {value}")
            continue
        reference = block.reference()
        if block.size:
            yield check(f"sizeof({reference}) == {block.size}", f"sizeof {reference} is {block.size}")
        for member in block.members:
            if member.bit_field:
                continue
            where = f"{reference}: {member.path}"
            yield check(f"__builtin_offsetof({reference}, {member.path}) == {member.offset}",
                        f"{where} is at {member.offset}")
            object_ = f"LAYOUT_MEMBER({reference}, {member.path})"
            element = member.type.partition("[")[0]
            if element in aligned:
                yield check(f"__alignof__({object_}) == sizeof({element})", f"{where} is aligned to its size")
            if member.type.endswith("[infinite]"):
                continue
            yield check(f"sizeof({object_}) == sizeof({member.type})",
                        f"{where} has the size of {member.type}")
            if check_types:
                yield check(f"LAYOUT_SAME_TYPE({object_}, {member.type})", f"{where} is a {member.type}")
    for name, value in macros:
        yield check(f"({name}) == ({value})", f"{name} is {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("facts", nargs="+", help="facts files")
    parser.add_argument("-o", "--output", required=True, help="the C source to write")
    parser.add_argument("-i", "--include", action="append", required=True, metavar="HEADER",
                        help="header to include, with its brackets or quotes; repeatable, in order")
    parser.add_argument("-m", "--match", action="append", default=[], metavar="REGEX",
                        help="use only structs, unions and enums whose whole name matches; repeatable "
                        "(an anonymous enum goes by its first enumerator)")
    parser.add_argument("-x", "--omit", action="append", default=[], metavar="NAME",
                        help="leave out a STRUCT, a STRUCT.MEMBER or an ENUMERATOR; repeatable")
    parser.add_argument("--macros", help="a macros file to compare as well")
    parser.add_argument("--types", action="store_true",
                        help="compare the types of members, not only their sizes")
    parser.add_argument("--aligned", action="append", default=[], metavar="TYPE",
                        help="members of TYPE are aligned to its size, on 32-bit systems too; repeatable")
    parser.add_argument("--only-defined", metavar="COMMAND",
                        help="leave out what the headers do not define, as told by COMMAND -E "
                        "(a compiler and its flags), to check older headers")
    parser.add_argument("--main", action="store_true", help="end with a main that prints how many facts hold")
    arguments = parser.parse_args()

    try:
        blocks = [block for path in arguments.facts for block in read_facts(path)]
        blocks = select(blocks, arguments.match, arguments.omit)
        macros = read_macros(arguments.macros) if arguments.macros else []
        if arguments.only_defined:
            text = preprocess(arguments.only_defined.split(), arguments.include, macros)
            blocks, macros = keep_defined(blocks, macros, text)
        lines = list(assertions(blocks, macros, arguments.types, arguments.aligned))
        if not lines:
            raise ValueError("no fact is left to check")
        with open(arguments.output, "w", encoding="utf-8") as output:
            output.write(f"/* {len(lines)} facts, generated. */\n")
            output.writelines(f"#include {name}\n" for name in arguments.include)
            output.write(PROLOGUE)
            output.writelines(line + "\n" for line in lines)
            if arguments.main:
                output.write("#include <stdio.h>\n"
                             f'int main(void)\n{{\n    puts("{len(lines)} facts hold");\n    return 0;\n}}\n')
    except (OSError, ValueError) as error:
        sys.exit(f"generate_asserts: {error}")


if __name__ == "__main__":
    main()
