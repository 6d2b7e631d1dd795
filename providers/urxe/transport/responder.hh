// SPDX-License-Identifier: BSD-2-Clause
// The half of a queue pair that executes requests of others: order, checks, receives, memory, replies, replays.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/counter.hh"
#include "transport/request.hh"
#include "wire/packet.hh"

namespace urxe::transport {

struct ResponderConfig {
    wire::Transport transport;  // kRc, kUc, kUd, or kXrc: an XRC target
    uint32_t dest_qpn;          // not UD
    uint16_t pkey;
    uint16_t mtu;                // path MTU in bytes
    uint32_t first_psn;          // of the first packet that is expected; any in UC and UD
    uint32_t qkey;               // UD
    uint8_t max_dest_rd_atomic;  // reads and atomics that are kept, at most kMaxRdAtomic
    uint8_t min_rnr_timer;       // code, see wire::rnr_timer_ns()
    int access;                  // what the queue pair permits: IBV_ACCESS_REMOTE_*, IBV_ACCESS_FLUSH_*
};

/// A receive that is over. Values are in host order.
struct Receipt {
    ibv_wc_status status;
    bool is_write;  // IBV_WC_RECV_RDMA_WITH_IMM, else IBV_WC_RECV
    Extra extra;    // what extra_value is
    bool solicited;
    uint32_t byte_count;   // of the message
    uint32_t extra_value;  // the immediate, or the key that was invalidated
    uint32_t source_qpn;   // of the sender
};

/// What a responder asks of its host, who calls it and holds the lock of the queue pair. None of these calls
/// back into the responder. A host is a class that has members of these names, without self, and the responder
/// makes this table of it; it may serve a requester too.
///
/// Keys, addresses and lengths come from the network. The host checks each of them against its memory regions
/// and windows: that the key exists, belongs to the protection domain (or the queue pair), permits the access,
/// and covers the range without wrapping. It does so whenever it is asked, since a region may be gone the next
/// time. What it refuses ends the connection with a remote access error.
struct ResponderOps {
    /// As in RequesterOps; request is null.
    std::span<uint8_t> (*buffer)(void *self, const Request *request);
    void (*send)(void *self, size_t size);

    /// XRC: what follows is for a request that names the shared receive queue with that number: its receives, and
    /// memory of its protection domain (IBTA A14). False: there is none in reach of the queue pair.
    bool (*use_queue)(void *self, uint32_t srqn);
    /// Takes the oldest receive of the queue pair, of its shared receive queue, or of the one that use_queue() said;
    /// false: there is none. There is one at a time: it is over with finish_receive().
    bool (*take_receive)(void *self);
    /// Copies bytes, never 0, into the receive at offset. IBV_WC_LOC_LEN_ERR when they do not fit,
    /// IBV_WC_LOC_PROT_ERR when it may not be written. In UD the host sees to the 40 bytes before the message.
    /// UC and UD may write the same bytes again for another message.
    ibv_wc_status (*fill_receive)(void *self, uint32_t offset, std::span<const uint8_t> bytes);
    /// The receive is over; the host makes a completion of it.
    void (*finish_receive)(void *self, const Receipt &receipt);

    /// Whether all of a range, never empty, may be accessed: one of IBV_ACCESS_REMOTE_READ and _WRITE.
    bool (*remote_check)(void *self, uint32_t rkey, uint64_t address, uint32_t length, int access);
    /// Copies to remotely written memory, in order. False, and nothing written, when that is not permitted;
    /// the same for those that follow.
    bool (*remote_write)(void *self, uint32_t rkey, uint64_t address, std::span<const uint8_t> bytes);
    bool (*remote_read)(void *self, uint32_t rkey, uint64_t address, std::span<uint8_t> out);
    /// One atomic operation on the 8 bytes, a number in host order, at an aligned address. original becomes what
    /// was there; a kCompareSwap stores swap_or_add if that equals compare.
    bool (*remote_atomic)(void *self, Op op, const wire::AtomicEth &atomic, uint64_t &original);
    /// Writes 8 bytes to an aligned address at once.
    bool (*remote_atomic_write)(void *self, uint32_t rkey, uint64_t address,
                                std::span<const uint8_t, 8> bytes);
    /// Makes what was written to the range, or to the whole region where selectivity is kSelectRegion, visible or
    /// persistent, as placement says.
    bool (*remote_flush)(void *self, const wire::Reth &reth, const wire::Feth &feth);
    /// A WRITE or a READ is over: all of it is written, or sent; or it was refused.
    void (*remote_done)(void *self, bool is_write, bool is_success, uint32_t length);
    /// Invalidates a key for a SEND with invalidate; false when there is none that may be.
    bool (*invalidate)(void *self, uint32_t rkey);

    /// The queue pair goes to the error state. The asynchronous event, unless a receive that was finished with an
    /// error told already: kInvalidRequest is IBV_EVENT_QP_REQ_ERR, kRemoteAccessError
    /// IBV_EVENT_QP_ACCESS_ERR, kRemoteOperationalError IBV_EVENT_QP_FATAL. The NAK, and responses before it, go
    /// out with progress(): the host calls it as long as it asks for more, and flushes the queues.
    void (*failed)(void *self, wire::NakCode code, bool told);
    void (*count)(void *self, Counter counter);
};

template <class Host>
inline constexpr ResponderOps kResponderOps = {
    [](void *self, const Request *request) { return static_cast<Host *>(self)->buffer(request); },
    [](void *self, size_t size) { static_cast<Host *>(self)->send(size); },
    [](void *self, uint32_t srqn) { return static_cast<Host *>(self)->use_queue(srqn); },
    [](void *self) { return static_cast<Host *>(self)->take_receive(); },
    [](void *self, uint32_t offset, std::span<const uint8_t> bytes) {
        return static_cast<Host *>(self)->fill_receive(offset, bytes);
    },
    [](void *self, const Receipt &receipt) { static_cast<Host *>(self)->finish_receive(receipt); },
    [](void *self, uint32_t rkey, uint64_t address, uint32_t length, int access) {
        return static_cast<Host *>(self)->remote_check(rkey, address, length, access);
    },
    [](void *self, uint32_t rkey, uint64_t address, std::span<const uint8_t> bytes) {
        return static_cast<Host *>(self)->remote_write(rkey, address, bytes);
    },
    [](void *self, uint32_t rkey, uint64_t address, std::span<uint8_t> out) {
        return static_cast<Host *>(self)->remote_read(rkey, address, out);
    },
    [](void *self, Op op, const wire::AtomicEth &atomic, uint64_t &original) {
        return static_cast<Host *>(self)->remote_atomic(op, atomic, original);
    },
    [](void *self, uint32_t rkey, uint64_t address, std::span<const uint8_t, 8> bytes) {
        return static_cast<Host *>(self)->remote_atomic_write(rkey, address, bytes);
    },
    [](void *self, const wire::Reth &reth, const wire::Feth &feth) {
        return static_cast<Host *>(self)->remote_flush(reth, feth);
    },
    [](void *self, bool is_write, bool is_success, uint32_t length) {
        static_cast<Host *>(self)->remote_done(is_write, is_success, length);
    },
    [](void *self, uint32_t rkey) { return static_cast<Host *>(self)->invalidate(rkey); },
    [](void *self, wire::NakCode code, bool told) { static_cast<Host *>(self)->failed(code, told); },
    [](void *self, Counter counter) { static_cast<Host *>(self)->count(counter); }};

/// Executes requests (IBTA 9.7.4, 9.7.5, 9.8.2, 9.8.3, 9.9.3; A14; A19).
///
/// The host calls receive() for each request that came, and progress() when it has taken those that wait, so
/// that one acknowledgement answers many. One caller at a time.
class Responder {
public:
    template <class Host>
    Responder(const ResponderConfig &config, Host &host) : Responder(config, &host, kResponderOps<Host>)
    {
    }
    Responder(const ResponderConfig &config, void *host, const ResponderOps &ops);

    /// Takes a request that wire::parse() accepted, whose ICRC, destination QPN, source and P_Key are right. All
    /// other packets are ignored.
    void receive(const wire::Packet &packet);

    /// Takes one that wire::parse() refused for another reason than kShort, all else being right: RC owes an
    /// answer to a request that has the wrong form.
    void receive_malformed(const wire::Bth &bth);

    /// Sends replies, at most kBurst packets. True when there are more: the host calls it again soon, after it
    /// looked for packets, or when the link has room again.
    bool progress();
    static constexpr unsigned kBurst = 32;

    /// Packets in a row that nobody wants acknowledged are acknowledged all the same when there are so many. A requester that
    /// asks seldom, as the kernel's after 64 packets, may send more than a socket holds: what it asks with would be lost each
    /// time, and only its timer would tell.
    static constexpr uint8_t kMostUnasked = 16;

    /// Finishes a receive that waits for the rest of its message with IBV_WC_WR_FLUSH_ERR, and ignores packets
    /// from then on: for a queue pair that goes to the error state.
    void stop();

    void set_access(int access) { config_.access = access; }
    void set_min_rnr_timer(uint8_t code) { config_.min_rnr_timer = code; }
    void set_qkey(uint32_t qkey) { config_.qkey = qkey; }

    /// PSN of the next request.
    uint32_t expected_psn() const { return psn_of(expected_); }

private:
    /// What becomes of a request; IBTA 9.9.3 has the classes of faults.
    enum class Outcome : uint8_t {
        kDone,
        kNoReceive,
        kInvalidRequest,
        kAccessError,
        kOperationalError,
    };

    /// A read or an atomic whose response may be asked for again.
    struct Reply {
        wire::Kind kind;
        bool is_repeated;  // its response was complete before
        Sequence first;    // PSNs that it takes
        Sequence end;
        uint64_t address;   // kReadRequest
        uint64_t original;  // atomics
        uint32_t rkey;
        uint32_t srqn;  // XRC
        uint32_t length;
        // Response packets that are to be sent: [next, last], the first of which was asked for.
        Sequence asked;
        Sequence next = 1;
        Sequence last = 0;
        uint32_t limit;  // bytes from the start of the READ where the response ends

        bool is_due() const { return next <= last; }
    };

    enum class Due : uint8_t { kNothing, kAcknowledge, kNak };

    // responder.cc
    void receive_reliable(const wire::Packet &packet, const wire::OpcodeInfo &info);
    void receive_connected(const wire::Packet &packet, const wire::OpcodeInfo &info);
    void receive_datagram(const wire::Packet &packet);
    Outcome execute(const wire::Packet &packet, const wire::OpcodeInfo &info);
    Outcome take_receive();
    Outcome execute_send(const wire::Packet &packet, const wire::OpcodeInfo &info);
    Outcome execute_write(const wire::Packet &packet, const wire::OpcodeInfo &info);
    Outcome execute_read(const wire::Packet &packet);
    Outcome execute_atomic(const wire::Packet &packet, const wire::OpcodeInfo &info);
    Outcome execute_atomic_write(const wire::Packet &packet);
    Outcome execute_flush(const wire::Packet &packet);
    Outcome fault_of_receive(ibv_wc_status status);
    void finish_receive(const wire::Packet &packet, const wire::OpcodeInfo &info, uint32_t byte_count);
    void abandon_receive(ibv_wc_status status);
    bool is_reliable() const
    {
        return config_.transport == wire::Transport::kRc || config_.transport == wire::Transport::kXrc;
    }
    bool permits(int access) const { return (config_.access & access) == access; }
    void fail(wire::NakCode code, Sequence sequence);

    // responder_replies.cc
    bool has_room() const;
    Reply &new_reply(wire::Kind kind, uint64_t packets);
    Reply *find_reply(Sequence sequence);
    void repeat(Sequence sequence, const wire::Packet &packet, const wire::OpcodeInfo &info);
    void owe_acknowledge(Sequence last);
    void owe_nak(uint8_t syndrome, Sequence sequence);
    bool send_reply(Reply &reply);
    bool send_read(Reply &reply, std::span<uint8_t> buffer);
    bool send_owed();
    wire::Packet packet_of(wire::Operation operation, Sequence sequence, uint8_t syndrome) const;

    const ResponderOps &ops_;
    void *host_;
    ResponderConfig config_;
    bool failed_ = false;

    Sequence expected_;
    uint32_t messages_ = 0;    // completed: the MSN
    bool is_refused_ = false;  // the expected packet was asked for with a NAK
    uint8_t unasked_ = 0;      // packets that came since an acknowledgement was owed

    // The message of which some packets came.
    bool in_message_ = false;
    wire::Kind message_{};
    bool has_receive_ = false;
    ibv_wc_status receive_status_ = IBV_WC_WR_FLUSH_ERR;  // of a receive that a fault finishes
    uint64_t write_address_ = 0;
    uint32_t write_rkey_ = 0;
    uint32_t write_length_ = 0;
    uint32_t done_ = 0;  // bytes of the message that came

    // What goes out when all responses are sent.
    Due due_ = Due::kNothing;
    uint8_t due_syndrome_ = 0;
    Sequence due_sequence_ = 0;

    // The newest reads and atomics, a ring.
    Reply replies_[kMaxRdAtomic] = {};
    uint8_t replies_next_ = 0;
    bool may_be_due_ = false;  // whether one of them is
};

}  // namespace urxe::transport
