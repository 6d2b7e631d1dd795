// SPDX-License-Identifier: BSD-2-Clause
// Many threads on one queue: each request is posted once, each completion is polled once.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "fake_kernel.hh"

namespace rxe::test {
namespace {

constexpr int kThreads = 4;
constexpr uint64_t kPerThread = 3000;

class Threads : public RxeTest {
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

    /// The driver's side: takes requests out of a ring until it has all.
    static std::vector<uint64_t> take(const Ring &ring)
    {
        std::vector<uint64_t> seen;
        auto producer = std::atomic_ref<uint32_t>(ring.buf->producer_index);
        auto consumer = std::atomic_ref<uint32_t>(ring.buf->consumer_index);
        while (seen.size() < kThreads * kPerThread) {
            const uint32_t index = consumer.load();
            if (index == producer.load(std::memory_order_acquire)) {
                std::this_thread::yield();
                continue;
            }
            uint64_t wr_id;
            std::memcpy(&wr_id, ring.element(index), sizeof(wr_id));
            seen.push_back(wr_id);
            consumer.store((index + 1) & ring.buf->index_mask, std::memory_order_release);
        }
        return seen;
    }
};

TEST_F(Threads, PostReceiveRequests)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    std::vector<uint64_t> seen;
    std::thread driver([&] { seen = take(kernel_.ring(1)); });
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
    ibv_qp *qp = make_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
    auto *extended = reinterpret_cast<ibv_qp_ex *>(qp);
    std::vector<uint64_t> seen;
    std::thread driver([&] { seen = take(kernel_.ring()); });
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
    const Ring ring = kernel_.ring();
    std::thread driver([&] {
        auto producer = std::atomic_ref<uint32_t>(ring.buf->producer_index);
        auto consumer = std::atomic_ref<uint32_t>(ring.buf->consumer_index);
        for (uint64_t i = 0; i < kThreads * kPerThread; ++i) {
            const uint32_t index = producer.load();
            while (((index + 1) & ring.buf->index_mask) == consumer.load(std::memory_order_acquire))
                std::this_thread::yield();
            std::memset(ring.element(index), 0, sizeof(ib_uverbs_wc));
            std::memcpy(ring.element(index), &i, sizeof(i));
            producer.store((index + 1) & ring.buf->index_mask, std::memory_order_release);
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
}  // namespace rxe::test
