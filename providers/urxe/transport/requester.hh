// SPDX-License-Identifier: BSD-2-Clause
// The half of a queue pair that sends requests: segmentation, acknowledgements, retries, completions in order.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/counter.hh"
#include "transport/request.hh"
#include "wire/packet.hh"

namespace urxe::transport {

/// PSNs that may be unacknowledged. Kernel responders keep up with no more.
constexpr uint8_t kMaxWindow = 128;

/// A deadline that never comes.
constexpr uint64_t kNever = UINT64_MAX;

/// rnr_retry: for ever.
constexpr uint8_t kRnrRetryForEver = 7;

struct RequesterConfig {
    wire::Transport transport;  // kRc, kUc, kUd, or kXrc: an XRC initiator
    uint32_t own_qpn;           // UD
    uint32_t dest_qpn;          // not UD
    uint16_t pkey;
    uint16_t mtu;        // path MTU in bytes
    uint32_t first_psn;  // of the first packet
    uint64_t
        timeout_ns;  // without an answer, longer for a retry; 0: never. wire::ack_timeout_ns() has it for a code
    uint8_t retry_count;          // retries before an error
    uint8_t rnr_retry;            // the same when no receive is posted; kRnrRetryForEver
    uint8_t max_rd_atomic;        // outstanding reads and atomics, at most kMaxRdAtomic
    uint8_t window = kMaxWindow;  // PSNs in flight, 1 to kMaxWindow; what the peer's socket buffer holds
};

/// What a requester asks of its host, who calls it and holds the lock of the queue pair. None of these calls
/// back into the requester. A host is a class that has members of these names, without self, and the requester
/// makes this table of it.
struct RequesterOps {
    /// Room for one packet, wire::kMaxPacketSize bytes, or nothing when the link is full: the host calls
    /// progress() when it has room again. The room belongs to the requester until it calls send(), or the next
    /// buffer(): a packet need not be sent. request tells in UD where the packet goes.
    std::span<uint8_t> (*buffer)(void *self, const Request *request);
    /// Sends the first size bytes of the room after sealing their ICRC, which are the last four. Keeps the
    /// order of packets. A packet may get lost.
    void (*send)(void *self, size_t size);
    /// The request of that index, which stays as it is until it is completed.
    const Request &(*request)(void *self, uint32_t index);
    /// Copies out.size() bytes, never 0, of the request's local data from offset on. It is called again for
    /// the same bytes when packets get lost. An error, IBV_WC_LOC_PROT_ERR as a rule, fails the queue pair.
    ibv_wc_status (*gather)(void *self, uint32_t index, uint32_t offset, std::span<uint8_t> out);
    /// Copies bytes, never 0, that were read into the request's local data at offset; the result of an atomic
    /// is a number of 8 bytes in host order. In order, once for each byte. Errors as in gather().
    ibv_wc_status (*scatter)(void *self, uint32_t index, uint32_t offset, std::span<const uint8_t> bytes);
    /// Does a request of kLocal, once, when all requests before it were sent.
    ibv_wc_status (*execute)(void *self, uint32_t index);
    /// The request is over: once for each, in order; the host decides whether that makes a completion.
    /// byte_count is the length of the message. After any status but IBV_WC_SUCCESS the queue pair is in the
    /// error state, and the requester does nothing more.
    void (*complete)(void *self, uint32_t index, ibv_wc_status status, uint32_t byte_count);
    /// A number that changes when a packet came that there was no room for.
    uint32_t (*lost)(void *self);
    void (*count)(void *self, Counter counter);
};

template <class Host>
inline constexpr RequesterOps kRequesterOps = {
    [](void *self, const Request *request) { return static_cast<Host *>(self)->buffer(request); },
    [](void *self, size_t size) { static_cast<Host *>(self)->send(size); },
    [](void *self, uint32_t index) -> const Request & { return static_cast<Host *>(self)->request(index); },
    [](void *self, uint32_t index, uint32_t offset, std::span<uint8_t> out) {
        return static_cast<Host *>(self)->gather(index, offset, out);
    },
    [](void *self, uint32_t index, uint32_t offset, std::span<const uint8_t> bytes) {
        return static_cast<Host *>(self)->scatter(index, offset, bytes);
    },
    [](void *self, uint32_t index) { return static_cast<Host *>(self)->execute(index); },
    [](void *self, uint32_t index, ibv_wc_status status, uint32_t byte_count) {
        static_cast<Host *>(self)->complete(index, status, byte_count);
    },
    [](void *self) { return static_cast<Host *>(self)->lost(); },
    [](void *self, Counter counter) { static_cast<Host *>(self)->count(counter); }};

/// Sends the requests of a send queue (IBTA 9.7.2, 9.7.3, 9.7.6, 9.8, 9.9.2; A14; A19).
///
/// The host numbers requests, from 0 on, modulo 2^32, and keeps each until it is completed: a ring of the send
/// queue's size. It calls post() for new ones, receive() for each response that came, and then progress(), as
/// well as when next_deadline() has come or the link has room again. One caller at a time; time is in
/// nanoseconds from any start, and does not run backwards.
///
/// Acknowledgements are asked for where a completion waits for one, and for each quarter of the window. What is left
/// without, at the end of a series of quiet requests, is asked for a little later by repeating the last packet.
///
/// A long READ is asked for in parts of a quarter of the window, so that answers never exceed the window
/// either. Credits are not counted: who has no receive answers RNR NAK.
class Requester {
public:
    template <class Host>
    Requester(const RequesterConfig &config, Host &host) : Requester(config, &host, kRequesterOps<Host>)
    {
    }
    Requester(const RequesterConfig &config, void *host, const RequesterOps &ops);

    /// The next count requests may be sent.
    void post(uint32_t count = 1) { tail_ += count; }

    /// Sends what may be sent, and sees to timers.
    void progress(uint64_t now);

    /// Takes a response that wire::parse() accepted, whose ICRC, destination QPN, source and P_Key are right. All other
    /// packets are ignored.
    void receive(const wire::Packet &packet, uint64_t now);

    /// Nothing is sent or completed from then on: for a queue pair that goes to the error state for another
    /// reason. The host completes what is left as after failed().
    void stop()
    {
        failed_ = true;
        deadline_ = ask_at_ = kNever;
    }

    /// When progress() has to be called at the latest, or kNever.
    uint64_t next_deadline() const { return std::min(deadline_, ask_at_); }

    /// Whether a request was completed with an error, or stop() called. The host completes those from oldest() on with
    /// IBV_WC_WR_FLUSH_ERR.
    bool failed() const { return failed_; }

    /// The oldest request that was not completed; the index of the next one to be posted when there is none.
    uint32_t oldest() const { return head_; }

private:
    bool is_unreliable() const
    {
        return config_.transport == wire::Transport::kUc || config_.transport == wire::Transport::kUd;
    }
    void rewind();
    bool is_excused();
    void retry();
    void retry_early();
    void ask();
    void fail(ibv_wc_status status);
    void fail_later(ibv_wc_status status);
    void advance(Sequence sequence);
    void complete_head(const Request &request);
    void complete_local();
    bool acknowledge(Sequence end);
    void take_acknowledge(Sequence sequence, uint8_t syndrome);
    void take_nak(Sequence sequence, unsigned code);
    void take_rnr_nak(Sequence sequence, unsigned timer);
    void take_response(Sequence sequence, const wire::Packet &packet);
    ibv_wc_status take_data(Sequence sequence, const Request &request, const wire::Packet &packet);
    uint64_t patience() const;
    void execute();
    void send_requests();
    bool send_packet(const Request &request);
    uint64_t read_part(const Request &request) const;
    wire::Packet packet_of(const Request &request, uint64_t count);
    ibv_wc_status check(const Request &request) const;

    const RequesterOps &ops_;
    void *host_;
    RequesterConfig config_;

    // Requests [head_, tail_) are not complete; the packets of head_ begin at head_first_.
    uint32_t head_ = 0;
    uint32_t tail_ = 0;
    Sequence head_first_;

    // Packets [unacknowledged_, next_) are in flight; next_ belongs to request cursor_, which begins at
    // cursor_first_. Those from sent_ on were never sent.
    Sequence unacknowledged_;
    Sequence next_;
    Sequence sent_;
    Sequence cursor_first_;
    uint32_t cursor_ = 0;
    uint32_t fresh_ = 0;  // requests before it were reached before
    Sequence
        acknowledge_asked_;  // the packet after the last one that asked for an acknowledgement or a response

    // Ends of the reads and atomics in flight, a ring.
    Sequence answers_[kMaxRdAtomic];
    uint8_t answers_first_ = 0;
    uint8_t answers_count_ = 0;

    uint64_t now_ = 0;
    uint64_t deadline_ = kNever;  // of the oldest packet in flight, or of the pause
    uint64_t ask_at_ = kNever;    // when an acknowledgement is asked for that was not
    bool paused_ = false;         // by an RNR NAK
    bool failed_ = false;
    uint8_t retries_ = 0;
    uint8_t excused_ = 0;  // retries in a row that did not count
    uint32_t lost_ = 0;    // what the host said of lost packets at the last retry
    uint8_t rnr_retries_ = 0;
    Sequence repaired_ = 0;  // unacknowledged_ when a response last told of a loss

    // A request that cannot be sent fails when those before it are complete.
    ibv_wc_status error_ = IBV_WC_SUCCESS;
    uint32_t error_index_ = 0;
};

}  // namespace urxe::transport
