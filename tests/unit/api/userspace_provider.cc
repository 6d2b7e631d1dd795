// SPDX-License-Identifier: BSD-2-Clause
// A provider in the test whose devices exist without the kernel.
#include "userspace_provider.hh"

#include <fcntl.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

namespace verbs::test {

Seen seen;

namespace {

struct Context {
    verbs_context verbs;  // must be first
    int events;           ///< the end of async_fd's pipe that events go into
};

struct Channel {
    ibv_comp_channel channel;  // must be first
    int events;
};

/// What goes through a channel's pipe.
struct CompEvent {
    ibv_cq *cq;
};

struct Cq {
    verbs_cq cq;  // must be first
    uint32_t comp_events;
    uint32_t async_events;
};

template <class Object>
Object *allocate()
{
    return static_cast<Object *>(std::calloc(1, sizeof(Object)));
}

/// Reads one `value`: 0, or why there is none.
template <class Value>
int take(int fd, Value &value)
{
    const ssize_t size = read(fd, &value, sizeof value);
    if (size < 0)
        return errno;
    return size == sizeof value ? 0 : EIO;
}

template <class Value>
void put(int fd, const Value &value)
{
    if (write(fd, &value, sizeof value) != sizeof value)
        std::abort();
}

ibv_cq *create_cq(ibv_context *, int cqe, ibv_comp_channel *, int)
{
    Cq *cq = allocate<Cq>();
    cq->cq.cq.cqe = cqe;
    return &cq->cq.cq;
}

ibv_cq_ex *create_cq_ex(ibv_context *, ibv_cq_init_attr_ex *attr)
{
    Cq *cq = allocate<Cq>();
    cq->cq.cq.cqe = static_cast<int>(attr->cqe);
    return &cq->cq.cq_ex;
}

int destroy_cq(ibv_cq *cq)
{
    auto *destroyed = reinterpret_cast<Cq *>(cq);
    pthread_mutex_lock(&cq->mutex);
    ++seen.waiting;
    while (cq->comp_events_completed != destroyed->comp_events ||
           cq->async_events_completed != destroyed->async_events)
        pthread_cond_wait(&cq->cond, &cq->mutex);
    --seen.waiting;
    pthread_mutex_unlock(&cq->mutex);
    ++seen.destroyed;
    std::free(cq);
    return 0;
}

int query_device(ibv_context *, const ibv_query_device_ex_input *, ibv_device_attr_ex *attr, size_t size)
{
    ibv_device_attr_ex whole = {};
    whole.orig_attr.max_cq = 5;
    whole.orig_attr.phys_port_cnt = 1;
    std::memcpy(attr, &whole, std::min(size, sizeof whole));
    return 0;
}

int query_port(ibv_context *, uint8_t port_num, ibv_port_attr *attr)
{
    if (port_num != 1)
        return EINVAL;
    attr->link_layer = IBV_LINK_LAYER_ETHERNET;
    attr->gid_tbl_len = 4;
    return 0;
}

ibv_ah *create_ah(ibv_pd *, ibv_ah_attr *attr)
{
    ibv_ah *ah = allocate<ibv_ah>();
    ah->handle = attr->grh.sgid_index;
    return ah;
}

int destroy_ah(ibv_ah *ah)
{
    std::free(ah);
    return 0;
}

ibv_mr *reg_mr(ibv_pd *, void *, size_t, uint64_t, int access)
{
    if (seen.region_failure != 0) {
        errno = seen.region_failure;
        return nullptr;
    }
    auto *mr = allocate<verbs_mr>();
    mr->mr_type = IBV_MR_TYPE_MR;
    mr->access = access;
    return &mr->ibv_mr;
}

int dereg_mr(verbs_mr *mr)
{
    std::free(mr);
    return 0;
}

void context_free(ibv_context *context)
{
    auto *freed = reinterpret_cast<Context *>(verbs_get_ctx(context));
    close(freed->events);
    verbs_uninit_context(&freed->verbs);
    std::free(freed);
}

constexpr verbs_context_ops kFree = {.free_context = context_free};
constexpr verbs_context_ops kOps = {
    .async_event = [](ibv_context *, ibv_async_event *) { ++seen.async_events; },
    .cq_event = [](ibv_cq *) { ++seen.cq_events; },
    .create_ah = create_ah,
    .create_cq = create_cq,
    .create_cq_ex = create_cq_ex,
    .dereg_mr = dereg_mr,
    .destroy_ah = destroy_ah,
    .destroy_cq = destroy_cq,
    .query_device_ex = query_device,
    .query_port = query_port,
    .reg_mr = reg_mr,
};

verbs_device *device_alloc(verbs_sysfs_dev *)
{
    return allocate<verbs_device>();
}

void device_free(verbs_device *device)
{
    std::free(device);
}

verbs_context *context_alloc(ibv_device *device, int cmd_fd, void *)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return nullptr;
    auto *context = static_cast<Context *>(
        _verbs_init_and_alloc_context(device, cmd_fd, sizeof(Context), nullptr, RDMA_DRIVER_UNKNOWN));
    context->verbs.context.async_fd = ends[0];
    context->events = ends[1];
    verbs_set_ops(&context->verbs, &kFree);
    if (std::strcmp(ibv_get_device_name(device), "hollow0") != 0)
        verbs_set_ops(&context->verbs, &kOps);
    return &context->verbs;
}

/// A file of as many bytes as the device's name is long is that device's; one byte more makes it fail.
verbs_context *context_import(ibv_device *device, int cmd_fd)
{
    struct stat file = {};
    fstat(cmd_fd, &file);
    const auto length = static_cast<off_t>(std::strlen(ibv_get_device_name(device)));
    if (file.st_size == length)
        return context_alloc(device, cmd_fd, nullptr);
    close(cmd_fd);
    errno = file.st_size == length + 1 ? ESTALE : EINVAL;
    return nullptr;
}

/// Each provider is asked for by its own name.
int list_devices(const char *which, verbs_userspace_list *list)
{
    const std::string name = std::string(which) + "0";
    const verbs_userspace_device device = {.size = sizeof device,
                                           .name = name.c_str(),
                                           .node_guid = 1,
                                           .node_type = IBV_NODE_CA,
                                           .num_ports = 1};
    return verbs_userspace_list_add(list, &device);
}

int query_gid(ibv_context *, uint32_t port_num, uint32_t index, ibv_gid_entry *entry)
{
    if (port_num != 1 || index >= 4)
        return ENOENT;
    if (index != 2)
        return ENODATA;
    *entry = {};
    const uint8_t loopback[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
    std::memcpy(entry->gid.raw, loopback, sizeof loopback);
    entry->gid_index = index;
    entry->port_num = port_num;
    entry->gid_type = IBV_GID_TYPE_ROCE_V2;
    entry->ndev_ifindex = if_nametoindex("lo");
    return 0;
}

int query_pkey(ibv_context *, uint32_t, uint32_t index, uint16_t *pkey)
{
    *pkey = 0xffff;
    return index == 0 ? 0 : ENOENT;
}

int create_comp_channel(ibv_context *, ibv_comp_channel **channel)
{
    if (seen.channel_failure != 0)
        return seen.channel_failure;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    Channel *made = allocate<Channel>();
    made->channel.fd = ends[0];
    made->events = ends[1];
    *channel = &made->channel;
    ++seen.channels;
    return 0;
}

int destroy_comp_channel(ibv_comp_channel *channel)
{
    if (seen.channel_failure != 0)
        return seen.channel_failure;
    free_channel(channel);
    return 0;
}

int get_cq_event(ibv_comp_channel *channel, ibv_cq **cq)
{
    CompEvent event;
    if (int error = take(channel->fd, event); error != 0)
        return error;
    *cq = event.cq;
    ++reinterpret_cast<Cq *>(event.cq)->comp_events;
    return 0;
}

int get_async_event(ibv_context *context, ibv_async_event *event)
{
    const int error = take(context->async_fd, *event);
    if (error == 0 && event->event_type == IBV_EVENT_CQ_ERR)
        ++reinterpret_cast<Cq *>(event->element.cq)->async_events;
    return error;
}

constexpr verbs_device_ops device_ops(const char *name)
{
    return {.name = name,
            .alloc_context = context_alloc,
            .import_context = std::string_view(name) == "hollow" ? nullptr : context_import,
            .alloc_device = device_alloc,
            .uninit_device = device_free};
}

constexpr verbs_device_ops kDevices[] = {device_ops("whole"), device_ops("hollow"), device_ops("first"),
                                         device_ops("makes")};

constexpr verbs_userspace_ops all_but_size(const verbs_device_ops &device_ops, size_t size)
{
    return {.size = size,
            .device_ops = &device_ops,
            .list_devices = list_devices,
            .query_gid = query_gid,
            .query_pkey = query_pkey,
            .create_comp_channel = create_comp_channel,
            .destroy_comp_channel = destroy_comp_channel,
            .get_cq_event = get_cq_event,
            .get_async_event = get_async_event};
}

// What lies behind the size of a provider must not be looked at: there are ops that would work.
constexpr verbs_userspace_ops kUserspaceOps[] = {
    all_but_size(kDevices[0], sizeof(verbs_userspace_ops)),
    {.size = sizeof(verbs_userspace_ops), .device_ops = &kDevices[1], .list_devices = list_devices},
    all_but_size(kDevices[2], offsetof(verbs_userspace_ops, create_comp_channel)),
    all_but_size(kDevices[3], offsetof(verbs_userspace_ops, destroy_comp_channel)),
};

}  // namespace

ibv_context *open_userspace_device(const char *provider)
{
    for (const verbs_userspace_ops &ops : kUserspaceOps)
        verbs_register_userspace_1(&ops);
    std::string variable = provider;
    std::transform(variable.begin(), variable.end(), variable.begin(), ::toupper);
    setenv(variable.c_str(), provider, 1);
    ibv_device **list = ibv_get_device_list(nullptr);
    unsetenv(variable.c_str());
    if (list == nullptr)
        return nullptr;
    ibv_context *context = nullptr;
    for (ibv_device **device = list; *device != nullptr; ++device)
        if (ibv_get_device_name(*device) == std::string(provider) + "0")
            context = ibv_open_device(*device);
    ibv_free_device_list(list);
    return context;
}

void free_channel(ibv_comp_channel *channel)
{
    auto *freed = reinterpret_cast<Channel *>(channel);
    close(channel->fd);
    close(freed->events);
    std::free(freed);
    --seen.channels;
}

void raise(ibv_cq *cq)
{
    put(reinterpret_cast<Channel *>(cq->channel)->events, CompEvent{cq});
}

void raise(ibv_context *context, const ibv_async_event &event)
{
    put(reinterpret_cast<Context *>(verbs_get_ctx(context))->events, event);
}

}  // namespace verbs::test
