# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # variables of run
# The cases of tests/vm/parity/run. Sourced by it; judge.sh has the words that they are written in.
#
# Where a case expects something else than 0, that is what the stock library does on rxe.

# Devices and what they can do.
same 'ibv_devices' 0 ibv_devices
same 'ibv_devinfo' 0 ibv_devinfo
same 'ibv_devinfo -v' 0 ibv_devinfo -v
same 'ibv_devinfo -l' 0 ibv_devinfo -l
same 'ibv_devinfo in another network namespace' 0 unshare -n ibv_devinfo -v

# tests/sim gives these answers too.
golden "the kernel's answers to commands made by hand" "$root/tests/sim/answers.golden" \
    "$build/tests/sim/sim_kernel_answers"

# Data over each transport.
for transport in rc uc ud srq; do
    over_tcp "ibv_${transport}_pingpong" 0 "ibv_${transport}_pingpong -g 1 -n 50"
    over_tcp "ibv_${transport}_pingpong -e" 0 "ibv_${transport}_pingpong -g 1 -n 50 -e"
done
over_tcp 'ibv_rc_pingpong -N' 0 'ibv_rc_pingpong -g 1 -n 50 -N'
over_tcp 'ibv_rc_pingpong -c' 0 'ibv_rc_pingpong -g 1 -n 50 -c'
over_tcp 'ibv_rc_pingpong with an MTU of 256' 0 'ibv_rc_pingpong -g 1 -n 20 -m 256 -s 10000'
# rxe has none of these: both sides say so.
over_tcp 'ibv_rc_pingpong -t (no timestamps)' 1 'ibv_rc_pingpong -g 1 -t'
over_tcp 'ibv_rc_pingpong -o (no paging on demand)' 1 'ibv_rc_pingpong -g 1 -o'
over_tcp 'ibv_rc_pingpong -j (no device memory)' 1 'ibv_rc_pingpong -g 1 -j'
over_tcp 'ibv_xsrq_pingpong (no XRC)' 1 'ibv_xsrq_pingpong -g 1'

for test in bw lat; do
    for operation in send write read atomic; do
        over_tcp "ib_${operation}_$test RC" 0 "ib_${operation}_$test -x 1 -n 5 -s 8"
    done
    for connection in UC UD; do
        over_tcp "ib_send_$test $connection" 0 "ib_send_$test -x 1 -n 5 -c $connection"
    done
    over_tcp "ib_write_$test UC" 0 "ib_write_$test -x 1 -n 5 -c UC"
    # perftest itself refuses these.
    over_tcp "ib_write_$test UD" 1 "ib_write_$test -x 1 -n 5 -c UD"
done
over_tcp 'ib_send_bw of 64 KiB' 0 'ib_send_bw -x 1 -n 5 -s 65536'
over_tcp 'ib_write_bw of 64 KiB' 0 'ib_write_bw -x 1 -n 5 -s 65536'
over_tcp 'ib_read_bw of 64 KiB' 0 'ib_read_bw -x 1 -n 5 -s 65536'
over_tcp 'ib_send_lat -e' 0 'ib_send_lat -x 1 -n 5 -e'
over_tcp 'ib_atomic_bw of compare and swap' 0 'ib_atomic_bw -x 1 -n 5 -A CMP_AND_SWAP'
over_tcp 'ib_send_bw with two queue pairs and an SRQ' 0 'ib_send_bw -x 1 -n 5 -q 2 -r 8 --use-srq'
over_tcp 'ib_send_lat inline' 0 'ib_send_lat -x 1 -n 5 -s 32 -I 32'

# librdmacm.
address=10.0.2.15
rdmacm() {
    pair "$1" 0 listens_rdmacm "$2" "$3"
}
rdmacm 'rping' "rping -s -a $address -C 3 -v -S 100" "rping -c -a $address -C 3 -v -S 100"
rdmacm 'ucmatose' "ucmatose -b $address -c 2 -C 3" "ucmatose -s $address -c 2 -C 3"
rdmacm 'udaddy' "udaddy -b $address -c 2 -C 3" "udaddy -s $address -c 2 -C 3"
rdmacm 'ib_send_bw over librdmacm' "ib_send_bw -R -x 1 -n 5" "ib_send_bw -R -x 1 -n 5 $address"
group=239.1.2.3
pair 'mckey' 0 "joined_multicast $group" "mckey -b $address -m $group -C 3" "mckey -s -b $address -m $group -C 3"

mixed 'ibv_rc_pingpong between the libraries' 'ibv_rc_pingpong -g 1 -n 50'
mixed 'ib_send_bw UD between the libraries' 'ib_send_bw -x 1 -n 5 -c UD'
mixed 'ib_atomic_lat between the libraries' 'ib_atomic_lat -x 1 -n 5'

# A program of 2006. Stock crashes where that makes a completion channel from its own kind of context.
in_turn 'verbs of IBVERBS_1.0' 0 true "$helpers/verbs_1_0"
in_turn 'verbs of IBVERBS_1.0, by events' 0 true "$helpers/verbs_1_0" --events
# shellcheck disable=SC2016 # sed's last line
our_answer='$achannel: in use 16, no longer 0' our_status=0 \
    same 'a channel of an IBVERBS_1.0 context' 'segmentation fault' "$helpers/verbs_1_0" --old-channel

# Debian's own plugin on our library.
our_plugin=rxe-rdmav34
same "Debian's plugin: ibv_devinfo -v" 0 ibv_devinfo -v
in_turn "Debian's plugin: the verbs' answers" 0 true "$helpers/answers"
for transport in rc ud srq; do
    over_tcp "Debian's plugin: ibv_${transport}_pingpong -e" 0 "ibv_${transport}_pingpong -g 1 -n 20 -e"
done
rdmacm "Debian's plugin: rping" "rping -s -a $address -C 3 -v -S 100" "rping -c -a $address -C 3 -v -S 100"
our_plugin=

. "$here/cases_apps.sh"

# Our tools beside Debian's, on a real device; tests/unit/tools has their command lines and many more devices.
tool 'our ibv_devices' 0 ibv_devices
for options in '' '-v' '-l' '-v -d rxe0 -i 1'; do
    # shellcheck disable=SC2086 # several options
    tool "our ibv_devinfo $options" 0 ibv_devinfo $options
done
tool 'our ibv_devinfo --help' 255 ibv_devinfo --help
tool 'our ibv_devinfo -d nope' 255 ibv_devinfo -d nope
tool 'our ibv_devinfo -i 9' 4 ibv_devinfo -i 9
for options in '' '-e -c' '-N' '-n 0' '-s 10000 -m 256 -l 1 -r 10 -e'; do
    options="-n 20 $options"
    tool_pair "our ibv_rc_pingpong $options" 0 'listens PORT' \
        "ibv_rc_pingpong -g 1 -p PORT $options" "ibv_rc_pingpong --gid-idx=1 --port=PORT $options 127.0.0.1"
done
for transport in uc ud srq; do
    for options in '' '-e -c -s 100 -r 60'; do
        options="-n 20 $options"
        tool_pair "our ibv_${transport}_pingpong $options" 0 'listens PORT' \
            "ibv_${transport}_pingpong -g 1 -p PORT $options" \
            "ibv_${transport}_pingpong --gid-idx=1 --port=PORT $options 127.0.0.1"
    done
    mixed_tools "ibv_${transport}_pingpong" "ibv_${transport}_pingpong -g 1 -n 20"
done
mixed_tools 'ibv_rc_pingpong' 'ibv_rc_pingpong -g 1 -n 20'
tool_pair 'our ibv_xsrq_pingpong (no XRC)' 1 'listens PORT' 'ibv_xsrq_pingpong -g 1 -p PORT' \
    'ibv_xsrq_pingpong -g 1 -p PORT 127.0.0.1'
alone 'a statically linked ibv_rc_pingpong' "$helpers/static_rc_pingpong -g 1 -n 20"
tool 'our ibv_asyncwatch -d nope' 1 ibv_asyncwatch -d nope
tool_pair 'our ibv_rc_pingpong without a GID' 1 'listens PORT' 'ibv_rc_pingpong -p PORT' 'ibv_rc_pingpong -p PORT 127.0.0.1'
tool_pair 'our ibv_rc_pingpong with different sizes' 1 'listens PORT' \
    'ibv_rc_pingpong -g 1 -n 20 -s 100 -p PORT' 'ibv_rc_pingpong -g 1 -n 20 -s 8000 -p PORT 127.0.0.1'
for options in '--help' '-d nope' '-i 2' '-s 0' '-r 999999' '-o' '-t' '-j' '-g 99999' '-g 1 127.0.0.1'; do
    # shellcheck disable=SC2086 # several options
    tool "our ibv_rc_pingpong $options" 1 ibv_rc_pingpong $options
done

# Wrong input. In turn: both sides attach to one multicast group, which the kernel minds now and then.
our_answer=$(<"$here/calls_rxe.sed") in_turn 'every verb, call by call' 0 true "$build/tests/sim/calls/calls" rxe0
# Our rxe imports what other processes have, and has thread domains; stock's has neither.
our_answer='s/^(import_(mr|pd): NULL errno) EOPNOTSUPP/\1 ENOENT/; s/^(import_device own|alloc_td): .*/\1: object errno -/' \
    in_turn "the verbs' answers to right and wrong arguments" 0 true "$helpers/answers"
over_tcp 'a GID index of an empty entry' 1 'ibv_rc_pingpong -g 99'
same 'a GID index outside the table' 1 ibv_rc_pingpong -g 99999
same 'a port that the device does not have' 1 ibv_rc_pingpong -g 1 -i 2

# Both libraries from a place that everybody may read; ours with its providers beside it.
mkdir -p copy/{stock,ours}
cp -L "$stock_library" copy/stock/libibverbs.so.1
cp -L "$our_library" copy/ours/libibverbs.so.1
[[ $against_itself == yes ]] || cp -rL "${our_library%/*}"/libibverbs{,.d} copy/ours
chmod -R a+rX copy
library_of=([stock]=$PWD/copy/stock/libibverbs.so.1 [ours]=$PWD/copy/ours/libibverbs.so.1)
without_memlock=(bash -c 'ulimit -l 0 && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' -)
# Ours says in the verbs log, of the registration that fails, what stock warns of beforehand.
our_answer='/libibverbs: Warning:|This will severely limit/d' same 'no locked memory' 1 "${without_memlock[@]}" ibv_rc_pingpong -g 1

# Reads everything, also a tree that only its owner may read, and still needs write permission for the device node.
without_override=(setpriv --bounding-set=-dac_override --inh-caps=-dac_override)
node=/dev/infiniband/uverbs0
chmod 000 "$node"
same 'an unreadable device node: ibv_devices' 0 "${without_override[@]}" ibv_devices
same 'an unreadable device node: ibv_devinfo' 1 "${without_override[@]}" ibv_devinfo
same 'an unreadable device node: ibv_devinfo -l' 0 "${without_override[@]}" ibv_devinfo -l
same 'an unreadable device node: ibv_rc_pingpong' 1 "${without_override[@]}" ibv_rc_pingpong -g 1
same 'an unreadable device node: ib_send_lat' 1 "${without_override[@]}" ib_send_lat -x 1
# Stock looks for other nodes after the first cause of failure, and forgets it.
our_answer='s/(open_device: NULL errno) ENOENT/\1 EACCES/' \
    in_turn "an unreadable device node: the verbs' answers" 0 true "${without_override[@]}" "$helpers/answers"
tool 'an unreadable device node: our ibv_devinfo' 1 "${without_override[@]}" ibv_devinfo
tool 'an unreadable device node: our ibv_rc_pingpong' 1 "${without_override[@]}" ibv_rc_pingpong -g 1
chmod 666 "$node"

# As in a container that was given another device's node. Stock does not list the device; ours does, and opening fails.
mv "$node" /dev/away
# shellcheck disable=SC2016 # sed's last line
our_answer='$a\    rxe0            \t505400fffe123456' same 'no device node: ibv_devices' 0 ibv_devices
our_answer='s/No IB devices found/Failed to open device/' our_status=1 same 'no device node: ibv_devinfo' 255 ibv_devinfo
our_answer="s/No IB devices found/Couldn't get context for rxe0/" \
    same 'no device node: ibv_rc_pingpong' 1 ibv_rc_pingpong -g 1
mv /dev/away "$node"

same 'netlink refused: ibv_devices' 0 "$helpers/deny_rdma_netlink" ibv_devices
same 'netlink refused: ibv_devinfo -v' 0 "$helpers/deny_rdma_netlink" ibv_devinfo -v
over_tcp 'netlink refused: ibv_rc_pingpong' 0 "$helpers/deny_rdma_netlink ibv_rc_pingpong -g 1 -n 20"
without_sysfs=(unshare -m bash -c 'umount -l /sys && exec "$@"' -)
same 'sysfs not mounted: ibv_devinfo -v' 0 "${without_sysfs[@]}" ibv_devinfo -v
same 'neither netlink nor sysfs: ibv_devinfo' 255 "${without_sysfs[@]}" "$helpers/deny_rdma_netlink" ibv_devinfo
in_turn "neither netlink nor sysfs: the verbs' answers" 0 true "${without_sysfs[@]}" "$helpers/deny_rdma_netlink" "$helpers/answers"

# A library in a place of its own finds its providers through the system's configuration only.
mkdir -p no-providers
rm -rf copy/ours/libibverbs copy/ours/libibverbs.d
mount --bind no-providers /etc/libibverbs.d
same 'no provider: ibv_devices' 0 ibv_devices
same 'no provider: ibv_devinfo' 255 ibv_devinfo
same 'no provider: ibv_devinfo -l' 0 ibv_devinfo -l
same 'no provider: ibv_rc_pingpong' 1 ibv_rc_pingpong -g 1
same 'no provider, with warnings' 255 env IBV_SHOW_WARNINGS=1 ibv_devinfo
same 'a provider that is not there' 255 env IBV_DRIVERS=/nowhere/rxe ibv_devinfo
umount /etc/libibverbs.d
# shellcheck disable=SC2034 # judge.sh reads it
library_of=([stock]=$stock_library [ours]=$our_library)

rxe_again() {
    wait_until "$patience" rxe_is_gone && rxe_add
}
rxe_remove
in_turn 'hot unplug' 0 rxe_again "$helpers/unplug" 'rdma link delete rxe0'
in_turn 'hot unplug: RDMAV_ALLOW_DISASSOC_DESTROY' 0 rxe_again \
    env RDMAV_ALLOW_DISASSOC_DESTROY=1 "$helpers/unplug" 'rdma link delete rxe0'
in_turn 'hot unplug: a program that closes nothing' 0 rxe_again "$helpers/unplug" 'rdma link delete rxe0' keep
wait_until "$patience" rxe_is_gone
same 'no device: ibv_devices' 0 ibv_devices
same 'no device: ibv_devinfo' 255 ibv_devinfo
same 'no device: ibv_devinfo -l' 0 ibv_devinfo -l
same 'no device: ibv_devinfo -d rxe0' 255 ibv_devinfo -d rxe0
same 'no device: ibv_rc_pingpong' 1 ibv_rc_pingpong -g 1
same 'no device: ib_send_lat' 1 ib_send_lat -x 1
same 'no device: rping' 19 rping -s
same 'no device: ucmatose' 1 ucmatose
in_turn "no device: the verbs' answers" 0 true "$helpers/answers"
tool 'no device: our ibv_devices' 0 ibv_devices
tool 'no device: our ibv_devinfo' 255 ibv_devinfo
tool 'no device: our ibv_devinfo -l' 0 ibv_devinfo -l
tool 'no device: our ibv_rc_pingpong' 1 ibv_rc_pingpong -g 1

. "$here/cases_siw.sh"

# The last cases: nothing brings the modules back.
rmmod ib_umad rdma_rxe rdma_ucm ib_uverbs
same 'a kernel without RDMA: ibv_devices' 0 ibv_devices
same 'a kernel without RDMA: ibv_devinfo' 255 ibv_devinfo
same 'a kernel without RDMA: rping' 19 rping -s
