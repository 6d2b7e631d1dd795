// SPDX-License-Identifier: BSD-2-Clause
// Flow rules: which are refused, which frames they match, and in which order they are asked.
#include "raw/rule.hh"

#include <gtest/gtest.h>

#include <cerrno>

#include "frames.hh"

namespace {

using frames::Bytes;
using urxe::raw::parse;
using urxe::raw::Rule;
using urxe::raw::rule_make;

/// A rule as programs write it: specifications behind the attributes, without gaps.
class Builder {
public:
    Builder() : bytes_(sizeof(ibv_flow_attr)) { attr().port = 1; }
    ibv_flow_attr &attr() { return *reinterpret_cast<ibv_flow_attr *>(bytes_.data()); }
    template <class Spec>
    Builder &add(ibv_flow_spec_type type, Spec spec, uint16_t size = sizeof(Spec))
    {
        spec.type = type;
        spec.size = size;
        const auto *from = reinterpret_cast<const uint8_t *>(&spec);
        bytes_.insert(bytes_.end(), from, from + sizeof spec);
        ++attr().num_of_specs;
        return *this;
    }
    /// A type of which nothing else is known.
    Builder &add_unknown(uint32_t type)
    {
        const uint16_t size = 8;
        Bytes spec(8);
        std::memcpy(spec.data(), &type, sizeof type);
        std::memcpy(spec.data() + 4, &size, sizeof size);
        frames::append(bytes_, spec);
        ++attr().num_of_specs;
        return *this;
    }
    int make(Rule &rule) { return rule_make(attr(), rule); }
    int error()
    {
        Rule rule;
        return make(rule);
    }
    Rule rule()
    {
        Rule rule;
        EXPECT_EQ(make(rule), 0);
        return rule;
    }
    bool matches(const Bytes &frame) { return rule_matches(rule(), parse(frame)); }

private:
    Bytes bytes_;
};

ibv_flow_spec_eth to(const frames::Mac &mac)
{
    ibv_flow_spec_eth spec{};
    std::memcpy(spec.val.dst_mac, mac.bytes, 6);
    std::memset(spec.mask.dst_mac, 0xff, 6);
    return spec;
}

ibv_flow_spec_tcp_udp to_port(uint16_t port)
{
    ibv_flow_spec_tcp_udp spec{};
    spec.val.dst_port = htons(port);
    spec.mask.dst_port = 0xffff;
    return spec;
}

const Bytes kDatagram = frames::datagram(9, 4);

TEST(Rule, MatchesAllWithoutSpecifications)
{
    EXPECT_TRUE(Builder().matches(kDatagram));
    EXPECT_TRUE(Builder().matches(frames::ethernet(0x0806, {})));
    EXPECT_FALSE(Builder().matches(Bytes(13)));
}

TEST(Rule, ComparesEthernetInTheBitsOfTheMask)
{
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_ETH, to(frames::kTo)).matches(kDatagram));
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_ETH, to(frames::kFrom)).matches(kDatagram));
    ibv_flow_spec_eth spec = to(frames::kTo);
    spec.val.dst_mac[5] = 0x99;
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(kDatagram));
    spec.mask.dst_mac[5] = 0;
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(kDatagram));
    spec.val.ether_type = htons(0x0806);
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(kDatagram));
    spec.mask.ether_type = 0xffff;
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(kDatagram));
    spec = {};
    std::memcpy(spec.val.src_mac, frames::kFrom.bytes, 6);
    std::memset(spec.mask.src_mac, 0xff, 6);
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(kDatagram));
}

TEST(Rule, ComparesTagsWhereThereAreAny)
{
    ibv_flow_spec_eth spec{};
    spec.val.vlan_tag = htons(7);
    spec.mask.vlan_tag = htons(0x0fff);
    const auto tagged = [](uint16_t tag) {
        return frames::ethernet(0x0806, {}, frames::kTo, {{0x8100, tag}});
    };
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(tagged(7)));
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(tagged(0xe007)));
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(tagged(8)));
    spec.val.vlan_tag = 0;
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(tagged(0xe000)));
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_ETH, spec).matches(frames::ethernet(0x0806, {})));
}

TEST(Rule, ComparesIpv4)
{
    ibv_flow_spec_ipv4 spec{};
    spec.val = {.src_ip = inet_addr("10.7.0.99"), .dst_ip = inet_addr("10.7.0.2")};
    spec.mask = {.src_ip = inet_addr("255.255.255.0"), .dst_ip = 0xffffffff};
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_IPV4, spec).matches(kDatagram));
    spec.val.dst_ip = inet_addr("10.7.0.3");
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_IPV4, spec).matches(kDatagram));
    const Bytes other =
        frames::ethernet(0x86dd, frames::ipv6(IPPROTO_UDP, "fd00::1", "fd00::2", frames::udp(1, 9, {})));
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_IPV4, ibv_flow_spec_ipv4{}).matches(other));
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_IPV6, ibv_flow_spec_ipv6{}).matches(other));
    ibv_flow_spec_ipv4_ext ext{};
    ext.val = {.src_ip = 0, .dst_ip = 0, .proto = IPPROTO_UDP, .tos = 0x10, .ttl = 64, .flags = 0};
    ext.mask = {.src_ip = 0, .dst_ip = 0, .proto = 0xff, .tos = 0xff, .ttl = 0xff, .flags = 0};
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_IPV4_EXT, ext).matches(kDatagram));
    ext.val.ttl = 63;
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_IPV4_EXT, ext).matches(kDatagram));
    ext.mask.flags = 1;
    EXPECT_EQ(Builder().add(IBV_FLOW_SPEC_IPV4_EXT, ext).error(), EOPNOTSUPP);
}

TEST(Rule, ComparesIpv6)
{
    const Bytes frame =
        frames::ethernet(0x86dd, frames::ipv6(IPPROTO_UDP, "fd00::1", "fd00::2", frames::udp(1, 9, {})));
    ibv_flow_spec_ipv6 spec{};
    spec.val.dst_ip[15] = 2;
    spec.mask.dst_ip[15] = 0xff;
    spec.val.flow_label = htonl(0x12345);
    spec.mask.flow_label = htonl(0xfffff);
    spec.val.traffic_class = 0xab;
    spec.mask.traffic_class = 0xff;
    spec.val.next_hdr = IPPROTO_UDP;
    spec.mask.next_hdr = 0xff;
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_IPV6, spec).matches(frame));
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_IPV6, spec).matches(kDatagram));
    spec.val.flow_label = htonl(0x12346);
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_IPV6, spec).matches(frame));
}

TEST(Rule, ComparesPortsOfItsProtocol)
{
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_UDP, to_port(9)).matches(kDatagram));
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_UDP, to_port(10)).matches(kDatagram));
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_TCP, to_port(9)).matches(kDatagram));
    const Bytes fragment =
        frames::ethernet(0x0800, frames::ipv4(IPPROTO_UDP, "10.7.0.1", "10.7.0.2", frames::udp(1, 9, {}), 1));
    EXPECT_FALSE(Builder().add(IBV_FLOW_SPEC_UDP, to_port(9)).matches(fragment));
}

TEST(Rule, MatchesWhereAllItsSpecificationsDo)
{
    ibv_flow_spec_ipv4 spec{};
    EXPECT_TRUE(Builder()
                    .add(IBV_FLOW_SPEC_UDP, to_port(9))
                    .add(IBV_FLOW_SPEC_IPV4, spec)
                    .add(IBV_FLOW_SPEC_ETH, to(frames::kTo))
                    .matches(kDatagram));
    EXPECT_FALSE(Builder()
                     .add(IBV_FLOW_SPEC_ETH, to(frames::kTo))
                     .add(IBV_FLOW_SPEC_IPV4, spec)
                     .add(IBV_FLOW_SPEC_UDP, to_port(8))
                     .matches(kDatagram));
}

TEST(Rule, HasActions)
{
    ibv_flow_spec_action_tag tag{};
    tag.tag_id = 0xdecade;
    const Rule tagged =
        Builder().add(IBV_FLOW_SPEC_ETH, to(frames::kTo)).add(IBV_FLOW_SPEC_ACTION_TAG, tag).rule();
    EXPECT_EQ(tagged.tag, 0xdecadeu);
    EXPECT_FALSE(tagged.drops);
    EXPECT_TRUE(Builder().add(IBV_FLOW_SPEC_ACTION_DROP, ibv_flow_spec_action_drop{}).rule().drops);
    EXPECT_EQ(Builder()
                  .add(IBV_FLOW_SPEC_ACTION_DROP, ibv_flow_spec_action_drop{})
                  .add(IBV_FLOW_SPEC_ACTION_TAG, tag)
                  .error(),
              EINVAL);
    ibv_counters counters{};
    ibv_flow_spec_counter_action count{};
    EXPECT_EQ(Builder().add(IBV_FLOW_SPEC_ACTION_COUNT, count).error(), EINVAL);
    count.counters = &counters;
    const Rule counted = Builder().add(IBV_FLOW_SPEC_ACTION_COUNT, count).rule();
    EXPECT_EQ(counted.num_counters, 1);
    EXPECT_EQ(counted.counters[0], &counters);
    Builder many;
    for (size_t i = 0; i <= Rule::kCounters; ++i)
        many.add(IBV_FLOW_SPEC_ACTION_COUNT, count);
    EXPECT_EQ(many.error(), EOPNOTSUPP);
}

TEST(Rule, IsRefusedWhereItMakesNoSense)
{
    const auto with = [](auto change) {
        Builder builder;
        change(builder.attr());
        return builder.error();
    };
    EXPECT_EQ(with([](ibv_flow_attr &attr) { attr.port = 0; }), EINVAL);
    EXPECT_EQ(with([](ibv_flow_attr &attr) { attr.port = 2; }), EINVAL);
    EXPECT_EQ(with([](ibv_flow_attr &attr) { attr.comp_mask = 1; }), EINVAL);
    EXPECT_EQ(with([](ibv_flow_attr &attr) { attr.flags = 1; }), EINVAL);
    EXPECT_EQ(with([](ibv_flow_attr &attr) { attr.flags = 8; }), EINVAL);
    EXPECT_EQ(with([](ibv_flow_attr &attr) { attr.flags = IBV_FLOW_ATTR_FLAGS_EGRESS; }), EOPNOTSUPP);
    for (const uint32_t type : {4u, 0x1000u, UINT32_MAX})
        EXPECT_EQ(with([&](ibv_flow_attr &attr) { std::memcpy(&attr.type, &type, sizeof type); }), EINVAL);
    for (const ibv_flow_attr_type type :
         {IBV_FLOW_ATTR_ALL_DEFAULT, IBV_FLOW_ATTR_MC_DEFAULT, IBV_FLOW_ATTR_SNIFFER}) {
        Builder builder;
        builder.attr().type = type;
        EXPECT_EQ(builder.error(), 0);
        builder.attr().flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
        EXPECT_EQ(builder.error(), EINVAL);
        builder.attr().flags = 0;
        EXPECT_EQ(builder.add(IBV_FLOW_SPEC_ETH, to(frames::kTo)).error(), EINVAL);
    }
}

TEST(Rule, IsRefusedWithSpecificationsOfTheWrongSizeOrKind)
{
    for (const int delta : {-1, 1, -40})
        EXPECT_EQ(Builder()
                      .add(IBV_FLOW_SPEC_ETH, ibv_flow_spec_eth{},
                           static_cast<uint16_t>(sizeof(ibv_flow_spec_eth) + static_cast<size_t>(delta)))
                      .error(),
                  EINVAL);
    EXPECT_EQ(Builder().add(IBV_FLOW_SPEC_IPV4, ibv_flow_spec_ipv6{}).error(), EINVAL);
    EXPECT_EQ(Builder().add(IBV_FLOW_SPEC_ACTION_TAG, ibv_flow_spec_action_tag{}, 8).error(), EINVAL);
    EXPECT_EQ(Builder().add(IBV_FLOW_SPEC_ACTION_DROP, ibv_flow_spec_action_drop{}, 4).error(), EINVAL);
    EXPECT_EQ(
        Builder().add(IBV_FLOW_SPEC_ETH, to(frames::kTo)).add(IBV_FLOW_SPEC_ETH, to(frames::kTo)).error(),
        EINVAL);
    EXPECT_EQ(Builder()
                  .add(IBV_FLOW_SPEC_IPV4, ibv_flow_spec_ipv4{})
                  .add(IBV_FLOW_SPEC_IPV6, ibv_flow_spec_ipv6{})
                  .error(),
              EINVAL);
    for (const uint32_t type : {0x34u, 0x50u, 0x51u, 0x60u, 0x120u, 0x130u, 0x1002u})
        EXPECT_EQ(Builder().add_unknown(type).error(), EOPNOTSUPP) << type;
    for (const uint32_t type : {0u, 0x21u, 0x42u, 0x1004u, UINT32_MAX})
        EXPECT_EQ(Builder().add_unknown(type).error(), EINVAL) << type;
}

TEST(Rule, OfADefaultTypeIsForAllOrForMulticast)
{
    Builder all, multicast;
    all.attr().type = IBV_FLOW_ATTR_ALL_DEFAULT;
    multicast.attr().type = IBV_FLOW_ATTR_MC_DEFAULT;
    const Bytes to_many = frames::datagram(9, 4, 0, frames::kMulticast);
    EXPECT_TRUE(all.matches(kDatagram));
    EXPECT_TRUE(all.matches(to_many));
    EXPECT_FALSE(multicast.matches(kDatagram));
    EXPECT_TRUE(multicast.matches(to_many));
}

TEST(Rule, IsAskedInOrder)
{
    const auto make = [](ibv_flow_attr_type type, uint16_t priority) {
        Builder builder;
        builder.attr().type = type;
        builder.attr().priority = priority;
        return builder.rule();
    };
    const Rule order[] = {make(IBV_FLOW_ATTR_SNIFFER, 9),    make(IBV_FLOW_ATTR_NORMAL, 0),
                          make(IBV_FLOW_ATTR_NORMAL, 7),     make(IBV_FLOW_ATTR_MC_DEFAULT, 0),
                          make(IBV_FLOW_ATTR_MC_DEFAULT, 1), make(IBV_FLOW_ATTR_ALL_DEFAULT, 0)};
    for (size_t i = 0; i < std::size(order); ++i)
        for (size_t j = 0; j < std::size(order); ++j)
            EXPECT_EQ(rule_precedes(order[i], order[j]), i < j) << i << j;
    EXPECT_FALSE(rule_ends(order[0]));
    EXPECT_TRUE(rule_ends(order[1]));
    Builder shares;
    shares.attr().flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
    EXPECT_FALSE(rule_ends(shares.rule()));
}

}  // namespace
