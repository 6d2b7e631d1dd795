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

/// A reader of one member of the completion, as the type that ibv_cq_ex has for it.
template <class Value, auto Member>
Value read(ibv_cq_ex *cq)
{
    return to_cq(cq).current.*Member;
}

/// What comes without immediate data, and is a frame, has its tag in that place.
uint32_t read_flow_tag(ibv_cq_ex *cq)
{
    const ibv_wc &wc = to_cq(cq).current;
    return (wc.wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV)) != 0 ? 0 : wc.imm_data;
}

void read_tm_info(ibv_cq_ex *cq, ibv_wc_tm_info *info)
{
    *info = to_cq(cq).tm_info;
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
    ex.read_opcode = read<ibv_wc_opcode, &ibv_wc::opcode>;
    ex.read_vendor_err = read<uint32_t, &ibv_wc::vendor_err>;
    ex.read_byte_len = read<uint32_t, &ibv_wc::byte_len>;
    ex.read_imm_data = read<__be32, &ibv_wc::imm_data>;
    ex.read_qp_num = read<uint32_t, &ibv_wc::qp_num>;
    ex.read_src_qp = read<uint32_t, &ibv_wc::src_qp>;
    ex.read_wc_flags = read<unsigned, &ibv_wc::wc_flags>;
    ex.read_slid = read<uint32_t, &ibv_wc::slid>;
    ex.read_sl = read<uint8_t, &ibv_wc::sl>;
    ex.read_dlid_path_bits = read<uint8_t, &ibv_wc::dlid_path_bits>;
    ex.read_flow_tag = read_flow_tag;
    ex.read_tm_info = read_tm_info;
    ex.read_completion_ts = read_completion_ts;
    ex.read_completion_wallclock_ns = read_completion_wallclock_ns;
}

}  // namespace urxe
