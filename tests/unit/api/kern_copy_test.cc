// SPDX-License-Identifier: BSD-2-Clause
// Copies between the kernel's and the library's attributes, byte for byte.
#include <gtest/gtest.h>
#include <infiniband/marshall.h>

#include <array>
#include <cstring>
#include <random>

#include "stock.hh"

namespace {

using verbs::test::stock;

template <class T>
using Bytes = std::array<unsigned char, sizeof(T)>;

template <class T>
Bytes<T> bytes_of(const T &object)
{
    Bytes<T> bytes;
    std::memcpy(bytes.data(), &object, sizeof object);
    return bytes;
}

template <class T>
T random_object(std::mt19937 &random)
{
    T object;
    Bytes<T> bytes;
    for (unsigned char &byte : bytes)
        byte = static_cast<unsigned char>(random());
    std::memcpy(&object, bytes.data(), sizeof object);
    return object;
}

/// Copies random objects with both libraries into equal memory, padding included.
template <class Destination, class Source>
void expect_stock_copies(void (*ours)(Destination *, Source *), const char *name, const char *version)
{
    auto *theirs = stock(ours, name, version);
    if (theirs == nullptr)
        GTEST_SKIP() << "the stock library is not installed";
    std::mt19937 random(44);
    for (int round = 0; round < 1000; ++round) {
        auto source = random_object<Source>(random);
        auto before = bytes_of(source);
        auto mine = random_object<Destination>(random);
        Destination stocks;
        std::memcpy(&stocks, &mine, sizeof stocks);
        ours(&mine, &source);
        theirs(&stocks, &source);
        ASSERT_EQ(bytes_of(mine), bytes_of(stocks)) << name << " in round " << round;
        ASSERT_EQ(bytes_of(source), before) << name << " wrote to its source";
    }
}

TEST(KernCopyTest, AhAttrAsStock)
{
    expect_stock_copies(ibv_copy_ah_attr_from_kern, "ibv_copy_ah_attr_from_kern", "IBVERBS_1.1");
}

TEST(KernCopyTest, QpAttrAsStock)
{
    expect_stock_copies(ibv_copy_qp_attr_from_kern, "ibv_copy_qp_attr_from_kern", "IBVERBS_1.0");
}

TEST(KernCopyTest, PathFromKernelAsStock)
{
    expect_stock_copies(ibv_copy_path_rec_from_kern, "ibv_copy_path_rec_from_kern", "IBVERBS_1.0");
}

TEST(KernCopyTest, PathToKernelAsStock)
{
    expect_stock_copies(ibv_copy_path_rec_to_kern, "ibv_copy_path_rec_to_kern", "IBVERBS_1.0");
}

TEST(KernCopyTest, PathSurvivesTheWayThereAndBack)
{
    std::mt19937 random(65);
    auto path = random_object<ibv_sa_path_rec>(random);
    ib_user_path_rec kernels;
    ibv_copy_path_rec_to_kern(&kernels, &path);
    EXPECT_EQ(kernels.mtu, path.mtu);
    EXPECT_EQ(kernels.pkey, path.pkey);
    EXPECT_EQ(std::memcmp(kernels.sgid, path.sgid.raw, sizeof kernels.sgid), 0);
    ibv_sa_path_rec back;
    std::memcpy(&back, &path, sizeof back);
    back.numb_path = static_cast<uint8_t>(~path.numb_path);
    back.flow_label = ~path.flow_label;
    ibv_copy_path_rec_from_kern(&back, &kernels);
    EXPECT_EQ(bytes_of(back), bytes_of(path));
}

TEST(KernCopyTest, QpAttrKeepsWhatTheKernelDoesNotTell)
{
    std::mt19937 random(1);
    auto source = random_object<ib_uverbs_qp_attr>(random);
    ibv_qp_attr attr = {};
    attr.rate_limit = 77;
    attr.qp_state = IBV_QPS_SQD;
    ibv_copy_qp_attr_from_kern(&attr, &source);
    EXPECT_EQ(attr.rate_limit, 77U);
    EXPECT_EQ(attr.qp_state, IBV_QPS_SQD);
    EXPECT_EQ(attr.dest_qp_num, source.dest_qp_num);
    EXPECT_EQ(attr.cap.max_inline_data, source.max_inline_data);
    EXPECT_EQ(attr.alt_ah_attr.dlid, source.alt_ah_attr.dlid);
    EXPECT_EQ(attr.alt_timeout, source.alt_timeout);
}

}  // namespace
