// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of rings: full, empty, and where the end meets the beginning.
#include "rxe/queue.hh"

#include <cerrno>

#include "fake_kernel.hh"

namespace rxe::test {
namespace {

class QueueTest : public testing::Test {
protected:
    ~QueueTest() override { queue_.unmap(); }

    FakeKernel kernel_;
    Queue<uint64_t> queue_{};
};

TEST_F(QueueTest, StartsEmpty)
{
    ASSERT_EQ(queue_.map(kernel_.fd(), kernel_.make_ring(7, 8)), 0);
    EXPECT_EQ(queue_.mask(), 7u);
    EXPECT_EQ(queue_.producer(), 0u);
    EXPECT_EQ(queue_.consumer(), 0u);
    EXPECT_TRUE(queue_.empty(0));
    EXPECT_FALSE(queue_.full(0));
}

TEST_F(QueueTest, HoldsOneLessThanItsSlots)
{
    ASSERT_EQ(queue_.map(kernel_.fd(), kernel_.make_ring(3, 8)), 0);
    uint32_t index = queue_.producer();
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(queue_.full(index));
        index = queue_.next(index);
    }
    EXPECT_TRUE(queue_.full(index));
    EXPECT_EQ(kernel_.ring().producer(), 0u);  // nothing shows before it is published
    queue_.publish(index);
    EXPECT_EQ(kernel_.ring().producer(), 3u);
    kernel_.ring().buf->consumer_index = 1;
    EXPECT_FALSE(queue_.full(index));
}

TEST_F(QueueTest, GoesRoundManyTimes)
{
    ASSERT_EQ(queue_.map(kernel_.fd(), kernel_.make_ring(3, 8)), 0);
    const Ring ring = kernel_.ring();
    for (uint64_t i = 0; i < 100; ++i) {
        *queue_.at(queue_.producer()) = i;
        queue_.publish(queue_.next(queue_.producer()));
        EXPECT_EQ(ring.producer(), (i + 1) % 4);
        EXPECT_FALSE(queue_.empty(ring.consumer()));
        EXPECT_EQ(*reinterpret_cast<uint64_t *>(ring.element(ring.consumer())), i);
        queue_.retire(queue_.next(queue_.consumer()));
        EXPECT_TRUE(queue_.empty(ring.consumer()));
    }
}

TEST_F(QueueTest, SpacesElementsAsTheDriverDoes)
{
    ASSERT_EQ(queue_.map(kernel_.fd(), kernel_.make_ring(3, 300)), 0);
    EXPECT_EQ(reinterpret_cast<char *>(queue_.at(1)) - reinterpret_cast<char *>(queue_.at(0)), 512);
    EXPECT_EQ(queue_.element_size(), 512u);
    EXPECT_EQ(queue_.at(queue_.next(3)), queue_.at(0));
}

TEST_F(QueueTest, WithoutSlotsIsAlwaysFull)
{
    ASSERT_EQ(queue_.map(kernel_.fd(), kernel_.make_ring(0, 8)), 0);
    EXPECT_TRUE(queue_.full(queue_.producer()));
    EXPECT_TRUE(queue_.empty(queue_.consumer()));
}

TEST_F(QueueTest, MapTellsWhyItFails)
{
    kernel_.breaks_mmap = true;
    EXPECT_EQ(queue_.map(kernel_.fd(), kernel_.make_ring(3, 8)), EINVAL);
    errno = 77;
    queue_.unmap();
    EXPECT_EQ(errno, 77);
}

TEST_F(QueueTest, RemapGivesUpTheOldRingBeforeItGivesUp)
{
    ASSERT_EQ(queue_.map(kernel_.fd(), kernel_.make_ring(3, 8)), 0);
    const mminfo info = kernel_.make_ring(15, 8);
    kernel_.failing_mmaps = 1;
    ASSERT_EQ(queue_.remap(kernel_.fd(), info), 0);
    EXPECT_EQ(queue_.mask(), 15u);
}

TEST_F(QueueTest, WithoutARingAfterARemapNothingArrivesAndNothingFits)
{
    ASSERT_EQ(queue_.map(kernel_.fd(), kernel_.make_ring(3, 8)), 0);
    ASSERT_EQ(queue_.remap(kernel_.fd(), kernel_.make_ring(15, 8)), 0);
    EXPECT_EQ(queue_.mask(), 15u);
    kernel_.breaks_mmap = true;
    EXPECT_EQ(queue_.remap(kernel_.fd(), kernel_.make_ring(31, 8)), EINVAL);
    EXPECT_TRUE(queue_.empty(queue_.consumer()));
    EXPECT_TRUE(queue_.full(queue_.producer()));
    queue_.publish(queue_.producer());
    queue_.unmap();
}

}  // namespace
}  // namespace rxe::test
