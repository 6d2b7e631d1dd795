// SPDX-License-Identifier: BSD-2-Clause
// The GID and P_Key tables of a device.
#include <endian.h>

#include <cerrno>
#include <cstring>

#include "context.hh"

namespace urxe {
namespace {

constexpr ibv_gid kEmpty{};

bool is_same(const ibv_gid &left, const ibv_gid &right)
{
    return std::memcmp(left.raw, right.raw, sizeof left.raw) == 0;
}

bool has(const ibv_gid *gids, size_t count, const ibv_gid &gid)
{
    for (size_t i = 0; i < count; ++i)
        if (is_same(gids[i], gid))
            return true;
    return false;
}

/// Takes out what the interface has not any more, and puts what is new into the first free places.
void refresh(Device &device, const ibv_gid *now, size_t count)
{
    for (ibv_gid &gid : device.gids)
        if (!has(now, count, gid))
            gid = kEmpty;
    for (size_t i = 0; i < count; ++i) {
        if (has(device.gids, kGidTableSize, now[i]))
            continue;
        for (ibv_gid &place : device.gids)
            if (is_same(place, kEmpty)) {
                place = now[i];
                break;
            }
    }
}

}  // namespace

int gid_query(ibv_context *context, uint32_t port_num, uint32_t index, ibv_gid_entry *entry)
{
    if (port_num != 1 || index >= kGidTableSize)
        return ENOENT;
    Device &device = device_of(*context);
    const unsigned interface = if_nametoindex(device.interface);
    ibv_gid now[kGidTableSize];
    const int count = interface != 0 ? interface_gids(interface, now) : 0;
    if (count < 0 && count != -ENXIO)
        return -count;
    pthread_mutex_lock(&device.lock);
    refresh(device, now, count > 0 ? static_cast<size_t>(count) : 0);
    const ibv_gid gid = device.gids[index];
    pthread_mutex_unlock(&device.lock);
    if (is_same(gid, kEmpty))
        return ENODATA;
    *entry = {.gid = gid,
              .gid_index = index,
              .port_num = port_num,
              .gid_type = IBV_GID_TYPE_ROCE_V2,
              .ndev_ifindex = interface};
    return 0;
}

int pkey_query(ibv_context *, uint32_t port_num, uint32_t index, uint16_t *pkey)
{
    if (port_num != 1 || index != 0)
        return ENOENT;
    *pkey = htobe16(0xffff);  // the default partition, full member: IBTA 10.9.1
    return 0;
}

}  // namespace urxe
