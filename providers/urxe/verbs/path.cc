// SPDX-License-Identifier: BSD-2-Clause
// Finding the way to a QP.
#include "verbs/path.hh"

#include <sys/prctl.h>

#include <cstring>

#include "interface.hh"
#include "verbs/mcast.hh"

namespace urxe {
namespace {

constexpr uint32_t kIndexMask = (1U << shared::kQpIndexBits) - 1;

/// Whether other processes of the user may look into this one.
bool is_open_to_others()
{
    return prctl(PR_GET_DUMPABLE) == 1;
}

Peer *find(Qp &qp, const ibv_gid &gid, uint32_t qp_num)
{
    if (!is_local_gid(gid))
        return nullptr;
    Peer *peer = qp.process->find_peer(qp_num >> shared::kQpIndexBits);
    if (peer != nullptr && peer->refuses_copies.load()) {
        qp.process->release_peer(peer);
        return nullptr;
    }
    return peer;
}

}  // namespace

void find_connected_peer(Qp &qp)
{
    forget_peer(qp);
    const uint32_t qp_num = qp.attr.dest_qp_num;
    qp.packet_slot = qp.uses_packets ? qp_num >> shared::kQpIndexBits : 0;
    if (qp.uses_packets || !is_local_gid(qp.attr.ah_attr.grh.dgid))
        return;
    Peer *peer = qp.process->find_peer(qp_num >> shared::kQpIndexBits);
    if (peer == nullptr)
        return;
    shared::QpEntry *remote = peer->heap.entry(peer->heap.header().qps, qp_num & kIndexMask);
    const bool is_reached = !peer->refuses_copies.load() && is_open_to_others();
    if (remote != nullptr && is_reached) {
        qp.peer = peer;
        qp.remote = remote;
        return;
    }
    qp.packet_slot = peer->slot;
    // The other side may be able to reach this one, but both must go the same way.
    if (remote != nullptr && remote->qp_num.load() == qp_num) {
        remote->attention.fetch_or(shared::kAttentionPackets);
        qp.process->call_attention(*peer, qp_num & kIndexMask);
    }
    qp.process->release_peer(peer);
}

void find_datagram_peer(Qp &qp, const Request &request)
{
    const ibv_gid &gid = request.datagram.destination;
    if (is_multicast(gid))
        return;  // It goes to many.
    const uint32_t slot = request.datagram.qp_num >> shared::kQpIndexBits;
    if (qp.peer != nullptr && qp.peer->slot == slot && !qp.peer->is_dead.load(std::memory_order_relaxed) &&
        std::memcmp(&qp.peer_gid, &gid, sizeof gid) == 0)
        return;
    forget_peer(qp);
    qp.peer = find(qp, gid, request.datagram.qp_num);
    qp.peer_gid = gid;
}

void forget_peer(Qp &qp)
{
    if (qp.peer != nullptr)
        qp.process->release_peer(qp.peer);
    qp.peer = nullptr;
    qp.remote = nullptr;
}

}  // namespace urxe
