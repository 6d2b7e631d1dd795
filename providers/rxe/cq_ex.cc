// SPDX-License-Identifier: BSD-2-Clause
// Polling of extended completion queues: start_poll, next_poll, end_poll and a function per field.
#include "cq.hh"

namespace rxe {
namespace {

/// Makes the next completion the current one; ENOENT if there is none.
int advance(Cq &cq)
{
    const uint32_t index = cq.ring.consumer();
    if (cq.ring.empty(index)) {
        cq.current = nullptr;
        return ENOENT;
    }
    cq.current = cq.ring.at(index);
    cq.verbs.cq_ex.wr_id = cq.current->wr_id;
    cq.verbs.cq_ex.status = static_cast<ibv_wc_status>(cq.current->status);
    return 0;
}

/// Gives the current completion back to the driver, if there is one.
void retire(Cq &cq)
{
    if (cq.current == nullptr)
        return;
    cq.ring.retire(cq.ring.next(cq.ring.consumer()));
    cq.current = nullptr;
}

int start_poll(ibv_cq_ex *ibcq, ibv_poll_cq_attr *attr)
{
    if (attr->comp_mask != 0)
        return EINVAL;
    Cq &cq = *to_cq(ibcq);
    cq.lock.lock();
    const int error = advance(cq);
    if (error != 0)
        cq.lock.unlock();
    return error;
}

int next_poll(ibv_cq_ex *ibcq)
{
    Cq &cq = *to_cq(ibcq);
    retire(cq);
    return advance(cq);
}

void end_poll(ibv_cq_ex *ibcq)
{
    Cq &cq = *to_cq(ibcq);
    retire(cq);
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
    return wc_flags(*to_cq(cq)->current);
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
