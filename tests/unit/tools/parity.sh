#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs command-line tools on the devices of a fake library, and compares what they write with what the stock tools wrote.
#
#   parity.sh [--record] TOOLS FAKE_LIBRARY CASES
#
# TOOLS: the directory of the tools to test. FAKE_LIBRARY: the fake libibverbs.so.1. CASES: a file of cases, for which
# golden/ has the outputs of the stock tools under the same name. Where those tools are installed in the version that the
# outputs came from, they are run as well and must still give them. --record writes golden/ anew, from the tools in TOOLS,
# which ought to be the stock ones.
#
# A file of cases:
#   # ...                              a comment
#   @ NAME                             starts a case
#   include FILE                       takes lines from another file
#   run TOOL [ARGUMENT]...             runs a tool
#   game TOOL                          the ping-pong program of the pairs that follow
#   pair ARGUMENT... :: ARGUMENT...    runs that program twice, as server and client, with these arguments
#   pair+calls ...                     the same, and lists the verbs and bytes that each of them used
#   anything else                      belongs to the scenario of the case (see fake_verbs/scenario.cc)
set -u
export LC_ALL=C

stock_version=44.0
game=ibv_rc_pingpong
record=
if [ "${1-}" = --record ]; then
    record=1
    shift
fi
if [ $# != 3 ]; then
    sed -n 's/^#   parity.sh/usage: parity.sh/p' "$0" >&2
    exit 2
fi
for file in "$1/ibv_devices" "$1/ibv_devinfo" "$1/ibv_rc_pingpong" "$2" "$3"; do
    if [ ! -r "$file" ]; then
        echo "$file: there is no such file; has the tree been built?" >&2
        exit 2
    fi
done
tools=$(realpath "$1") fake=$(realpath -s "$2") cases=$(realpath "$3")
cd "$(dirname "$0")" || exit 2
golden=golden/$(basename "$cases" .cases).txt
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
# What never has anything to read, to wait for a moment.
mkfifo "$scratch/nothing" && exec {nothing}<>"$scratch/nothing" || exit 2

# start ROLE DIRECTORY TOOL ARGUMENT...: runs a tool of that directory on the current scenario.
start() {
    local role=$1 directory=$2
    shift 2
    rm -f "$scratch/$role.calls"
    FAKE_VERBS_SCENARIO=$scratch/scenario FAKE_VERBS_ROLE=$role FAKE_VERBS_LOG=$scratch/$role.calls \
        FAKE_VERBS_PORT_FILE=$scratch/port LD_LIBRARY_PATH=$(dirname "$fake") PATH=$directory:$PATH \
        timeout 30 "$@" >"$scratch/$role.out" 2>"$scratch/$role.err" </dev/null
}

# show ROLE STATUS: what a tool wrote, and how it ended.
show() {
    sed 's/^/| /' "$scratch/$1.out"
    # A last line without its end is shown as such.
    [ -s "$scratch/$1.out" ] && [ -n "$(tail -c 1 "$scratch/$1.out")" ] && printf '\n\\ no newline\n'
    sed 's/^/! /' "$scratch/$1.err"
    [ -s "$scratch/$1.err" ] && [ -n "$(tail -c 1 "$scratch/$1.err")" ] && printf '\n\\ no newline\n'
    echo "= $2"
}

# pair DIRECTORY WITH_CALLS ARGUMENT... :: ARGUMENT...
pair() {
    local directory=$1 with_calls=$2 server_arguments=() server client_status server_status tries
    shift 2
    while [ "$1" != :: ]; do
        server_arguments+=("$1")
        shift
    done
    shift
    rm -f "$scratch/port"
    start server "$directory" "$game" "${server_arguments[@]}" &
    server=$!
    for ((tries = 0; tries < 1000; ++tries)); do
        [ -e "$scratch/port" ] || ! kill -0 $server 2>/dev/null && break
        read -rt 0.01 <&"$nothing"
    done
    start client "$directory" "$game" "$@" 127.0.0.1
    client_status=$?
    # A server that no client reached sees one that says nothing.
    [ -e "$scratch/port" ] && (: </dev/tcp/127.0.0.1/"$(cat "$scratch/port")") 2>/dev/null
    wait $server
    server_status=$?
    echo server:
    show server $server_status
    [ "$with_calls" ] && sed 's/^/. /' "$scratch/server.calls"
    echo client:
    show client $client_status
    [ "$with_calls" ] && sed 's/^/. /' "$scratch/client.calls"
}

# run_cases DIRECTORY: all cases, with the tools in the directory.
run_cases() {
    local directory=$1 line word rest
    sed '/^include /{s/^include /cases\//;s/.*/cat &/e}' "$cases" >"$scratch/lines"
    while read -r line; do
        read -r word rest <<<"$line"
        case $word in
            '' | \#*) ;;
            @)
                : >"$scratch/scenario"
                echo "@ $rest"
                ;;
            game) game=$rest ;;
            run)
                echo "> $rest"
                eval "set -- $rest"
                start single "$directory" "$@"
                show single $?
                ;;
            pair)
                echo "> pair $rest"
                eval "pair '$directory' '' $rest"
                ;;
            pair+calls)
                echo "> pair $rest"
                eval "pair '$directory' yes $rest"
                ;;
            *) echo "$line" >>"$scratch/scenario" ;;
        esac
    done <"$scratch/lines"
}

# check DIRECTORY WHOSE: whether the tools there write what the stock tools wrote.
check() {
    run_cases "$1" >"$scratch/output"
    if diff -u --label "$golden" --label "$2 tools" "$golden" "$scratch/output"; then
        echo "$(grep -c '^>' "$scratch/output") runs of $2 tools: as recorded"
    else
        failed=1
    fi
}

if [ "$record" ]; then
    run_cases "$tools" >"$golden"
    exit
fi
failed=
check "$tools" our
if [[ $(dpkg-query -W -f '${Version}' ibverbs-utils 2>/dev/null) == $stock_version-* ]]; then
    check /usr/bin stock
fi
[ ! "$failed" ]
