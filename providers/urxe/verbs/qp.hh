// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs.
#pragma once

#include <infiniband/driver.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/domain.hh"
#include "process.hh"
#include "verbs/comp_cntr.hh"
#include "verbs/cq.hh"
#include "verbs/receive_queue.hh"
#include "verbs/srq.hh"

namespace urxe {

namespace link {
class Endpoint;
}

/// Who posted a request.
enum class Origin : uint8_t {
    kProgram,
    kTagRead,    ///< the library, to fetch what a rendezvous request names; wr_id is the tag's slot
    kTagFinish,  ///< the library, to tell that it is fetched
};

/// A posted request; its scatter/gather entries or its inline data follow it.
struct Request {
    uint64_t wr_id;
    uint64_t length;  ///< bytes of payload; of a FLUSH, those that it covers
    uint64_t remote_addr;
    uint32_t rkey;
    uint32_t imm_data;  ///< in network order; or the key to invalidate
    uint32_t srq_num;   ///< of an XRC QP: the SRQ that it is for
    uint8_t opcode;     ///< ibv_wr_opcode
    bool is_inline;
    bool is_signaled;
    bool is_solicited;
    bool is_fenced;
    bool has_checksums;  ///< of a raw QP: those of the frame are to be filled in
    Origin origin;
    uint8_t flush_type, flush_level;
    uint32_t num_segments;
    union {
        struct {
            uint64_t tag;
            uint32_t app_ctx;
        } rendezvous;
        struct {
            uint64_t compare_add, swap;
        } atomic;
        uint64_t atomic_write;
        struct {
            ibv_gid source, destination;
            uint32_t qp_num, qkey;
            uint8_t sl, traffic_class, hop_limit;
            uint32_t flow_label;
        } datagram;
        struct {
            uint64_t address, length;
            uint32_t window;  ///< a key of it
            uint32_t key;     ///< the one that it gets
            uint32_t region, access;
        } bind;
    };

    shared::Segment *segments() { return reinterpret_cast<shared::Segment *>(this + 1); }
    const shared::Segment *segments() const { return reinterpret_cast<const shared::Segment *>(this + 1); }
    uint8_t *inline_data() { return reinterpret_cast<uint8_t *>(this + 1); }
    const uint8_t *inline_data() const { return reinterpret_cast<const uint8_t *>(this + 1); }
};

/// As ibv_wc has the operation.
ibv_wc_opcode wc_opcode(const Request &request);

struct Attachment;
struct OpenedQp;
struct Spread;

struct Qp {
    verbs_qp verbs;  // must be first
    Qp *self;        ///< as OpenedQp has it
    common::Membership membership;
    Process *process;
    shared::QpEntry *shared;
    uint32_t index;
    uint32_t generation;
    uint32_t pd_number;
    Cq *send_cq, *recv_cq;  ///< null where it has none, as XRC QPs
    Srq *srq;
    ReceiveQueue receives;
    bool signals_all;
    bool has_counters;
    CompCntr *counters
        [kCountedOps];  ///< by the number of the bit in ibv_qp_attach_comp_cntr_op; under process->lock
    EventSource events;
    Attachment *attachments;  ///< to multicast groups; under process->lock
    uint32_t xrcd;            ///< of a receiving XRC QP: number of its domain
    OpenedQp *opened;         ///< other handles of it; under process->lock
    bool is_disowned;         ///< its maker's handle is gone: `verbs` is nobody's

    common::Mutex state_lock;  ///< of modifying it; taken before send_lock
    std::atomic<ibv_qp_state> state;
    ibv_qp_attr attr;  ///< as set so far

    shared::Lock send_lock;
    char *requests;
    void *requests_memory;
    common::Membership requests_membership;
    uint32_t request_size;
    uint32_t request_mask;
    std::atomic<uint32_t> posted;  ///< requests so far
    uint32_t next;                 ///< the first that is not carried out yet
    uint32_t told_end;             ///< the one behind the last that has a completion
    std::atomic<uint32_t> freed;   ///< requests whose place is free again; written by who polls
    uint32_t max_send_wr, max_send_sge, max_inline;

    // A batch of ibv_wr_*; the send lock is held from start to complete or abort.
    uint32_t batch_end;
    int batch_error;

    /// Of a connected QP, what it is connected to; of a datagram QP, where the last request went. Null: not on this host.
    Peer *peer;
    shared::QpEntry *remote;
    ibv_gid peer_gid;

    bool is_listed;  ///< among Touched; under Process::touched_lock_
    std::atomic<uint32_t>
        users;  ///< threads that have found it by its number and are not under an Access any more

    uint32_t packet_slot;  ///< of the process of this user to which packets go past the network; 0: over it
    bool uses_packets;     ///< the peer asked for them; under state_lock

    /// What the QP is on the wire: of a connected one that is not on this host, and of each datagram QP.
    link::Endpoint *endpoint;

    // Of a raw QP.
    raw::Tap *tap;         ///< what it sends by; null where it only has receives
    Spread *spread;        ///< over work queues; null: what it gets is its own
    uint32_t flows;        ///< rules that give it frames; under the lock of rules
    uint64_t frames_lost;  ///< for want of a receive; likewise

    // The request at `next` waits.
    bool is_waiting;
    Qp *next_waiting;
    std::atomic<uint64_t> retry_at;  ///< in now_ns()
    uint64_t give_up_at;             ///< for want of a peer that is ready; 0: it was
    uint32_t rnr_tries;
    std::atomic<uint32_t> is_busy;  ///< see QpBusy

    /// Whether it has a receive queue of its own.
    bool has_receives() const { return srq == nullptr && recv_cq != nullptr; }
    /// Whether its requests wait for acknowledgements.
    bool is_acknowledged() const
    {
        return verbs.qp.qp_type == IBV_QPT_RC || verbs.qp.qp_type == IBV_QPT_XRC_SEND;
    }

    Request &request(uint32_t number)
    {
        return *reinterpret_cast<Request *>(requests + uint64_t{number & request_mask} * request_size);
    }
};

inline Qp &to_qp(ibv_qp *qp)
{
    return *reinterpret_cast<Qp *>(qp);
}

inline Qp &to_qp(ibv_qp_ex *qp)
{
    return *reinterpret_cast<Qp *>(qp);
}

ibv_qp *qp_create(ibv_pd *pd, ibv_qp_init_attr *attr);
ibv_qp *qp_create_ex(ibv_context *context, ibv_qp_init_attr_ex *attr);
/// Makes a QP of what has been checked. Null with errno.
Qp *qp_make(ibv_context *context, ibv_qp_init_attr_ex &attr);
int qp_modify(ibv_qp *qp, ibv_qp_attr *attr, int mask);
int qp_query(ibv_qp *qp, ibv_qp_attr *attr, int mask, ibv_qp_init_attr *init_attr);
int qp_destroy(ibv_qp *qp);
int qp_post_send(ibv_qp *qp, ibv_send_wr *list, ibv_send_wr **bad);
int qp_post_recv(ibv_qp *qp, ibv_recv_wr *list, ibv_recv_wr **bad);
void qp_ex_init(Qp &qp);

/// The most bytes that a packet of the QP carries.
uint32_t qp_mtu(const Qp &qp);

/// A request is being carried out, or packets are answered, to the end of a scope: who takes a region of this process away
/// sees that, or its key is not found any more. Under send_lock.
class QpBusy {
public:
    explicit QpBusy(Qp &qp) : qp_(qp) { qp_.is_busy.exchange(1, std::memory_order_seq_cst); }
    QpBusy(const QpBusy &) = delete;
    QpBusy &operator=(const QpBusy &) = delete;
    ~QpBusy() { qp_.is_busy.store(0, std::memory_order_release); }

private:
    Qp &qp_;
};

/// Carries out what is posted, as far as that is possible now. Under send_lock.
void qp_run(Qp &qp);

/// Carries out what was posted now. Where the request at `next` waits for a time, what is behind it waits too; on the wire,
/// many are under way at once. Under send_lock.
inline void qp_go_on(Qp &qp)
{
    if (!qp.is_waiting || qp.endpoint != nullptr)
        qp_run(qp);
}

/// Has a thread that holds no lock of the QP's look at it; bits of shared::Attention.
inline void qp_call_attention(Qp &qp, uint32_t attention)
{
    qp.shared->attention.fetch_or(attention, std::memory_order_release);
    qp.process->call_attention(qp.process->self, qp.index);
}

/// A request failed: nothing behind it is carried out (IBTA 10.3.1). Under send_lock.
void qp_fail(Qp &qp);

/// Completes the request at `next`, and goes on to the one behind it. Under send_lock.
void qp_complete_request(Qp &qp, ibv_wc_status status, uint32_t byte_len);

/// Moves the QP to the error state and completes what is posted with IBV_WC_WR_FLUSH_ERR. Neither lock may be held, but
/// for process->lock. `events` are bits of shared::Attention to tell the program of.
void qp_to_error(Qp &qp, uint32_t events);

/// Does what Attention asks for. Under process->lock.
void qp_attend(Qp &qp);

/// Errs if it is connected to a QP of that peer, which died without destroying it. Under process->lock.
void qp_lost_peer(Qp &qp, Peer &peer);

/// Takes the QP away from everybody, for good. What waits for it is forgotten. Under process->lock.
void qp_abandon(Qp &qp);

/// In the child of a fork, where the threads that held its locks or worked with it are not.
void qp_become_inherited(Qp &qp);

/// Completes with IBV_WC_WR_FLUSH_ERR the QP's outstanding receives, or those of its SRQ that were taken for it.
void qp_flush_receives(Qp &qp);

}  // namespace urxe
