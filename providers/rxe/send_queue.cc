// SPDX-License-Identifier: BSD-2-Clause
// Writing of send WQEs: what each operation puts where.
#include "send_queue.hh"

#include <infiniband/driver.h>

#include <cstring>

#include "ah.hh"

namespace rxe {
namespace {

constexpr uint32_t kDatagramOperations = operation(IBV_WR_SEND) | operation(IBV_WR_SEND_WITH_IMM);
constexpr uint32_t kUnreliableOperations = kInlineOperations | operation(IBV_WR_BIND_MW);
constexpr uint32_t kReliableOperations = kUnreliableOperations | kSgeOperations | operation(IBV_WR_LOCAL_INV);

constexpr uint32_t kAtomicSize = 8;

/// Where the data of a WQE starts: SGEs, or the bytes themselves.
char *payload(rxe_send_wqe &wqe)
{
    return reinterpret_cast<char *>(&wqe + 1);
}

}  // namespace

uint32_t operations_of(ibv_qp_type type, uint64_t capabilities)
{
    switch (type) {
        case IBV_QPT_UD:
            return kDatagramOperations;
        case IBV_QPT_UC:
            return kUnreliableOperations;
        case IBV_QPT_RC: {
            constexpr uint64_t kFlush = IB_UVERBS_DEVICE_FLUSH_GLOBAL | IB_UVERBS_DEVICE_FLUSH_PERSISTENT;
            uint32_t operations = kReliableOperations;
            if ((capabilities & kFlush) != 0)
                operations |= operation(IBV_WR_FLUSH);
            if ((capabilities & IB_UVERBS_DEVICE_ATOMIC_WRITE) != 0)
                operations |= operation(IBV_WR_ATOMIC_WRITE);
            return operations;
        }
        default:
            return 0;
    }
}

void SendQueue::withdraw(Batch batch)
{
    if (ring.producer() != batch.end)
        return;
    ssn -= (batch.end - batch.start) & ring.mask();
    ring.publish(batch.start);
}

void wqe_set_atomic(rxe_send_wqe &wqe, uint64_t remote_addr, uint32_t rkey, uint64_t compare_add,
                    uint64_t swap)
{
    wqe.iova = remote_addr;
    wqe.wr.wr.atomic.remote_addr = remote_addr;
    wqe.wr.wr.atomic.compare_add = compare_add;
    wqe.wr.wr.atomic.swap = swap;
    wqe.wr.wr.atomic.rkey = rkey;
}

void wqe_set_atomic_write(rxe_send_wqe &wqe, uint64_t remote_addr, uint32_t rkey, const void *value)
{
    wqe_set_rdma(wqe, remote_addr, rkey);
    std::memcpy(payload(wqe), value, kAtomicSize);
    wqe_set_length(wqe, kAtomicSize);
}

void wqe_set_flush(rxe_send_wqe &wqe, uint64_t remote_addr, uint32_t rkey, uint32_t length, uint8_t type,
                   uint8_t level)
{
    wqe.iova = remote_addr;
    wqe.wr.wr.flush.remote_addr = remote_addr;
    wqe.wr.wr.flush.length = length;
    wqe.wr.wr.flush.rkey = rkey;
    wqe.wr.wr.flush.type = type;
    wqe.wr.wr.flush.level = level;
    wqe_set_length(wqe, length);
}

void wqe_set_bind(rxe_send_wqe &wqe, const ibv_mw &mw, uint32_t rkey, const ibv_mw_bind_info &info)
{
    wqe.wr.wr.mw.addr = info.addr;
    wqe.wr.wr.mw.length = info.length;
    wqe.wr.wr.mw.mr_lkey = info.mr != nullptr ? info.mr->lkey : 0;
    wqe.wr.wr.mw.mw_rkey = mw.rkey;
    wqe.wr.wr.mw.rkey = rkey;
    wqe.wr.wr.mw.access = info.mw_access_flags;
}

void wqe_set_ud(rxe_send_wqe &wqe, const ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
    if (ah == nullptr)
        return;
    wqe.wr.wr.ud.remote_qpn = remote_qpn;
    wqe.wr.wr.ud.remote_qkey = remote_qkey;
    wqe.wr.wr.ud.ah_num = to_ah(ah)->number;
    if (to_ah(ah)->number == 0)
        wqe.wr.wr.ud.av = to_ah(ah)->vector;
}

bool SendQueue::is_whole(uint32_t set, const rxe_send_wqe &written) const
{
    // IBTA 9.4.5: eight bytes, aligned.
    if ((set & kAtomicOperations) != 0 &&
        (written.dma.length < kAtomicSize || written.iova % kAtomicSize != 0))
        return false;
    if (set == operation(IBV_WR_ATOMIC_WRITE) &&
        (written.dma.length != kAtomicSize || written.iova % kAtomicSize != 0))
        return false;
    return !datagram || written.wr.wr.ud.ah_num != 0 || written.wr.wr.ud.av.network_type != 0;
}

}  // namespace rxe
