// SPDX-License-Identifier: BSD-2-Clause
// Fetching what a rendezvous request that has a tag names, in the name of the queue pair that it came to.
#include "verbs/rendezvous.hh"

#include <infiniband/tm_types.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "context.hh"
#include "direct/completion.hh"
#include "verbs/send_queue.hh"
#include "wire/bytes.hh"

namespace urxe {

ibv_wc_status rendezvous_begin(Qp &qp, uint32_t tag, const uint8_t (&header)[direct::kTagHeader],
                               const ReceiveQueue::Ended &buffer)
{
    const uint8_t *where = header + sizeof(ibv_tmh);
    const uint32_t length = wire::load32(where + offsetof(ibv_rvh, len));
    // A program may poll between ibv_wr_start and ibv_wr_complete.
    if (length > buffer.length || length > kMaxMessage || qp.send_lock.holder() == shared::thread_id())
        return IBV_WC_TM_RNDV_INCOMPLETE;
    common::Locked locked(qp.send_lock);
    const ibv_qp_state state = qp.state.load();
    if (state == IBV_QPS_ERR)
        return IBV_WC_WR_FLUSH_ERR;
    const uint32_t number = qp.posted.load(std::memory_order_relaxed);
    const uint32_t used = number - qp.freed.load(std::memory_order_acquire);
    if (state != IBV_QPS_RTS || qp.attr.max_rd_atomic == 0 || used + 2 > qp.request_mask + 1)
        return IBV_WC_TM_RNDV_INCOMPLETE;

    Request &read = qp.request(number);
    set_common(qp, read, tag, IBV_WR_RDMA_READ, 0);
    read.origin = Origin::kTagRead;
    read.is_signaled = false;
    read.length = length;
    read.remote_addr = wire::load64(where + offsetof(ibv_rvh, va));
    read.rkey = wire::load32(where + offsetof(ibv_rvh, rkey));
    read.rendezvous = {.tag = wire::load64(header + offsetof(ibv_tmh, tag)),
                       .app_ctx = wire::load32(header + offsetof(ibv_tmh, app_ctx))};
    for (uint32_t rest = length; rest != 0; ++read.num_segments) {
        shared::Segment &segment = read.segments()[read.num_segments];
        segment = buffer.segments[read.num_segments];
        segment.length = std::min(segment.length, rest);
        rest -= segment.length;
    }

    Request &finish = qp.request(number + 1);
    set_common(qp, finish, 0, IBV_WR_SEND, IBV_SEND_INLINE | IBV_SEND_FENCE);
    finish.origin = Origin::kTagFinish;
    finish.is_signaled = false;
    finish.length = direct::kTagHeader;
    std::memcpy(finish.inline_data(), header, direct::kTagHeader);
    finish.inline_data()[offsetof(ibv_tmh, opcode)] = IBV_TMH_FIN;

    qp.posted.store(number + 2, std::memory_order_release);
    qp_go_on(qp);
    return IBV_WC_SUCCESS;
}

void rendezvous_complete(Qp &qp, ibv_wc_status status)
{
    const Request &request = qp.request(qp.next);
    if (request.origin == Origin::kTagRead) {
        direct::NewCompletion completion{};
        completion.qp = qp.index;
        completion.qp_generation = qp.generation;
        completion.request = static_cast<uint32_t>(request.wr_id);
        completion.srq = qp.srq->index;
        completion.byte_len = static_cast<uint32_t>(request.length);
        completion.src_qp = qp.attr.dest_qp_num;
        completion.wc_flags = IBV_WC_TM_DATA_VALID;
        completion.status = status;
        completion.kind = shared::kTagCompletion;
        completion.tag = request.rendezvous.tag;
        completion.app_ctx = request.rendezvous.app_ctx;
        if (direct::push(*qp.process, qp.process->self, *qp.recv_cq->shared, completion) ==
            direct::Pushed::kOverrun)
            qp_call_attention(qp, shared::kAttentionFatal | shared::kAttentionError);
    }
    // The program polls nothing that would free the place.
    if (static_cast<int32_t>(qp.freed.load(std::memory_order_acquire) - qp.told_end) >= 0)
        qp.freed.store(qp.next + 1, std::memory_order_release);
}

}  // namespace urxe
