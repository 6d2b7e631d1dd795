# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2016,SC2034,SC2054,SC2154 # variables of run; UCX's commas
# The programs and their options. Sourced by run.

# What the programs run as.
if selected 'an ordinary user without capabilities'; then
    as_user it sh -c 'grep Cap /proc/self/status; cat /proc/self/uid_map; id; ibv_devices'
    status=0
    grep -q '^CapEff:.*[^0[:space:]]' "$work/case/it.out" && status=1
    judge 'an ordinary user without capabilities' "$status" 1 urxe_lo
fi

# ---- the verbs tools, Debian's and ours ------------------------------------------------------------------------------
for tools in /usr/bin "$work/bin"; do
    whose="Debian's"
    [[ $tools == /usr/bin ]] || whose=our
    alone "$whose ibv_devices" urxe_net0 "$tools/ibv_devices"
    alone "$whose ibv_devinfo -v" PORT_ACTIVE "$tools/ibv_devinfo" -v -d urxe_lo
    if selected "$whose ibv_asyncwatch"; then
        # It waits for ever.
        patience=1 as_user it stdbuf -oL "$tools/ibv_asyncwatch" -d urxe_lo
        judge "$whose ibv_asyncwatch" $(($? != 124)) 1 'async event FD [0-9]+'
    fi
    for type in rc uc ud srq; do
        pair both "$whose ibv_${type}_pingpong" 'iters in' \
            "$tools/ibv_${type}_pingpong" -d DEVICE -g 0 -p PORT -n 100 -s 1000
        pair both "$whose ibv_${type}_pingpong -c -e" 'iters in' \
            "$tools/ibv_${type}_pingpong" -d DEVICE -g 0 -p PORT -n 100 -s 1000 -c -e
    done
    for options in 'rc -o -c' 'srq -o -c' 'rc -N' 'rc -j -N -c' 'rc -t'; do
        # shellcheck disable=SC2086 # options
        pair both "$whose ibv_${options/ /_pingpong }" 'iters in' "$tools/ibv_${options%% *}_pingpong" ${options#* } \
            -d DEVICE -g 0 -p PORT -n 100 -s 4000
    done
    pair both "$whose ibv_rc_pingpong over IPv6" 'iters in' "$tools/ibv_rc_pingpong" -d DEVICE -g 1 -p PORT -n 100 -c
    pair both "$whose ibv_xsrq_pingpong" ^success "$tools/ibv_xsrq_pingpong" -d DEVICE -g 0 -p PORT -n 50
    pair both "$whose ibv_xsrq_pingpong -e" ^success \
        "$tools/ibv_xsrq_pingpong" -d DEVICE -g 0 -p PORT -n 50 -e
done

# ---- every byte ------------------------------------------------------------------------------------------------------
pair both 'verbs_data, RC' 'each byte as it was sent' verbs_data -d DEVICE -p PORT -c rc
pair both 'verbs_data, UC' 'each byte as it was sent' verbs_data -d DEVICE -p PORT -c uc
pair both 'verbs_data, UD' 'each byte as it was sent' verbs_data -d DEVICE -p PORT -c ud
pair both 'verbs_data, XRC' 'each byte as it was sent' verbs_data -d DEVICE -p PORT -c xrc
pair both 'verbs_data, a stream both ways' 'each byte right, each completion once' verbs_data -d DEVICE -p PORT -S 64

# ---- perftest --------------------------------------------------------------------------------------------------------
# perf PLACES SIZE PROGRAM OPTIONS: with few iterations. A line of figures for the size must be there.
perf() {
    local places=$1 size=$2
    shift 2
    pair "$places" "$*" "^ *$size +[0-9]+ +[0-9.]+ " "$@" -d DEVICE -x 0 -p PORT -F
}
# All sizes up to 8 MiB, or up to the MTU. perftest measures the processor's clock anew for each size, a quarter of a second.
for operation in send write read; do
    perf both 8388608 ib_${operation}_bw -a -n 5
    perf both 8388608 ib_${operation}_bw -a -n 5 -c XRC
    [[ $operation == read ]] || perf one 8388608 ib_${operation}_bw -a -n 5 -c UC
done
perf both 1024 ib_send_bw -a -n 5 -c UD
for test in bw lat; do
    for operation in send write read; do
        for type in RC UC XRC; do
            [[ $operation$type != readUC ]] || continue
            places=both
            [[ $type != UC ]] || places=one
            perf "$places" 8388608 ib_${operation}_$test -s 8388608 -n 5 -c $type
            # Nobody holds UC back: between hosts what is long is lost in the sockets' buffers, and perftest waits for ever.
            [[ $type != UC ]] || perf two 16384 ib_${operation}_$test -s 16384 -n 5 -c $type
        done
    done
    perf both 8 ib_atomic_$test -n 20
    perf both 8 ib_atomic_$test -n 20 -A CMP_AND_SWAP
    perf both 8 ib_atomic_$test -n 20 -c XRC
    perf both 64 ib_send_$test -n 20 -s 64 -c UD
    for operation in send write; do
        perf both 64 ib_${operation}_$test -n 20 -s 64 -I 0
        perf both 64 ib_${operation}_$test -n 20 -s 64 -I 64
    done
    for operation in send read atomic; do
        perf both '[0-9]+' ib_${operation}_$test -n 20 -e
    done
done
perf both 64 ib_send_lat -n 20 -s 64 -c UC -e
perf both 64 ib_send_lat -n 20 -s 64 -c UD -e
perf both '[0-9]+' ib_send_lat -n 20 --use-srq
for operation in send write read atomic; do
    perf both '[0-9]+' ib_${operation}_bw -n 20 -q 16
    perf both '[0-9]+' ib_${operation}_bw -n 20 -b
    # Not both ways: there perftest asks for the next event with completions left, which bring none.
    [[ $operation == write ]] || perf both '[0-9]+' ib_${operation}_bw -n 20 -e -q 4
done
# perftest wants more receives than queue pairs, and asks for no more than iterations.
perf both 65536 ib_send_bw -n 50 -q 16 --use-srq
perf both 65536 ib_send_bw -n 50 -q 16 --use-srq -e
perf both 65536 ib_send_bw -n 50 -q 16 -c XRC -e
perf both 65536 ib_write_bw -n 20 -q 16 -c XRC -b
perf both 65536 ib_send_bw -n 24 -l 8
perf both 65536 ib_send_bw -n 20 --odp

# ---- UCX -------------------------------------------------------------------------------------------------------------
# Index 1 is the IPv6 address: with IPv4 addresses UCX drops what ud_verbs receives on devices that are not Mellanox's.
environment=(UCX_IB_GID_INDEX=1 UCX_NET_DEVICES=DEVICE:1)
uct() {
    local name=$1
    shift
    pair both "ucx_perftest $name" '' ucx_perftest -p PORT -f -n 50 -w 5 -d DEVICE:1 "$@"
}
for test in am_lat am_bw put_lat put_bw fadd cswap add_lat; do
    uct "-x rc_verbs -t $test" -x rc_verbs -t "$test"
done
uct '-x rc_verbs -t get -D bcopy' -x rc_verbs -t get -D bcopy
uct '-x rc_verbs -t put_bw -D zcopy, 1 MiB' -x rc_verbs -t put_bw -D zcopy -s 1048576
uct '-x rc_verbs -t get -D zcopy, 1 MiB' -x rc_verbs -t get -D zcopy -s 1048576
uct '-x ud_verbs -t am_lat' -x ud_verbs -t am_lat
uct '-x ud_verbs -t am_bw' -x ud_verbs -t am_bw

# The protocol layer lets rc_verbs connect by ud_verbs.
for transports in rc_verbs,ud_verbs:aux,self ud_verbs,self; do
    environment=(UCX_IB_GID_INDEX=1 UCX_NET_DEVICES=DEVICE:1 "UCX_TLS=$transports")
    for test in tag_lat tag_bw tag_sync_lat ucp_am_lat ucp_am_bw ucp_put_lat ucp_put_bw ucp_get ucp_add ucp_fadd \
        ucp_swap ucp_cswap stream_lat; do
        pair both "ucx_perftest -t $test, ${transports%%,*}" '' ucx_perftest -p PORT -f -n 50 -w 5 -t "$test"
    done
    pair both "ucx_perftest -t tag_bw of 4 MiB, ${transports%%,*}" '' ucx_perftest -p PORT -f -n 5 -w 1 -t tag_bw -s 4194304
    pair both "every byte by UCX, ${transports%%,*}" 'each byte as it was sent' ucp_data -p PORT
done
# As most use it, and with addresses of IPv4.
environment=(UCX_UD_VERBS_ETH_DGID_CHECK=n UCX_NET_DEVICES=DEVICE:1 UCX_TLS=rc_verbs,ud_verbs,self)
pair both 'every byte by UCX, all transports' 'each byte as it was sent' ucp_data -p PORT

# ---- Open MPI --------------------------------------------------------------------------------------------------------
# mpi NAME OPTIONS: four processes. Debian's configuration keeps one-sided operations off UCX: they would go over TCP.
mpi() {
    local name=$1
    shift
    as_user it mpirun --allow-run-as-root --oversubscribe -np 4 --mca pml ucx --mca pml_ucx_tls any \
        --mca pml_ucx_devices any --mca osc ucx --mca btl '^openib,uct' "$@" "$work/bin/mpi_data"
    judge "$name" $? 4 '^4 processes, 0 bytes wrong'
}
environment=(UCX_IB_GID_INDEX=1 UCX_NET_DEVICES=urxe_lo:1 UCX_TLS=rc_verbs,ud_verbs,self)
if selected 'one host: Open MPI over UCX'; then
    mpi 'one host: Open MPI over UCX'
fi
environment=(UCX_IB_GID_INDEX=1 UCX_NET_DEVICES=urxe_net0:1 UCX_TLS=rc_verbs,ud_verbs,self REMOTE=/tmp/other)
if selected 'two hosts: Open MPI over UCX'; then
    mkfifo -m 666 /tmp/other/{command,status}
    # What mpirun says to ssh.
    on_other other bash -c 'read -r command <"$REMOTE/command"; bash -c "$command"; echo $? >"$REMOTE/status"' &
    remote=$!
    # Its own communication may take any network.
    mpi 'two hosts: Open MPI over UCX' --host 10.9.0.1:2,10.9.0.2:2 --mca plm_rsh_agent "$work/bin/remote" \
        --mca oob_tcp_if_include net0 --mca btl_tcp_if_include net0 -x UCX_IB_GID_INDEX -x UCX_NET_DEVICES -x UCX_TLS -x URXE \
        -x LD_LIBRARY_PATH -x LD_DEBUG -x LD_DEBUG_OUTPUT
    kill "$remote" 2>/dev/null
    wait "$remote"
fi
environment=()
