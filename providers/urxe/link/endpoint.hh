// SPDX-License-Identifier: BSD-2-Clause
// A queue pair as the wire sees it: its requester and its responder, and what they ask of their host.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <span>

#include "direct/memory.hh"
#include "direct/target.hh"
#include "link/link.hh"
#include "transport/requester.hh"
#include "transport/responder.hh"
#include "verbs/qp.hh"

namespace urxe::link {

/// Packets that a requester has in flight: what the buffer of the peer's socket holds where nobody may make it larger.
constexpr uint8_t kWindow = 48;

/// Everything is called with the QP's send lock held.
class Endpoint {
public:
    /// For a QP that goes to RTR. Null: no memory.
    static Endpoint *create(Qp &qp, const Route &route);
    static void destroy(Endpoint *endpoint);

    /// For a connected QP that goes to RTS.
    void start_requester();
    /// Takes over attributes that were changed.
    void refresh();
    /// For a QP that goes to the error state: nothing is sent or received any more.
    void stop();

    /// Sends what is posted, as far as it may be, and whatever else is due.
    void run();
    /// The same without the responder's answers.
    void run_requests();
    /// Takes a packet for the QP. `reason` is why wire::parse() refused it.
    void receive(const wire::Packet &packet, wire::Reason reason, const Link::Arrival &arrival);
    /// Sends a datagram over the network; past it, to the process that has the slot, if that is not 0.
    ibv_wc_status send_datagram(const Request &request, uint32_t slot = 0);
    /// Whether the QP's device has a network.
    bool has_network() const { return route_.interface != kLoopback; }

    bool is_touched;     ///< packets came, and run() is to be called
    bool has_responses;  ///< some were responses, so that run_requests() may have something to do

    // What requester and responder ask for.
    std::span<uint8_t> buffer(const transport::Request *) { return link().room(); }
    void send(size_t size) { link().send(route_, size); }
    const transport::Request &request(uint32_t index) { return requests_[index & qp_.request_mask]; }
    ibv_wc_status gather(uint32_t index, uint32_t offset, std::span<uint8_t> out);
    ibv_wc_status scatter(uint32_t index, uint32_t offset, std::span<const uint8_t> bytes);
    ibv_wc_status execute(uint32_t index);
    void complete(uint32_t index, ibv_wc_status status, uint32_t byte_count);
    bool use_queue(uint32_t srqn);
    bool take_receive();
    ibv_wc_status fill_receive(uint32_t offset, std::span<const uint8_t> bytes);
    void finish_receive(const transport::Receipt &receipt);
    bool remote_check(uint32_t rkey, uint64_t address, uint32_t length, int access);
    bool remote_write(uint32_t rkey, uint64_t address, std::span<const uint8_t> bytes);
    bool remote_read(uint32_t rkey, uint64_t address, std::span<uint8_t> out);
    bool remote_atomic(transport::Op op, const wire::AtomicEth &atomic, uint64_t &original);
    bool remote_atomic_write(uint32_t rkey, uint64_t address, std::span<const uint8_t, 8> bytes);
    bool remote_flush(const wire::Reth &reth, const wire::Feth &feth);
    void remote_done(bool is_write, bool is_success, uint32_t length);
    bool invalidate(uint32_t rkey);
    void failed(wire::NakCode code, bool told);
    uint32_t lost() { return link().lost(); }
    void count(transport::Counter counter) { link().counters.add(counter); }

private:
    explicit Endpoint(Qp &qp, const Route &route);
    Link &link() { return qp_.process->link; }
    direct::Target target();
    uint32_t pd();
    bool find_remote(uint32_t rkey, uint64_t address, uint64_t length, int access, direct::Piece &piece);
    void progress_requests();
    void schedule();

    Qp &qp_;
    Route route_;  ///< of a connected QP
    transport::Request *requests_;
    uint32_t first_;  ///< number, in the send queue, of the requester's first request
    uint32_t given_;  ///< requests that the requester knows of
    std::optional<transport::Requester> requester_;
    std::optional<transport::Responder> responder_;
    bool has_more_;  ///< the responder has more to send

    uint32_t xrc_srq_;  ///< of a receiving XRC QP: the SRQ that the request at hand names
    direct::TakenReceive receive_;
    const Link::Arrival *arrival_;  ///< of the packet at hand
    const wire::Packet *packet_;    ///< it; null: there is none
    uint32_t datagram_psn_;
};

}  // namespace urxe::link
