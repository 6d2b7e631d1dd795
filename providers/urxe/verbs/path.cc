// SPDX-License-Identifier: BSD-2-Clause
// Finding the way to a QP.
#include "verbs/path.hh"

#include <cstring>

#include "interface.hh"
#include "verbs/mcast.hh"

namespace urxe {
namespace {

constexpr uint32_t kIndexMask = (1U << shared::kQpIndexBits) - 1;

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
    Peer *peer = find(qp, qp.attr.ah_attr.grh.dgid, qp_num);
    if (peer == nullptr)
        return;
    qp.remote = peer->heap.entry(peer->heap.header().qps, qp_num & kIndexMask);
    if (qp.remote == nullptr) {
        qp.process->release_peer(peer);
        return;
    }
    qp.peer = peer;
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
