// SPDX-License-Identifier: BSD-2-Clause
// The page map against an array with an element per page.
#include "fork/page_map.hh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using verbs::fork::PageMap;

class PageMapTest : public testing::Test {
protected:
    ~PageMapTest() override { map_.clear(); }

    /// Counts a use of [begin, end) more, or less.
    void add(uintptr_t begin, uintptr_t end, int uses)
    {
        ASSERT_TRUE(map_.reserve(1));
        map_.update(begin, end, [uses](PageMap::State state) {
            size_t sum = state.uses + static_cast<size_t>(uses);
            return PageMap::State{sum, sum > 0};
        });
    }

    PageMap map_;
};

TEST_F(PageMapTest, IsOneUnusedRunAtFirst)
{
    PageMap::Run run = map_.run_at(4096);
    EXPECT_EQ(run.begin, 0U);
    EXPECT_EQ(run.end, UINTPTR_MAX);
    EXPECT_EQ(run.state, PageMap::State{});
    EXPECT_EQ(map_.run_count(), 0U);
}

TEST_F(PageMapTest, JoinsEqualNeighbours)
{
    add(10, 20, 1);
    add(20, 30, 1);
    PageMap::Run run = map_.run_at(15);
    EXPECT_EQ(run.begin, 10U);
    EXPECT_EQ(run.end, 30U);
    EXPECT_EQ(map_.run_count(), 2U);  // where the run starts and where it ends
}

TEST_F(PageMapTest, CountsOverlapsPagewise)
{
    add(10, 30, 1);
    add(20, 40, 1);
    EXPECT_EQ(map_.run_at(19).state.uses, 1U);
    EXPECT_EQ(map_.run_at(20).state.uses, 2U);
    EXPECT_EQ(map_.run_at(29).state.uses, 2U);
    EXPECT_EQ(map_.run_at(30).state.uses, 1U);
    add(10, 30, -1);
    PageMap::Run run = map_.run_at(25);
    EXPECT_EQ(run.begin, 20U);
    EXPECT_EQ(run.end, 40U);
}

TEST_F(PageMapTest, AgreesWithAnArray)
{
    constexpr uintptr_t kPages = 300;
    std::vector<size_t> uses(kPages);
    std::vector<std::pair<uintptr_t, uintptr_t>> ranges;
    std::mt19937 random(6);
    for (int round = 0; round < 20000; ++round) {
        bool removes = !ranges.empty() && (ranges.size() > 40 || random() % 2 == 0);
        uintptr_t begin = random() % kPages;
        uintptr_t end = begin + 1 + random() % (kPages - begin);
        if (removes) {
            size_t victim = random() % ranges.size();
            std::tie(begin, end) = ranges[victim];
            ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(victim));
        } else {
            ranges.emplace_back(begin, end);
        }
        add(begin, end, removes ? -1 : 1);
        for (uintptr_t page = begin; page < end; ++page)
            uses[page] += removes ? size_t(-1) : 1;

        size_t changes = 0;
        for (uintptr_t page = 0; page < kPages; ++page) {
            PageMap::Run run = map_.run_at(page);
            ASSERT_EQ(run.state.uses, uses[page]) << "page " << page << " in round " << round;
            ASSERT_LE(run.begin, page);
            ASSERT_GT(run.end, page);
            changes += uses[page] != (page > 0 ? uses[page - 1] : 0);
        }
        changes += uses[kPages - 1] != 0;
        ASSERT_EQ(map_.run_count(), changes) << "the map is not minimal in round " << round;
    }
}

TEST_F(PageMapTest, TakesManyRangesInAnyOrder)
{
    constexpr uintptr_t kRanges = 100'000;
    for (uintptr_t i = 0; i < kRanges; ++i)
        add(i * 2, i * 2 + 1, 1);
    EXPECT_EQ(map_.run_count(), 2 * kRanges);
    for (uintptr_t i = kRanges; i-- > 0;)
        add(i * 2, i * 2 + 1, -1);
    EXPECT_EQ(map_.run_count(), 0U);
}

}  // namespace
