# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run, judge.sh
# Communication libraries on rxe, as far as Debian's libibverbs carries them there. Sourced by cases.sh.

compare=statuses
export UCX_NET_DEVICES=rxe0:1 UCX_IB_GID_INDEX=1

# ucx STATUS OPTIONS
ucx() {
    pair "ucx_perftest $2" "$1" 'listens PORT' "ucx_perftest -p PORT -n 20 -w 2 $2" \
        "ucx_perftest -p PORT -n 20 -w 2 $2 127.0.0.1"
}
for test in am_lat put_bw 'get -D bcopy'; do
    ucx 0 "-x rc_verbs -d rxe0:1 -t $test"
done
# The protocol layer wants a second transport to connect rc_verbs. On this kernel's rxe UCX has none: ud_verbs does not
# take the messages that it receives. Both sides say so, and Open MPI too.
UCX_TLS=rc_verbs ucx 255 '-t tag_lat'
if [[ -x $helpers/mpi_ring ]]; then
    UCX_TLS=rc_verbs same 'Open MPI over UCX, rc_verbs' 1 \
        mpirun --allow-run-as-root --oversubscribe -np 2 --mca pml ucx "$helpers/mpi_ring"
else
    skipped 'Open MPI over UCX' 'mpicc was not there when the tests were built'
fi
unset UCX_NET_DEVICES UCX_IB_GID_INDEX

# Its port is fixed.
pair 'fi_pingpong, verbs' 0 'listens 47592' 'fi_pingpong -p verbs -e msg -I 20 -S 64' \
    "fi_pingpong -p verbs -e msg -I 20 -S 64 $address"
compare=all
