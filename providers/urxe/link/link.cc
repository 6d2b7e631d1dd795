// SPDX-License-Identifier: BSD-2-Clause
// The sockets: opening them, and sending and receiving in batches.
#include "link/link.hh"

#include <infiniband/driver.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "slot_address.hh"

namespace urxe::link {
namespace {

enum Socket : size_t { kIpv4, kIpv6, kLocal };

/// The longest that IP lets a run of segments be.
constexpr size_t kMaxRun = 64000;
/// Segments in one call: the kernel takes no more.
constexpr size_t kMaxSegments = 64;

bool set(int file, int level, int name, int value)
{
    return setsockopt(file, level, name, &value, sizeof value) == 0;
}

/// Whether the kernel says that a message comes from this user or the superuser.
bool is_from_user(const msghdr &received)
{
    auto *header = const_cast<msghdr *>(&received);
    for (cmsghdr *control = CMSG_FIRSTHDR(header); control != nullptr; control = CMSG_NXTHDR(header, control))
        if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_CREDENTIALS) {
            ucred sender;
            std::memcpy(&sender, CMSG_DATA(control), sizeof sender);
            return sender.uid == 0 || sender.uid == geteuid();
        }
    return false;
}

/// Of the socket by which a process gets packets from others of its network namespace.
constexpr char kPackets[] = "/packets";
/// A process has room for few packets that it has not taken (net.unix.max_dgram_qlen, 10 as a rule), but takes them soon,
/// unless it is stopped: then only the first waits in vain, until it takes packets again.
constexpr timeval kPassPatience = {.tv_sec = 0, .tv_usec = 100'000};

}  // namespace

/// What is in front of packets that a process of the network namespace passes to another.
struct Passed {
    Route route;
    uint32_t segment_size;
};

/// Where packets are put together and taken apart. What each look needs is in as few pages as possible.
struct Link::Memory {
    /// Where the kernel says about a datagram what is not in it.
    struct Description {
        iovec pieces[2];
        union {
            sockaddr_in v4;
            sockaddr_in6 v6;
        } name;
        Passed passed;
        alignas(cmsghdr) char control[160];
    };
    mmsghdr headers[kBuffers];
    size_t filled_for, filled;
    Description descriptions[kBuffers];
    alignas(4096) uint8_t in[kBuffers][kBufferSize];
    Queued queue[kBatch];
    uint8_t out[kBatch * wire::kMaxPacketSize];
};

int Link::open_udp(int family)
{
    const int file = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0)
        return -1;
    sockaddr_in6 address6{};
    address6.sin6_family = AF_INET6;
    address6.sin6_port = htons(wire::kRoceUdpPort);
    sockaddr_in address4{};
    address4.sin_family = AF_INET;
    address4.sin_port = htons(wire::kRoceUdpPort);
    const bool is_ipv6 = family == AF_INET6;
    // An identification of zero, which the ICRC covers, takes packets that are never fragmented. No connect(): it would
    // make the kernel count them. Whoever else has this port in this network namespace is a process of the same user, and
    // gets what is sent to a group otherwise.
    bool works = set(file, SOL_SOCKET, SO_REUSEPORT, 1);
    if (is_ipv6)
        works = works && set(file, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
                set(file, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) && set(file, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
                set(file, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1) &&
                set(file, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) &&
                set(file, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0);
    else
        works = works && set(file, IPPROTO_IP, IP_PKTINFO, 1) && set(file, IPPROTO_IP, IP_RECVTOS, 1) &&
                set(file, IPPROTO_IP, IP_RECVTTL, 1) &&
                set(file, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE) &&
                set(file, IPPROTO_IP, IP_MULTICAST_LOOP, 0);
    works =
        works && (is_ipv6 ? bind(file, reinterpret_cast<const sockaddr *>(&address6), sizeof address6)
                          : bind(file, reinterpret_cast<const sockaddr *>(&address4), sizeof address4)) == 0;
    if (!works) {
        const int error = errno;
        ::close(file);
        errno = error;
        return -1;
    }
    // Without these it works too. The kernel's rxe sends IPv6 without checksums.
    set(file, SOL_SOCKET, SO_RCVBUF, 8 << 20);
    set(file, SOL_SOCKET, SO_SNDBUF, 8 << 20);
    set(file, IPPROTO_UDP, UDP_GRO, 1);
    socklen_t ttl_size = sizeof default_ttl_;
    if (!is_ipv6)
        getsockopt(file, IPPROTO_IP, IP_TTL, &default_ttl_, &ttl_size);
    if (is_ipv6)
        set(file, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
    // Nor need it see the packets of groups that others have joined: none of its QPs is attached.
    if (is_ipv6)
        set(file, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
    else
        set(file, IPPROTO_IP, IP_MULTICAST_ALL, 0);
    return file;
}

int Link::open_local(uint32_t slot)
{
    const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return -1;
    sockaddr_un address;
    const socklen_t length = slot_address(slot, kPackets, address);
    if (bind(file, reinterpret_cast<const sockaddr *>(&address), length) != 0) {
        ::close(file);
        return -1;
    }
    set(file, SOL_SOCKET, SO_RCVBUF, 8 << 20);
    set(file, SOL_SOCKET, SO_SNDBUF, 8 << 20);
    if (!set(file, SOL_SOCKET, SO_PASSCRED, 1) ||
        setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &kPassPatience, sizeof kPassPatience) != 0) {
        ::close(file);
        return -1;
    }
    return file;
}

int Link::open(uint32_t slot)
{
    if (is_open())
        return 0;
    auto *memory = static_cast<Memory *>(std::aligned_alloc(alignof(Memory), sizeof(Memory)));
    if (memory == nullptr)
        return ENOMEM;
    std::memset(static_cast<void *>(memory), 0, offsetof(Memory, in));
    memory->filled_for = kSockets;  // none
    memory_ = memory;
    sockets_[kIpv4] = open_udp(AF_INET);
    const int error = sockets_[kIpv4] < 0 ? errno : 0;
    sockets_[kIpv6] = open_udp(AF_INET6);
    sockets_[kLocal] = open_local(slot);
    if (error == EADDRINUSE)
        __verbs_log(nullptr, VERBS_LOG_WARN,
                    "urxe: UDP port %u is taken, by the kernel's rxe driver or by another user: no packets "
                    "reach this "
                    "process from other hosts and users; unload rdma_rxe, or use another network namespace",
                    wire::kRoceUdpPort);
    else if (error != 0)
        __verbs_log(nullptr, VERBS_LOG_WARN, "urxe: no socket for UDP port %u (%s)", wire::kRoceUdpPort,
                    strerrordesc_np(error));
    is_open_.store(true, std::memory_order_release);
    return sockets_[kIpv4] < 0 && sockets_[kIpv6] < 0 ? error : 0;
}

void Link::close()
{
    if (!is_open())
        return;
    is_open_.store(false);
    for (const int file : sockets_)
        if (file >= 0)
            ::close(file);
    std::free(memory_);
    memory_ = nullptr;
}

int Link::change_membership(const wire::Address &group, uint32_t interface, bool joins)
{
    const bool is_ipv4 = wire::is_ipv4(group);
    const int file = sockets_[is_ipv4 ? kIpv4 : kIpv6];
    if (!is_open() || file < 0)
        return 0;
    ip_mreqn group4{};
    std::memcpy(&group4.imr_multiaddr, group.data() + 12, sizeof group4.imr_multiaddr);
    group4.imr_ifindex = static_cast<int>(interface);
    ipv6_mreq group6{};
    std::memcpy(&group6.ipv6mr_multiaddr, group.data(), sizeof group6.ipv6mr_multiaddr);
    group6.ipv6mr_interface = interface;
    const int result = is_ipv4 ? setsockopt(file, IPPROTO_IP, joins ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
                                            &group4, sizeof group4)
                               : setsockopt(file, IPPROTO_IPV6, joins ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP,
                                            &group6, sizeof group6);
    return result == 0 ? 0 : errno;
}

uint32_t Link::lost() const
{
    const int error = errno;
    uint32_t sum = 0;
    for (const int socket : sockets_) {
        uint32_t numbers[SK_MEMINFO_VARS] = {};
        socklen_t size = sizeof numbers;
        if (socket >= 0 && getsockopt(socket, SOL_SOCKET, SO_MEMINFO, numbers, &size) == 0)
            sum += numbers[SK_MEMINFO_DROPS];
    }
    errno = error;
    return sum;
}

int Link::join(const wire::Address &group, uint32_t interface)
{
    const int error = change_membership(group, interface, true);
    if (error == ENOBUFS)
        __verbs_log(nullptr, VERBS_LOG_WARN,
                    "urxe: the kernel lets a process join no more multicast groups; raise "
                    "net.ipv4.igmp_max_memberships");
    return error;
}

void Link::leave(const wire::Address &group, uint32_t interface)
{
    const int error = errno;
    change_membership(group, interface, false);
    errno = error;
}

std::span<uint8_t> Link::room()
{
    if (queued_ == kBatch || sizeof memory_->out - used_ < wire::kMaxPacketSize)
        flush();
    return {memory_->out + used_, wire::kMaxPacketSize};
}

void Link::send(const Route &route, size_t size)
{
    memory_->queue[queued_++] = {route, static_cast<uint32_t>(used_), static_cast<uint32_t>(size)};
    used_ += size;
    counters.add(Counter::kSent);
}

void Link::end()
{
    flush();
    send_lock_.unlock();
}

/// Packets from `first` on that the kernel can send as segments of one datagram: to the same place and of the same size, but
/// for the last, which may be shorter.
size_t Link::run_length(size_t first) const
{
    const Queued *queue = memory_->queue;
    const uint32_t size = queue[first].size;
    size_t total = size;
    size_t count = 1;
    if (cannot_segment_)
        return 1;
    while (first + count < queued_ && count < kMaxSegments) {
        const Queued &next = queue[first + count];
        if (next.size > size || total + next.size > kMaxRun || queue[first + count - 1].size != size ||
            next.route != queue[first].route)
            break;
        total += next.size;
        ++count;
    }
    return count;
}

void Link::flush()
{
    struct Out {
        iovec piece;
        union {
            sockaddr_in v4;
            sockaddr_in6 v6;
        } name;
        alignas(cmsghdr) char control[128];
        size_t first, count;
    };
    const int error = errno;
    for (size_t first = 0; first < queued_;) {
        const Queued &head = memory_->queue[first];
        const size_t count = run_length(first);
        const Route &route = head.route;
        size_t size = 0;
        for (size_t i = 0; i < count; ++i) {
            const Queued &packet = memory_->queue[first + i];
            // The kernel numbers the segments of a run, beginning with 0.
            wire::icrc_seal(route.flow, {memory_->out + packet.offset, packet.size},
                            static_cast<uint16_t>(i));
            size += packet.size;
        }
        if (route.slot != 0) {
            pass(route, {memory_->out + head.offset, size}, head.size, route.slot);
            first += count;
            continue;
        }
        Out out{};
        out.piece = {memory_->out + head.offset, size};
        msghdr message{};
        message.msg_iov = &out.piece;
        message.msg_iovlen = 1;
        message.msg_name = &out.name;
        message.msg_control = out.control;
        message.msg_controllen = sizeof out.control;
        cmsghdr *control = CMSG_FIRSTHDR(&message);
        size_t control_size = 0;
        const auto add = [&](int level, int type, const void *data, size_t length) {
            control->cmsg_level = level;
            control->cmsg_type = type;
            control->cmsg_len = CMSG_LEN(length);
            std::memcpy(CMSG_DATA(control), data, length);
            control_size += CMSG_SPACE(length);
            control = reinterpret_cast<cmsghdr *>(out.control + control_size);
        };
        const int traffic_class = route.traffic_class, hop_limit = route.hop_limit;
        size_t socket = kIpv4;
        if (wire::is_ipv4(route.flow.destination)) {
            out.name.v4.sin_family = AF_INET;
            out.name.v4.sin_port = htons(wire::kRoceUdpPort);
            std::memcpy(&out.name.v4.sin_addr, route.flow.destination.data() + 12, 4);
            message.msg_namelen = sizeof out.name.v4;
            in_pktinfo info{};
            const bool is_multicast = wire::is_multicast(route.flow.destination);
            if (is_multicast)
                info.ipi_ifindex = static_cast<int>(route.interface);
            std::memcpy(&info.ipi_spec_dst, route.flow.source.data() + 12, 4);
            add(IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
            if (traffic_class != 0)
                add(IPPROTO_IP, IP_TOS, &traffic_class, sizeof traffic_class);
            if (hop_limit != 0 && (hop_limit != default_ttl_ || is_multicast))
                add(IPPROTO_IP, IP_TTL, &hop_limit, sizeof hop_limit);
        } else {
            socket = kIpv6;
            out.name.v6.sin6_family = AF_INET6;
            out.name.v6.sin6_port = htons(wire::kRoceUdpPort);
            out.name.v6.sin6_scope_id = route.interface;
            std::memcpy(&out.name.v6.sin6_addr, route.flow.destination.data(), 16);
            message.msg_namelen = sizeof out.name.v6;
            in6_pktinfo info{};
            std::memcpy(&info.ipi6_addr, route.flow.source.data(), 16);
            info.ipi6_ifindex = route.interface;
            add(IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
            add(IPPROTO_IPV6, IPV6_TCLASS, &traffic_class, sizeof traffic_class);
            if (hop_limit != 0)
                add(IPPROTO_IPV6, IPV6_HOPLIMIT, &hop_limit, sizeof hop_limit);
        }
        if (count > 1) {
            const auto segment = static_cast<uint16_t>(head.size);
            add(IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment);
        }
        message.msg_controllen = control_size;
        const bool is_sent =
            sockets_[socket] >= 0 && sendmsg(sockets_[socket], &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
        if (!is_sent && count > 1 && (errno == EIO || errno == EINVAL || errno == EOPNOTSUPP)) {
            cannot_segment_ = true;
            continue;  // one by one, then
        }
        if (!is_sent)
            counters.add(Counter::kSendError, count);
        first += count;
    }
    errno = error;
    queued_ = used_ = 0;
}

int Link::fill(size_t socket)
{
    if (sockets_[socket] < 0)
        return 0;
    Memory &memory = *memory_;
    // The kernel writes to those that it has filled; the others are as they were, unless they were for another socket.
    const bool is_same = memory.filled_for == socket;
    for (size_t i = 0; i < (is_same ? memory.filled : kBuffers); ++i) {
        msghdr &header = memory.headers[i].msg_hdr;
        Memory::Description &description = memory.descriptions[i];
        iovec *pieces = description.pieces;
        header = {};
        if (socket == kLocal) {
            pieces[0] = {&description.passed, sizeof(Passed)};
            pieces[1] = {memory.in[i], kBufferSize};
        } else {
            pieces[0] = {memory.in[i], kBufferSize};
            header.msg_name = &description.name;
            header.msg_namelen = sizeof description.name;
        }
        header.msg_control = description.control;
        header.msg_controllen = sizeof description.control;
        header.msg_iov = pieces;
        header.msg_iovlen = socket == kLocal ? 2 : 1;
    }
    const int error = errno;
    // As a rule there is one after none, and to look for another costs as much as to look at all.
    int count;
    if (memory.filled == 0) {
        const ssize_t length = recvmsg(sockets_[socket], &memory.headers[0].msg_hdr, MSG_DONTWAIT);
        memory.headers[0].msg_len = static_cast<unsigned>(length);
        count = length >= 0 ? 1 : 0;
    } else {
        count = recvmmsg(sockets_[socket], memory.headers, kBuffers, MSG_DONTWAIT, nullptr);
    }
    errno = error;
    memory.filled_for = socket;
    memory.filled = static_cast<size_t>(std::max(count, 0));
    return std::max(count, 0);
}

bool Link::describe(size_t socket, int buffer, Arrival &arrival) const
{
    const mmsghdr &received = memory_->headers[buffer];
    const Memory::Description &described = memory_->descriptions[buffer];
    size_t length = received.msg_len;
    if (socket == kLocal) {
        // Only the user's own processes, and the superuser's, say where a packet came from.
        if (length < sizeof(Passed) || !is_from_user(received.msg_hdr))
            return false;
        length -= sizeof(Passed);
        arrival.route = described.passed.route;
        arrival.segment_size = described.passed.segment_size;
        arrival.run = {memory_->in[buffer], length};
        return (length != 0) == (arrival.segment_size != 0);
    }
    arrival.run = {memory_->in[buffer], length};
    size_t segment_size = kBufferSize;
    Route &route = arrival.route;
    route = {};
    route.flow.destination_port = wire::kRoceUdpPort;
    auto *header = const_cast<msghdr *>(&received.msg_hdr);
    if (socket == kIpv4) {
        const sockaddr_in &name = described.name.v4;
        std::copy(wire::kMappedPrefix.begin(), wire::kMappedPrefix.end(), route.flow.source.begin());
        std::copy(wire::kMappedPrefix.begin(), wire::kMappedPrefix.end(), route.flow.destination.begin());
        std::memcpy(route.flow.source.data() + 12, &name.sin_addr, 4);
        route.flow.source_port = ntohs(name.sin_port);
    } else {
        const sockaddr_in6 &name = described.name.v6;
        std::memcpy(route.flow.source.data(), &name.sin6_addr, 16);
        route.flow.source_port = ntohs(name.sin6_port);
    }
    for (cmsghdr *control = CMSG_FIRSTHDR(header); control != nullptr;
         control = CMSG_NXTHDR(header, control)) {
        const unsigned char *data = CMSG_DATA(control);
        const auto number = [&] {
            int value = 0;
            std::memcpy(&value, data, sizeof value);
            return value;
        };
        if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_PKTINFO) {
            std::memcpy(route.flow.destination.data() + 12, data + offsetof(in_pktinfo, ipi_addr), 4);
            std::memcpy(&route.interface, data + offsetof(in_pktinfo, ipi_ifindex), sizeof route.interface);
        } else if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_TOS)
            route.traffic_class = data[0];
        else if ((control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_TTL) ||
                 (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_HOPLIMIT))
            route.hop_limit = static_cast<uint8_t>(number());
        else if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_PKTINFO) {
            std::memcpy(route.flow.destination.data(), data + offsetof(in6_pktinfo, ipi6_addr), 16);
            std::memcpy(&route.interface, data + offsetof(in6_pktinfo, ipi6_ifindex), sizeof route.interface);
        } else if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_TCLASS)
            route.traffic_class = static_cast<uint8_t>(number());
        else if (control->cmsg_level == IPPROTO_UDP && control->cmsg_type == UDP_GRO)
            segment_size = static_cast<size_t>(number());
    }
    arrival.segment_size = segment_size;
    return length != 0 && segment_size != 0;
}

void Link::pass(const Route &route, std::span<const uint8_t> run, size_t segment_size, uint32_t slot)
{
    if (sockets_[kLocal] < 0)
        return;
    sockaddr_un address;
    const socklen_t length = slot_address(slot, kPackets, address);
    Passed passed = {.route = route, .segment_size = static_cast<uint32_t>(segment_size)};
    passed.route.slot = 0;
    iovec pieces[2] = {{&passed, sizeof passed}, {const_cast<uint8_t *>(run.data()), run.size()}};
    msghdr message{};
    message.msg_name = &address;
    message.msg_namelen = length;
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    const int error = errno;
    std::atomic<uint64_t> &word = full_[slot / 64];
    const uint64_t bit = uint64_t{1} << slot % 64;
    const bool was_full = (word.load(std::memory_order_relaxed) & bit) != 0;
    // A process that is not there, or whose queue stays full, loses it, as the network may.
    const bool is_sent =
        sendmsg(sockets_[kLocal], &message, MSG_NOSIGNAL | (was_full ? MSG_DONTWAIT : 0)) >= 0;
    if (is_sent && was_full)
        word.fetch_and(~bit, std::memory_order_relaxed);
    else if (!is_sent && errno == EAGAIN)
        word.fetch_or(bit, std::memory_order_relaxed);
    errno = error;
}

void Link::pass_on(const Arrival &arrival, size_t count, uint32_t slot)
{
    pass(arrival.route, arrival.run.first(std::min(arrival.run.size(), count * arrival.segment_size)),
         arrival.segment_size, slot);
}

}  // namespace urxe::link
