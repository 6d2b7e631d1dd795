// SPDX-License-Identifier: BSD-2-Clause
// Posting receive requests: the driver reads them when a message arrives, so no system call is needed.
#include "recv_queue.hh"

#include "sge.hh"

namespace siw {

int RecvQueue::post(ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    common::Locked locked(lock);
    for (; wr != nullptr; wr = wr->next) {
        const auto count = static_cast<uint32_t>(wr->num_sge);
        int error = 0;
        if (count > max_sge)
            error = EINVAL;
        else if (ring.valid(tail))
            error = ENOMEM;
        if (error != 0) {
            *bad_wr = wr;
            return error;
        }
        siw_rqe &rqe = ring.at(tail);
        rqe.id = wr->wr_id;
        rqe.num_sge = static_cast<uint8_t>(count);
        rqe.opcode = SIW_OP_RECEIVE;
        sge_copy(rqe.sge, wr->sg_list, count);
        ring.set_flags(tail, SIW_WQE_VALID);
        tail = ring.next(tail);
    }
    return 0;
}

}  // namespace siw
