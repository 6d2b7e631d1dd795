// SPDX-License-Identifier: BSD-2-Clause
// A context of the library as built, for a device of the test's own, on a fake kernel.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/driver.h>

#include <string>

#include "fake_kernel.hh"

namespace verbs::test {

using uverbs::test::FakeKernel;

/// Where opening `from` leads while it is not empty.
struct Redirection {
    std::string from;
    std::string to;
};
extern Redirection redirection;

/// Whether any file can allocate as dma-buf heaps do.
extern bool fake_heap;

/// Tests with a context as a provider makes it, before any op is set.
class FakeContext : public testing::Test {
protected:
    FakeContext();
    ~FakeContext() override;

    void set_ops(const verbs_context_ops &ops) { verbs_set_ops(context_, &ops); }

    FakeKernel kernel;
    ibv_context *context = nullptr;
    ibv_pd pd{};

private:
    verbs_sysfs_dev sysfs_{};
    verbs_device_ops device_ops_{};
    verbs_device device_{};
    verbs_context *context_ = nullptr;
};

/// The functions that make an object return an errno value and set errno to it too.
#define EXPECT_CREATION_FAILS(call, error) \
    do {                                   \
        errno = 0;                         \
        EXPECT_EQ(call, error);            \
        EXPECT_EQ(errno, error);           \
    } while (0)

#define EXPECT_NULL_WITH(call, error) \
    do {                              \
        errno = 0;                    \
        EXPECT_EQ(call, nullptr);     \
        EXPECT_EQ(errno, error);      \
    } while (0)

}  // namespace verbs::test
