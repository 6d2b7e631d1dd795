// SPDX-License-Identifier: BSD-2-Clause
// Polling of extended completion queues: start_poll, next_poll, end_poll and a function per field.
#include "cq.hh"

#include <algorithm>

namespace rxe {
namespace {

/// Makes a completion that is there the current one.
[[gnu::always_inline]] inline int make_current(Cq &cq, const ib_uverbs_wc *wc)
{
    cq.current = wc;
    cq.verbs.cq_ex.wr_id = wc->wr_id;
    cq.verbs.cq_ex.status = static_cast<ibv_wc_status>(wc->status);
    return 0;
}

/// Looks for completions from `index` on, and makes the first the current one; ENOENT if there is none.
[[gnu::always_inline]] inline int look(Cq &cq, uint32_t index)
{
    const uint32_t count = cq.ring.available(index);
    cq.index = index;
    if (count == 0) [[unlikely]] {
        cq.current = nullptr;
        cq.last = index;
        return ENOENT;
    }
    cq.last =
        std::min(index + count - 1, cq.ring.mask());  // those behind the end of the ring are another run
    cq.step = cq.ring.element_size();
    return make_current(cq, cq.ring.at(index));
}

/// Gives the current completion back to the driver, if there is one; where the next one is.
[[gnu::always_inline]] inline uint32_t retire(Cq &cq)
{
    if (cq.current == nullptr)
        return cq.index;
    const uint32_t index = cq.ring.next(cq.index);
    cq.ring.retire(index);
    return index;
}

int start_poll(ibv_cq_ex *ibcq, ibv_poll_cq_attr *attr)
{
    if (attr->comp_mask != 0)
        return EINVAL;
    Cq &cq = *to_cq(ibcq);
    cq.lock.lock();
    const int error = look(cq, cq.ring.consumer());
    if (error != 0)
        cq.lock.unlock();
    return error;
}

[[gnu::noinline]] int next_run(Cq &cq)
{
    return look(cq, retire(cq));
}

int next_poll(ibv_cq_ex *ibcq)
{
    Cq &cq = *to_cq(ibcq);
    if (cq.index == cq.last) [[unlikely]]
        return next_run(cq);
    // Given back at once, not with the whole run: a program may count on the place when it posts more.
    cq.ring.retire(++cq.index);
    return make_current(
        cq, reinterpret_cast<const ib_uverbs_wc *>(reinterpret_cast<const char *>(cq.current) + cq.step));
}

void end_poll(ibv_cq_ex *ibcq)
{
    Cq &cq = *to_cq(ibcq);
    cq.index = cq.last = retire(cq);
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
