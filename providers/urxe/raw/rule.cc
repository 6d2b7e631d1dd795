// SPDX-License-Identifier: BSD-2-Clause
// Making flow rules, and matching frames with them.
#include "raw/rule.hh"

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace urxe::raw {
namespace {

/// What every specification begins with. It may lie anywhere: programs pack them.
struct SpecHead {
    uint32_t type;
    uint16_t size;
};

template <class T>
T read(const uint8_t *from)
{
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// How a specification that is compared lies in memory.
struct Layout {
    size_t size;    ///< 0: there is none of this type
    size_t value;   ///< where the value is; the mask is behind it
    size_t filter;  ///< bytes of either
};

template <class T>
constexpr Layout layout_of()
{
    static_assert(offsetof(T, mask) == offsetof(T, val) + sizeof(T::val) && sizeof(T::val) <= Spec::kMost);
    return {sizeof(T), offsetof(T, val), sizeof(T::val)};
}

Layout layout_of(uint32_t type)
{
    switch (type) {
        case IBV_FLOW_SPEC_ETH:
            return layout_of<ibv_flow_spec_eth>();
        case IBV_FLOW_SPEC_IPV4:
            return layout_of<ibv_flow_spec_ipv4>();
        case IBV_FLOW_SPEC_IPV4_EXT:
            return layout_of<ibv_flow_spec_ipv4_ext>();
        case IBV_FLOW_SPEC_IPV6:
            return layout_of<ibv_flow_spec_ipv6>();
        case IBV_FLOW_SPEC_TCP:
        case IBV_FLOW_SPEC_UDP:
            return layout_of<ibv_flow_spec_tcp_udp>();
        default:
            return {};
    }
}

/// Whether it is one that other devices know.
bool is_known(uint32_t type)
{
    switch (type & ~uint32_t{IBV_FLOW_SPEC_INNER}) {
        case IBV_FLOW_SPEC_ETH:
        case IBV_FLOW_SPEC_IPV4:
        case IBV_FLOW_SPEC_IPV4_EXT:
        case IBV_FLOW_SPEC_IPV6:
        case IBV_FLOW_SPEC_ESP:
        case IBV_FLOW_SPEC_TCP:
        case IBV_FLOW_SPEC_UDP:
        case IBV_FLOW_SPEC_VXLAN_TUNNEL:
        case IBV_FLOW_SPEC_GRE:
        case IBV_FLOW_SPEC_MPLS:
            return true;
        default:
            return type == IBV_FLOW_SPEC_ACTION_HANDLE;
    }
}

/// The layer that a specification is of; a rule has at most one for each.
int layer_of(uint32_t type)
{
    return type == IBV_FLOW_SPEC_ETH ? 2 : type < IBV_FLOW_SPEC_TCP ? 3 : 4;
}

int add_match(Rule &rule, uint32_t type, const Layout &layout, const uint8_t *from)
{
    for (size_t i = 0; i < rule.num_specs; ++i)
        if (layer_of(rule.specs[i].type) == layer_of(type))
            return EINVAL;
    Spec &spec = rule.specs[rule.num_specs++];
    spec = {};
    spec.type = static_cast<ibv_flow_spec_type>(type);
    std::copy_n(from + layout.value, layout.filter, spec.value);
    std::copy_n(from + layout.value + layout.filter, layout.filter, spec.mask);
    for (size_t i = 0; i < layout.filter; ++i)
        spec.value[i] &= spec.mask[i];
    // Which bit of `flags` is which, no interface says.
    return type == IBV_FLOW_SPEC_IPV4_EXT && spec.mask[offsetof(ibv_flow_ipv4_ext_filter, flags)] != 0
               ? EOPNOTSUPP
               : 0;
}

int add_spec(Rule &rule, const SpecHead &head, const uint8_t *from, bool &has_tag)
{
    if (const Layout layout = layout_of(head.type); layout.size != 0)
        return head.size != layout.size ? EINVAL : add_match(rule, head.type, layout, from);
    switch (head.type) {
        case IBV_FLOW_SPEC_ACTION_TAG:
            if (head.size != sizeof(ibv_flow_spec_action_tag) || has_tag)
                return EINVAL;
            has_tag = true;
            rule.tag = read<uint32_t>(from + offsetof(ibv_flow_spec_action_tag, tag_id));
            return 0;
        case IBV_FLOW_SPEC_ACTION_DROP:
            if (head.size != sizeof(ibv_flow_spec_action_drop) || rule.drops)
                return EINVAL;
            rule.drops = true;
            return 0;
        case IBV_FLOW_SPEC_ACTION_COUNT:
            if (head.size != sizeof(ibv_flow_spec_counter_action))
                return EINVAL;
            if (rule.num_counters == Rule::kCounters)
                return EOPNOTSUPP;
            rule.counters[rule.num_counters] = reinterpret_cast<ibv_counters *>(
                read<uintptr_t>(from + offsetof(ibv_flow_spec_counter_action, counters)));
            return rule.counters[rule.num_counters++] == nullptr ? EINVAL : 0;
        default:
            return is_known(head.type) ? EOPNOTSUPP : EINVAL;
    }
}

/// What the frame has in place of a filter of that kind; null: it has no such header.
const void *header_for(ibv_flow_spec_type type, const Headers &headers)
{
    static_assert(offsetof(ibv_flow_ipv4_ext_filter, src_ip) == offsetof(ibv_flow_ipv4_filter, src_ip) &&
                  offsetof(ibv_flow_ipv4_ext_filter, dst_ip) == offsetof(ibv_flow_ipv4_filter, dst_ip));
    switch (type) {
        case IBV_FLOW_SPEC_ETH:
            return &headers.eth;
        case IBV_FLOW_SPEC_IPV4:
        case IBV_FLOW_SPEC_IPV4_EXT:
            return headers.has_ipv4 ? &headers.ipv4 : nullptr;
        case IBV_FLOW_SPEC_IPV6:
            return headers.has_ipv6 ? &headers.ipv6 : nullptr;
        case IBV_FLOW_SPEC_TCP:
            return headers.transport == IPPROTO_TCP ? &headers.ports : nullptr;
        default:
            return headers.transport == IPPROTO_UDP ? &headers.ports : nullptr;
    }
}

bool spec_matches(const Spec &spec, const Headers &headers)
{
    const auto *bytes = static_cast<const uint8_t *>(header_for(spec.type, headers));
    if (bytes == nullptr)
        return false;
    const size_t size = layout_of(spec.type).filter;
    for (size_t i = 0; i < size; ++i)
        if ((bytes[i] & spec.mask[i]) != spec.value[i])
            return false;
    // A tag that is not there is not even zero.
    constexpr size_t kTag = offsetof(ibv_flow_eth_filter, vlan_tag);
    return spec.type != IBV_FLOW_SPEC_ETH || headers.has_vlan ||
           (spec.mask[kTag] == 0 && spec.mask[kTag + 1] == 0);
}

/// Sniffers first, defaults last.
int rank(const Rule &rule)
{
    switch (rule.type) {
        case IBV_FLOW_ATTR_SNIFFER:
            return 0;
        case IBV_FLOW_ATTR_NORMAL:
            return 1;
        case IBV_FLOW_ATTR_MC_DEFAULT:
            return 2;
        default:
            return 3;
    }
}

}  // namespace

int rule_make(const ibv_flow_attr &attr, Rule &rule)
{
    rule = {};
    uint32_t type;  // The program's may be none.
    static_assert(sizeof type == sizeof attr.type);
    std::memcpy(&type, &attr.type, sizeof type);
    constexpr uint32_t kFlags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS;
    if (attr.comp_mask != 0 || type > IBV_FLOW_ATTR_SNIFFER || attr.port != 1 || (attr.flags & ~kFlags) != 0)
        return EINVAL;
    if ((attr.flags & IBV_FLOW_ATTR_FLAGS_EGRESS) != 0)
        return EOPNOTSUPP;
    const bool is_normal = type == IBV_FLOW_ATTR_NORMAL;
    rule.type = static_cast<ibv_flow_attr_type>(type);
    rule.priority = attr.priority;
    rule.traps = (attr.flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) == 0;
    if (!rule.traps && !is_normal)
        return EINVAL;
    const auto *at = reinterpret_cast<const uint8_t *>(&attr + 1);
    bool has_tag = false;
    for (unsigned i = 0; i < attr.num_of_specs; ++i) {
        SpecHead head;
        std::memcpy(&head.type, at, sizeof head.type);
        std::memcpy(&head.size, at + offsetof(ibv_flow_spec_eth, size), sizeof head.size);
        if (const int error = add_spec(rule, head, at, has_tag); error != 0)
            return error;
        at += head.size;
    }
    // The others say by their type what they match. Of what is dropped, nobody sees a tag.
    return (!is_normal && rule.num_specs != 0) || (rule.drops && has_tag) ? EINVAL : 0;
}

bool rule_matches(const Rule &rule, const Headers &headers)
{
    if (!headers.is_frame || (rule.type == IBV_FLOW_ATTR_MC_DEFAULT && (headers.eth.dst_mac[0] & 1) == 0))
        return false;
    return std::all_of(rule.specs, rule.specs + rule.num_specs,
                       [&](const Spec &spec) { return spec_matches(spec, headers); });
}

bool rule_precedes(const Rule &a, const Rule &b)
{
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.priority < b.priority;
}

}  // namespace urxe::raw
