#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs ibv_conform on cases that pass, fail, crash and hang, and looks at what it writes and how it ends.
#
#   conform.sh PROGRAM      PROGRAM: ibv_conform with the cases of conform/cases.c
set -u
export LC_ALL=C
program=$1
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failures=0

failed() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# runs NAME STATUS ARGUMENT...: whether the program ends with that status and writes what golden/conform_NAME.txt says.
# Lines are those of the sources, which move.
runs() {
    local name=$1 expected=$2 status
    shift 2
    "$program" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [[ $status == "$expected" ]] || failed "$name: exit status $status, not $expected"
    {
        sed -E 's/(cases\.c):[0-9]+/\1:N/; s/^/| /' "$scratch/out"
        sed "/^what a provider prints$/d; s|$program|ibv_conform|; s/^/! /" "$scratch/err"
    } >"$scratch/$name"
    diff -u "$here/golden/conform_$name.txt" "$scratch/$name" || failed "$name: another output"
}

core=(good bad rough lacking)
ulimit -c 0
runs table 1 --device fake "${core[@]}"
runs strict 0 --device fake --strict --port 3 --gid-index 5 good
runs tap 1 --tap "${core[@]}"
runs hang 1 --device fake --timeout 4 slow
runs list 0 --list --strict 'good.*' 'slow.*s'
runs no_device 2 --device none
runs broken_device 2 --device crash
runs unknown_case 2 good.unknown
runs strict_case 2 good.strictly
runs bad_number 2 --timeout soon
runs bad_file 2 --json /nowhere/file good
runs bad_option 2 --unknown
runs two_outputs 2 --tap --json -

# The forms for programs. The name of the device has all that has to be escaped.
"$program" --json "$scratch/json" --junit "$scratch/junit" "${core[@]}" >/dev/null 2>&1
[[ $? == 1 ]] || failed "with files: another exit status"
python3 "$here/conform/check.py" "$scratch/json" "$scratch/junit" || failed "JSON or JUnit"
"$program" --json - good 2>/dev/null | python3 -m json.tool >/dev/null || failed "JSON on the standard output"
"$program" --junit - bad 2>/dev/null |
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin)' || failed "JUnit on the standard output"
[[ ! -w /dev/full ]] || { "$program" good >/dev/full 2>&1; [[ $? == 2 ]]; } || failed "a full disk goes unnoticed"
[[ -z $("$program" --tap good | tr -d '[:print:]\n') ]] || failed "colour where there is no terminal"
exit $((failures > 0))
