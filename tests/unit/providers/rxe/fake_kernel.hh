// SPDX-License-Identifier: BSD-2-Clause
// A kernel for the rxe provider: rings in a memory file, commands that succeed or fail as a test wants.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/driver.h>
#include <rdma/rdma_user_rxe.h>

#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace rxe::test {

/// With this "error" a write command ends after a part of it.
constexpr int kShortWrite = -1;

/// The kernel's view of a ring.
struct Ring {
    rxe_queue_buf *buf;
    uint32_t producer() const { return buf->producer_index; }
    uint32_t consumer() const { return buf->consumer_index; }
    uint8_t *element(uint32_t index) const
    {
        return buf->data + (static_cast<size_t>(index & buf->index_mask) << buf->log2_elem_size);
    }
};

/// Stands for the library and the kernel behind it, one at a time. The provider's commands end here.
class FakeKernel {
public:
    FakeKernel();
    ~FakeKernel();

    /// A ring for at least `entries` elements of at least `size` bytes, all bytes of which are 0xee.
    mminfo make_ring(uint32_t entries, size_t size);
    /// The ring that was made last, or `back` rings before it.
    Ring ring(size_t back = 0) const { return rings_.at(rings_.size() - 1 - back); }

    /// Counts a command, and tells the error with which it is to end.
    int run(const char *command);
    int count(const char *command) const;
    /// The next such command fails.
    void fail(const char *command, int error) { failures_[command] = error; }

    // What the kernel and the device are like.
    uint64_t capabilities = 0;
    bool numbers_ahs = true;
    bool breaks_mmap = false;  // offsets at which nothing can be mapped
    int failing_mmaps = 0;     // so many of the next ones fail with ENOMEM
    uint64_t firmware = 0;

    // What the last command asked.
    rxe_modify_srq_cmd modify_srq{};
    ibv_qp_attr modify_qp{};
    std::string logged;  // the last line

    int fd() const { return fd_; }

private:
    int fd_;
    mutable std::mutex lock_;  // of the counts: data paths of several threads end here
    uint64_t next_offset_ = 4096;
    std::vector<Ring> rings_;
    std::map<std::string, int> counts_;
    std::map<std::string, int> failures_;
};

/// The kernel of the running test.
FakeKernel &kernel();

/// A test with an open context and a PD.
class RxeTest : public testing::Test {
protected:
    RxeTest();
    ~RxeTest() override;

    /// Opens another context, on a kernel that the test has changed.
    void reopen();

    /// A QP in RTS with room for 7 send and 7 receive requests of 4 SGEs, and for 64 inline bytes.
    ibv_qp *make_qp(ibv_qp_type type, uint64_t send_ops = 0, ibv_srq *srq = nullptr);
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

/// Memory of a WQE with these words and zeros elsewhere, as text that a failing test can show line by line.
std::string words(const uint8_t *memory, size_t size);
/// The same of a send WQE of a connected QP, as if the place of its address vector were zero: there nobody writes or reads.
std::string connected_words(const uint8_t *wqe, size_t size);
std::string words(std::initializer_list<Word> list);

}  // namespace rxe::test
