#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Numbers with which a ping-pong game could not end: the programs have to say so before they meet anybody.
#
#   refused.sh TOOLS FAKE_LIBRARY
set -u
if [ $# != 2 ]; then
    sed -n 's/^#   refused.sh/usage: refused.sh/p' "$0" >&2
    exit 2
fi
tools=$1 fake=$2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
printf 'device a\nport lid=1\n' >"$scratch/scenario"
failed=0

# refused REASON TOOL ARGUMENT...: the tool writes this line to stderr alone, and ends with 1.
refused() {
    local reason=$1 status
    shift
    FAKE_VERBS_SCENARIO=$scratch/scenario FAKE_VERBS_ROLE=server FAKE_VERBS_LOG=$scratch/calls \
        FAKE_VERBS_PORT_FILE=$scratch/port LD_LIBRARY_PATH=$(dirname "$fake") \
        timeout 60 "$tools/$1" "${@:2}" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    if [ $status != 1 ] || [ "$(cat "$scratch/out" "$scratch/err")" != "$reason" ]; then
        echo "$* ended with $status (1 was expected, and '$reason') and wrote:"
        cat "$scratch/out" "$scratch/err"
        failed=1
    fi
}

refused 'num_qp 0 must be at least 1' ibv_srq_pingpong -q 0
for tool in rc uc ud srq; do
    refused 'rx_depth 0 is too small -- must have at least one receive' ibv_${tool}_pingpong -r 0 -n 3
    refused 'rx_depth -1 is too small -- must have at least one receive' ibv_${tool}_pingpong -r -1
done
for tool in rc uc ud srq xsrq; do
    refused 'size -1 must not be negative' ibv_${tool}_pingpong -s -1
done
exit $failed
