// SPDX-License-Identifier: BSD-2-Clause
// Packet sockets: opening them, and steering the frames that arrive.
#include "raw/tap.hh"

#include <infiniband/driver.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/memory.hh"
#include "direct/target.hh"
#include "interface.hh"
#include "process.hh"
#include "raw/checksum.hh"
#include "raw/frame.hh"
#include "raw/segment.hh"
#include "verbs/counters.hh"
#include "verbs/flow.hh"
#include "verbs/raw_qp.hh"

namespace urxe::raw {
namespace {

/// What PACKET_VNET_HDR puts in front of a frame, in the byte order of the host: struct virtio_net_hdr of
/// <linux/virtio_net.h>, which no C++ compiler takes.
struct VirtioHeader {
    static constexpr uint8_t kNeedsChecksum = 1, kChecksumIsRight = 2;           // flags
    static constexpr uint8_t kTcpIpv4 = 1, kTcpIpv6 = 4, kUdp = 5, kEcn = 0x80;  // gso_type
    uint8_t flags, gso_type;
    uint16_t header_length, gso_size;
    uint16_t checksum_start, checksum_offset;
};
static_assert(sizeof(VirtioHeader) == 10);

constexpr size_t kBatch = 8;
constexpr size_t kVlanTag = 4;

/// A packet socket of an interface; for frames of all protocols, or for none. -1 with errno.
int open_socket(unsigned interface, bool receives)
{
    const int file = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0)
        return -1;
    const int on = 1;
    const auto set = [&](int option) { return setsockopt(file, SOL_PACKET, option, &on, sizeof on) == 0; };
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = static_cast<int>(interface);
    address.sll_protocol = receives ? htons(ETH_P_ALL) : 0;
    const bool works =
        (!receives || (set(PACKET_AUXDATA) && set(PACKET_VNET_HDR) && set(PACKET_IGNORE_OUTGOING))) &&
        bind(file, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0;
    if (works) {
        const int size = 8 << 20;
        if (receives && setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
            setsockopt(file, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        return file;
    }
    const int error = errno;
    close(file);
    errno = error;
    return -1;
}

/// Has the interface take in the frames that the rule is about, which it may not otherwise.
void set_membership(int file, unsigned interface, const Rule &rule, int option)
{
    packet_mreq request{};
    request.mr_ifindex = static_cast<int>(interface);
    request.mr_alen = ETH_ALEN;
    if (rule.type == IBV_FLOW_ATTR_MC_DEFAULT) {
        request.mr_type = PACKET_MR_ALLMULTI;
    } else if (rule.type != IBV_FLOW_ATTR_NORMAL) {
        request.mr_type = PACKET_MR_PROMISC;
    } else {
        const Spec *end = rule.specs + rule.num_specs;
        const Spec *ethernet =
            std::find_if(rule.specs, end, [](const Spec &spec) { return spec.type == IBV_FLOW_SPEC_ETH; });
        if (ethernet == end || !std::all_of(ethernet->mask, ethernet->mask + ETH_ALEN,
                                            [](uint8_t byte) { return byte == 0xff; }))
            return;
        request.mr_type = (ethernet->value[0] & 1) != 0 ? PACKET_MR_MULTICAST : PACKET_MR_UNICAST;
        std::copy_n(ethernet->value, ETH_ALEN, request.mr_address);
    }
    setsockopt(file, SOL_PACKET, option, &request, sizeof request);
}

/// What the kernel says of a frame besides its bytes.
tpacket_auxdata said_of(const msghdr &received)
{
    tpacket_auxdata said{};
    auto *header = const_cast<msghdr *>(&received);
    for (cmsghdr *control = CMSG_FIRSTHDR(header); control != nullptr; control = CMSG_NXTHDR(header, control))
        if (control->cmsg_level == SOL_PACKET && control->cmsg_type == PACKET_AUXDATA)
            std::memcpy(&said, CMSG_DATA(control), sizeof said);
    return said;
}

/// Fills in a checksum of which the sender left the rest to the interface: the field has the pseudo header's sum.
bool finish_checksum(std::span<uint8_t> frame, const VirtioHeader &header)
{
    const size_t start = header.checksum_start, field = start + header.checksum_offset;
    if (field + 2 > frame.size())
        return false;
    const auto sum = static_cast<uint16_t>(~ones_sum(frame.subspan(start)));
    frame[field] = static_cast<uint8_t>(sum >> 8);
    frame[field + 1] = static_cast<uint8_t>(sum);
    return true;
}

/// Bytes of payload of each frame that one of the kernel's stands for; 0: it is one.
size_t segment_size(const VirtioHeader &header)
{
    switch (header.gso_type & ~VirtioHeader::kEcn) {
        case VirtioHeader::kTcpIpv4:
        case VirtioHeader::kTcpIpv6:
        case VirtioHeader::kUdp:
            return header.gso_size;
        default:
            return 0;
    }
}

/// Gives a frame to a QP or work queue, if that takes it.
void deliver(Process &process, Qp &qp, uint32_t tag, std::span<const uint8_t> frame, bool is_checked)
{
    const Access access(process.self);
    const direct::Target target = {process, process.self, *qp.shared, false};
    direct::TakenReceive receive;
    if (!access || !direct::is_receiving(qp.shared->state.load(std::memory_order_acquire)) ||
        !take_receive(target, receive)) {
        ++qp.frames_lost;
        return;
    }
    direct::NewCompletion completion{};
    completion.byte_len = static_cast<uint32_t>(frame.size());
    completion.status = direct::write_receive(process.self, receive, 0, frame);
    completion.imm_data = tag;
    completion.wc_flags = is_checked ? IBV_WC_IP_CSUM_OK : 0;
    if (complete_receive(target, receive, completion) == direct::Pushed::kOverrun)
        target.call(shared::kAttentionFatal | shared::kAttentionError);
}

}  // namespace

struct Taps::Memory {
    uint8_t part[kMaxFrame];
    uint8_t in[kBatch][kVlanTag + kMaxFrame];
    mmsghdr messages[kBatch];
    iovec pieces[kBatch][2];
    VirtioHeader headers[kBatch];
    alignas(cmsghdr) char control[kBatch][CMSG_SPACE(sizeof(tpacket_auxdata))];
};

bool is_offered(const char *interface)
{
    Interface found;
    if (interface_read(interface, found) != 0 || !found.is_ethernet)
        return false;
    const int file = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (file >= 0)
        close(file);
    return file >= 0;
}

void Taps::destroy()
{
    std::free(memory_);
    lock_.destroy();
}

void Taps::close_inherited()
{
    lock_.init();
    for (Tap *tap = first_; tap != nullptr; tap = tap->next) {
        for (int *file : {&tap->send_socket, &tap->receive_socket}) {
            if (*file >= 0)
                close(*file);
            *file = -1;
        }
        tap->buffer_lock.init();
    }
}

Tap *Taps::acquire(const char *name)
{
    Interface interface;
    if (const int error = interface_read(name, interface); error != 0)
        return common::null_with(error);
    if (!interface.is_ethernet)
        return common::null_with(EOPNOTSUPP);
    common::Locked locked(lock_);
    for (Tap *tap = first_; tap != nullptr; tap = tap->next)
        if (tap->interface == interface.index) {
            ++tap->users;
            return tap;
        }
    common::Allocated<Tap> made = common::allocate<Tap>();
    common::Allocated<uint8_t> buffer(static_cast<uint8_t *>(std::malloc(kMaxFrame)));
    if (!made || !buffer)
        return common::null_with(ENOMEM);
    made->send_socket = open_socket(interface.index, false);
    if (made->send_socket < 0) {
        const int error = errno;
        if (error == EPERM)
            __verbs_log(
                nullptr, VERBS_LOG_ERR,
                "urxe: raw packet QPs need the capability CAP_NET_RAW in the network namespace of %s: run "
                "as root, or `setcap cap_net_raw+ep` the program",
                name);
        return common::null_with(error);
    }
    made->interface = interface.index;
    made->receive_socket = -1;
    made->users = 1;
    made->buffer = buffer.release();
    made->buffer_lock.init();
    made->next = first_;
    first_ = made.get();
    return made.release();
}

void Taps::release(Tap *released)
{
    common::Locked locked(lock_);
    if (--released->users != 0)
        return;
    Tap **place = &first_;
    while (*place != released)
        place = &(*place)->next;
    *place = released->next;
    if (released->send_socket >= 0)
        close(released->send_socket);
    released->buffer_lock.destroy();
    std::free(released->buffer);
    std::free(released);
}

bool Taps::has_flows(const Qp &qp)
{
    common::Locked locked(lock_);
    return qp.flows != 0;
}

int Taps::add(Process &process, Flow &flow)
{
    Tap &tap = *flow.qp->tap;
    common::Locked locked(lock_);
    if (memory_ == nullptr)
        memory_ = static_cast<Memory *>(std::calloc(1, sizeof(Memory)));
    if (memory_ == nullptr)
        return ENOMEM;
    if (tap.receive_socket < 0) {
        tap.receive_socket = open_socket(tap.interface, true);
        const int error = tap.receive_socket < 0 ? errno : process.watch_frames(tap.receive_socket, true);
        if (error != 0) {
            if (tap.receive_socket >= 0)
                close(tap.receive_socket);
            tap.receive_socket = -1;
            return error;
        }
    }
    set_membership(tap.receive_socket, tap.interface, flow.rule, PACKET_ADD_MEMBERSHIP);
    Flow **place = &tap.flows;
    while (*place != nullptr && !rule_precedes(flow.rule, (*place)->rule))
        place = &(*place)->next;
    flow.next = *place;
    *place = &flow;
    ++flow.qp->flows;
    for (uint8_t i = 0; i < flow.rule.num_counters; ++i)
        counters_bind(*flow.rule.counters[i]);
    return 0;
}

void Taps::remove_locked(Process &process, Flow &flow)
{
    Tap &tap = *flow.qp->tap;
    Flow **place = &tap.flows;
    while (*place != &flow)
        place = &(*place)->next;
    *place = flow.next;
    --flow.qp->flows;
    for (uint8_t i = 0; i < flow.rule.num_counters; ++i)
        counters_unbind(*flow.rule.counters[i]);
    if (tap.receive_socket < 0)
        return;
    set_membership(tap.receive_socket, tap.interface, flow.rule, PACKET_DROP_MEMBERSHIP);
    if (tap.flows != nullptr)
        return;
    process.watch_frames(tap.receive_socket, false);
    tpacket_stats statistics{};
    socklen_t size = sizeof statistics;
    if (getsockopt(tap.receive_socket, SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0 &&
        statistics.tp_drops != 0)
        __verbs_log(nullptr, VERBS_LOG_INFO,
                    "urxe: %u frames came faster than they were steered, and are lost", statistics.tp_drops);
    close(tap.receive_socket);
    tap.receive_socket = -1;
}

void Taps::remove(Process &process, Flow &flow)
{
    common::Locked locked(lock_);
    remove_locked(process, flow);
}

void Taps::forget(Process &process, const ibv_context &context)
{
    common::Locked locked(lock_);
    for (Tap *tap = first_; tap != nullptr; tap = tap->next)
        for (Flow *flow = tap->flows; flow != nullptr;) {
            Flow *next = flow->next;
            if (flow->flow.context == &context)
                remove_locked(process, *flow);
            flow = next;
        }
}

void Taps::receive(Process &process)
{
    common::Locked locked(lock_);
    for (Tap *tap = first_; tap != nullptr; tap = tap->next) {
        // The helper has other work too; what is left wakes it again.
        constexpr int kRounds = 16;
        for (int round = 0; round < kRounds && tap->receive_socket >= 0 && receive_some(process, *tap);
             ++round) {
        }
    }
}

bool Taps::receive_some(Process &process, Tap &tap)
{
    for (size_t i = 0; i < kBatch; ++i) {
        memory_->pieces[i][0] = {&memory_->headers[i], sizeof memory_->headers[i]};
        memory_->pieces[i][1] = {memory_->in[i] + kVlanTag, kMaxFrame};
        memory_->messages[i] = {};
        msghdr &message = memory_->messages[i].msg_hdr;
        message.msg_iov = memory_->pieces[i];
        message.msg_iovlen = 2;
        message.msg_control = memory_->control[i];
        message.msg_controllen = sizeof memory_->control[i];
    }
    const int count = recvmmsg(tap.receive_socket, memory_->messages, kBatch, MSG_DONTWAIT, nullptr);
    if (count <= 0)
        return count < 0 && errno != EAGAIN && errno != ENETDOWN && errno != EBADF;
    for (int i = 0; i < count; ++i) {
        const VirtioHeader &header = memory_->headers[i];
        const msghdr &message = memory_->messages[i].msg_hdr;
        const size_t length = memory_->messages[i].msg_len;
        if (length < sizeof header || (message.msg_flags & MSG_TRUNC) != 0)
            continue;
        uint8_t *bytes = memory_->in[i] + kVlanTag;
        size_t size = length - sizeof header;
        bool is_checked = (header.flags & VirtioHeader::kChecksumIsRight) != 0;
        // From this host or a neighbour on it: no wire has touched it, and the checksum is still to be made.
        if ((header.flags & VirtioHeader::kNeedsChecksum) != 0)
            is_checked = finish_checksum({bytes, size}, header);
        const tpacket_auxdata said = said_of(message);
        is_checked |= (said.tp_status & TP_STATUS_CSUM_VALID) != 0;
        if ((said.tp_status & TP_STATUS_VLAN_VALID) != 0 && size >= kEthernetHeader) {
            // The kernel takes the outermost tag out of the frame.
            constexpr size_t kAddresses = 12;
            std::memmove(bytes - kVlanTag, bytes, kAddresses);
            bytes -= kVlanTag;
            size += kVlanTag;
            const uint16_t tag[2] = {
                htons((said.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? said.tp_vlan_tpid
                                                                        : uint16_t{ETH_P_8021Q}),
                htons(said.tp_vlan_tci)};
            std::memcpy(bytes + kAddresses, tag, sizeof tag);
        }
        take_all(process, tap, {bytes, size}, is_checked, segment_size(header));
    }
    return count == kBatch;
}

void Taps::take_all(Process &process, Tap &tap, std::span<const uint8_t> frame, bool is_checked, size_t size)
{
    const Headers headers = parse(frame);
    const size_t count = segment_count(frame, headers, size);
    if (count == 1)
        return take(process, tap, frame, headers, is_checked);
    for (size_t i = 0; i < count; ++i) {
        const std::span<const uint8_t> part(memory_->part,
                                            segment_write(frame, headers, size, i, memory_->part));
        take(process, tap, part, parse(part), is_checked);
    }
}

void Taps::take(Process &process, Tap &tap, std::span<const uint8_t> frame, const Headers &headers,
                bool is_checked)
{
    is_checked = is_checked && headers.transport != 0 && network_checksum_is_right(frame, headers);
    for (Flow *flow = tap.flows; flow != nullptr; flow = flow->next) {
        const Rule &rule = flow->rule;
        if (!rule_matches(rule, headers))
            continue;
        for (uint8_t i = 0; i < rule.num_counters; ++i)
            counters_count(*rule.counters[i], frame.size());
        if (!rule.drops)
            deliver(process, receiver_of(*flow->qp, headers), rule.tag, frame, is_checked);
        if (rule_ends(rule))
            return;
    }
}

}  // namespace urxe::raw
