// SPDX-License-Identifier: BSD-2-Clause
// Polling of extended completion queues: start_poll, next_poll, end_poll and a function per field.
#include "cq.hh"

namespace rxe {
namespace {

using Ring = Queue<ib_uverbs_wc>;

/// Makes the completion at `index` the current one; ENOENT if there is none. `ring` is a copy of the queue's, which stays in
/// registers.
[[gnu::always_inline]] inline int advance(Cq &cq, const Ring ring, uint32_t index)
{
    if (ring.empty(index)) [[unlikely]] {
        cq.current = nullptr;
        return ENOENT;
    }
    const ib_uverbs_wc *const current = ring.at(index);
    cq.current = current;
    cq.verbs.cq_ex.wr_id = current->wr_id;
    cq.verbs.cq_ex.status = static_cast<ibv_wc_status>(current->status);
    return 0;
}

/// Gives the completion at `index` back to the driver; where the next one is.
[[gnu::always_inline]] inline uint32_t retire(Ring ring, uint32_t index)
{
    index = ring.next(index);
    ring.retire(index);
    return index;
}

int start_poll(ibv_cq_ex *ibcq, ibv_poll_cq_attr *attr)
{
    if (attr->comp_mask != 0)
        return EINVAL;
    Cq &cq = *to_cq(ibcq);
    cq.lock.lock();
    const int error = advance(cq, cq.ring, cq.ring.consumer());
    if (error != 0)
        cq.lock.unlock();
    return error;
}

int next_poll(ibv_cq_ex *ibcq)
{
    Cq &cq = *to_cq(ibcq);
    const Ring ring = cq.ring;
    uint32_t index = ring.consumer();
    if (cq.current != nullptr) [[likely]]
        index = retire(ring, index);
    return advance(cq, ring, index);
}

void end_poll(ibv_cq_ex *ibcq)
{
    Cq &cq = *to_cq(ibcq);
    if (cq.current != nullptr)
        retire(cq.ring, cq.ring.consumer());
    cq.current = nullptr;
    cq.lock.unlock();
}

ibv_wc_opcode read_opcode(ibv_cq_ex *cq)
{
    return static_cast<ibv_wc_opcode>(to_cq(cq)->current->opcode);
}

uint32_t read_vendor_err(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->vendor_err;
}

uint32_t read_byte_len(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->byte_len;
}

__be32 read_imm_data(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->ex.imm_data;
}

uint32_t read_qp_num(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->qp_num;
}

uint32_t read_src_qp(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->src_qp;
}

unsigned int read_wc_flags(ibv_cq_ex *cq)
{
    return wc_flags(to_cq(cq)->current->wc_flags);
}

uint32_t read_slid(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->slid;
}

uint8_t read_sl(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->sl;
}

uint8_t read_dlid_path_bits(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->dlid_path_bits;
}

}  // namespace

void cq_ex_init(ibv_cq_ex &cq)
{
    cq.start_poll = start_poll;
    cq.next_poll = next_poll;
    cq.end_poll = end_poll;
    cq.read_opcode = read_opcode;
    cq.read_vendor_err = read_vendor_err;
    cq.read_byte_len = read_byte_len;
    cq.read_imm_data = read_imm_data;
    cq.read_qp_num = read_qp_num;
    cq.read_src_qp = read_src_qp;
    cq.read_wc_flags = read_wc_flags;
    cq.read_slid = read_slid;
    cq.read_sl = read_sl;
    cq.read_dlid_path_bits = read_dlid_path_bits;
}

}  // namespace rxe
