// SPDX-License-Identifier: BSD-2-Clause
// Fork protection through the exported functions: what they return, and the environment that asks for it.
#include <gtest/gtest.h>
#include <infiniband/driver.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

namespace {

/// Runs `body` in a child, for protection cannot be turned off again.
void in_child(const std::function<void()> &body)
{
    fflush(nullptr);
    pid_t child = fork();
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

class ForkTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (ibv_is_fork_initialized() == IBV_FORK_UNNEEDED)
            GTEST_SKIP() << "this kernel copies pinned pages on fork, so that protection is never applied";
    }
    ~ForkTest() override { munmap(page_, kSize); }

    static constexpr size_t kSize = 65536;
    void *page_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

TEST_F(ForkTest, InitReturnsZeroAndProtects)
{
    in_child([] {
        errno = 7;
        EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
        EXPECT_EQ(ibv_fork_init(), 0);
        EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_ENABLED);
        EXPECT_EQ(ibv_fork_init(), 0);
        EXPECT_EQ(errno, 7);
    });
}

TEST_F(ForkTest, InitReturnsTheErrnoValueWhenTooLate)
{
    in_child([this] {
        EXPECT_EQ(ibv_dontfork_range(page_, kSize), 0);
        errno = 0;
        EXPECT_EQ(ibv_fork_init(), EINVAL);
        EXPECT_EQ(errno, 0);
        EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
    });
}

TEST_F(ForkTest, RangesReturnMinusOneAndErrno)
{
    in_child([this] {
        ASSERT_EQ(ibv_fork_init(), 0);
        EXPECT_EQ(ibv_dontfork_range(page_, kSize), 0);
        EXPECT_EQ(ibv_dofork_range(page_, kSize), 0);
        munmap(page_, kSize);
        errno = 0;
        EXPECT_EQ(ibv_dontfork_range(page_, kSize), -1);
        EXPECT_EQ(errno, ENOMEM);
        EXPECT_EQ(ibv_dofork_range(page_, kSize), 0) << "nothing to undo";
    });
}

TEST_F(ForkTest, ListingDevicesFollowsTheEnvironment)
{
    for (const char *variable : {"IBV_FORK_SAFE", "RDMAV_FORK_SAFE"}) {
        in_child([&] {
            setenv(variable, "1", 1);
            EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
            ibv_free_device_list(ibv_get_device_list(nullptr));
            EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_ENABLED) << variable;
        });
    }
}

}  // namespace
