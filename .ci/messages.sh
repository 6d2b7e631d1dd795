# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# How the project's scripts talk: progress with elapsed time, warnings, errors with a remedy. Sourced, never run.
#
# Scripts that call one another share the start of the outermost one, and its decision about colour.

export VERBENA_STARTED=${VERBENA_STARTED:-$EPOCHSECONDS}
if [[ -z ${VERBENA_COLOR:-} ]]; then
    VERBENA_COLOR=no
    [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]] && VERBENA_COLOR=yes
fi
export VERBENA_COLOR

# paint COLOUR TEXT: the text, in bold, red, green or yellow where colour is wanted.
paint() {
    local code
    case $1 in
        bold) code=1 ;;
        red) code='1;31' ;;
        green) code=32 ;;
        yellow) code=33 ;;
    esac
    if [[ $VERBENA_COLOR == yes ]]; then
        printf '\033[%sm%s\033[0m' "$code" "$2"
    else
        printf '%s' "$2"
    fi
}

# step TEXT: a line that says what begins now, and how long all has taken so far.
step() {
    printf '%s %s\n' "$(printf '[%4d s]' $((EPOCHSECONDS - VERBENA_STARTED)))" "$(paint bold "$1")"
}

warn() {
    printf '%s %s\n' "$(paint yellow 'warning:')" "$1" >&2
}

# die CAUSE [REMEDY]: ends the script.
die() {
    printf '%s %s\n' "$(paint red 'error:')" "$1" >&2
    [[ -z ${2:-} ]] || printf '       %s\n' "$2" >&2
    exit 1
}

# quietly COMMAND...: on a terminal, where tools show progress in place, runs it as it is; elsewhere shows what it said
# only if it failed.
quietly() {
    local log status=0
    if [[ -t 1 ]]; then
        "$@"
        return
    fi
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    ((status == 0)) || cat "$log"
    rm -f "$log"
    return "$status"
}
