// SPDX-License-Identifier: BSD-2-Clause
// Send requests: the queue that both ibv_post_send and ibv_wr_* write, WQE by WQE.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "common/lock.hh"
#include "queue.hh"
#include "sge.hh"

namespace rxe {

/// Operations as sets of bits, each at the number of its opcode.
constexpr uint32_t operation(uint32_t opcode)
{
    return opcode < 32 ? 1U << opcode : 0;
}

constexpr uint32_t kInlineOperations = operation(IBV_WR_SEND) | operation(IBV_WR_SEND_WITH_IMM) |
                                       operation(IBV_WR_SEND_WITH_INV) | operation(IBV_WR_RDMA_WRITE) |
                                       operation(IBV_WR_RDMA_WRITE_WITH_IMM);
constexpr uint32_t kAtomicOperations =
    operation(IBV_WR_ATOMIC_CMP_AND_SWP) | operation(IBV_WR_ATOMIC_FETCH_AND_ADD);
/// These need eight aligned bytes.
constexpr uint32_t kAlignedOperations = kAtomicOperations | operation(IBV_WR_ATOMIC_WRITE);
constexpr uint32_t kSgeOperations = kInlineOperations | operation(IBV_WR_RDMA_READ) | kAtomicOperations;

/// What a QP of a type can do on a device with these device_cap_flags_ex (IBTA 10.8.2).
uint32_t operations_of(ibv_qp_type type, uint64_t capabilities);

// What an operation puts into its WQE. Those that hold data put the length twice: all of it, and what is left to transfer.

inline void wqe_set_length(rxe_send_wqe &wqe, uint32_t length)
{
    wqe.dma.length = length;
    wqe.dma.resid = length;
}

inline void wqe_set_imm(rxe_send_wqe &wqe, __be32 imm_data)
{
    wqe.wr.ex.imm_data = imm_data;
}

inline void wqe_set_invalidate(rxe_send_wqe &wqe, uint32_t rkey)
{
    wqe.wr.ex.invalidate_rkey = rkey;
}

inline void wqe_set_rdma(rxe_send_wqe &wqe, uint64_t remote_addr, uint32_t rkey)
{
    wqe.iova = remote_addr;
    wqe.wr.wr.rdma.remote_addr = remote_addr;
    wqe.wr.wr.rdma.rkey = rkey;
}

void wqe_set_atomic(rxe_send_wqe &wqe, uint64_t remote_addr, uint32_t rkey, uint64_t compare_add,
                    uint64_t swap);
void wqe_set_atomic_write(rxe_send_wqe &wqe, uint64_t remote_addr, uint32_t rkey, const void *value);
void wqe_set_flush(rxe_send_wqe &wqe, uint64_t remote_addr, uint32_t rkey, uint32_t length, uint8_t type,
                   uint8_t level);
void wqe_set_bind(rxe_send_wqe &wqe, const ibv_mw &mw, uint32_t rkey, const ibv_mw_bind_info &info);
void wqe_set_ud(rxe_send_wqe &wqe, const ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey);

/// The WQE holds `length` bytes of data itself.
inline void wqe_set_inline(rxe_send_wqe &wqe, uint32_t length)
{
    wqe.wr.send_flags |= IBV_SEND_INLINE;
    wqe.dma.num_sge = 0;
    wqe_set_length(wqe, length);
}

/// A send queue. WQEs are written at a Tail, one behind the other; the driver sees none of them before publish(), so a batch
/// that fails is dropped by writing nothing. Whoever calls holds the lock.
///
/// Of each WQE: start(), then what its operation needs, then is_request().
struct SendQueue {
    /// Where the next WQE lies, and its number.
    struct Tail {
        uint32_t index;
        uint32_t ssn;
    };

    /// Requests that were published together.
    struct Batch {
        uint32_t start;
        uint32_t end;
        bool empty() const { return start == end; }
    };

    Queue<rxe_send_wqe> ring;
    common::SpinLock lock;
    bool datagram;
    uint32_t operations;
    uint32_t checked;  // those of which not everything that can be set makes a request
    uint32_t max_sge;
    uint32_t max_inline;
    uint32_t ssn;  // of the next WQE behind those that are published

    // The batch of ibv_wr_*.
    rxe_send_wqe *wqe;  // being written, as long as `op` says so
    uint32_t op;        // its operation, as a set; empty where there is none
    Tail batch_tail;
    int error;  // the first one
    uint32_t batch_start;

    Tail tail() const { return {.index = ring.producer(), .ssn = ssn}; }
    Tail next(Tail tail) const { return {.index = ring.next(tail.index), .ssn = tail.ssn + 1}; }

    /// Shows the driver all WQEs in front of `tail`.
    void publish(Tail tail)
    {
        ssn = tail.ssn;
        ring.publish(tail.index);
    }
    /// Takes a batch back that the driver does not look at, unless others were published behind it.
    void withdraw(Batch batch);

    /// Gives the WQE at `tail`, with what all operations have, or null with `error`: EINVAL: the QP has no such operation;
    /// ENOMEM: the queue is full.
    [[gnu::always_inline]] inline rxe_send_wqe *start(Tail tail, uint64_t wr_id, uint32_t opcode,
                                                      uint32_t send_flags, int &error_out) const
    {
        if ((operations & operation(opcode)) == 0) [[unlikely]] {
            error_out = EINVAL;
            return nullptr;
        }
        if (ring.full(tail.index)) [[unlikely]] {
            error_out = ENOMEM;
            return nullptr;
        }
        rxe_send_wqe *const added = ring.at(tail.index);
        if (datagram) [[unlikely]]
            *added = rxe_send_wqe{};
        else {
            // Not the place of the address vector, which is half of a WQE: without addresses it stays as zero as it was.
            std::memset(static_cast<void *>(added), 0, offsetof(rxe_send_wqe, wr.wr.ud.av));
            std::memset(&added->status, 0, sizeof *added - offsetof(rxe_send_wqe, status));
        }
        added->wr.wr_id = wr_id;
        added->wr.opcode = opcode;
        added->wr.send_flags = send_flags & ~uint32_t{IBV_SEND_INLINE};  // wqe_set_inline() sets it
        added->ssn = tail.ssn;
        return added;
    }

    // These answer whether the queue has room for so many SGEs or bytes in a WQE.

    bool set_sges(rxe_send_wqe &to, const ibv_sge *list, size_t count) const
    {
        if (count > max_sge)
            return false;
        const uint64_t length = sge_copy(to.dma, list, static_cast<uint32_t>(count));
        if (length > UINT32_MAX)
            return false;
        to.wr.send_flags &= ~uint32_t{IBV_SEND_INLINE};
        to.dma.num_sge = static_cast<uint32_t>(count);
        wqe_set_length(to, static_cast<uint32_t>(length));
        return true;
    }
    bool set_sge(rxe_send_wqe &to, uint32_t lkey, uint64_t addr, uint32_t length) const
    {
        if (max_sge == 0)
            return false;
        reinterpret_cast<ibv_sge &>(*(&to + 1)) = {.addr = addr, .length = length, .lkey = lkey};
        to.wr.send_flags &= ~uint32_t{IBV_SEND_INLINE};
        to.dma.num_sge = 1;
        wqe_set_length(to, length);
        return true;
    }
    bool set_inline(rxe_send_wqe &to, const ibv_sge &data) const
    {
        uint32_t used = 0;
        if (!inline_append(to, used, reinterpret_cast<const void *>(data.addr), data.length))
            return false;
        wqe_set_inline(to, used);
        return true;
    }
    /// Puts bytes behind the `used` ones that are there, and counts them; wqe_set_inline() comes last.
    bool inline_append(rxe_send_wqe &to, uint32_t &used, const void *data, size_t length) const
    {
        if (length > max_inline - used)
            return false;
        if (length != 0)
            std::memcpy(reinterpret_cast<char *>(&to + 1) + used, data, length);
        used += static_cast<uint32_t>(length);
        return true;
    }

    /// Whether what was put into a WQE of this operation makes a request; a WQE of none may be null.
    bool is_request(uint32_t set, const rxe_send_wqe *written) const
    {
        return (set & checked) == 0 || is_whole(set, *written);
    }

private:
    bool is_whole(uint32_t set, const rxe_send_wqe &written) const;
};

}  // namespace rxe
