# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of run, judge.sh
# The cases on siw, iWARP in software, where it is the only device. Sourced by cases.sh.

if ! siw_missing=$(siw_add 2>&1); then
    skipped 'siw' "$siw_missing"
    return
fi

siw_rping=("rping -s -a $address -C 3 -v -S 100" "rping -c -a $address -C 3 -v -S 100")
siw_perftest() {
    rdmacm "siw$2: $1" "$1" "$1 $address"
}
# iWARP wants the client to send first (RFC 5044 section 7.1), which not all programs know. Where the client is slow to
# read the server's answer, and data come right behind it, the kernel ends the connection: they may try again.
attempts=4
patience=20

same 'siw: ibv_devices' 0 ibv_devices
same 'siw: ibv_devinfo -v' 0 ibv_devinfo -v
same 'siw: netlink refused: ibv_devices' 0 "$helpers/deny_rdma_netlink" ibv_devices
same 'siw: sysfs not mounted: ibv_devinfo -v' 0 "${without_sysfs[@]}" ibv_devinfo -v
tool 'siw: our ibv_devinfo -v' 0 ibv_devinfo -v
# Ours has extended QPs (the answer is for 7 SGEs, of which siw has 6), and asks the kernel for an SRQ's attributes.
# shellcheck disable=SC2016 # sed's last line
our_answer='s/^(create_qp_ex (ops 0|ops 5|no PD): NULL errno) EOPNOTSUPP/\1 EINVAL/
    s/^query_srq: 95/query_srq: 0/
    /^create_srq 1:/,/^destroy_srq/s/^attr 0 0/attr 1 1/
    /^create_srq 2:/,/^destroy_srq/{
        s/^attr 0 0 0/attr 128 4 50/
        s/^attr 0 0 1/attr 128 4 1/
    }' in_turn "siw: the verbs' answers" 0 true "$helpers/answers"
rdmacm 'siw: rping' "${siw_rping[@]}"
rdmacm 'siw: ucmatose' "ucmatose -b $address -c 2 -C 3" "ucmatose -s $address -c 2 -C 3"
for options in 'ib_send_bw -R -n 20 -s 65536' 'ib_send_bw -R -n 5 -r 8 --use-srq' 'ib_write_bw -R -n 20 -b' \
    'ib_read_bw -R -n 5' 'ib_send_lat -R -n 5 -e' 'ib_write_lat -R -n 5 -s 32 -I 32' 'ib_read_lat -R -n 5'; do
    siw_perftest "$options" ''
done
mixed_pair 'siw: rping between the libraries' listens_rdmacm \
    "rping -s -a $address -C 3 -v -S 100" "rping -c -a $address -C 3 -v -S 100"

our_plugin=siw-rdmav34
same "siw, Debian's plugin: ibv_devinfo -v" 0 ibv_devinfo -v
in_turn "siw, Debian's plugin: the verbs' answers" 0 true "$helpers/answers"
rdmacm "siw, Debian's plugin: rping" "${siw_rping[@]}"
for options in 'ib_send_bw -R -n 5' 'ib_write_lat -R -n 5' 'ib_read_bw -R -n 5'; do
    siw_perftest "$options" ", Debian's plugin"
done
our_plugin=
attempts=1
patience=60

siw_again() {
    wait_until "$patience" siw_is_gone && siw_add
}
siw_remove
# Ours asks the kernel for an SRQ's attributes.
our_answer='s/^query_srq: 95/query_srq: 0/' \
    in_turn 'siw: hot unplug' 0 siw_again "$helpers/unplug" 'rdma link delete siw0'
wait_until "$patience" siw_is_gone
