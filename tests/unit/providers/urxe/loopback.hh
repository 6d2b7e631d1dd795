// SPDX-License-Identifier: BSD-2-Clause
// A fixture with the device above the loopback interface open, and the objects that most tests need.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace urxe::test {

/// An 8-byte value's place in memory, as requests name it.
template <class T>
uint64_t address_of(const T *pointer)
{
    return reinterpret_cast<uintptr_t>(pointer);
}

class Loopback : public testing::Test {
protected:
    static constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
    static constexpr uint32_t kQkey = 0x1234;

    void SetUp() override;
    /// Undoes what was left with at_end(), the last first.
    void TearDown() override;
    void at_end(std::function<int()> undo) { undos_.push_back(std::move(undo)); }

    // Each is destroyed at the end.
    ibv_cq *make_cq(int cqe = 64);
    ibv_qp *make_qp(ibv_cq *cq, ibv_qp_type type = IBV_QPT_RC, ibv_srq *srq = nullptr);
    ibv_srq *make_srq(uint32_t max_wr);
    ibv_mr *make_mr(void *memory, size_t length, int access = kAllAccess);

    /// From RESET to RTS; a datagram QP needs no destination.
    void connect(ibv_qp *qp, uint32_t remote_qp_num = 0);
    /// Two QPs that are connected to each other, each with a CQ.
    struct Pair {
        ibv_cq *cq[2];
        ibv_qp *qp[2];
    };
    Pair make_pair(ibv_qp_type type = IBV_QPT_RC, ibv_srq *srq = nullptr);
    ibv_ah_attr path_to(const ibv_gid &gid) const;

    static void post_receive(ibv_qp *qp, uint64_t wr_id, const ibv_sge &sge);
    static void post_receive(ibv_srq *srq, uint64_t wr_id, const ibv_sge &sge);
    /// A signaled request; what ibv_post_send answers.
    static int post(ibv_qp *qp, ibv_wr_opcode opcode, const ibv_sge &sge, uint64_t remote = 0,
                    uint32_t rkey = 0);
    /// The next completion; a failure after some seconds without one.
    static ibv_wc wait(ibv_cq *cq);
    static bool is_empty(ibv_cq *cq);

    ibv_context *context_ = nullptr;
    ibv_pd *pd_ = nullptr;
    ibv_gid gid_{};

private:
    std::vector<std::function<int()>> undos_;
};

}  // namespace urxe::test
