// SPDX-License-Identifier: BSD-2-Clause
// The fake's devices, contexts and queries.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "objects.hh"
#include "scenario.hh"

#undef ibv_query_port

using namespace fake_verbs;

namespace fake_verbs {
namespace {

const Device *device_of(ibv_context *context)
{
    return reinterpret_cast<Device *>(context->device);
}

const Port *port_of(ibv_context *context, unsigned port_num)
{
    const Device *device = device_of(context);
    if (port_num < 1 || port_num > device->ports.size()) {
        errno = EINVAL;
        return nullptr;
    }
    return &device->ports[port_num - 1];
}

int query_device_ex(ibv_context *context, const ibv_query_device_ex_input *, ibv_device_attr_ex *attr,
                    size_t size)
{
    log("ibv_query_device_ex");
    if (int error = failure("ibv_query_device_ex"))
        return error;
    memset(attr, 0, size);
    memcpy(attr, &device_of(context)->attr, size < sizeof(*attr) ? size : sizeof(*attr));
    return 0;
}

int query_port(ibv_context *context, uint8_t port_num, ibv_port_attr *attr, size_t size)
{
    log("ibv_query_port(%u)", port_num);
    if (int error = failure("ibv_query_port"))
        return error;
    const Port *port = port_of(context, port_num);
    if (!port)
        return EINVAL;
    memset(attr, 0, size);
    memcpy(attr, &port->attr, size < sizeof(*attr) ? size : sizeof(*attr));
    return 0;
}

}  // namespace
}  // namespace fake_verbs

#pragma GCC visibility push(default)
extern "C" {

ibv_device **ibv_get_device_list(int *count)
{
    log("ibv_get_device_list");
    if (failure("ibv_get_device_list"))
        return nullptr;
    const auto &devices = scenario().devices;
    auto **list = static_cast<ibv_device **>(calloc(devices.size() + 1, sizeof(void *)));
    for (size_t i = 0; i < devices.size(); ++i)
        list[i] = &devices[i]->device;
    if (count)
        *count = static_cast<int>(devices.size());
    return list;
}

void ibv_free_device_list(ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(ibv_device *device)
{
    return device->name;
}

__be64 ibv_get_device_guid(ibv_device *device)
{
    return reinterpret_cast<Device *>(device)->guid;
}

ibv_context *ibv_open_device(ibv_device *device)
{
    log("ibv_open_device(%s)", device->name);
    if (failure("ibv_open_device"))
        return nullptr;
    auto *whole = static_cast<verbs_context *>(calloc(1, sizeof(verbs_context)));
    whole->sz = sizeof(verbs_context);
    whole->query_port = query_port;
    if (reinterpret_cast<Device *>(device)->has_extended_query)
        whole->query_device_ex = query_device_ex;
    ibv_context *context = &whole->context;
    context->device = device;
    context->num_comp_vectors = reinterpret_cast<Device *>(device)->num_comp_vectors;
    context->abi_compat = __VERBS_ABI_IS_EXTENDED;
    fill_data_path(whole);
    fill_shared_receive_queues(whole);
    return context;
}

int ibv_close_device(ibv_context *context)
{
    log("ibv_close_device");
    if (failure("ibv_close_device")) {
        abandon(context);
        return -1;
    }
    free(verbs_get_ctx(context));
    return 0;
}

int ibv_query_device(ibv_context *context, ibv_device_attr *attr)
{
    log("ibv_query_device");
    if (int error = failure("ibv_query_device"))
        return error;
    *attr = device_of(context)->attr.orig_attr;
    return 0;
}

int ibv_query_port(ibv_context *context, uint8_t port_num, _compat_ibv_port_attr *attr)
{
    return query_port(context, port_num, reinterpret_cast<ibv_port_attr *>(attr),
                      offsetof(ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(ibv_context *context, uint8_t port_num, int index, ibv_gid *gid)
{
    log("ibv_query_gid(%u, %d)", port_num, index);
    if (failure("ibv_query_gid"))
        return -1;
    const Port *port = port_of(context, port_num);
    if (!port)
        return -1;
    auto entry = port->gids.find(static_cast<uint32_t>(index));
    if (entry == port->gids.end())
        memset(gid, 0, sizeof(*gid));
    else
        *gid = entry->second.value;
    return 0;
}

int ibv_query_gid_type(ibv_context *context, uint8_t port_num, unsigned index, int *type)
{
    const Port *port = port_of(context, port_num);
    if (!port)
        return -1;
    auto entry = port->gids.find(index);
    bool exists = entry != port->gids.end();
    if (exists && entry->second.type == kUnknownGidType) {
        errno = EIO;
        return -1;
    }
    *type = exists && entry->second.type == IBV_GID_TYPE_ROCE_V2;
    return 0;
}

int _ibv_query_gid_ex(ibv_context *context, uint32_t port_num, uint32_t index, ibv_gid_entry *result,
                      uint32_t flags, size_t size)
{
    const Port *port = port_of(context, port_num);
    if (!port || flags || size != sizeof(*result))
        return EINVAL;
    auto entry = port->gids.find(index);
    if (entry == port->gids.end())
        return ENODATA;
    if (entry->second.type == kUnknownGidType)
        return EIO;
    *result = {entry->second.value, index, port_num, entry->second.type, 0};
    return 0;
}

int ibv_read_sysfs_file(const char *directory, const char *name, char *buffer, size_t size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = pread(fd, buffer, size, 0);
    close(fd);
    if (length > 0) {
        if (buffer[length - 1] == '\n')
            buffer[--length] = '\0';
        else if (static_cast<size_t>(length) < size)
            buffer[length] = '\0';
        else
            length = -1;
    }
    return static_cast<int>(length);
}

}  // extern "C"
#pragma GCC visibility pop
