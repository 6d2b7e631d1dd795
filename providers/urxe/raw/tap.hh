// SPDX-License-Identifier: BSD-2-Clause
// The packet sockets of network interfaces, by which raw QPs send and get frames.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/lock.hh"

namespace urxe {

class Process;
struct Flow;
struct Qp;

namespace raw {

struct Headers;

/// A network interface. As long as raw QPs use it, it is there.
struct Tap {
    unsigned interface;  ///< the kernel's number of it
    int send_socket;
    int receive_socket;  ///< -1: no rule wants frames
    uint32_t users;
    Flow *flows;  ///< in the order in which they are asked
    common::Mutex buffer_lock;
    uint8_t
        *buffer;  ///< where a frame is put together that cannot be sent from where it lies; kMaxFrame bytes
    Tap *next;
};

/// The longest that a frame can be: that of a loopback interface.
constexpr size_t kMaxFrame = 65536 + 64;

/// All that a process uses. Lives in zeroed memory, between init() and destroy(). Any thread.
class Taps {
public:
    void init() { lock_.init(); }
    void destroy();
    /// What a child does with those that it inherited: it gets nothing by them.
    void close_inherited();

    /// That of an interface, made where there is none, with one more user. Null with errno: EPERM where the process may not
    /// open packet sockets, EOPNOTSUPP where the interface has no Ethernet frames.
    Tap *acquire(const char *interface);
    void release(Tap *tap);

    /// Has the rule take part. 0 or a positive errno value.
    int add(Process &process, Flow &flow);
    /// Once it returns, no frame is given to the rule's QP any more.
    void remove(Process &process, Flow &flow);
    /// Forgets the rules of a context.
    void forget(Process &process, const ibv_context &context);

    /// Whether the QP is one that rules give frames to.
    bool has_flows(const Qp &qp);

    /// Gives the frames that have arrived to those who want them. By the helper thread.
    void receive(Process &process);

private:
    struct Memory;

    void remove_locked(Process &process, Flow &flow);
    bool receive_some(Process &process, Tap &tap);
    void take_all(Process &process, Tap &tap, std::span<const uint8_t> frame, bool is_checked, size_t size);
    void take(Process &process, Tap &tap, std::span<const uint8_t> frame, const Headers &headers,
              bool is_checked);

    common::Mutex lock_;
    Tap *first_;
    Memory *memory_;
};

/// Whether raw QPs are to be had above an interface: it has Ethernet frames, and the process may open packet sockets.
bool is_offered(const char *interface);

}  // namespace raw
}  // namespace urxe
