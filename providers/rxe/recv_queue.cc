// SPDX-License-Identifier: BSD-2-Clause
// Posting receive requests: the driver reads them when a message arrives, so no system call is needed.
#include "recv_queue.hh"

#include <algorithm>
#include <cstring>

#include "sge.hh"

namespace rxe {

int RecvQueue::post(ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    common::Locked locked(lock);
    int error = 0;
    uint32_t index = ring.producer();
    for (; wr != nullptr; wr = wr->next) {
        const auto count = static_cast<uint32_t>(wr->num_sge);
        if (count > max_sge) {
            error = EINVAL;
            break;
        }
        if (ring.full(index)) {
            error = ENOMEM;
            break;
        }
        rxe_recv_wqe *wqe = ring.at(index);
        std::memset(wqe, 0, sizeof(*wqe));
        wqe->wr_id = wr->wr_id;
        // No message is longer than 2 GiB; buffers that offer more than the field can say offer all of it.
        const uint64_t length = std::min<uint64_t>(sge_copy(wqe->dma, wr->sg_list, count), UINT32_MAX);
        wqe->dma.length = static_cast<uint32_t>(length);
        wqe->dma.resid = static_cast<uint32_t>(length);
        wqe->dma.num_sge = count;
        index = ring.next(index);
    }
    ring.publish(index);
    if (error != 0)
        *bad_wr = wr;
    return error;
}

}  // namespace rxe
