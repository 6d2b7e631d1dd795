// SPDX-License-Identifier: BSD-2-Clause
// ibv_post_send, and carrying out what is posted.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "context.hh"
#include "direct/completion.hh"
#include "direct/execute.hh"
#include "direct/target.hh"
#include "link/endpoint.hh"
#include "raw/send.hh"
#include "verbs/ah.hh"
#include "verbs/mw.hh"
#include "verbs/path.hh"
#include "verbs/qp.hh"
#include "verbs/rendezvous.hh"
#include "verbs/send_queue.hh"
#include "wire/codes.hh"

namespace urxe {
namespace {

using direct::Outcome;
using direct::Result;

/// The longest that a request waits before it is tried again, where its target does not answer.
constexpr uint64_t kMaxRetryNs = 1'000'000;

/// How long a frame waits for which the queue of the interface has no room.
constexpr uint64_t kInterfaceRetryNs = 100'000;

/// Types of QP that know an operation, as bits (IBTA 10.8.1, table of operations).
constexpr uint32_t types_with(unsigned opcode)
{
    constexpr uint32_t kRc = 1U << IBV_QPT_RC, kUc = 1U << IBV_QPT_UC, kUd = 1U << IBV_QPT_UD,
                       kXrc = 1U << IBV_QPT_XRC_SEND, kRaw = 1U << IBV_QPT_RAW_PACKET;
    switch (opcode) {
        case IBV_WR_SEND:
            return kRc | kUc | kUd | kXrc | kRaw;
        case IBV_WR_SEND_WITH_IMM:
            return kRc | kUc | kUd | kXrc;
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_WRITE_WITH_IMM:
        case IBV_WR_BIND_MW:
            return kRc | kUc | kXrc;
        case IBV_WR_RDMA_READ:
        case IBV_WR_ATOMIC_CMP_AND_SWP:
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
        case IBV_WR_SEND_WITH_INV:
        case IBV_WR_LOCAL_INV:
            return kRc | kXrc;
        default:
            return 0;
    }
}

bool is_atomic(unsigned opcode)
{
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/// Fills in the request from one of ibv_post_send. 0 or a positive errno value.
int fill(const Qp &qp, Request &request, const ibv_send_wr &wr)
{
    const auto flags = static_cast<unsigned>(wr.send_flags);
    uint32_t opcode;  // The program's may be none that the type has.
    static_assert(sizeof opcode == sizeof wr.opcode);
    std::memcpy(&opcode, &wr.opcode, sizeof opcode);
    if (!knows(qp, opcode))
        return EINVAL;
    set_common(qp, request, wr.wr_id, opcode, flags);
    if (qp.verbs.qp.qp_type == IBV_QPT_XRC_SEND)
        request.srq_num = wr.qp_type.xrc.remote_srqn;
    request.imm_data = wr.imm_data;  // or invalidate_rkey, in the same place
    if (opcode == IBV_WR_BIND_MW)
        return wr.bind_mw.mw == nullptr || wr.bind_mw.mw->type != IBV_MW_TYPE_2
                   ? EINVAL
                   : mw_set_bind(request, *wr.bind_mw.mw, wr.bind_mw.rkey, wr.bind_mw.bind_info);
    if (opcode == IBV_WR_LOCAL_INV)
        return 0;
    if (qp.verbs.qp.qp_type == IBV_QPT_UD) {
        if (wr.wr.ud.ah == nullptr)
            return EINVAL;
        set_destination(request, to_ah(wr.wr.ud.ah), wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey);
    } else if (is_atomic(opcode)) {
        request.remote_addr = wr.wr.atomic.remote_addr;
        request.rkey = wr.wr.atomic.rkey;
        request.atomic = {.compare_add = wr.wr.atomic.compare_add, .swap = wr.wr.atomic.swap};
    } else {
        request.remote_addr = wr.wr.rdma.remote_addr;
        request.rkey = wr.wr.rdma.rkey;
    }
    if (request.is_inline)
        return opcode == IBV_WR_RDMA_READ || is_atomic(opcode)
                   ? EINVAL  // They bring data, and take none along.
                   : set_inline(qp, request, wr.sg_list, static_cast<uint32_t>(wr.num_sge));
    if (const int error = set_segments(qp, request, wr.sg_list, static_cast<uint32_t>(wr.num_sge));
        error != 0)
        return error;
    const bool is_bad_atomic = is_atomic(opcode) && (request.length != sizeof(uint64_t) ||
                                                     request.remote_addr % sizeof(uint64_t) != 0);
    return is_bad_atomic ? EINVAL : 0;
}

/// The request waits until `delay` nanoseconds from now.
void wait(Qp &qp, uint64_t now, uint64_t delay)
{
    qp.retry_at.store(now + delay, std::memory_order_relaxed);
    qp.process->add_waiting(qp);
}

/// Whether a request whose target does not answer is tried once more.
bool waits_for_peer(Qp &qp)
{
    const uint64_t timeout = wire::ack_timeout_ns(qp.attr.timeout);
    const uint64_t now = now_ns();
    if (qp.give_up_at == 0)
        qp.give_up_at = timeout == 0 ? UINT64_MAX : now + timeout * (qp.attr.retry_cnt + 1U);
    if (now >= qp.give_up_at)
        return false;
    wait(qp, now, std::min({kMaxRetryNs, timeout == 0 ? kMaxRetryNs : timeout, qp.give_up_at - now}));
    return true;
}

/// Whether a request that found no receive is tried once more (IBTA 9.7.5.2.8).
bool waits_for_receive(Qp &qp)
{
    constexpr uint8_t kForEver = 7;
    if (qp.attr.rnr_retry != kForEver && qp.rnr_tries >= qp.attr.rnr_retry)
        return false;
    ++qp.rnr_tries;
    wait(qp, now_ns(), wire::rnr_timer_ns(qp.remote->min_rnr_timer));
    return true;
}

Result carry_out(Qp &qp, const Request &request)
{
    if (request.opcode == IBV_WR_BIND_MW || request.opcode == IBV_WR_LOCAL_INV)
        return {Outcome::kDone, mw_execute(qp, request), 0};
    const bool is_datagram = qp.verbs.qp.qp_type == IBV_QPT_UD;
    const bool is_raw = qp.verbs.qp.qp_type == IBV_QPT_RAW_PACKET;
    if (is_datagram)
        find_datagram_peer(qp, request);
    const QpBusy busy(qp);
    return is_datagram ? direct::execute_datagram(qp, request)
           : is_raw    ? raw::send(qp, request)
                       : direct::execute(qp, request);
}

/// What completion counters count it as; 0: nothing.
uint32_t counted_op(const Request &request)
{
    switch (wc_opcode(request)) {
        case IBV_WC_SEND:
            return IBV_QP_ATTACH_COMP_CNTR_OP_SEND;
        case IBV_WC_RDMA_READ:
            return IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ;
        case IBV_WC_RDMA_WRITE:
            return IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE;
        default:
            return 0;
    }
}

}  // namespace

void qp_fail(Qp &qp)
{
    const bool is_reliable = qp.is_acknowledged();
    const ibv_qp_state state = is_reliable ? IBV_QPS_ERR : IBV_QPS_SQE;
    qp.state.store(state);
    qp.shared->state.store(state);
    if (is_reliable)
        qp_call_attention(qp, shared::kAttentionError);
}

ibv_wc_opcode wc_opcode(const Request &request)
{
    switch (request.opcode) {
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_WRITE_WITH_IMM:
            return IBV_WC_RDMA_WRITE;
        case IBV_WR_RDMA_READ:
            return IBV_WC_RDMA_READ;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
            return IBV_WC_COMP_SWAP;
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            return IBV_WC_FETCH_ADD;
        case IBV_WR_ATOMIC_WRITE:
            return IBV_WC_ATOMIC_WRITE;
        case IBV_WR_FLUSH:
            return IBV_WC_FLUSH;
        case IBV_WR_LOCAL_INV:
            return IBV_WC_LOCAL_INV;
        case IBV_WR_BIND_MW:
            return IBV_WC_BIND_MW;
        default:
            return IBV_WC_SEND;
    }
}

bool knows(const Qp &qp, unsigned opcode)
{
    return (types_with(opcode) >> qp.verbs.qp.qp_type & 1) != 0;
}

void set_common(const Qp &qp, Request &request, uint64_t wr_id, uint32_t opcode, unsigned flags)
{
    request.wr_id = wr_id;
    request.opcode = static_cast<uint8_t>(opcode);
    request.is_signaled = qp.signals_all || (flags & IBV_SEND_SIGNALED) != 0;
    request.is_solicited = (flags & IBV_SEND_SOLICITED) != 0;
    request.is_fenced = (flags & IBV_SEND_FENCE) != 0;
    request.is_inline = (flags & IBV_SEND_INLINE) != 0;
    request.origin = Origin::kProgram;
    request.has_checksums = (flags & IBV_SEND_IP_CSUM) != 0;
    request.num_segments = 0;
    request.length = 0;
}

void set_destination(Request &request, const Ah &ah, uint32_t qp_num, uint32_t qkey)
{
    request.datagram = {.source = ah.source,
                        .destination = ah.attr.grh.dgid,
                        .qp_num = qp_num,
                        .qkey = qkey,
                        .sl = ah.attr.sl,
                        .traffic_class = ah.attr.grh.traffic_class,
                        .hop_limit = ah.attr.grh.hop_limit,
                        .flow_label = ah.attr.grh.flow_label};
}

int set_segments(const Qp &qp, Request &request, const ibv_sge *list, uint32_t count)
{
    if (count > qp.max_send_sge)
        return EINVAL;
    uint64_t length = 0;
    for (uint32_t i = 0; i < count; ++i) {
        request.segments()[i] = {.address = list[i].addr, .length = list[i].length, .lkey = list[i].lkey};
        length += list[i].length;
    }
    request.num_segments = count;
    request.length = length;
    request.is_inline = false;
    return length > kMaxMessage ? EINVAL : 0;
}

int set_inline(const Qp &qp, Request &request, const ibv_sge *list, uint32_t count)
{
    if (count > qp.max_send_sge)
        return EINVAL;
    uint64_t length = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (list[i].length > qp.max_inline - length)
            return EINVAL;
        if (list[i].length != 0)
            std::memcpy(request.inline_data() + length, reinterpret_cast<const void *>(list[i].addr),
                        list[i].length);
        length += list[i].length;
    }
    request.num_segments = 0;
    request.length = length;
    request.is_inline = true;
    return 0;
}

void qp_complete_request(Qp &qp, ibv_wc_status status, uint32_t byte_len)
{
    const Request &request = qp.request(qp.next);
    const bool is_programs = request.origin == Origin::kProgram;
    if (!is_programs) [[unlikely]]
        rendezvous_complete(qp, status);
    else if (qp.has_counters) [[unlikely]]
        comp_cntr_count(qp, counted_op(request), status == IBV_WC_SUCCESS, request.length);
    if (is_programs && (request.is_signaled || status != IBV_WC_SUCCESS)) {
        qp.told_end = qp.next + 1;
        direct::NewCompletion completion{};
        completion.qp = qp.index;
        completion.qp_generation = qp.generation;
        completion.request = qp.next;
        completion.byte_len = byte_len;
        completion.status = status;
        completion.kind = shared::kSendCompletion;
        if (direct::push(*qp.process, qp.process->self, *qp.send_cq->shared, completion) ==
            direct::Pushed::kOverrun)
            qp_call_attention(qp, shared::kAttentionFatal | shared::kAttentionError);
    }
    ++qp.next;
    qp.give_up_at = 0;
    qp.rnr_tries = 0;
}

void qp_run(Qp &qp)
{
    const bool is_on_wire = qp.endpoint != nullptr && qp.verbs.qp.qp_type != IBV_QPT_UD;
    if (is_on_wire && direct::is_receiving(qp.state.load(std::memory_order_relaxed)))
        qp.endpoint->run();
    while (qp.next != qp.posted.load(std::memory_order_relaxed)) {
        const ibv_qp_state state = qp.state.load(std::memory_order_relaxed);
        if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) {
            qp_complete_request(qp, IBV_WC_WR_FLUSH_ERR, 0);
            continue;
        }
        if (state != IBV_QPS_RTS || is_on_wire)
            return;
        const Request &request = qp.request(qp.next);
        const Result result = carry_out(qp, request);
        ibv_wc_status status = result.status;
        switch (result.outcome) {
            case Outcome::kDone:
                break;
            case Outcome::kNotReady:
                if (qp.verbs.qp.qp_type == IBV_QPT_RAW_PACKET)
                    return wait(qp, now_ns(), kInterfaceRetryNs);
                if (qp.is_acknowledged() && waits_for_peer(qp))
                    return;
                status = qp.is_acknowledged() ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS;
                break;
            case Outcome::kNoReceive:
                if (qp.is_acknowledged() && waits_for_receive(qp))
                    return;
                status = qp.is_acknowledged() ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_SUCCESS;
                break;
        }
        qp_complete_request(qp, status, result.byte_len);
        if (status != IBV_WC_SUCCESS)
            qp_fail(qp);
    }
}

bool can_post(const Qp &qp, uint32_t number)
{
    return number - qp.freed.load(std::memory_order_acquire) < qp.max_send_wr;
}

int qp_post_send(ibv_qp *ibqp, ibv_send_wr *list, ibv_send_wr **bad)
{
    Qp &qp = to_qp(ibqp);
    int error = list == nullptr ? EINVAL : 0;
    {
        common::Locked locked(qp.send_lock);
        if (!takes_requests(qp))
            error = EINVAL;
        uint32_t number = qp.posted.load(std::memory_order_relaxed);
        for (; error == 0 && list != nullptr; list = list->next) {
            error = can_post(qp, number) ? fill(qp, qp.request(number), *list) : ENOMEM;
            if (error != 0)
                break;
            qp.posted.store(++number, std::memory_order_release);
        }
        if (error != 0)
            *bad = list;
        qp_go_on(qp);
    }
    qp.process->attend();
    return error;
}

}  // namespace urxe
