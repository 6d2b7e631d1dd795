// SPDX-License-Identifier: BSD-2-Clause
// Questions to the kernel over RDMA netlink (rdma/rdma_netlink.h).
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hh"
#include "base/unique_fd.hh"

namespace verbs {

/// A connection to the kernel. libnl would allocate and clear a large buffer for every message of the list of devices,
/// which every program asks for; here is what those few questions need, in one buffer on the stack. One thread at a time.
class RdmaNetlink {
public:
    /// EPROTONOSUPPORT: the kernel has no RDMA, or this network namespace has none; other errors are those of socket().
    static Result<RdmaNetlink> open();

    /// Takes one whole message of an answer, header included; what is not success ends the question.
    using Take = Status(std::span<const std::byte> message, void *argument);

    /// Sends a question, which starts with its header: `nlmsg_type` is an RDMA_NL_GET_TYPE, `nlmsg_len` the length of all,
    /// `nlmsg_flags` may be NLM_F_DUMP, the rest is set here. Hands each message of the answer to `take`. Errors: that of
    /// `take`; what the kernel answers (EINVAL where it is too old for the question, EOPNOTSUPP, EPERM, ...); those of the
    /// socket; EAGAIN: what a dump tells of changed meanwhile, so it is worthless; EBADMSG: the answer is none, or is empty
    /// where only one message was to come.
    Status ask(nlmsghdr &question, Take *take, void *argument);

    RdmaNetlink() = default;  ///< not connected; what a failed Result holds

private:
    UniqueFd fd_;
    uint32_t sequence_ = 0;
};

}  // namespace verbs
