// SPDX-License-Identifier: BSD-2-Clause
// Socket calls: those of RDMA netlink are answered here, and descriptors that arrive with messages are looked
// at.
#include <linux/netlink.h>
#include <string.h>

#include <vector>

#include "interpose/descriptors.hh"
#include "interpose/export.hh"
#include "interpose/netlink.hh"
#include "interpose/real.hh"

namespace sim {
namespace {

bool is_netlink(int fd)
{
    return Descriptors::get().kind(fd) == Descriptors::Kind::kNetlink;
}

/// The kernel's address, as sender of what is received.
void put_kernel_address(void *address, socklen_t *length)
{
    if (address == nullptr || length == nullptr)
        return;
    const sockaddr_nl kernel = {.nl_family = AF_NETLINK, .nl_pad = 0, .nl_pid = 0, .nl_groups = 0};
    memcpy(address, &kernel, *length < sizeof kernel ? *length : sizeof kernel);
    *length = sizeof kernel;
}

void identify_received(const msghdr &message)
{
    for (cmsghdr *control = CMSG_FIRSTHDR(&message); control != nullptr;
         control = CMSG_NXTHDR(const_cast<msghdr *>(&message), control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
            continue;
        const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int fd;
            memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
            Descriptors::get().identify(fd);
        }
    }
}

}  // namespace
}  // namespace sim

SIM_EXPORT int socket(int domain, int type, int protocol) noexcept
{
    SIM_FAIL_ON(kSocket, -1);
    if (domain == AF_NETLINK && protocol == NETLINK_RDMA)
        return sim::netlink_open(type);
    return REAL(socket)(domain, type, protocol);
}

SIM_EXPORT int bind(int fd, const sockaddr *address, socklen_t length) noexcept
{
    SIM_FAIL_ON(kBind, -1);
    return sim::is_netlink(fd) ? 0 : REAL(bind)(fd, address, length);
}

SIM_EXPORT int connect(int fd, const sockaddr *address, socklen_t length)
{
    return sim::is_netlink(fd) ? 0 : REAL(connect)(fd, address, length);
}

SIM_EXPORT int getsockname(int fd, sockaddr *address, socklen_t *length) noexcept
{
    if (!sim::is_netlink(fd))
        return REAL(getsockname)(fd, address, length);
    sim::put_kernel_address(address, length);
    const uint32_t pid = static_cast<uint32_t>(getpid());
    memcpy(reinterpret_cast<char *>(address) + offsetof(sockaddr_nl, nl_pid), &pid, sizeof pid);
    return 0;
}

SIM_EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t length) noexcept
{
    if (sim::is_netlink(fd) && (level == SOL_NETLINK || name == SO_RCVBUF || name == SO_SNDBUF))
        return 0;
    return REAL(setsockopt)(fd, level, name, value, length);
}

SIM_EXPORT ssize_t sendmsg(int fd, const msghdr *message, int flags)
{
    SIM_FAIL_ON(kSendmsg, -1);
    if (!sim::is_netlink(fd))
        return REAL(sendmsg)(fd, message, flags);
    std::vector<char> bytes;
    for (size_t i = 0; i < message->msg_iovlen; ++i) {
        const auto *from = static_cast<const char *>(message->msg_iov[i].iov_base);
        bytes.insert(bytes.end(), from, from + message->msg_iov[i].iov_len);
    }
    return sim::netlink_send(fd, bytes.data(), bytes.size());
}

SIM_EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const sockaddr *address,
                          socklen_t length)
{
    SIM_FAIL_ON(kSendmsg, -1);
    if (!sim::is_netlink(fd))
        return REAL(sendto)(fd, buffer, size, flags, address, length);
    return sim::netlink_send(fd, buffer, size);
}

SIM_EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
    SIM_FAIL_ON(kSendmsg, -1);
    if (!sim::is_netlink(fd))
        return REAL(send)(fd, buffer, size, flags);
    return sim::netlink_send(fd, buffer, size);
}

SIM_EXPORT ssize_t recvmsg(int fd, msghdr *message, int flags)
{
    SIM_FAIL_ON(kRecvmsg, -1);
    if (!sim::is_netlink(fd)) {
        const ssize_t got = REAL(recvmsg)(fd, message, flags);
        if (got >= 0 && message->msg_controllen != 0)
            sim::identify_received(*message);
        return got;
    }
    void *name = message->msg_name;
    socklen_t length = message->msg_namelen;
    const ssize_t got = REAL(recvmsg)(fd, message, flags);
    if (got >= 0 && name != nullptr) {
        sim::put_kernel_address(name, &length);
        message->msg_namelen = length;
    }
    return got;
}

SIM_EXPORT ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, sockaddr *address,
                            socklen_t *length)
{
    SIM_FAIL_ON(kRecvmsg, -1);
    if (!sim::is_netlink(fd))
        return REAL(recvfrom)(fd, buffer, size, flags, address, length);
    const ssize_t got = REAL(recv)(fd, buffer, size, flags);
    if (got >= 0)
        sim::put_kernel_address(address, length);
    return got;
}

SIM_EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    SIM_FAIL_ON(kRecvmsg, -1);
    return REAL(recv)(fd, buffer, size, flags);
}
