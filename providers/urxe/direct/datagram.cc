// SPDX-License-Identifier: BSD-2-Clause
// Carrying out the requests of datagram QPs: to one target, or to all that are attached to a multicast group.
#include <algorithm>
#include <cstring>

#include "direct/grh.hh"
#include "direct/target.hh"
#include "link/endpoint.hh"
#include "verbs/mcast.hh"

namespace urxe::direct {
namespace {

/// A datagram under way.
struct Datagram {
    Qp &qp;
    const Request &request;
    const Pieces &payload;
    uint32_t qkey;
    uint8_t grh[sizeof(ibv_grh)];
};

/// Copies all, unless that may go along with the completion. The status of the completion.
ibv_wc_status copy_in(const Datagram &datagram, Peer &peer, const TakenReceive &receive,
                      const NewCompletion &completion, bool &goes_along)
{
    const Pieces &payload = datagram.payload;
    Pieces to, from;
    to.clear();
    if (completion.byte_len > receive.length)
        return IBV_WC_LOC_LEN_ERR;
    if (!find_pieces(peer, {receive.segments, receive.count}, receive.pd, IBV_ACCESS_LOCAL_WRITE, to) ||
        to.length < completion.byte_len)
        return IBV_WC_LOC_PROT_ERR;
    goes_along = completion.byte_len <= shared::kMaxInline && !to.may_be_missing;
    if (goes_along)
        return IBV_WC_SUCCESS;
    if (payload.count >= kMaxSegments)
        return IBV_WC_LOC_PROT_ERR;
    from.piece[0] = {reinterpret_cast<uintptr_t>(datagram.grh), sizeof datagram.grh, Way::kPointer};
    std::copy_n(payload.piece, payload.count, from.piece + 1);
    return copy(peer, {to.piece, to.count}, {from.piece, payload.count + 1}, completion.byte_len) ==
                   Copied::kAll
               ? IBV_WC_SUCCESS
               : IBV_WC_LOC_PROT_ERR;
}

/// Gives the datagram to a QP, if that takes it. Under an Access to the peer.
void deliver(const Datagram &datagram, Peer &peer, shared::QpEntry &entry)
{
    if (entry.type != IBV_QPT_UD || !is_receiving(entry.state.load(std::memory_order_acquire)) ||
        entry.qkey != datagram.qkey)
        return;
    const Target target = {*datagram.qp.process, peer, entry, false};
    TakenReceive receive;
    if (!take_receive(target, receive))
        return;
    NewCompletion completion = receive_completion(datagram.qp, datagram.request);
    completion.byte_len += sizeof datagram.grh;
    completion.wc_flags |= IBV_WC_GRH;
    completion.sl = datagram.request.datagram.sl;
    bool goes_along = false;
    completion.status = copy_in(datagram, peer, receive, completion, goes_along);
    if (completion.status == IBV_WC_SUCCESS && goes_along) {
        if (complete_receive(target, receive, completion, datagram.grh,
                             {datagram.payload.piece, datagram.payload.count},
                             static_cast<uint32_t>(datagram.request.length)) != Pushed::kFault)
            return;
        completion.status = IBV_WC_LOC_PROT_ERR;
    }
    complete_receive(target, receive, completion);
}

shared::QpEntry *qp_of(Peer &peer, uint32_t qp_num)
{
    shared::QpEntry *entry = peer.heap.entry(peer.heap.header().qps, shared::index_of_qp(qp_num));
    return entry != nullptr && entry->qp_num.load(std::memory_order_acquire) == qp_num ? entry : nullptr;
}

/// To the QPs on this host one by one; to all others as one packet.
ibv_wc_status send_to_group(const Datagram &datagram)
{
    const Request &request = datagram.request;
    link::Endpoint *endpoint = datagram.qp.endpoint;
    ibv_wc_status status = IBV_WC_SUCCESS;
    const auto send = [&](uint32_t slot) {
        if (endpoint != nullptr && status == IBV_WC_SUCCESS)
            status = endpoint->send_datagram(request, slot);
    };
    mcast_for_each(
        datagram.qp, request.datagram.destination,
        [&](Peer &peer, uint32_t qp_num) {
            if (shared::QpEntry *entry = qp_of(peer, qp_num); entry != nullptr)
                deliver(datagram, peer, *entry);
        },
        send);
    if (endpoint != nullptr && endpoint->has_network())
        send(0);
    return status;
}

}  // namespace

Result execute_datagram(Qp &qp, const Request &request)
{
    Pieces payload;
    if (!find_payload(qp, request, payload))
        return done(IBV_WC_LOC_PROT_ERR);
    if (request.length > qp_mtu(qp))
        return done(IBV_WC_LOC_LEN_ERR);
    const auto &to = request.datagram;
    // The highest bit of the key asks for the QP's own (IBTA 10.2.5).
    Datagram datagram = {qp, request, payload, (to.qkey >> 31) != 0 ? qp.attr.qkey : to.qkey, {}};
    write_grh(request, datagram.grh);
    if (is_multicast(to.destination))
        return done(to.qp_num == kMulticastQp ? send_to_group(datagram) : IBV_WC_SUCCESS);
    if (qp.peer == nullptr)
        return done(qp.endpoint == nullptr ? IBV_WC_SUCCESS : qp.endpoint->send_datagram(request));
    if (qp.peer->is_dead.load(std::memory_order_relaxed))
        return done(IBV_WC_SUCCESS);
    const Access access(*qp.peer);
    shared::QpEntry *entry = access ? qp_of(*qp.peer, to.qp_num) : nullptr;
    if (entry != nullptr)
        deliver(datagram, *qp.peer, *entry);
    return done(IBV_WC_SUCCESS);
}

}  // namespace urxe::direct
