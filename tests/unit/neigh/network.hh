// SPDX-License-Identifier: BSD-2-Clause
// A network of two hosts: this process in a network namespace of its own, and a peer that answers ARP and NDP.
#pragma once

#include <sys/types.h>

#include <string>

namespace verbs::test {

/// near (10.7.0.1, fd00:7::1; 02:00:00:00:0a:01) here is linked to far (10.7.0.2, fd00:7::2; 02:00:00:00:0a:02)
/// at the peer, which also leads to 10.99.0.0/16 and fd00:99::/64.
class Network {
public:
    Network();
    Network(const Network &) = delete;
    Network &operator=(const Network &) = delete;
    ~Network();

    /// Why there is none: it takes rights, iproute2 and the kernel's veth. Empty if there is one.
    const std::string &missing() const { return missing_; }

    /// Runs ip(8) here or at the peer. False if it fails.
    static bool ip(const std::string &arguments);
    bool peer_ip(const std::string &arguments) const;

    pid_t peer() const { return peer_; }

private:
    std::string set_up();

    pid_t peer_ = -1;
    std::string missing_;
};

}  // namespace verbs::test
