// SPDX-License-Identifier: BSD-2-Clause
// ibv_wr_*: posting through an extended QP, a call per operation and a call per part of it.
#include <cerrno>
#include <cstring>

#include "verbs/mw.hh"
#include "verbs/send_queue.hh"

namespace urxe {
namespace {

/// Begins the next request of the batch; null where the batch has failed.
Request *begin(ibv_qp_ex *qp_ex, ibv_wr_opcode opcode)
{
    Qp &qp = to_qp(qp_ex);
    if (qp.batch_error != 0) [[unlikely]]
        return nullptr;
    if (!can_post(qp, qp.batch_end)) [[unlikely]] {
        // A full queue has another name here than in ibv_post_send.
        qp.batch_error = ENOSPC;
        return nullptr;
    }
    Request &request = qp.request(qp.batch_end++);
    set_common(qp, request, qp_ex->wr_id, opcode, qp_ex->wr_flags & ~unsigned{IBV_SEND_INLINE});
    return &request;
}

/// The request that was begun last; null where there is none.
Request *current(ibv_qp_ex *qp_ex)
{
    Qp &qp = to_qp(qp_ex);
    if (qp.batch_error != 0)
        return nullptr;
    if (qp.batch_end == qp.posted.load(std::memory_order_relaxed)) {
        qp.batch_error = EINVAL;
        return nullptr;
    }
    return &qp.request(qp.batch_end - 1);
}

void set_error(ibv_qp_ex *qp_ex, int error)
{
    Qp &qp = to_qp(qp_ex);
    if (qp.batch_error == 0)
        qp.batch_error = error;
}

void wr_send(ibv_qp_ex *qp)
{
    begin(qp, IBV_WR_SEND);
}

void wr_send_imm(ibv_qp_ex *qp, __be32 imm_data)
{
    if (Request *request = begin(qp, IBV_WR_SEND_WITH_IMM); request != nullptr)
        request->imm_data = imm_data;
}

void wr_send_inv(ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    if (Request *request = begin(qp, IBV_WR_SEND_WITH_INV); request != nullptr)
        request->imm_data = invalidate_rkey;
}

void wr_local_inv(ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    if (Request *request = begin(qp, IBV_WR_LOCAL_INV); request != nullptr)
        request->imm_data = invalidate_rkey;
}

void wr_bind_mw(ibv_qp_ex *qp, ibv_mw *mw, uint32_t rkey, const ibv_mw_bind_info *info)
{
    Request *request = begin(qp, IBV_WR_BIND_MW);
    if (request == nullptr)
        return;
    const int error = mw->type == IBV_MW_TYPE_2 ? mw_set_bind(*request, *mw, rkey, *info) : EINVAL;
    if (error != 0)
        set_error(qp, error);
}

Request *begin_remote(ibv_qp_ex *qp, ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote_addr)
{
    Request *request = begin(qp, opcode);
    if (request != nullptr) {
        request->rkey = rkey;
        request->remote_addr = remote_addr;
    }
    return request;
}

void wr_rdma_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    begin_remote(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

void wr_rdma_write_imm(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
    if (Request *request = begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);
        request != nullptr)
        request->imm_data = imm_data;
}

void wr_rdma_read(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    begin_remote(qp, IBV_WR_RDMA_READ, rkey, remote_addr);
}

void wr_atomic_cmp_swp(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
    if (Request *request = begin_remote(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr); request != nullptr)
        request->atomic = {.compare_add = compare, .swap = swap};
}

void wr_atomic_fetch_add(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
    if (Request *request = begin_remote(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr);
        request != nullptr)
        request->atomic = {.compare_add = add, .swap = 0};
}

void wr_atomic_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, const void *value)
{
    if (Request *request = begin_remote(qp, IBV_WR_ATOMIC_WRITE, rkey, remote_addr); request != nullptr)
        std::memcpy(&request->atomic_write, value, sizeof request->atomic_write);
}

void wr_flush(ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t length, uint8_t type, uint8_t level)
{
    if (Request *request = begin_remote(qp, IBV_WR_FLUSH, rkey, remote_addr); request != nullptr) {
        request->length = length;
        request->flush_type = type;
        request->flush_level = level;
        if (length > UINT32_MAX)
            set_error(qp, EINVAL);
    }
}

void wr_set_ud_addr(ibv_qp_ex *qp, ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
    if (Request *request = current(qp); request != nullptr)
        set_destination(*request, to_ah(ah), remote_qpn, remote_qkey);
}

void wr_set_xrc_srqn(ibv_qp_ex *qp, uint32_t remote_srqn)
{
    if (Request *request = current(qp); request != nullptr)
        request->srq_num = remote_srqn;
}

void wr_set_sge_list(ibv_qp_ex *qp, size_t count, const ibv_sge *list)
{
    if (Request *request = current(qp); request != nullptr)
        if (set_segments(to_qp(qp), *request, list, static_cast<uint32_t>(count)) != 0)
            set_error(qp, ENOSPC);
}

void wr_set_sge(ibv_qp_ex *qp, uint32_t lkey, uint64_t address, uint32_t length)
{
    const ibv_sge sge = {.addr = address, .length = length, .lkey = lkey};
    wr_set_sge_list(qp, 1, &sge);
}

void wr_set_inline_data_list(ibv_qp_ex *qp, size_t count, const ibv_data_buf *list)
{
    Request *request = current(qp);
    if (request == nullptr)
        return;
    uint64_t length = 0;
    for (size_t i = 0; i < count; ++i) {
        if (list[i].length > to_qp(qp).max_inline - length)
            return set_error(qp, ENOSPC);
        if (list[i].length != 0)
            std::memcpy(request->inline_data() + length, list[i].addr, list[i].length);
        length += list[i].length;
    }
    request->is_inline = true;
    request->length = length;
}

void wr_set_inline_data(ibv_qp_ex *qp, void *address, size_t length)
{
    const ibv_data_buf data = {.addr = address, .length = length};
    wr_set_inline_data_list(qp, 1, &data);
}

void wr_start(ibv_qp_ex *qp_ex)
{
    Qp &qp = to_qp(qp_ex);
    qp.send_lock.lock();
    qp.batch_end = qp.posted.load(std::memory_order_relaxed);
    qp.batch_error = takes_requests(qp) ? 0 : EINVAL;
}

int wr_complete(ibv_qp_ex *qp_ex)
{
    Qp &qp = to_qp(qp_ex);
    const int error = qp.batch_error;
    if (error == 0) {
        qp.posted.store(qp.batch_end, std::memory_order_release);
        qp_go_on(qp);
    }
    qp.send_lock.unlock();
    qp.process->attend();
    return error;
}

void wr_abort(ibv_qp_ex *qp_ex)
{
    to_qp(qp_ex).send_lock.unlock();
}

}  // namespace

void qp_ex_init(Qp &qp)
{
    ibv_qp_ex &ex = qp.verbs.qp_ex;
    qp.verbs.comp_mask |= VERBS_QP_EX;
    ex.wr_start = wr_start;
    ex.wr_complete = wr_complete;
    ex.wr_abort = wr_abort;
    ex.wr_send = wr_send;
    ex.wr_send_imm = wr_send_imm;
    ex.wr_send_inv = wr_send_inv;
    ex.wr_local_inv = wr_local_inv;
    ex.wr_bind_mw = wr_bind_mw;
    ex.wr_rdma_write = wr_rdma_write;
    ex.wr_rdma_write_imm = wr_rdma_write_imm;
    ex.wr_rdma_read = wr_rdma_read;
    ex.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    ex.wr_atomic_fetch_add = wr_atomic_fetch_add;
    ex.wr_atomic_write = wr_atomic_write;
    ex.wr_flush = wr_flush;
    ex.wr_set_ud_addr = wr_set_ud_addr;
    ex.wr_set_xrc_srqn = wr_set_xrc_srqn;
    ex.wr_set_sge = wr_set_sge;
    ex.wr_set_sge_list = wr_set_sge_list;
    ex.wr_set_inline_data = wr_set_inline_data;
    ex.wr_set_inline_data_list = wr_set_inline_data_list;
}

}  // namespace urxe
