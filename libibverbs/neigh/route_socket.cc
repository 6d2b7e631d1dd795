// SPDX-License-Identifier: BSD-2-Clause
// The questions as libnl puts them.
#include "neigh/route_socket.hh"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/cache.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <netlink/route/link/vlan.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/route.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>

namespace verbs::neigh {
namespace {

struct ReleaseObject {
    void operator()(nl_msg *message) const { nlmsg_free(message); }
    void operator()(nl_cache *cache) const { nl_cache_free(cache); }
    void operator()(rtnl_link *link) const { rtnl_link_put(link); }
    void operator()(rtnl_neigh *neighbour) const { rtnl_neigh_put(neighbour); }
    void operator()(rtnl_route *route) const { rtnl_route_put(route); }
};
template <class T>
using Owned = std::unique_ptr<T, ReleaseObject>;

constexpr int kUsableStates = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY;

constexpr Mac kBroadcast = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

Status failure(int netlink_error)
{
    return Status(netlink_error == -NLE_NOMEM ? ENOMEM : EHOSTUNREACH);
}

Result<std::unique_ptr<nl_sock, ReleaseNetlink>> connected()
{
    std::unique_ptr<nl_sock, ReleaseNetlink> socket(nl_socket_alloc());
    if (!socket)
        return Status(ENOMEM);
    // The answer itself says that a question was heard.
    nl_socket_disable_auto_ack(socket.get());
    if (int error = nl_connect(socket.get(), NETLINK_ROUTE); error < 0)
        return failure(error);
    return socket;
}

std::optional<Mac> mac_from(nl_addr *address)
{
    if (address == nullptr || nl_addr_get_len(address) != std::tuple_size_v<Mac>)
        return std::nullopt;
    Mac mac;
    std::memcpy(mac.data(), nl_addr_get_binary_addr(address), mac.size());
    return mac;
}

/// The bytes of an address in its own family.
struct Bytes {
    const uint8_t *data;
    uint8_t size;
};
Bytes bytes_of(const in6_addr &address)
{
    return is_ipv4(address) ? Bytes{address.s6_addr + 12, 4} : Bytes{address.s6_addr, 16};
}

/// The kernel is to consider routes through the path's interface only. IPv4 looks at the source too, for the sake
/// of policy routing; with a source, IPv6 would not insist on the interface.
Owned<nl_msg> route_question(const Path &path)
{
    Owned<nl_msg> message(nlmsg_alloc_simple(RTM_GETROUTE, 0));
    Bytes destination = bytes_of(path.destination);
    Bytes source = bytes_of(path.source);
    bool from_source = source.size == 4 && destination.size == 4;

    rtmsg header{};
    header.rtm_family = destination.size == 4 ? AF_INET : AF_INET6;
    header.rtm_dst_len = static_cast<uint8_t>(destination.size * 8);
    header.rtm_src_len = from_source ? 32 : 0;
    if (!message || nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0 ||
        nla_put(message.get(), RTA_DST, destination.size, destination.data) < 0 ||
        (from_source && nla_put(message.get(), RTA_SRC, source.size, source.data) < 0) ||
        nla_put_u32(message.get(), RTA_OIF, static_cast<uint32_t>(path.interface)) < 0)
        return nullptr;
    return message;
}

int take_route(nl_msg *message, void *place)
{
    rtnl_route *route = nullptr;
    if (rtnl_route_parse(nlmsg_hdr(message), &route) == 0)
        static_cast<Owned<rtnl_route> *>(place)->reset(route);
    return NL_OK;
}

}  // namespace

Result<RouteSocket> RouteSocket::open()
{
    auto socket = connected();
    if (!socket)
        return socket.status();
    RouteSocket opened;
    opened.socket_ = std::move(*socket);
    return opened;
}

Result<EthernetHop> RouteSocket::interface(int index)
{
    if (index <= 0)
        return Status(EHOSTUNREACH);  // libnl would abort
    rtnl_link *found = nullptr;
    if (int error = rtnl_link_get_kernel(socket_.get(), index, nullptr, &found); error < 0)
        return failure(error);
    Owned<rtnl_link> link(found);
    std::optional<Mac> mac = mac_from(rtnl_link_get_addr(found));
    if (!mac)
        return Status(EHOSTUNREACH);
    bool tagged = rtnl_link_is_vlan(found) != 0;
    return EthernetHop{*mac, tagged ? static_cast<uint16_t>(rtnl_link_vlan_get_id(found)) : kNoVlan};
}

Result<Route> RouteSocket::route(const Path &path)
{
    Owned<nl_msg> question = route_question(path);
    if (!question)
        return Status(ENOMEM);
    Owned<rtnl_route> answer;
    nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_CUSTOM, take_route, &answer);
    int error = nl_send_auto(socket_.get(), question.get());
    if (error >= 0)
        error = nl_recvmsgs_default(socket_.get());
    nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_DEFAULT, nullptr, nullptr);
    if (error < 0)
        return failure(error);

    int type = RTN_UNSPEC;
    if (answer)
        type = rtnl_route_get_type(answer.get());
    if (type == RTN_LOCAL)
        return Route{true, nullptr};
    if (type != RTN_UNICAST && type != RTN_MULTICAST)
        return Status(EHOSTUNREACH);
    rtnl_nexthop *hop = rtnl_route_nexthop_n(answer.get(), 0);
    nl_addr *gateway = hop != nullptr ? rtnl_route_nh_get_gateway(hop) : nullptr;
    if (gateway == nullptr && hop != nullptr)
        gateway = rtnl_route_nh_get_via(hop);
    Bytes destination = bytes_of(path.destination);
    NetlinkAddress next_hop(gateway != nullptr ? nl_addr_get(gateway)
                                               : nl_addr_build(destination.size == 4 ? AF_INET : AF_INET6,
                                                               destination.data, destination.size));
    if (!next_hop)
        return Status(ENOMEM);
    return Route{false, std::move(next_hop)};
}

Result<std::optional<Mac>> RouteSocket::neighbour(int interface, nl_addr *address)
{
    nl_cache *all = nullptr;
    if (int error = rtnl_neigh_alloc_cache(socket_.get(), &all); error < 0)
        return failure(error);
    Owned<nl_cache> cache(all);
    Owned<rtnl_neigh> found(rtnl_neigh_get(all, interface, address));
    if (!found || (rtnl_neigh_get_state(found.get()) & kUsableStates) == 0)
        return std::optional<Mac>();
    std::optional<Mac> mac = mac_from(rtnl_neigh_get_lladdr(found.get()));
    return mac == kBroadcast ? std::nullopt : mac;
}

Result<NeighbourWatch> NeighbourWatch::open()
{
    auto socket = connected();
    if (!socket)
        return socket.status();
    if (int error = nl_socket_add_membership(socket->get(), RTNLGRP_NEIGH); error < 0)
        return failure(error);
    NeighbourWatch opened;
    opened.socket_ = std::move(*socket);
    return opened;
}

bool NeighbourWatch::wait(int patience_ms)
{
    pollfd watched{nl_socket_get_fd(socket_.get()), POLLIN, 0};
    int ready = poll(&watched, 1, patience_ms);
    if (ready < 0)
        return errno == EINTR;  // the caller looks again, and knows how long it still has patience
    if (ready == 0)
        return false;
    // What changed is looked up in the table: here it only matters that something did, lost messages
    // included.
    char message[4096];
    while (recv(watched.fd, message, sizeof message, MSG_DONTWAIT) >= 0 || errno == ENOBUFS) {
    }
    return true;
}

}  // namespace verbs::neigh
