/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated kernel with RDMA devices, for any program that uses any libibverbs.
 *
 *     LD_PRELOAD=build/lib/libverbs_sim.so VERBS_SIM=two_devices.sim ibv_devinfo -v
 *
 * The library stands in front of libc. Paths below /sys/class/infiniband* and /dev/infiniband lead to a tree
 * of its own, NETLINK_RDMA sockets are answered by it, and so are the ioctl, write and mmap of its uverbs
 * devices. There is no data path: queues are real memory, but nobody works on them. Programs that make system
 * calls themselves, without libc, see the real kernel.
 *
 * VERBS_SIM          file with a description, or the text itself with ';' between lines. Without it: one
 *                    device sim0.
 * VERBS_SIM_KERNEL   all (default): new kernels; ioctl-only: write is refused with EACCES; write-only: ioctl
 *                    gives ENOTTY, as before Linux 4.14; old-ioctl: only the methods of Linux 4.20 (no
 *                    INVOKE_WRITE).
 * VERBS_SIM_NETLINK  on (default), or the errno of socket(NETLINK_RDMA), such as EPERM or EPROTONOSUPPORT.
 * VERBS_SIM_RECORD   file to which every command is appended, see below.
 * VERBS_SIM_FAIL     faults, see below.
 *
 * A description has one word and its values per line; '#' starts a comment. Of the whole kernel:
 *     kernel all|ioctl-only|write-only|old-ioctl    netlink on|ERRNO    uverbs on|off    uverbs_abi N
 *     copy_on_fork on|off
 * `device NAME` starts a device, for which every line is optional:
 *     driver NAME|N           kernel driver: unknown, rxe, siw, mlx5, …; rxe and siw come with their defaults
 *     abi N                   version of the driver's interface
 *     node_type ca|rnic|…     guid 0x…    sys_image_guid 0x…    firmware TEXT    node_desc TEXT
 *     pci ADDRESS VENDOR DEVICE                for example: pci 0000:03:00.0 0x15b3 0x1019
 *     uverbs N                number of its character device
 *     node none|MINOR         a missing or wrong node in /dev
 *     comp_vectors N          core_support on|off       max_counters N
 *     refuse OBJECT/METHOD [ERRNO]   the driver lacks it: EOPNOTSUPP (may be repeated; OBJECT/ means all
 *                                    methods)
 *     max_qp N, device_cap_flags N, …          any member of ib_uverbs_ex_query_device_resp by name
 * `port` starts a port of the device; a device without has one:
 *     gid ADDRESS [ib|v1|v2 [NETDEV [INDEX]]]  pkey 0x…   speed N
 *     state active|down|init|armed|N           link_layer ethernet|infiniband|N
 *     lid N, max_mtu N, active_mtu N, …        any member of ib_uverbs_query_port_resp_ex by name
 *
 * A record is a block of lines per command:
 *     MR/REG = 0 via invoke
 *       start PTR
 *       length 0x1000
 *       pd_handle 0
 *       > lkey 0x15a
 * with ">" before what the kernel answered, and the same names in the same order whichever way (ioctl,
 * invoke, write, ex write) the command took. Addresses are PTR, files FD, driver data is hexadecimal,
 * attributes left out are absent.
 *
 * A line "? MR/REG_EX = EPROTONOSUPPORT via ioctl" is a command that this kernel does not know, or whose size
 * is wrong.
 *
 * Faults are separated by ',' or spaces:
 *     command:MR/REG:ENOMEM    every such command (also ioctl:… and write:… for one way); MR/REG#3: only the
 *                              third
 *     open:3:EMFILE            the third call of open by the library (by libibverbs, its providers, or
 *                              libnl); 3+ from the third on, * all. Also: close fcntl ioctl write read mmap
 *                              poll socket bind sendmsg recvmsg fopen opendir stat madvise, and malloc (with
 *                              libverbs_sim_malloc.so preloaded)
 *
 * With a sanitizer in the program or the library, its runtime comes first: LD_PRELOAD="libasan.so
 * libverbs_sim.so". The allocators of sanitizers and valgrind do not go together with libverbs_sim_malloc.so.
 *
 * Limits: files received with SCM_RIGHTS, and those a child has from fork, share their objects with the
 * process that opened them. Removing a device reaches files of this process and of those that share its
 * session: its children, and processes started with the same VERBS_SIM_DIR (an empty or absent directory,
 * filled by the first and removed when that ends; one that dies leaves its directory, verbs_sim.* in $TMPDIR,
 * /dev/shm or /tmp). XRC domains are not shared between open files, pages that a removed device had mapped
 * stay, directories list the first 32 entries of longer GID tables only, and a descriptor closed behind
 * libc's back (by fclose of an fdopen'ed one) counts as open until its number comes back.
 * The first use sets VERBS_SIM_DIR in the process's environment, which programs that juggle with environ do
 * not bear: trace with `strace -E LD_PRELOAD=... PROGRAM`, not with strace itself preloaded.
 *
 * A test finds what follows with dlsym(RTLD_DEFAULT, name); results are 0 or an errno value.
 */
#ifndef VERBS_SIM_H
#define VERBS_SIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the device away, as hot unplug does: IBV_EVENT_DEVICE_FATAL to every open file of it, later commands
 * fail with EIO, and lists no longer have it. ENODEV: there is no such device. */
int verbs_sim_remove_device(const char *name);

/* Puts the device back, as a new one: with the next free index. */
int verbs_sim_add_device(const char *name);

/* Raises an asynchronous event on each open file of the device; `port` is its element. `type` is one of
 * enum ibv_event_type that concerns a port or the device. */
int verbs_sim_device_event(const char *name, uint32_t type, uint32_t port);

/* Raises an asynchronous event about the object (queue pair, completion queue, shared receive queue or work
 * queue) with the kernel's number `handle` on the uverbs file `cmd_fd`, and counts it. ENOENT: there is
 * none. */
int verbs_sim_object_event(int cmd_fd, uint32_t handle, uint32_t type);

/* Has the completion queue raise a completion event: on its channel, once since notification was requested
 * unless `always`. ENOENT: no such queue; EINVAL: it has no channel. */
int verbs_sim_completion_event(int cmd_fd, uint32_t cq_handle, int always);

/* Replaces the faults of VERBS_SIM_FAIL; NULL or "" for none. Counting starts anew. EINVAL: not
 * understood. */
int verbs_sim_set_faults(const char *faults);

/* How many calls of a kind (as in VERBS_SIM_FAIL) the library made since the last call of this with
 * `reset`. */
uint64_t verbs_sim_calls(const char *kind, int reset);

/* Objects of a kind ("PD", "MR", ... as in records) that the uverbs file has. */
uint32_t verbs_sim_object_count(int cmd_fd, const char *kind);

#ifdef __cplusplus
}
#endif

#endif
