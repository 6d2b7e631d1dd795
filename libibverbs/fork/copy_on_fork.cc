// SPDX-License-Identifier: BSD-2-Clause
// The question to RDMA netlink.
#include "fork/copy_on_fork.hh"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <rdma/rdma_netlink.h>

#include "base/memory.hh"

namespace verbs::fork {
namespace {

struct FreeSocket {
    void operator()(nl_sock *socket) const { nl_socket_free(socket); }
};

}  // namespace

bool kernel_copies_pinned_pages()
{
    std::unique_ptr<nl_sock, FreeSocket> socket(nl_socket_alloc());
    if (!socket)
        return false;
    nl_socket_disable_auto_ack(socket.get());
    if (nl_connect(socket.get(), NETLINK_RDMA) < 0)
        return false;
    constexpr int kType = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET);
    if (nl_send_simple(socket.get(), kType, 0, nullptr, 0) < 0)
        return false;

    sockaddr_nl sender{};
    unsigned char *memory = nullptr;
    int length = nl_recv(socket.get(), &sender, &memory, nullptr);
    Allocated<unsigned char> reply(memory);
    auto *header = reinterpret_cast<nlmsghdr *>(memory);
    if (length <= 0 || nlmsg_ok(header, length) == 0 || header->nlmsg_type != kType)
        return false;
    nlattr *copies = nlmsg_find_attr(header, 0, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK);
    return copies != nullptr && nla_len(copies) >= 1 && nla_get_u8(copies) != 0;
}

}  // namespace verbs::fork
