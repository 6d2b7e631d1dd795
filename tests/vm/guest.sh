# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What scripts that run in the guest share. Sourced, never run.

# In the guest, tests/vm/init has put the job here.
in_guest() {
    [[ -e /run/job/command ]]
}

# A pipe that nothing is written to: reading it with a time limit is a sleep without a process.
exec {never}<> <(:)

# wait_until SECONDS COMMAND...: until the command succeeds.
wait_until() {
    local deadline=$((EPOCHSECONDS + $1))
    shift
    until "$@"; do
        ((EPOCHSECONDS < deadline)) || return 1
        read -r -t 0.1 -u "$never" _
    done
}

# listens PORT: whether a TCP socket listens there. Reads the kernel's table, as a connection would count as one.
listens() {
    local table address state port
    printf -v port ':%04X' "$1"
    for table in /proc/net/tcp /proc/net/tcp6; do
        while read -r _ address _ state _; do
            [[ $address == *"$port" && $state == 0A ]] && return
        done <"$table"
    done
    return 1
}

# listens_rdmacm: whether some program listens with librdmacm.
listens_rdmacm() {
    rdma resource show cm_id 2>/dev/null | grep -q 'state LISTEN'
}

# joined_multicast ADDRESS: whether a queue pair on rxe0 is attached to that IPv4 multicast group. The kernel itself
# joins too, for IGMP; rxe has an Ethernet address of its own for the group.
joined_multicast() {
    local bytes address
    IFS=. read -r -a bytes <<<"$1"
    printf -v address '3333%02x%02x%02x%02x' "${bytes[@]}"
    grep -q "eth0 .* $address" /proc/net/dev_mcast
}

rxe_has_ipv4_gid() {
    grep -qs ffff:0a00:020f /sys/class/infiniband/rxe0/ports/1/gids/1
}

rxe_add() {
    rdma link add rxe0 type rxe netdev eth0 && wait_until 10 rxe_has_ipv4_gid
}

rxe_remove() {
    rdma link delete rxe0
}

rxe_is_gone() {
    [[ ! -e /sys/class/infiniband/rxe0 ]]
}

# siw_add: siw0 on eth0, iWARP in software. Fails, and says why, where this kernel has no siw.
siw_add() {
    if [[ -e /run/siw-missing ]]; then
        cat /run/siw-missing
        return 1
    fi
    rdma link add siw0 type siw netdev eth0
}

siw_remove() {
    rdma link delete siw0
}

siw_is_gone() {
    [[ ! -e /sys/class/infiniband/siw0 ]]
}
