// SPDX-License-Identifier: BSD-2-Clause
// A device of urxe, and an open one.
#pragma once

#include <infiniband/verbs_provider.h>
#include <pthread.h>

#include <cstddef>

#include "interface.hh"

namespace urxe {

struct Device {
    verbs_device verbs;  // must be first
    char interface[IF_NAMESIZE];
    // The GID table: an address keeps its place as long as the interface has it.
    pthread_mutex_t lock;
    ibv_gid gids[kGidTableSize];  ///< zero: empty
};

inline Device &device_of(const ibv_context &context)
{
    return *reinterpret_cast<Device *>(verbs_get_device(context.device));
}

struct Context {
    verbs_context verbs;
    int events;  ///< where asynchronous events go in; the program reads them from async_fd
};

inline Context *to_context(ibv_context *context)
{
    return reinterpret_cast<Context *>(reinterpret_cast<char *>(context) - offsetof(Context, verbs.context));
}

verbs_context *context_alloc(ibv_device *device, int cmd_fd, void *private_data);

int gid_query(ibv_context *context, uint32_t port_num, uint32_t index, ibv_gid_entry *entry);
int pkey_query(ibv_context *context, uint32_t port_num, uint32_t index, uint16_t *pkey);

}  // namespace urxe
