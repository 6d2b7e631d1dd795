// SPDX-License-Identifier: BSD-2-Clause
// The way to a MAC: the address itself, the route, the neighbour table, and at last the network.
#include "neigh/resolve.hh"

#include <sys/socket.h>
#include <time.h>

#include <cstring>

#include "base/unique_fd.hh"
#include "neigh/route_socket.hh"

namespace verbs::neigh {
namespace {

constexpr in_port_t kDiscardPort = 9;

/// An address for sockets of either family.
struct SocketAddress {
    union {
        sockaddr any;
        sockaddr_in v4;
        sockaddr_in6 v6;
    };
    socklen_t size;

    SocketAddress(const in6_addr &address, in_port_t port, int interface) : v6{}
    {
        if (is_ipv4(address)) {
            v4.sin_family = AF_INET;
            v4.sin_port = htons(port);
            std::memcpy(&v4.sin_addr, address.s6_addr + 12, sizeof v4.sin_addr);
            size = sizeof v4;
        } else {
            v6.sin6_family = AF_INET6;
            v6.sin6_port = htons(port);
            v6.sin6_addr = address;
            v6.sin6_scope_id = IN6_IS_ADDR_LINKLOCAL(&address) ? static_cast<uint32_t>(interface) : 0;
            size = sizeof v6;
        }
    }
};

/// Makes the kernel ask for the MAC of the next hop: it has to before it can send the empty datagram.
Status provoke(const Path &path)
{
    SocketAddress source(path.source, 0, path.interface);
    SocketAddress destination(path.destination, kDiscardPort, path.interface);
    if (source.any.sa_family != destination.any.sa_family)
        return Status(EAFNOSUPPORT);
    UniqueFd datagrams(socket(source.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!datagrams)
        return Status::from_errno();
    if (bind(datagrams.get(), &source.any, source.size) != 0 ||
        connect(datagrams.get(), &destination.any, destination.size) != 0)
        return Status::from_errno();
    // Only now, for a route through this interface alone always exists: IPv4 takes all addresses to be on its
    // link. Old kernels reserve this for root; without it the main route has to lead to the same interface.
    setsockopt(datagrams.get(), SOL_SOCKET, SO_BINDTOIFINDEX, &path.interface, sizeof path.interface);
    if (send(datagrams.get(), "", 0, MSG_NOSIGNAL) < 0)
        return Status::from_errno();
    return {};
}

int64_t now_ms()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// The neighbour's MAC from the kernel's table, where it may first have to appear.
Result<Mac> neighbour_mac(RouteSocket &kernel, const Path &path, nl_addr *next_hop, int patience_ms)
{
    Result<NeighbourWatch> watch = NeighbourWatch::open();
    if (!watch)
        return watch.status();
    int64_t deadline = now_ms() + patience_ms;
    bool provoked = false;
    for (;;) {
        Result<std::optional<Mac>> known = kernel.neighbour(path.interface, next_hop);
        if (!known)
            return known.status();
        if (*known)
            return **known;
        if (!provoked) {
            if (Status sent = provoke(path); !sent)
                return sent;
            provoked = true;
        }
        int64_t left = deadline - now_ms();
        if (left <= 0 || !watch->wait(static_cast<int>(left)))
            return Status(ETIMEDOUT);
    }
}

}  // namespace

Result<EthernetHop> resolve(const Path &path, int patience_ms)
{
    Result<RouteSocket> kernel = RouteSocket::open();
    if (!kernel)
        return kernel.status();
    Result<EthernetHop> own = kernel->interface(path.interface);
    if (!own)
        return own;
    Result<Route> route = kernel->route(path);
    if (!route)
        return route.status();
    if (route->local)
        return own;
    if (std::optional<Mac> mac = mac_of(path.destination))
        return EthernetHop{*mac, own->vlan_id};
    Result<Mac> mac = neighbour_mac(*kernel, path, route->next_hop.get(), patience_ms);
    if (!mac)
        return Status(mac.error() == ENOMEM ? ENOMEM : EHOSTUNREACH);
    return EthernetHop{*mac, own->vlan_id};
}

}  // namespace verbs::neigh
