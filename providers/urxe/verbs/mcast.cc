// SPDX-License-Identifier: BSD-2-Clause
// Attaching QPs to multicast groups, and knowing which processes have attached any.
#include "verbs/mcast.hh"

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
            return;
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

}  // namespace

const char *mcast_interface(const Qp &qp)
{
    return device_of(*qp.verbs.qp.context).interface;
}

SlotSet mcast_slots(Process &process)
{
    common::Locked locked(process.groups_lock);
    // A process that starts to listen after the list was read reads one itself, after it has.
    const uint32_t changed = process.header().groups_changed.load() + 1;
    if (process.groups_seen != changed) {
        process.groups_seen = changed;
        process.group_slots = {};
        for_each_slot([&](uint32_t slot) {
            Peer *peer = process.find_peer(slot);
            if (peer == nullptr)
                return;
            if (peer->heap.header().num_attachments.load() != 0)
                process.group_slots.bits[slot / 64] |= uint64_t{1} << slot % 64;
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
    bool is_first;
    {
        common::Locked locked(process.lock);
        if (*find(qp, *group) != nullptr)
            return 0;
        common::Allocated<Attachment> made = common::allocate<Attachment>();
        const uint32_t index = made ? process.group_indices.take(shared::GroupTable::kCapacity) : 0;
        if (index == 0)
            return ENOMEM;
        if (process.make_entry(process.header().groups, index) != 0) {
            process.group_indices.give(index);
            return ENOMEM;
        }
        shared::GroupEntry &entry = *process.entry(process.header().groups, index);
        std::snprintf(entry.interface, sizeof entry.interface, "%s", mcast_interface(qp));
        entry.group = *group;
        entry.qp_num.store(ibqp->qp_num, std::memory_order_release);
        made->group = *group;
        made->index = index;
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
    process.entry(process.header().groups, attachment->index)->qp_num.store(0);
    process.wait_for_accesses();
    process.header().num_attachments.fetch_sub(1);
    process.group_indices.give(attachment->index);
    std::free(attachment);
    return 0;
}

}  // namespace urxe
