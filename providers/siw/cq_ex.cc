// SPDX-License-Identifier: BSD-2-Clause
// Polling of extended completion queues: start_poll, next_poll, end_poll and a function per field.
#include "cq.hh"

namespace siw {
namespace {

void lock(Cq &cq)
{
    if (!cq.unlocked)
        cq.lock.lock();
}

void unlock(Cq &cq)
{
    if (!cq.unlocked)
        cq.lock.unlock();
}

/// Makes the next completion the current one; ENOENT if there is none.
int advance(Cq &cq)
{
    if (!cq.ring.valid(cq.head)) {
        cq.current = nullptr;
        return ENOENT;
    }
    cq.current = &cq.ring.at(cq.head);
    cq.verbs.cq_ex.wr_id = cq.current->id;
    cq.verbs.cq_ex.status = wc_status(*cq.current);
    return 0;
}

/// Gives the current completion back to the driver, if there is one.
void retire(Cq &cq)
{
    if (cq.current == nullptr)
        return;
    cq.retire();
    cq.current = nullptr;
}

int start_poll(ibv_cq_ex *ibcq, ibv_poll_cq_attr *attr)
{
    if (attr->comp_mask != 0)
        return EINVAL;
    Cq &cq = *to_cq(ibcq);
    lock(cq);
    const int error = advance(cq);
    if (error != 0)
        unlock(cq);
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
    unlock(cq);
}

ibv_wc_opcode read_opcode(ibv_cq_ex *cq)
{
    return wc_opcode(*to_cq(cq)->current);
}

uint32_t read_byte_len(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->bytes;
}

/// The invalidated STag: immediate data there are none.
__be32 read_imm_data(ibv_cq_ex *cq)
{
    return to_cq(cq)->current->inval_stag;
}

uint32_t read_qp_num(ibv_cq_ex *cq)
{
    return static_cast<uint32_t>(to_cq(cq)->current->qp_id);
}

unsigned int read_wc_flags(ibv_cq_ex *cq)
{
    return wc_flags(*to_cq(cq)->current);
}

// What no completion of siw has.

uint32_t read_no_word(ibv_cq_ex *)
{
    return 0;
}

uint8_t read_no_byte(ibv_cq_ex *)
{
    return 0;
}

}  // namespace

void cq_ex_init(ibv_cq_ex &cq)
{
    cq.start_poll = start_poll;
    cq.next_poll = next_poll;
    cq.end_poll = end_poll;
    cq.read_opcode = read_opcode;
    cq.read_vendor_err = read_no_word;
    cq.read_byte_len = read_byte_len;
    cq.read_imm_data = read_imm_data;
    cq.read_qp_num = read_qp_num;
    cq.read_src_qp = read_no_word;
    cq.read_wc_flags = read_wc_flags;
    cq.read_slid = read_no_word;
    cq.read_sl = read_no_byte;
    cq.read_dlid_path_bits = read_no_byte;
}

}  // namespace siw
