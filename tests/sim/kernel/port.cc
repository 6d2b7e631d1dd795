// SPDX-License-Identifier: BSD-2-Clause
// Ports and GIDs: QUERY_PORT, QUERY_PORT_SPEED, QUERY_GID_TABLE, QUERY_GID_ENTRY.
#include <net/if.h>

#include <algorithm>

#include "kernel/driver.hh"
#include "kernel/methods.hh"

namespace sim {
namespace {

const Port *find_port(Call &call, uint64_t number)
{
    const std::vector<Port> &ports = call.device().ports;
    return number >= 1 && number <= ports.size() ? &ports[number - 1] : nullptr;
}

constexpr Attribute kQueryPort[] = {
    {UVERBS_ATTR_QUERY_PORT_PORT_NUM, "port_num", Kind::kConst},
    {UVERBS_ATTR_QUERY_PORT_RESP, "attributes", Kind::kOut, 0, sizeof(ib_uverbs_query_port_resp_ex),
     UINT16_MAX, true, Show::kBytes},
};

int query_port(Call &call)
{
    const uint64_t number = call.constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM);
    const Port *port = find_port(call, number);
    if (port == nullptr)
        return EINVAL;
    call.out(UVERBS_ATTR_QUERY_PORT_RESP, port->attributes);
    return 0;
}

constexpr Field kQueryPortRequest[] = {SIM_FIELD(ib_uverbs_query_port, response, Show::kHidden),
                                       SIM_FIELD(ib_uverbs_query_port, port_num)};
constexpr Field kQueryPortResponse[] = {{"attributes", 0, sizeof(ib_uverbs_query_port_resp), Show::kBytes}};

int query_port_write(Call &call)
{
    const Port *port = find_port(call, call.request<ib_uverbs_query_port>().port_num);
    if (port == nullptr)
        return EINVAL;
    call.respond(port->attributes.legacy_resp);
    return 0;
}

constexpr Attribute kQueryPortSpeed[] = {
    {UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, "port_num", Kind::kIn, 0, 4, 4},
    {UVERBS_ATTR_QUERY_PORT_SPEED_RESP, "speed", Kind::kOut, 0, 8, 8},
};

int query_port_speed(Call &call)
{
    const Port *port = find_port(call, call.in<uint32_t>(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM));
    if (port == nullptr)
        return EINVAL;
    call.out(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, port->speed);
    return 0;
}

ib_uverbs_gid_entry entry_of(const Gid &gid, uint32_t port)
{
    ib_uverbs_gid_entry entry = {};
    memcpy(entry.gid, gid.raw.data(), sizeof entry.gid);
    entry.gid_index = gid.index;
    entry.port_num = port;
    entry.gid_type = gid.type;
    entry.netdev_ifindex = gid.ndev.empty() ? 0 : if_nametoindex(gid.ndev.c_str());
    return entry;
}

constexpr Attribute kQueryGidTable[] = {
    {UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, "entry_size", Kind::kConst},
    {UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, "flags", Kind::kFlags, 0, 0, 0, false},
    {UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, "entries", Kind::kOut, 0, 0, UINT16_MAX, true, Show::kBytes},
    {UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, "num_entries", Kind::kOut, 0, 8, 8},
};

int query_gid_table(Call &call)
{
    const uint64_t size = call.constant(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
    const ib_uverbs_attr *entries = call.attribute(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
    if (call.in<uint64_t>(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS) != 0 || size == 0)
        return EINVAL;
    const uint64_t room = entries->len / size;
    if (room == 0)
        return EINVAL;
    const size_t copied = std::min<size_t>(size, sizeof(ib_uverbs_gid_entry));
    uint64_t count = 0;
    std::vector<std::byte> table;
    for (size_t port = 0; port < call.device().ports.size(); ++port)
        for (const Gid &gid : call.device().ports[port].gids) {
            if (count == room)
                return EINVAL;
            const ib_uverbs_gid_entry entry = entry_of(gid, static_cast<uint32_t>(port + 1));
            table.resize((count + 1) * size);
            memcpy(table.data() + count * size, &entry, copied);
            ++count;
        }
    call.out_bytes(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, table.data(), table.size());
    call.out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, count);
    return 0;
}

constexpr Attribute kQueryGidEntry[] = {
    {UVERBS_ATTR_QUERY_GID_ENTRY_PORT, "port", Kind::kConst},
    {UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, "gid_index", Kind::kConst},
    {UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, "flags", Kind::kFlags, 0, 0, 0, false},
    {UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, "entry", Kind::kOut, 0, sizeof(ib_uverbs_gid_entry), UINT16_MAX,
     true, Show::kBytes},
};

int query_gid_entry(Call &call)
{
    const uint64_t number = call.constant(UVERBS_ATTR_QUERY_GID_ENTRY_PORT);
    const uint64_t index = call.constant(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
    const Port *port = find_port(call, number);
    if (call.in<uint64_t>(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS) != 0 || port == nullptr ||
        index >= port->attributes.legacy_resp.gid_tbl_len)
        return EINVAL;
    for (const Gid &gid : port->gids)
        if (gid.index == index) {
            call.out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry_of(gid, static_cast<uint32_t>(number)));
            return 0;
        }
    return ENODATA;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, "PORT/QUERY", kQueryPort, query_port},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED, "PORT/QUERY_SPEED", kQueryPortSpeed,
     query_port_speed},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, "GID/QUERY_TABLE", kQueryGidTable, query_gid_table},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, "GID/QUERY_ENTRY", kQueryGidEntry, query_gid_entry},
};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_QUERY_PORT, "PORT/QUERY", sizeof(ib_uverbs_query_port),
     sizeof(ib_uverbs_query_port_resp), kQueryPortRequest, kQueryPortResponse, query_port_write},
};

}  // namespace

Methods port_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
