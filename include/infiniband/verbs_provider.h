/* SPDX-License-Identifier: BSD-2-Clause */
/* What a provider says of devices that exist without the kernel: they live in the processes that use them. */
#ifndef INFINIBAND_VERBS_PROVIDER_H
#define INFINIBAND_VERBS_PROVIDER_H

#include <infiniband/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A userspace device as its provider lists it. */
struct verbs_userspace_device {
    size_t size;        /* sizeof(struct verbs_userspace_device) as the provider was compiled */
    const char *name;   /* 1 to IBV_SYSFS_NAME_MAX - 1 characters without a slash; copied */
    uint64_t node_guid; /* in host byte order */
    enum ibv_node_type node_type;
    uint32_t num_ports;
};

/* Where a provider puts the devices that it lists. */
struct verbs_userspace_list;

/*
 * Adds a device. 0 or a positive errno value: EINVAL where the description cannot be (a name that is too long or holds a
 * slash, a size below that of the first release), EEXIST where the list has a device of that name, ENOMEM.
 */
int verbs_userspace_list_add(struct verbs_userspace_list *list, const struct verbs_userspace_device *device);

/*
 * A provider's userspace devices. The struct only grows; `size` says how much of it the provider knows, and what it does
 * not know counts as NULL. An op that is NULL answers EOPNOTSUPP. The library copies the struct; what it points to must
 * stay valid until the process ends.
 *
 * All ops of such a device's contexts are the provider's own: every ibv_cmd_* answers EOPNOTSUPP. What those fill in, the
 * ops do: context, pd, handle, numbers and sizes; of a QP or SRQ also mutex, cond and events_completed (the library sees
 * to those of CQs and WQs); of a region the mr_type and access of its verbs_mr. What ibv_cmd_destroy_* wait for, the
 * ops that destroy objects wait for: under the object's mutex, on its cond, until its counts of completed events have
 * reached those of the events that were taken; events that nobody took yet are dropped.
 */
struct verbs_userspace_ops {
    size_t size; /* sizeof(struct verbs_userspace_ops) as the provider was compiled */

    /*
     * Name, alloc_device, alloc_context (with cmd_fd -1), import_context and uninit_device as for any device; the rest is not
     * looked at. A device of the kernel never matches. The cmd_fd of a context is a file of any kind but a character device,
     * or -1. What ibv_import_device gets, each device's import_context gets, unless that is NULL, until one takes it: EINVAL
     * says that the file is not one of that device.
     */
    const struct verbs_device_ops *device_ops;

    /*
     * Lists the devices that there are now. `which` is what the user asked for: the environment variable that is called
     * like the provider in capital letters, else the word behind `driver NAME userspace` in a configuration file; never
     * empty. Called each time that a program lists devices, by one thread at a time; must not call verbs. A device
     * that is not listed any more lives on while it is used. 0 or a positive errno value; then none counts.
     */
    int (*list_devices)(const char *which, struct verbs_userspace_list *list);

    /*
     * The GID at `index` of a port (from 1). 0, ENODATA where the entry is empty, ENOENT beyond the table or without such
     * a port. IBTA 4.1.1.
     */
    int (*query_gid)(struct ibv_context *context, uint32_t port_num, uint32_t index,
                     struct ibv_gid_entry *entry);

    /* The P_Key at `index` in network order. 0, or ENOENT. IBTA 10.9.1. */
    int (*query_pkey)(struct ibv_context *context, uint32_t port_num, uint32_t index, uint16_t *pkey);

    /*
     * Makes a completion channel: zeroed memory of the provider's that begins with a struct ibv_comp_channel, in which
     * it sets fd, a descriptor that programs poll and make O_NONBLOCK and that is readable exactly while an event
     * waits; the rest is the library's. create_cq and create_cq_ex get no channel of another context. 0 or a positive
     * errno value. IBTA 11.5.1.
     */
    int (*create_comp_channel)(struct ibv_context *context, struct ibv_comp_channel **channel);

    /* Closes and frees a channel that no CQ is on. 0, or a positive errno value, and the channel stays. */
    int (*destroy_comp_channel)(struct ibv_comp_channel *channel);

    /*
     * Takes an event of a channel: `*cq` is the queue that it is of. Waits while there is none, unless fd is O_NONBLOCK.
     * Any thread; an event goes to one of those that wait. 0, EAGAIN (non-blocking and there is none), EINTR (a signal
     * interrupted the wait), or another positive errno value.
     */
    int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq);

    /* Takes an asynchronous event; as get_cq_event, with the context's async_fd for fd. IBTA 11.6.3. */
    int (*get_async_event)(struct ibv_context *context, struct ibv_async_event *event);
};

/* Called from a constructor of the plugin, instead of verbs_register_driver_65. Once, however often it is called. */
void verbs_register_userspace_1(const struct verbs_userspace_ops *ops);

/* Registers OPS when the plugin is loaded. */
#define PROVIDER_USERSPACE(ops)                                             \
    static __attribute__((constructor)) void verbs_register_userspace(void) \
    {                                                                       \
        verbs_register_userspace_1(&(ops));                                 \
    }

#ifdef __cplusplus
}
#endif

#endif
