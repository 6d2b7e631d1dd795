// SPDX-License-Identifier: BSD-2-Clause
// Many threads on one queue: each request is posted once, each completion is polled once.
#include <algorithm>
#include <atomic>
#include <thread>

#include "fake_kernel.hh"

namespace siw::test {
namespace {

constexpr int kThreads = 4;
constexpr uint64_t kPerThread = 3000;

class Threads : public SiwTest {
protected:
    /// Runs `work` with the numbers 0, 1, ... in as many threads.
    template <class Work>
    void run(Work work)
    {
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i)
            threads.emplace_back(work, static_cast<uint64_t>(i));
        for (std::thread &thread : threads)
            thread.join();
    }

    static void expect_each_once(std::vector<uint64_t> seen)
    {
        std::sort(seen.begin(), seen.end());
        ASSERT_EQ(seen.size(), kThreads * kPerThread);
        for (uint64_t i = 0; i < seen.size(); ++i)
            ASSERT_EQ(seen[i], i);
    }

    /// The driver's side: takes requests out of a ring of 8 until it has all.
    template <class T>
    static std::vector<uint64_t> take(T *ring)
    {
        std::vector<uint64_t> seen;
        for (size_t slot = 0; seen.size() < kThreads * kPerThread;) {
            const std::atomic_ref flags(ring[slot].flags);
            if ((flags.load(std::memory_order_acquire) & SIW_WQE_VALID) == 0) {
                std::this_thread::yield();
                continue;
            }
            seen.push_back(ring[slot].id);
            flags.store(0, std::memory_order_release);
            slot = (slot + 1) % 8;
        }
        return seen;
    }
};

TEST_F(Threads, PostReceiveRequests)
{
    ibv_qp *qp = make_qp();
    std::vector<uint64_t> seen;
    std::thread driver([&] { seen = take(kernel_.ring<siw_rqe>()); });
    run([&](uint64_t thread) {
        for (uint64_t i = 0; i < kPerThread; ++i) {
            ibv_recv_wr wr = {
                .wr_id = i * kThreads + thread, .next = nullptr, .sg_list = nullptr, .num_sge = 0};
            ibv_recv_wr *bad;
            while (ops().post_recv(qp, &wr, &bad) == ENOMEM)
                std::this_thread::yield();
        }
    });
    driver.join();
    expect_each_once(seen);
}

TEST_F(Threads, PostSendRequestsInBothWays)
{
    ibv_qp *qp = make_qp(IBV_QP_EX_WITH_SEND);
    auto *extended = reinterpret_cast<ibv_qp_ex *>(qp);
    std::vector<uint64_t> seen;
    std::thread driver([&] { seen = take(kernel_.ring<siw_sqe>(1)); });
    run([&](uint64_t thread) {
        for (uint64_t i = 0; i < kPerThread; ++i) {
            int error;
            do {
                if (thread % 2 == 0) {
                    ibv_send_wr wr{}, *bad;
                    wr.wr_id = i * kThreads + thread;
                    wr.opcode = IBV_WR_SEND;
                    error = ops().post_send(qp, &wr, &bad);
                } else {
                    extended->wr_start(extended);
                    extended->wr_id = i * kThreads + thread;
                    extended->wr_send(extended);
                    error = extended->wr_complete(extended);
                }
                if (error != 0)
                    std::this_thread::yield();
            } while (error != 0);
        }
    });
    driver.join();
    expect_each_once(seen);
}

TEST_F(Threads, PollCompletions)
{
    siw_cqe *ring = kernel_.ring<siw_cqe>();
    std::thread driver([&] {
        for (uint64_t i = 0; i < kThreads * kPerThread; ++i) {
            siw_cqe &cqe = ring[i % 16];
            const std::atomic_ref flags(cqe.flags);
            while ((flags.load(std::memory_order_acquire) & SIW_WQE_VALID) != 0)
                std::this_thread::yield();
            cqe.id = i;
            flags.store(SIW_WQE_VALID, std::memory_order_release);
        }
    });
    std::atomic<uint64_t> left = kThreads * kPerThread;
    std::vector<uint64_t> seen[kThreads];
    run([&](uint64_t thread) {
        ibv_wc wc[3];
        while (left > 0) {
            const int count = ops().poll_cq(cq_, 3, wc);
            for (int i = 0; i < count; ++i)
                seen[thread].push_back(wc[i].wr_id);
            left -= static_cast<uint64_t>(count);
            if (count == 0)
                std::this_thread::yield();
        }
    });
    driver.join();
    std::vector<uint64_t> all;
    for (const std::vector<uint64_t> &some : seen) {
        EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
        all.insert(all.end(), some.begin(), some.end());
    }
    expect_each_once(all);
}

}  // namespace
}  // namespace siw::test
