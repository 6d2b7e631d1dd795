// SPDX-License-Identifier: BSD-2-Clause
// Copy-on-fork, as iproute2 and we understand the kernel.
#include "fork/copy_on_fork.hh"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "fork/range.hh"

namespace {

/// What `rdma system` prints; empty where the tool or the kernel's RDMA is missing.
std::string rdma_system()
{
    FILE *pipe = popen("rdma system show 2>/dev/null", "r");
    if (pipe == nullptr)
        return "";
    std::string output;
    for (int letter = 0; (letter = fgetc(pipe)) != EOF;)
        output += static_cast<char>(letter);
    pclose(pipe);
    return output;
}

TEST(CopyOnForkTest, IsAsTheRdmaToolSays)
{
    std::string system = rdma_system();
    if (system.find("copy-on-fork") == std::string::npos)
        GTEST_SKIP() << "no rdma(8), or a kernel without RDMA";
    bool copies = system.find("copy-on-fork on") != std::string::npos;
    EXPECT_EQ(verbs::fork::kernel_copies_pinned_pages(), copies) << system;
    EXPECT_EQ(verbs::fork::state(), copies ? verbs::fork::State::kUnneeded : verbs::fork::State::kDisabled);
}

TEST(CopyOnForkTest, LeavesNoFilesOpen)
{
    auto lowest_free = [] {
        int fd = dup(0);
        close(fd);
        return fd;
    };
    int before = lowest_free();
    verbs::fork::kernel_copies_pinned_pages();
    EXPECT_EQ(lowest_free(), before);
}

TEST(CopyOnForkTest, KeepsErrno)
{
    errno = 7;
    verbs::fork::state();
    EXPECT_EQ(errno, 7);
}

}  // namespace
