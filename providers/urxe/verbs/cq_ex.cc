// SPDX-License-Identifier: BSD-2-Clause
// ibv_start_poll and what reads the completion that it shows.
#include <cerrno>
#include <ctime>

#include "verbs/cq.hh"

namespace urxe {
namespace {

Cq &to_cq(ibv_cq_ex *cq)
{
    return *reinterpret_cast<Cq *>(cq);
}

bool show_next(Cq &cq)
{
    if (!cq_take(cq, cq.current))
        return false;
    cq.verbs.cq_ex.wr_id = cq.current.wr_id;
    cq.verbs.cq_ex.status = cq.current.status;
    return true;
}

int start_poll(ibv_cq_ex *ibcq, ibv_poll_cq_attr *attr)
{
    if (attr->comp_mask != 0)
        return EINVAL;
    Cq &cq = to_cq(ibcq);
    if (!cq_is_empty(cq)) {
        cq.lock.lock();
        if (show_next(cq))
            return 0;
        // Who finds nothing must not call ibv_end_poll.
        cq.lock.unlock();
    }
    cq_poll_idle(cq);
    return ENOENT;
}

int next_poll(ibv_cq_ex *cq)
{
    return show_next(to_cq(cq)) ? 0 : ENOENT;
}

void end_poll(ibv_cq_ex *cq)
{
    to_cq(cq).lock.unlock();
}

ibv_wc_opcode read_opcode(ibv_cq_ex *cq)
{
    return to_cq(cq).current.opcode;
}

uint32_t read_vendor_err(ibv_cq_ex *cq)
{
    return to_cq(cq).current.vendor_err;
}

uint32_t read_byte_len(ibv_cq_ex *cq)
{
    return to_cq(cq).current.byte_len;
}

__be32 read_imm_data(ibv_cq_ex *cq)
{
    return to_cq(cq).current.imm_data;
}

uint32_t read_qp_num(ibv_cq_ex *cq)
{
    return to_cq(cq).current.qp_num;
}

uint32_t read_src_qp(ibv_cq_ex *cq)
{
    return to_cq(cq).current.src_qp;
}

unsigned read_wc_flags(ibv_cq_ex *cq)
{
    return to_cq(cq).current.wc_flags;
}

uint32_t read_slid(ibv_cq_ex *cq)
{
    return to_cq(cq).current.slid;
}

uint8_t read_sl(ibv_cq_ex *cq)
{
    return to_cq(cq).current.sl;
}

uint8_t read_dlid_path_bits(ibv_cq_ex *cq)
{
    return to_cq(cq).current.dlid_path_bits;
}

uint64_t read_completion_ts(ibv_cq_ex *cq)
{
    return to_cq(cq).timestamp;
}

uint64_t read_completion_wallclock_ns(ibv_cq_ex *cq)
{
    timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    const uint64_t age = now_ns() - to_cq(cq).timestamp;
    return static_cast<uint64_t>(real.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(real.tv_nsec) - age;
}

}  // namespace

void cq_ex_init(Cq &cq)
{
    ibv_cq_ex &ex = cq.verbs.cq_ex;
    ex.start_poll = start_poll;
    ex.next_poll = next_poll;
    ex.end_poll = end_poll;
    ex.read_opcode = read_opcode;
    ex.read_vendor_err = read_vendor_err;
    ex.read_byte_len = read_byte_len;
    ex.read_imm_data = read_imm_data;
    ex.read_qp_num = read_qp_num;
    ex.read_src_qp = read_src_qp;
    ex.read_wc_flags = read_wc_flags;
    ex.read_slid = read_slid;
    ex.read_sl = read_sl;
    ex.read_dlid_path_bits = read_dlid_path_bits;
    ex.read_completion_ts = read_completion_ts;
    ex.read_completion_wallclock_ns = read_completion_wallclock_ns;
}

}  // namespace urxe
