// SPDX-License-Identifier: BSD-2-Clause
// GID and P_Key tables as sysfs shows them.
#include "discovery/port_sysfs.hh"

#include <arpa/inet.h>
#include <net/if.h>

#include <charconv>
#include <climits>
#include <cstring>
#include <span>

#include "discovery/path.hh"
#include "discovery/sysfs_file.hh"

namespace verbs::discovery {
namespace {

/// Reads ports/PORT/TABLE/INDEX.
Result<size_t> read_entry(const verbs_sysfs_dev &device, uint32_t port, const char *table, uint32_t index,
                          std::span<char> out)
{
    char path[PATH_MAX];
    if (!join_path(path, {device.ibdev_path, "/ports/", Decimal(port), "/", table, "/", Decimal(index)}))
        return Status(ENAMETOOLONG);
    return read_sysfs_file(path, nullptr, out);
}

bool is_zero(const ibv_gid &gid)
{
    return gid.global.subnet_prefix == 0 && gid.global.interface_id == 0;
}

/// IB and RoCE version 1 share a name in sysfs.
Result<ibv_gid_type> type_by_link_layer(const verbs_sysfs_dev &device, uint32_t port)
{
    char path[PATH_MAX];
    char layer[32];
    if (!join_path(path, {device.ibdev_path, "/ports/", Decimal(port), "/link_layer"}))
        return Status(ENAMETOOLONG);
    Result<size_t> length = read_sysfs_file(path, nullptr, layer);
    if (!length)
        return length.status();
    return strcmp(layer, "Ethernet") == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_IB;
}

}  // namespace

Result<ibv_gid> read_gid(const verbs_sysfs_dev &device, uint32_t port, uint32_t index)
{
    char text[64];
    ibv_gid gid = {};
    Result<size_t> length = read_entry(device, port, "gids", index, text);
    if (!length)
        return length.error() == EINVAL ? Result<ibv_gid>(gid) : length.status();
    if (inet_pton(AF_INET6, text, gid.raw) != 1)
        return Status(EBADMSG);
    return gid;
}

Result<ibv_gid_type> read_gid_type(const verbs_sysfs_dev &device, uint32_t port, uint32_t index)
{
    char text[32];
    Result<size_t> length = read_entry(device, port, "gid_attrs/types", index, text);
    if (length && strcmp(text, "RoCE v2") == 0)
        return IBV_GID_TYPE_ROCE_V2;
    if (length && strcmp(text, "IB/RoCE v1") == 0)
        return type_by_link_layer(device, port);
    if (length)
        return Status(EBADMSG);
    if (length.error() != ENOENT)
        return length.status();

    // A kernel without types, or an index without an entry.
    Result<ibv_gid> gid = read_gid(device, port, index);
    if (!gid)
        return gid.status();
    if (is_zero(*gid))
        return Status(EINVAL);
    return type_by_link_layer(device, port);
}

Result<uint32_t> read_gid_ndev(const verbs_sysfs_dev &device, uint32_t port, uint32_t index)
{
    char name[IF_NAMESIZE + 1];
    Result<size_t> length = read_entry(device, port, "gid_attrs/ndevs", index, name);
    if (length) {
        unsigned interface = if_nametoindex(name);
        if (interface == 0)
            return Status(ENODEV);
        return uint32_t{interface};
    }
    if (length.error() != ENOENT && length.error() != EINVAL)
        return length.status();

    // No interface, no entry, or a kernel that does not tell.
    Result<ibv_gid> gid = read_gid(device, port, index);
    if (!gid)
        return gid.status();
    if (is_zero(*gid))
        return Status(EINVAL);
    return uint32_t{0};
}

Result<uint16_t> read_pkey(const verbs_sysfs_dev &device, uint32_t port, uint32_t index)
{
    char text[16];
    Result<size_t> length = read_entry(device, port, "pkeys", index, text);
    if (!length)
        return length.status();
    const char *digits = text;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        digits += 2;
    uint16_t pkey = 0;
    if (std::from_chars(digits, text + *length, pkey, 16).ec != std::errc())
        return Status(EBADMSG);
    return htons(pkey);
}

}  // namespace verbs::discovery
