// SPDX-License-Identifier: BSD-2-Clause
// Fork protection as the kernel sees it. Each test runs in a child, for protection cannot be turned off again.
#include "fork/range.hh"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fork/copy_on_fork.hh"

namespace {

bool kernel_copies = false;
bool no_memory = false;

}  // namespace

// The linker has the sources under test call this in place of malloc.
extern "C" void *__real_malloc(size_t size);
extern "C" void *__wrap_malloc(size_t size)
{
    return no_memory ? nullptr : __real_malloc(size);
}

namespace verbs::fork {

// Stands in for the kernel's answer, so that the tests run on every kernel.
bool kernel_copies_pinned_pages()
{
    return kernel_copies;
}

}  // namespace verbs::fork

namespace {

using verbs::fork::dofork_range;
using verbs::fork::dontfork_range;
using verbs::fork::enable;
using verbs::fork::State;

constexpr size_t kHugePage = size_t{2} << 20;
const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

/// Runs `body` in a child; its failed expectations are those of the test.
void in_child(const std::function<void()> &body)
{
    fflush(nullptr);
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        body();
        fflush(nullptr);
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
}

/// A letter per unit from `start` on: D where children do not get the memory, else a dot.
std::string withheld(const char *start, size_t count, size_t unit = kPage)
{
    std::string letters(count, '.');
    std::ifstream smaps("/proc/self/smaps");
    uintptr_t begin = 0;
    uintptr_t end = 0;
    for (std::string line; std::getline(smaps, line);) {
        uintptr_t low = 0;
        uintptr_t high = 0;
        if (sscanf(line.c_str(), "%zx-%zx ", &low, &high) == 2) {
            begin = low;
            end = high;
        } else if (line.starts_with("VmFlags:") && line.find(" dc") != std::string::npos) {
            for (size_t i = 0; i < count; ++i) {
                auto address = reinterpret_cast<uintptr_t>(start) + i * unit;
                if (address >= begin && address < end)
                    letters[i] = 'D';
            }
        }
    }
    return letters;
}

/// How many mappings hold a part of the memory.
size_t mapping_count(const char *start, size_t size)
{
    std::ifstream maps("/proc/self/maps");
    size_t count = 0;
    for (std::string line; std::getline(maps, line);) {
        uintptr_t low = 0;
        uintptr_t high = 0;
        auto begin = reinterpret_cast<uintptr_t>(start);
        if (sscanf(line.c_str(), "%zx-%zx ", &low, &high) == 2 && low < begin + size && high > begin)
            ++count;
    }
    return count;
}

class Memory {
public:
    explicit Memory(size_t size, int flags = 0)
        : size_(size),
          start_(static_cast<char *>(
              mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0)))
    {
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory()
    {
        if (*this)
            munmap(start_, size_);
    }

    explicit operator bool() const { return start_ != MAP_FAILED; }
    char *at(size_t offset) const { return start_ + offset; }
    char *page(size_t index) const { return start_ + index * kPage; }

private:
    size_t size_;
    char *start_;
};

TEST(ForkStateTest, IsDecidedByEnable)
{
    in_child([] {
        EXPECT_EQ(verbs::fork::state(), State::kDisabled);
        EXPECT_TRUE(enable());
        EXPECT_EQ(verbs::fork::state(), State::kEnabled);
        EXPECT_TRUE(enable()) << "again";
    });
}

TEST(ForkStateTest, DoesNothingUnlessEnabled)
{
    in_child([] {
        Memory memory(4 * kPage);
        EXPECT_TRUE(dontfork_range(memory.page(0), kPage));
        EXPECT_EQ(withheld(memory.page(0), 4), "....");
        EXPECT_TRUE(dofork_range(memory.page(0), kPage));
    });
}

TEST(ForkStateTest, IsUnneededWhereTheKernelCopies)
{
    in_child([] {
        kernel_copies = true;
        EXPECT_EQ(verbs::fork::state(), State::kUnneeded);
        Memory memory(4 * kPage);
        EXPECT_TRUE(dontfork_range(memory.page(0), kPage));
        EXPECT_TRUE(enable()) << "never too late";
        EXPECT_EQ(verbs::fork::state(), State::kUnneeded);
        EXPECT_TRUE(dontfork_range(memory.page(0), kPage));
        EXPECT_EQ(withheld(memory.page(0), 4), "....");
    });
}

TEST(ForkStateTest, StaysEnabledOnceItIs)
{
    in_child([] {
        ASSERT_TRUE(enable());
        kernel_copies = true;  // as when RDMA's netlink comes up late
        EXPECT_EQ(verbs::fork::state(), State::kEnabled) << "pages are being withheld";
    });
}

TEST(RangeTest, ComesTooLateAfterARegistration)
{
    in_child([] {
        Memory memory(kPage);
        EXPECT_TRUE(dontfork_range(memory.page(0), kPage));
        EXPECT_TRUE(dofork_range(memory.page(0), kPage));
        EXPECT_EQ(enable().error(), EINVAL);
        EXPECT_EQ(verbs::fork::state(), State::kDisabled);
    });
}

TEST(RangeTest, FollowsTheEnvironment)
{
    struct Case {
        const char *name;
        const char *value;
        State state;
    };
    for (const Case &variable :
         {Case{"IBV_FORK_SAFE", "1", State::kEnabled}, Case{"RDMAV_FORK_SAFE", "1", State::kEnabled},
          Case{"RDMAV_FORK_SAFE", "", State::kEnabled}, Case{"RDMAV_FORK_SAFE", "no", State::kEnabled},
          Case{"IBV_FORK_SAFE", "0", State::kDisabled}, Case{"RDMAV_FORK_SAFE", "0", State::kDisabled},
          Case{"SOMETHING_ELSE", "1", State::kDisabled}}) {
        in_child([&] {
            setenv(variable.name, variable.value, 1);
            verbs::fork::enable_from_environment();
            EXPECT_EQ(verbs::fork::state(), variable.state) << variable.name << '=' << variable.value;
        });
    }
}

TEST(RangeTest, WithholdsWholePages)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(8 * kPage);
        EXPECT_TRUE(dontfork_range(memory.page(1) + 100, 8));
        EXPECT_EQ(withheld(memory.page(0), 8), ".D......");
        EXPECT_TRUE(dontfork_range(memory.page(4) - 1, 2));
        EXPECT_EQ(withheld(memory.page(0), 8), ".D.DD...");
        EXPECT_TRUE(dofork_range(memory.page(4) - 1, 2));
        EXPECT_TRUE(dofork_range(memory.page(1) + 100, 8));
        EXPECT_EQ(withheld(memory.page(0), 8), "........");
    });
}

TEST(RangeTest, CountsUsesPagewise)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(8 * kPage);
        EXPECT_TRUE(dontfork_range(memory.page(1), 3 * kPage));
        EXPECT_TRUE(dontfork_range(memory.page(2), 1));
        EXPECT_TRUE(dontfork_range(memory.page(3), 3 * kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), ".DDDDD..");
        EXPECT_TRUE(dofork_range(memory.page(1), 3 * kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), "..DDDD..");
        EXPECT_TRUE(dofork_range(memory.page(2), 1));
        EXPECT_EQ(withheld(memory.page(0), 8), "...DDD..");
        EXPECT_TRUE(dofork_range(memory.page(3), 3 * kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), "........");
    });
}

TEST(RangeTest, IgnoresWhatWasNotWithheld)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(8 * kPage);
        EXPECT_TRUE(dofork_range(memory.page(0), 8 * kPage));
        EXPECT_TRUE(dontfork_range(memory.page(2), kPage));
        EXPECT_TRUE(dofork_range(memory.page(0), 8 * kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), "........");
        EXPECT_TRUE(dontfork_range(memory.page(2), kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), "..D.....");
    });
}

TEST(RangeTest, LeavesNothingBehindWhenItFails)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(8 * kPage);
        ASSERT_EQ(munmap(memory.page(4), kPage), 0);
        EXPECT_TRUE(dontfork_range(memory.page(1), kPage));
        errno = 0;
        EXPECT_EQ(dontfork_range(memory.page(0), 8 * kPage).error(), ENOMEM);
        EXPECT_EQ(errno, 0);
        EXPECT_EQ(withheld(memory.page(0), 8), ".D......");
        EXPECT_TRUE(dofork_range(memory.page(1), kPage)) << "counted once";
        EXPECT_EQ(withheld(memory.page(0), 8), "........");
    });
}

TEST(RangeTest, IsGivenUpWithoutMemory)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(8 * kPage);
        // Neighbours, which the map joins to one run: parting them takes memory again.
        for (size_t page : {1, 2, 3, 5})
            EXPECT_TRUE(dontfork_range(memory.page(page), kPage));
        EXPECT_TRUE(dontfork_range(memory.page(2), 4 * kPage));
        no_memory = true;
        EXPECT_EQ(dontfork_range(memory.page(0), kPage).error(), ENOMEM);
        EXPECT_EQ(withheld(memory.page(0), 8), ".DDDDD..");
        EXPECT_TRUE(dofork_range(memory.page(2), kPage));
        EXPECT_TRUE(dofork_range(memory.page(2), 4 * kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), ".D.D.D..");
        for (size_t page : {3, 1, 5})
            EXPECT_TRUE(dofork_range(memory.page(page), kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), "........");
        no_memory = false;
        EXPECT_TRUE(dontfork_range(memory.page(0), kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), "D.......");
    });
}

TEST(RangeTest, RefusesRangesThatWrap)
{
    in_child([] {
        ASSERT_TRUE(enable());
        auto *top = reinterpret_cast<void *>(~uintptr_t{0} - kPage + 1);
        EXPECT_EQ(dontfork_range(top, 2 * kPage).error(), EINVAL);
        EXPECT_EQ(dontfork_range(top, kPage).error(), EINVAL);
        EXPECT_EQ(dontfork_range(nullptr, ~size_t{0}).error(), EINVAL);
        EXPECT_EQ(dontfork_range(reinterpret_cast<void *>(kPage), kPage).error(), ENOMEM) << "not mapped";
        Memory memory(kPage);
        EXPECT_TRUE(dontfork_range(memory.page(0), 0));
        EXPECT_EQ(withheld(memory.page(0), 1), ".");
        EXPECT_TRUE(dontfork_range(memory.page(0), 1));
        EXPECT_EQ(withheld(memory.page(0), 1), "D");
    });
}

TEST(RangeTest, ForgetsMemoryThatWasUnmapped)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(8 * kPage);
        EXPECT_TRUE(dontfork_range(memory.page(2), 4 * kPage));
        ASSERT_EQ(munmap(memory.page(3), kPage), 0);
        EXPECT_TRUE(dofork_range(memory.page(2), 4 * kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), "........");
        ASSERT_NE(mmap(memory.page(3), kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                  MAP_FAILED);
        EXPECT_TRUE(dontfork_range(memory.page(3), kPage));
        EXPECT_EQ(withheld(memory.page(0), 8), "...D....");
    });
}

TEST(RangeTest, KeepsPagesFromChildren)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(2 * kPage);
        *memory.page(0) = 1;
        *memory.page(1) = 1;
        EXPECT_TRUE(dontfork_range(memory.page(1), kPage));
        auto child_reads = [&](size_t page) {
            pid_t child = ::fork();
            if (child == 0) {
                signal(SIGSEGV, SIG_DFL);  // sanitizers catch it
                _exit(*static_cast<volatile char *>(memory.page(page)) == 1 ? 0 : 1);
            }
            int status = 0;
            waitpid(child, &status, 0);
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        };
        EXPECT_TRUE(child_reads(0));
        EXPECT_FALSE(child_reads(1));
        EXPECT_TRUE(dofork_range(memory.page(1), kPage));
        EXPECT_TRUE(child_reads(1));
    });
}

TEST(RangeTest, DoesNotGrow)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(64 * kPage);
        auto round = [&](size_t i) {
            char *start = memory.page(i % 61) + i % 7;
            size_t length = 1 + i % (3 * kPage);
            EXPECT_TRUE(dontfork_range(start, length));
            EXPECT_TRUE(dofork_range(start, length));
        };
        round(0);
        size_t before = mapping_count(memory.page(0), 64 * kPage);
        for (size_t i = 0; i < 50'000; ++i)
            round(i);
        EXPECT_EQ(mapping_count(memory.page(0), 64 * kPage), before);
        EXPECT_EQ(withheld(memory.page(0), 64), std::string(64, '.'));
    });
}

TEST(RangeTest, TakesCallsFromManyThreads)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(16 * kPage);
        std::vector<std::thread> threads;
        for (size_t id = 0; id < 4; ++id)
            threads.emplace_back([&, id] {
                for (size_t i = 0; i < 3000; ++i) {
                    char *start = memory.page((i * (id + 1)) % 12);
                    EXPECT_TRUE(dontfork_range(start, 3 * kPage + id));
                    EXPECT_TRUE(dofork_range(start, 3 * kPage + id));
                }
            });
        for (std::thread &thread : threads)
            thread.join();
        EXPECT_EQ(withheld(memory.page(0), 16), std::string(16, '.'));
    });
}

class HugeRangeTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!Memory(4 * kHugePage, MAP_HUGETLB))
            GTEST_SKIP() << "no free huge pages: echo 4 > /proc/sys/vm/nr_hugepages";
    }
};

TEST_F(HugeRangeTest, WithholdsTheHugePageOfASmallRange)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(4 * kHugePage, MAP_HUGETLB);
        EXPECT_TRUE(dontfork_range(memory.at(kHugePage + kPage), kPage));
        EXPECT_EQ(withheld(memory.at(0), 4, kHugePage), ".D..");
        EXPECT_TRUE(dofork_range(memory.at(kHugePage + kPage), kPage));
        EXPECT_EQ(withheld(memory.at(0), 4, kHugePage), "....");
    });
}

TEST_F(HugeRangeTest, KeepsAHugePageUntilItsLastRangeGoes)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(4 * kHugePage, MAP_HUGETLB);
        EXPECT_TRUE(dontfork_range(memory.at(kPage), kPage));
        EXPECT_TRUE(dontfork_range(memory.at(5 * kPage), 2 * kHugePage));
        EXPECT_EQ(withheld(memory.at(0), 4, kHugePage), "DDD.");
        EXPECT_TRUE(dofork_range(memory.at(kPage), kPage));
        EXPECT_EQ(withheld(memory.at(0), 4, kHugePage), "DDD.");
        EXPECT_TRUE(dontfork_range(memory.at(0), kPage));
        EXPECT_TRUE(dofork_range(memory.at(5 * kPage), 2 * kHugePage));
        EXPECT_EQ(withheld(memory.at(0), 4, kHugePage), "D...");
        EXPECT_TRUE(dofork_range(memory.at(0), kPage));
        EXPECT_EQ(withheld(memory.at(0), 4, kHugePage), "....");
    });
}

TEST_F(HugeRangeTest, GivesBackPartsOfAnAlignedRange)
{
    in_child([] {
        ASSERT_TRUE(enable());
        Memory memory(4 * kHugePage, MAP_HUGETLB);
        EXPECT_TRUE(dontfork_range(memory.at(0), 3 * kHugePage));
        EXPECT_TRUE(dontfork_range(memory.at(kHugePage + 7 * kPage), 1));
        EXPECT_TRUE(dofork_range(memory.at(0), 3 * kHugePage));
        EXPECT_EQ(withheld(memory.at(0), 4, kHugePage), ".D..");
        EXPECT_TRUE(dofork_range(memory.at(kHugePage + 7 * kPage), 1));
        EXPECT_EQ(withheld(memory.at(0), 4, kHugePage), "....");
    });
}

}  // namespace
