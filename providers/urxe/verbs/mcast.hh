// SPDX-License-Identifier: BSD-2-Clause
// Multicast groups: which QPs of this host are attached to them (IBTA 10.5.2).
#pragma once

#include <infiniband/verbs.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "verbs/qp.hh"
#include "wire/icrc.hh"

namespace urxe {

/// An attachment of a QP.
struct Attachment {
    ibv_gid group;
    uint32_t index;  ///< in the shared table
    Attachment *next;
};

/// The QP number that datagrams to a group have.
constexpr uint32_t kMulticastQp = 0xffffff;

inline bool is_multicast(const ibv_gid &gid)
{
    return wire::is_multicast(std::bit_cast<wire::Address>(gid));
}

int mcast_attach(ibv_qp *qp, const ibv_gid *group, uint16_t lid);
int mcast_detach(ibv_qp *qp, const ibv_gid *group, uint16_t lid);

/// The interface of the QP's device: groups of one are not those of another.
const char *mcast_interface(const Qp &qp);

/// The processes of this host that may have attachments, this one among them.
GroupSlots mcast_slots(Process &process);
/// One of them cannot be reached any more: the next who asks looks anew.
void mcast_lost(Process &process);

/// Calls taken(qp_num) for each QP of this process that takes what arrives for the group by that interface. Under an Access
/// to the process.
template <class Taken>
void mcast_for_each_own(const Process &process, const ibv_gid &group, uint32_t interface, Taken taken)
{
    // Chunks are made in order.
    for (uint32_t index = 0; const GroupMember *member = process.group_members.find(index); ++index) {
        const uint32_t qp_num = member->qp_num.load(std::memory_order_acquire);
        if (qp_num != 0 && member->interface == interface &&
            std::memcmp(&member->group, &group, sizeof group) == 0)
            taken(qp_num);
    }
}

/// Calls reach(peer, qp_num) for each QP on this host that is attached to the group by an interface of that of `qp`, under an
/// Access to the peer; and pass(slot) for each process whose QPs are out of reach.
template <class Reach, class Pass>
void mcast_for_each(Qp &qp, const ibv_gid &group, Reach reach, Pass pass)
{
    using Groups = shared::GroupTable;
    const char *interface = mcast_interface(qp);
    const GroupSlots slots = mcast_slots(*qp.process);
    for (uint32_t slot = 0; slot < shared::kProcessSlots; ++slot) {
        if ((slots.others.bits[slot / 64] >> slot % 64 & 1) != 0)
            pass(slot);
        if ((slots.reached.bits[slot / 64] >> slot % 64 & 1) == 0)
            continue;
        Peer *peer = qp.process->find_peer(slot);
        if (peer == nullptr) {
            mcast_lost(*qp.process);
            continue;
        }
        if (peer->refuses_copies.load()) {
            pass(slot);
        } else {
            const Access access(*peer);
            const Groups &groups = peer->heap.header().groups;
            for (uint32_t index = 0; access && index < Groups::kCapacity; ++index) {
                const shared::GroupEntry *entry = peer->heap.entry(groups, index);
                if (entry == nullptr)
                    break;  // Chunks are made in order.
                const uint32_t qp_num = entry->qp_num.load(std::memory_order_acquire);
                if (qp_num != 0 && std::memcmp(&entry->group, &group, sizeof group) == 0 &&
                    std::strncmp(entry->interface, interface, sizeof entry->interface) == 0)
                    reach(*peer, qp_num);
            }
        }
        qp.process->release_peer(peer);
    }
}

}  // namespace urxe
