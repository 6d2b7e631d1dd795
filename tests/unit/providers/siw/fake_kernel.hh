// SPDX-License-Identifier: BSD-2-Clause
// A kernel for the siw provider: rings in a memory file, commands that succeed or fail as a test wants.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/driver.h>
#include <rdma/siw-abi.h>

#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace siw::test {

/// Stands for the library and the kernel behind it, one at a time. The provider's commands end here.
class FakeKernel {
public:
    FakeKernel();
    ~FakeKernel();

    /// Memory for a ring, all bytes of which are zero, as the driver gives it. The key to map it with.
    uint64_t make_ring(size_t bytes);
    /// The kernel's view of the ring that was made last, or `back` rings before it.
    template <class T>
    T *ring(size_t back = 0) const
    {
        return reinterpret_cast<T *>(rings_.at(rings_.size() - 1 - back).memory);
    }

    /// Counts a command, and tells the error with which it is to end.
    int run(const char *command);
    int count(const char *command) const;
    /// The next such command fails.
    void fail(const char *command, int error) { failures_[command] = error; }

    // What the kernel and the device are like.
    bool breaks_mmap = false;  // keys at which nothing can be mapped
    bool lacks_rings = false;  // answers that name no queue
    uint64_t firmware = 0;

    // What the last command asked.
    siw_ureq_reg_mr reg_mr{};

    int fd() const { return fd_; }

private:
    struct Ring {
        uint8_t *memory;
        size_t size;
    };

    int fd_;
    mutable std::mutex lock_;  // of the counts: data paths of several threads end here
    uint64_t next_key_ = 0;
    std::vector<Ring> rings_;
    std::map<std::string, int> counts_;
    std::map<std::string, int> failures_;
};

/// The kernel of the running test.
FakeKernel &kernel();

/// A test with an open context, a PD and a CQ for 16 completions.
class SiwTest : public testing::Test {
protected:
    SiwTest();
    ~SiwTest() override;

    /// A QP with room for 8 send and 8 receive requests of 4 SGEs.
    ibv_qp *make_qp(uint64_t send_ops = 0, ibv_srq *srq = nullptr);
    void destroy_qps();

    int post_send(ibv_qp *qp, ibv_send_wr *wr) { return ops().post_send(qp, wr, &bad_send_); }
    const verbs_context_ops &ops() const;

    FakeKernel kernel_;
    verbs_context *context_ = nullptr;
    ibv_pd *pd_ = nullptr;
    ibv_cq *cq_ = nullptr;
    std::vector<ibv_qp *> qps_;
    ibv_send_wr *bad_send_ = nullptr;
    ibv_recv_wr *bad_recv_ = nullptr;
};

/// A word of memory: where, and the value of its four bytes.
struct Word {
    size_t offset;
    uint32_t value;
};

/// Memory with these words and zeros elsewhere, as text that a failing test can show line by line.
std::string words(const void *memory, size_t size);
std::string words(std::initializer_list<Word> list);

}  // namespace siw::test
