// SPDX-License-Identifier: BSD-2-Clause
// GID tables.
#include <infiniband/driver.h>

#include <algorithm>
#include <cstring>

#include "base/export.hh"
#include "base/memory.hh"
#include "discovery/port_sysfs.hh"
#include "provider/context.hh"
#include "provider/userspace.hh"
#include "uverbs/context.hh"

using verbs::Result;
using verbs::Status;
using verbs::provider::channel;

namespace {

const verbs_sysfs_dev &sysfs_of(const ibv_context *context)
{
    return *verbs_get_device(context->device)->sysfs;
}

/// The entry as sysfs, or the provider of a userspace device, shows it; ENODATA where it is empty, as the kernel's own
/// query says, ENOENT where there is none.
Status read_entry(ibv_context *context, uint32_t port_num, uint32_t index, ib_uverbs_gid_entry &entry)
{
    const verbs_sysfs_dev &device = sysfs_of(context);
    if (const verbs_userspace_ops *userspace = verbs::provider::userspace_ops(device))
        return userspace->query_gid(context, port_num, index, reinterpret_cast<ibv_gid_entry *>(&entry));
    Result<ibv_gid> gid = verbs::discovery::read_gid(device, port_num, index);
    if (!gid)
        return gid.status();
    constexpr ibv_gid kEmpty = {};
    if (std::memcmp(&*gid, &kEmpty, sizeof kEmpty) == 0)
        return ENODATA;
    Result<ibv_gid_type> type = verbs::discovery::read_gid_type(device, port_num, index);
    if (!type)
        return type.error() == EINVAL ? Status(ENODATA) : type.status();
    Result<uint32_t> ifindex = verbs::discovery::read_gid_ndev(device, port_num, index);

    entry = {};
    std::memcpy(entry.gid, &*gid, sizeof entry.gid);
    entry.gid_index = index;
    entry.port_num = port_num;
    entry.gid_type = *type;
    entry.netdev_ifindex = ifindex ? *ifindex : 0;
    return {};
}

/// One entry: from the kernel, from elsewhere where it has no such command or does not know the device.
Status query_entry(ibv_context *context, uint32_t port_num, uint32_t index, uint32_t flags,
                   ib_uverbs_gid_entry &entry)
{
    Status status = verbs::uverbs::gid_query(channel(context), port_num, index, flags, entry);
    if (!verbs::uverbs::Channel::is_refusal(status) && status.error() != EOPNOTSUPP)
        return status;
    return flags == 0 ? read_entry(context, port_num, index, entry) : Status(EOPNOTSUPP);
}

/// Adds all filled entries of one port. EINVAL: there is no room for them.
Status read_port_table(ibv_context *context, uint32_t port_num, ib_uverbs_gid_entry *entries, size_t capacity,
                       size_t &count)
{
    ibv_port_attr port = {};
    if (int error = verbs::provider::ops(context).query_port(context, static_cast<uint8_t>(port_num), &port);
        error != 0)
        return error;
    for (uint32_t index = 0; index < static_cast<uint32_t>(port.gid_tbl_len); ++index) {
        ib_uverbs_gid_entry entry;
        Status status = read_entry(context, port_num, index, entry);
        if (status.error() == ENODATA)
            continue;
        if (!status)
            return status.error() == ENOENT ? Status(EINVAL) : status;
        if (count == capacity)
            return EINVAL;
        entries[count++] = entry;
    }
    return {};
}

Result<size_t> query_table(ibv_context *context, uint32_t flags, ib_uverbs_gid_entry *entries,
                           size_t capacity)
{
    Result<size_t> count = verbs::uverbs::gid_table_query(channel(context), flags, entries, capacity);
    if (!verbs::uverbs::Channel::is_refusal(count.status()) && count.error() != EOPNOTSUPP)
        return count;
    if (flags != 0)
        return Status(EOPNOTSUPP);

    ibv_device_attr device = {};
    if (int error = ibv_query_device(context, &device); error != 0)
        return Status(error);
    size_t read = 0;
    for (uint32_t port_num = 1; port_num <= device.phys_port_cnt; ++port_num) {
        if (Status status = read_port_table(context, port_num, entries, capacity, read); !status)
            return status;
    }
    return read;
}

static_assert(sizeof(ibv_gid_entry) == sizeof(ib_uverbs_gid_entry));
static_assert(int{IB_UVERBS_GID_TYPE_ROCE_V2} == int{IBV_GID_TYPE_ROCE_V2});

}  // namespace

VERBS_EXPORT int ibv_query_gid(ibv_context *context, uint8_t port_num, int index, ibv_gid *gid)
{
    ib_uverbs_gid_entry entry;
    Status status = query_entry(context, port_num, static_cast<uint32_t>(index), 0, entry);
    if (status.error() == ENODATA) {
        std::memset(gid, 0, sizeof *gid);
        return 0;
    }
    if (!status)
        return verbs::minus_one_with(status.error());
    std::memcpy(gid, entry.gid, sizeof *gid);
    return 0;
}

VERBS_EXPORT int _ibv_query_gid_ex(ibv_context *context, uint32_t port_num, uint32_t gid_index,
                                   ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
    ib_uverbs_gid_entry found;
    if (Status status = query_entry(context, port_num, gid_index, flags, found); !status)
        return status.error() == ENOENT ? EINVAL : status.error();
    std::memset(entry, 0, entry_size);
    std::memcpy(entry, &found, std::min(entry_size, sizeof found));
    return 0;
}

VERBS_EXPORT ssize_t _ibv_query_gid_table(ibv_context *context, ibv_gid_entry *entries, size_t max_entries,
                                          uint32_t flags, size_t entry_size)
{
    if (entry_size != sizeof *entries)
        return -EINVAL;
    Result<size_t> count =
        query_table(context, flags, reinterpret_cast<ib_uverbs_gid_entry *>(entries), max_entries);
    return count ? static_cast<ssize_t>(*count) : -count.error();
}

VERBS_EXPORT int ibv_query_gid_type(ibv_context *context, uint8_t port_num, unsigned int index,
                                    ibv_gid_type_sysfs *type)
{
    ib_uverbs_gid_entry entry;
    Status status = query_entry(context, port_num, index, 0, entry);
    if (!status)
        return verbs::minus_one_with(status.error() == ENOENT ? EINVAL : status.error());
    *type =
        entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? IBV_GID_TYPE_SYSFS_ROCE_V2 : IBV_GID_TYPE_SYSFS_IB_ROCE_V1;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_query_gid_type);
