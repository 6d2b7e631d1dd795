// SPDX-License-Identifier: BSD-2-Clause
// Attaching QPs to multicast groups, and knowing which processes have attached any.
#include "verbs/mcast.hh"

#include <net/if.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"

namespace urxe {
namespace {

/// Calls each(slot) for the slots that processes of this network namespace listen on, as the kernel lists them.
template <class Each>
void for_each_slot(Each each)
{
    std::FILE *list = std::fopen("/proc/self/net/unix", "re");
    if (list == nullptr)
        return;
    char line[512];
    while (std::fgets(line, sizeof line, list) != nullptr) {
        const char *name = std::strstr(line, " @urxe/");
        unsigned slot = 0;
        if (name != nullptr && std::sscanf(name, " @urxe/%u", &slot) == 1 && slot < shared::kProcessSlots)
            each(slot);
    }
    std::fclose(list);
}

/// Tells all processes that this one has attachments now.
void announce(Process &process)
{
    for_each_slot([&](uint32_t slot) {
        Peer *peer = process.find_peer(slot);
        if (peer == nullptr)
            return process.link.tell_of_groups(slot);
        peer->heap.header().groups_changed.fetch_add(1);
        process.release_peer(peer);
    });
}

Attachment **find(Qp &qp, const ibv_gid &group)
{
    Attachment **link = &qp.attachments;
    while (*link != nullptr && std::memcmp(&(*link)->group, &group, sizeof group) != 0)
        link = &(*link)->next;
    return link;
}

/// Whether one of the process's QPs is attached to the group by that interface.
bool has_member(Process &process, const ibv_gid &group, uint32_t interface)
{
    bool is_there = false;
    mcast_for_each_own(process, group, interface, [&](uint32_t) { is_there = true; });
    return is_there;
}

/// What the heap and the process know of an attachment, with an index of its own, and packets from the network. 0 or a
/// positive errno value. Under process.lock.
int make_member(Qp &qp, const ibv_gid &group, uint32_t &index)
{
    Process &process = *qp.process;
    const uint32_t interface = if_nametoindex(mcast_interface(qp));
    const auto address = std::bit_cast<wire::Address>(group);
    index = process.group_indices.take(shared::GroupTable::kCapacity);
    if (index == 0)
        return ENOMEM;
    GroupMember *member = process.group_members.make(index);
    int error = member == nullptr ? ENOMEM : process.make_entry(process.header().groups, index);
    if (error == 0 && interface != link::kLoopback && !has_member(process, group, interface))
        error = process.link.join(address, interface);
    if (error != 0) {
        process.group_indices.give(index);
        return error;
    }
    const uint32_t qp_num = qp.verbs.qp.qp_num;
    shared::GroupEntry &entry = *process.entry(process.header().groups, index);
    std::snprintf(entry.interface, sizeof entry.interface, "%s", mcast_interface(qp));
    member->interface = interface;
    member->group = entry.group = group;
    member->qp_num.store(qp_num, std::memory_order_release);
    entry.qp_num.store(qp_num, std::memory_order_release);
    return 0;
}

void unmake_member(Process &process, uint32_t index)
{
    GroupMember &member = *process.group_members.find(index);
    process.entry(process.header().groups, index)->qp_num.store(0);
    member.qp_num.store(0);
    process.wait_for_accesses();
    if (member.interface != link::kLoopback && !has_member(process, member.group, member.interface))
        process.link.leave(std::bit_cast<wire::Address>(member.group), member.interface);
    process.group_indices.give(index);
}

}  // namespace

const char *mcast_interface(const Qp &qp)
{
    return device_of(*qp.verbs.qp.context).interface;
}

GroupSlots mcast_slots(Process &process)
{
    common::Locked locked(process.groups_lock);
    // A process that starts to listen after the list was read reads one itself, after it has.
    const uint32_t changed = process.header().groups_changed.load() + 1;
    if (process.groups_seen != changed) {
        process.groups_seen = changed;
        process.group_slots = {};
        for_each_slot([&](uint32_t slot) {
            Peer *peer = process.find_peer(slot);
            const uint64_t bit = uint64_t{1} << slot % 64;
            if (peer == nullptr) {
                process.group_slots.others.bits[slot / 64] |= bit;
                return;
            }
            // It may not have been there yet, some lines before.
            process.group_slots.others.bits[slot / 64] &= ~bit;
            if (peer->heap.header().num_attachments.load() != 0)
                process.group_slots.reached.bits[slot / 64] |= bit;
            process.release_peer(peer);
        });
    }
    return process.group_slots;
}

void mcast_lost(Process &process)
{
    common::Locked locked(process.groups_lock);
    process.groups_seen = 0;
}

int mcast_attach(ibv_qp *ibqp, const ibv_gid *group, uint16_t)
{
    Qp &qp = to_qp(ibqp);
    Process &process = *qp.process;
    if (ibqp->qp_type != IBV_QPT_UD || !is_multicast(*group))
        return EINVAL;
    // That the port is not to be had is no error: others on this host reach the QP without.
    static_cast<void>(process.open_link());
    bool is_first;
    {
        common::Locked locked(process.lock);
        if (*find(qp, *group) != nullptr)
            return 0;
        common::Allocated<Attachment> made = common::allocate<Attachment>();
        if (const int error = made ? make_member(qp, *group, made->index) : ENOMEM; error != 0)
            return error;
        made->group = *group;
        made->next = qp.attachments;
        qp.attachments = made.release();
        is_first = process.header().num_attachments.fetch_add(1) == 0;
    }
    if (is_first)
        announce(process);
    return 0;
}

int mcast_detach(ibv_qp *ibqp, const ibv_gid *group, uint16_t)
{
    Qp &qp = to_qp(ibqp);
    Process &process = *qp.process;
    common::Locked locked(process.lock);
    Attachment **link = find(qp, *group);
    Attachment *attachment = *link;
    if (attachment == nullptr)
        return EINVAL;
    *link = attachment->next;
    unmake_member(process, attachment->index);
    process.header().num_attachments.fetch_sub(1);
    std::free(attachment);
    return 0;
}

}  // namespace urxe
