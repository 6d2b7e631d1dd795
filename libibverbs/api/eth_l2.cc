// SPDX-License-Identifier: BSD-2-Clause
// The Ethernet addresses of RoCE: from a GID to a MAC and a VLAN.
#include <arpa/inet.h>
#include <infiniband/driver.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "base/export.hh"
#include "base/log.hh"
#include "neigh/resolve.hh"
#include "provider/context.hh"

using verbs::Result;
using verbs::neigh::EthernetHop;

namespace {

constexpr int kPatienceMs = 3000;

in6_addr address_of(const ibv_gid &gid)
{
    in6_addr address;
    static_assert(sizeof address == sizeof gid.raw);
    std::memcpy(&address, gid.raw, sizeof address);
    return address;
}

void explain_failure(const ibv_context &context, const ibv_gid &gid, int error)
{
    if (!verbs::log_enabled(verbs::LogLevel::kError))
        return;
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, gid.raw, text, sizeof text);
    if (error == EHOSTUNREACH)
        verbs::log(verbs::LogLevel::kError,
                   "%s: no Ethernet address for GID %s: no route, or no answer within %d s; "
                   "'ip route get' and 'ip neigh' show what the system knows",
                   context.device->name, text, kPatienceMs / 1000);
    else
        verbs::log(verbs::LogLevel::kError, "%s: no Ethernet address for GID %s: out of memory",
                   context.device->name, text);
}

}  // namespace

VERBS_EXPORT int ibv_resolve_eth_l2_from_gid(ibv_context *context, ibv_ah_attr *attr,
                                             uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
    // Alone among the failures, a port that cannot be queried gives -1 and errno. ABI-frozen.
    ibv_port_attr port = {};
    if (int error = verbs::provider::ops(context).query_port(context, attr->port_num, &port); error != 0)
        return verbs::minus_one_with(error);
    ibv_gid_entry source = {};
    if (port.link_layer == IBV_LINK_LAYER_INFINIBAND ||
        ibv_query_gid_ex(context, attr->port_num, attr->grh.sgid_index, &source, 0) != 0)
        return -EINVAL;

    verbs::ErrnoGuard keep;
    Result<EthernetHop> hop = verbs::neigh::resolve(
        {static_cast<int>(source.ndev_ifindex), address_of(source.gid), address_of(attr->grh.dgid)},
        kPatienceMs);
    if (!hop) {
        explain_failure(*context, attr->grh.dgid, hop.error());
        return -hop.error();
    }
    std::copy(hop->mac.begin(), hop->mac.end(), eth_mac);
    if (vid != nullptr)
        *vid = hop->vlan_id;
    return 0;
}
