// SPDX-License-Identifier: BSD-2-Clause
// Every flow specification of the public header, in the kernel's form.
#include "uverbs/flow_spec.hh"

#include <gtest/gtest.h>
#include <infiniband/driver.h>

#include <cerrno>
#include <cstring>
#include <ostream>

#include "fake_kernel.hh"

namespace verbs::uverbs::test {
namespace {

/// A specification with all bytes of its value 0x11 and of its mask 0x22, and the kernel's form of it.
struct Filter {
    const char *name;
    uint32_t type;
    size_t size;         ///< of the specification
    size_t offset;       ///< of the value
    size_t fields;       ///< bytes of fields in the value, and in the mask
    size_t filter_size;  ///< of the value, and of the mask
    std::string kernel;  ///< type, size, reserved
    bool may_be_inner;
};

std::ostream &operator<<(std::ostream &stream, const Filter &filter)
{
    return stream << filter.name;
}

#define FILTER(name, spec, fields, kernel, may_be_inner)                                        \
    {                                                                                           \
#spec, name, sizeof(ibv_flow_spec_##spec), offsetof(ibv_flow_spec_##spec, val), fields, \
            sizeof(ibv_flow_spec_##spec::val), kernel, may_be_inner                             \
    }
const Filter kFilters[] = {
    FILTER(IBV_FLOW_SPEC_ETH, eth, 16, "20000000 28000000", true),
    FILTER(IBV_FLOW_SPEC_IPV4, ipv4, 8, "30000000 18000000", true),
    FILTER(IBV_FLOW_SPEC_IPV4_EXT, ipv4_ext, 12, "30000000 20000000", true),
    FILTER(IBV_FLOW_SPEC_IPV6, ipv6, 39, "31000000 58000000", true),
    FILTER(IBV_FLOW_SPEC_ESP, esp, 8, "34000000 18000000", true),
    FILTER(IBV_FLOW_SPEC_TCP, tcp_udp, 4, "40000000 10000000", true),
    FILTER(IBV_FLOW_SPEC_UDP, tcp_udp, 4, "41000000 10000000", true),
    FILTER(IBV_FLOW_SPEC_VXLAN_TUNNEL, tunnel, 4, "50000000 10000000", false),
    FILTER(IBV_FLOW_SPEC_GRE, gre, 8, "51000000 18000000", false),
    FILTER(IBV_FLOW_SPEC_MPLS, mpls, 4, "60000000 10000000", true),
};
#undef FILTER

class FlowFilterTest : public testing::TestWithParam<Filter> {
protected:
    /// The specification, `growth` bytes longer than the header has it.
    ibv_flow_spec &spec(size_t growth = 0)
    {
        const Filter &filter = GetParam();
        size_t filter_size = filter.filter_size + growth / 2;
        std::memset(memory_, 0, sizeof memory_);
        std::memset(memory_ + filter.offset, 0x11, filter.fields);
        std::memset(memory_ + filter.offset + filter_size, 0x22, filter.fields);
        auto &spec = *reinterpret_cast<ibv_flow_spec *>(memory_);
        spec.hdr.type = static_cast<ibv_flow_spec_type>(filter.type);
        spec.hdr.size = static_cast<uint16_t>(filter.size + growth);
        return spec;
    }

    std::string expected(const std::string &header) const
    {
        const Filter &filter = GetParam();
        size_t padding = filter.filter_size - filter.fields;
        return bytes(header) + std::string(filter.fields, 0x11) + std::string(padding, 0) +
               std::string(filter.fields, 0x22) + std::string(padding, 0);
    }

    static std::string convert(const ibv_flow_spec &spec)
    {
        std::byte to[kMaxFlowSpecSize] = {};
        Result<size_t> size = flow_spec_to_kernel(reinterpret_cast<const std::byte *>(&spec), to);
        EXPECT_TRUE(size);
        return std::string(reinterpret_cast<const char *>(to), *size);
    }

    static int error(const ibv_flow_spec &spec)
    {
        std::byte to[kMaxFlowSpecSize] = {};
        return flow_spec_to_kernel(reinterpret_cast<const std::byte *>(&spec), to).error();
    }

private:
    alignas(8) char memory_[256];
};

TEST_P(FlowFilterTest, HasTheKernelsForm)
{
    EXPECT_EQ(convert(spec()), expected(GetParam().kernel));
}

TEST_P(FlowFilterTest, OfAnInnerHeader)
{
    ibv_flow_spec &inner = spec();
    inner.hdr.type = static_cast<ibv_flow_spec_type>(inner.hdr.type | IBV_FLOW_SPEC_INNER);
    if (!GetParam().may_be_inner) {
        EXPECT_EQ(error(inner), EINVAL);
        return;
    }
    std::string header = GetParam().kernel;
    header[3] = '1';
    EXPECT_EQ(convert(inner), expected(header));
}

class GrowingFlowFilterTest : public FlowFilterTest {};

TEST_P(GrowingFlowFilterTest, OfALaterHeader)
{
    EXPECT_EQ(convert(spec(8)), expected(GetParam().kernel)) << "what is not known is zero";
    ibv_flow_spec &unknown = spec(8);
    reinterpret_cast<char *>(&unknown)[GetParam().offset + GetParam().filter_size] = 1;
    EXPECT_EQ(error(unknown), EOPNOTSUPP);
    ibv_flow_spec &shorter = spec();
    shorter.hdr.size -= 2;
    EXPECT_EQ(error(shorter), EINVAL);
}

INSTANTIATE_TEST_SUITE_P(FlowSpec, FlowFilterTest, testing::ValuesIn(kFilters));
INSTANTIATE_TEST_SUITE_P(FlowSpec, GrowingFlowFilterTest, testing::Values(kFilters[2], kFilters[3]));

std::string convert(const ibv_flow_spec &spec)
{
    std::byte to[kMaxFlowSpecSize] = {};
    Result<size_t> size = flow_spec_to_kernel(reinterpret_cast<const std::byte *>(&spec), to);
    EXPECT_TRUE(size);
    return std::string(reinterpret_cast<const char *>(to), *size);
}

TEST(FlowSpecTest, ActionsHaveTheKernelsForm)
{
    ibv_flow_spec spec;
    spec.flow_tag = {.type = IBV_FLOW_SPEC_ACTION_TAG, .size = sizeof spec.flow_tag, .tag_id = 0x1234};
    EXPECT_EQ(convert(spec), bytes("00100000 10000000 34120000 00000000"));
    spec.drop = {.type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof spec.drop};
    EXPECT_EQ(convert(spec), bytes("01100000 08000000"));
    verbs_flow_action action = {.handle = 0xfa};
    spec.handle = {.type = IBV_FLOW_SPEC_ACTION_HANDLE, .size = sizeof spec.handle, .action = &action.action};
    EXPECT_EQ(convert(spec), bytes("02100000 10000000 fa000000 00000000"));
    verbs_counters counters = {.handle = 0x5c};
    spec.flow_count = {
        .type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof spec.flow_count, .counters = &counters.counters};
    EXPECT_EQ(convert(spec), bytes("03100000 10000000 5c000000 00000000"));
}

TEST(FlowSpecTest, WhatIsNoneIsRefused)
{
    for (uint32_t type : {0x00U, 0x99U, 0x100U, 0x1004U, 0x1101U}) {
        ibv_flow_spec spec = {};
        spec.hdr = {.type = static_cast<ibv_flow_spec_type>(type), .size = sizeof spec};
        std::byte to[kMaxFlowSpecSize] = {};
        EXPECT_EQ(flow_spec_to_kernel(reinterpret_cast<const std::byte *>(&spec), to).error(), EINVAL)
            << type;
    }
}

}  // namespace
}  // namespace verbs::uverbs::test
