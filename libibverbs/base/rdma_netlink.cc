// SPDX-License-Identifier: BSD-2-Clause
// Questions to the kernel over RDMA netlink.
#include "base/rdma_netlink.hh"

#include <sys/socket.h>

#include <cstring>

namespace verbs {
namespace {

/// The kernel puts at most this much into one piece of a dump, unless its reader has asked for more.
constexpr size_t kMostBytes = 8192;

/// The next piece of the answer from the kernel; other processes can send to the socket too.
Result<size_t> receive(int fd, std::span<std::byte> out)
{
    while (true) {
        sockaddr_nl sender = {};
        socklen_t sender_size = sizeof sender;
        // With MSG_TRUNC the length is the message's, however much of it fits.
        ssize_t got = recvfrom(fd, out.data(), out.size(), MSG_TRUNC, reinterpret_cast<sockaddr *>(&sender),
                               &sender_size);
        if (got < 0 && errno != EINTR)
            return Status::from_errno();
        if (got < 0 || sender.nl_pid != 0)
            continue;
        if (static_cast<size_t>(got) > out.size())
            return Status(EMSGSIZE);
        return static_cast<size_t>(got);
    }
}

/// The negative errno value at the start of the payload; 0 where the message has none.
int error_in(std::span<const std::byte> message)
{
    int error = 0;
    if (message.size() >= NLMSG_HDRLEN + sizeof error)
        std::memcpy(&error, message.data() + NLMSG_HDRLEN, sizeof error);
    return error;
}

}  // namespace

Result<RdmaNetlink> RdmaNetlink::open()
{
    RdmaNetlink opened;
    // Without an address the kernel gives it one when it sends.
    opened.fd_ = UniqueFd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA));
    if (!opened.fd_)
        return Status::from_errno();
    return opened;
}

Status RdmaNetlink::ask(nlmsghdr &question, Take *take, void *argument)
{
    const bool is_dump = (question.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    question.nlmsg_flags |= NLM_F_REQUEST;
    question.nlmsg_seq = ++sequence_;
    question.nlmsg_pid = 0;
    const sockaddr_nl kernel = {.nl_family = AF_NETLINK, .nl_pad = 0, .nl_pid = 0, .nl_groups = 0};
    while (sendto(fd_.get(), &question, question.nlmsg_len, 0, reinterpret_cast<const sockaddr *>(&kernel),
                  sizeof kernel) < 0)
        if (errno != EINTR)
            return Status::from_errno();

    bool changed = false;
    alignas(nlmsghdr) std::byte piece[kMostBytes];
    while (true) {
        Result<size_t> length = receive(fd_.get(), piece);
        if (!length)
            return length.status();
        for (std::span<const std::byte> rest(piece, *length); !rest.empty();) {
            nlmsghdr header;
            if (rest.size() < sizeof header)
                return EBADMSG;
            std::memcpy(&header, rest.data(), sizeof header);
            if (header.nlmsg_len < sizeof header || header.nlmsg_len > rest.size())
                return EBADMSG;
            std::span<const std::byte> message = rest.first(header.nlmsg_len);
            const size_t step = NLMSG_ALIGN(header.nlmsg_len);
            rest = rest.subspan(step < rest.size() ? step : rest.size());
            // What an earlier question left.
            if (header.nlmsg_seq != question.nlmsg_seq)
                continue;
            changed |= (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
            if (header.nlmsg_type == NLMSG_NOOP)
                continue;
            if (header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE) {
                const int error = error_in(message);
                if (error < 0)
                    return Status(-error);
                if (!is_dump || header.nlmsg_type == NLMSG_ERROR)
                    return EBADMSG;
                return changed ? Status(EAGAIN) : Status();
            }
            if (Status status = take(message, argument); !status || !is_dump)
                return status;
        }
    }
}

}  // namespace verbs
