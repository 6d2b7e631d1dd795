// SPDX-License-Identifier: BSD-2-Clause
// Finding the way to a QP.
#include "verbs/path.hh"

#include <sys/prctl.h>

#include <cstring>

#include "interface.hh"
#include "verbs/mcast.hh"

namespace urxe {
namespace {

/// Whether other processes of the user may look into this one.
bool is_open_to_others()
{
    return prctl(PR_GET_DUMPABLE) == 1;
}

/// The process of this host that has the QP at that address, with one more reference; null where there is none.
Peer *find_peer(Qp &qp, const ibv_gid &gid, uint32_t qp_num)
{
    return is_local_gid(gid) ? qp.process->find_peer(shared::slot_of_qp(qp_num)) : nullptr;
}

}  // namespace

void find_connected_peer(Qp &qp)
{
    forget_peer(qp);
    const uint32_t qp_num = qp.attr.dest_qp_num;
    qp.packet_slot = qp.uses_packets ? shared::slot_of_qp(qp_num) : 0;
    if (qp.uses_packets)
        return;
    Peer *peer = find_peer(qp, qp.attr.ah_attr.grh.dgid, qp_num);
    if (peer == nullptr)
        return;
    shared::QpEntry *remote = peer->heap.entry(peer->heap.header().qps, shared::index_of_qp(qp_num));
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
        qp.process->call_attention(*peer, shared::index_of_qp(qp_num));
    }
    qp.process->release_peer(peer);
}

void find_datagram_peer(Qp &qp, const Request &request)
{
    const ibv_gid &gid = request.datagram.destination;
    if (is_multicast(gid))
        return;  // It goes to many.
    const uint32_t slot = shared::slot_of_qp(request.datagram.qp_num);
    if (qp.peer != nullptr && qp.peer->slot == slot && !qp.peer->is_dead.load(std::memory_order_relaxed) &&
        std::memcmp(&qp.peer_gid, &gid, sizeof gid) == 0)
        return;
    forget_peer(qp);
    qp.peer_gid = gid;
    Peer *peer = find_peer(qp, gid, request.datagram.qp_num);
    if (peer != nullptr && peer->refuses_copies.load())
        qp.process->release_peer(peer);
    else
        qp.peer = peer;
}

void forget_peer(Qp &qp)
{
    if (qp.peer != nullptr)
        qp.process->release_peer(qp.peer);
    qp.peer = nullptr;
    qp.remote = nullptr;
}

}  // namespace urxe
