#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client that sends its addresses and hangs up before it is answered: the server has to say so.
#
#   hang_up.sh TOOLS FAKE_LIBRARY
set -u
if [ $# != 2 ]; then
    sed -n 's/^#   hang_up.sh/usage: hang_up.sh/p' "$0" >&2
    exit 2
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkfifo "$scratch/nothing" && exec {nothing}<>"$scratch/nothing" || exit 2
printf 'device a\nport lid=1\n' >"$scratch/scenario"
FAKE_VERBS_SCENARIO=$scratch/scenario FAKE_VERBS_ROLE=server FAKE_VERBS_LOG=$scratch/calls \
    FAKE_VERBS_PORT_FILE=$scratch/port LD_LIBRARY_PATH=$(dirname "$2") \
    timeout 60 env --default-signal=PIPE "$1/ibv_srq_pingpong" -q 1 -r 2 >"$scratch/out" 2>"$scratch/err" </dev/null &
server=$!
while [ ! -e "$scratch/port" ] && kill -0 $server 2>/dev/null; do
    read -rt 0.01 <&"$nothing"
done
for ((i = 0; i < 256; ++i)); do
    printf '0001:000001:000001:%032d\0' 0
done >"$scratch/addresses"
cat "$scratch/addresses" >/dev/tcp/127.0.0.1/"$(cat "$scratch/port")"
wait $server
status=$?
if [ $status != 1 ] || ! grep -q "^Couldn't send/recv local address$" "$scratch/err"; then
    echo "the server ended with $status (1 was expected) and wrote:"
    cat "$scratch/out" "$scratch/err"
    exit 1
fi
