// SPDX-License-Identifier: BSD-2-Clause
// Questions to the kernel's network tables, over route netlink.
#pragma once

#include <netinet/in.h>
#include <netlink/addr.h>
#include <netlink/socket.h>

#include <memory>
#include <optional>

#include "base/result.hh"
#include "neigh/resolve.hh"

namespace verbs::neigh {

struct ReleaseNetlink {
    void operator()(nl_sock *socket) const { nl_socket_free(socket); }
    void operator()(nl_addr *address) const { nl_addr_put(address); }
};
using NetlinkAddress = std::unique_ptr<nl_addr, ReleaseNetlink>;

/// The kernel's answer to where a packet goes.
struct Route {
    bool local;               ///< it never leaves the host
    NetlinkAddress next_hop;  ///< whom to hand it to; null where `local`
};

/// A connection to the kernel. One thread at a time.
class RouteSocket {
public:
    /// Each method fails with EHOSTUNREACH where the kernel has no such thing, or with ENOMEM.
    static Result<RouteSocket> open();

    /// The MAC and VLAN of the interface itself.
    Result<EthernetHop> interface(int index);

    Result<Route> route(const Path &path);

    /// The MAC of a neighbour, if the kernel knows it now. The broadcast address is nobody's.
    Result<std::optional<Mac>> neighbour(int interface, nl_addr *address);

    RouteSocket() = default;  ///< not connected; what a failed Result holds

private:
    std::unique_ptr<nl_sock, ReleaseNetlink> socket_;
};

/// Tells of changes to the neighbour table from the moment that it is made.
class NeighbourWatch {
public:
    static Result<NeighbourWatch> open();

    /// Waits until something changed. False when nothing did in `patience_ms`.
    bool wait(int patience_ms);

    NeighbourWatch() = default;

private:
    std::unique_ptr<nl_sock, ReleaseNetlink> socket_;
};

}  // namespace verbs::neigh
