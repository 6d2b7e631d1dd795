// SPDX-License-Identifier: BSD-2-Clause
// A device of urxe, and an open one.
#pragma once

#include <infiniband/verbs_provider.h>
#include <pthread.h>

#include <cstddef>

#include "interface.hh"
#include "process.hh"
#include "verbs/event.hh"

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
    Process *process;
    EventQueue events;
    EventSource port_events;
    uint32_t number;           ///< tells its objects from those of the process's other contexts
    Peer *exporter;            ///< with a reference; this process, unless the context is imported
    uint32_t exported_number;  ///< of the context there whose objects can be imported
};

/// Limits that the device attributes tell.
constexpr uint32_t kMaxWr = 1U << 16;
constexpr int kMaxCqe = 1 << 20;
constexpr uint32_t kMaxInlineData = 1024;
constexpr uint8_t kMaxRdAtomic = 32;
constexpr uint64_t kMaxMessage = uint64_t{1} << 31;

inline Context *to_context(ibv_context *context)
{
    return reinterpret_cast<Context *>(reinterpret_cast<char *>(context) - offsetof(Context, verbs.context));
}

inline Process &process_of(const ibv_context &context)
{
    return *to_context(const_cast<ibv_context *>(&context))->process;
}

verbs_context *context_alloc(ibv_device *device, int cmd_fd, void *private_data);
/// For the file of a context that another process, or this one, has opened (exports.hh).
verbs_context *context_import(ibv_device *device, int cmd_fd);

int gid_query(ibv_context *context, uint32_t port_num, uint32_t index, ibv_gid_entry *entry);
int pkey_query(ibv_context *context, uint32_t port_num, uint32_t index, uint16_t *pkey);

}  // namespace urxe
