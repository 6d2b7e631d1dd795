// SPDX-License-Identifier: BSD-2-Clause
// Flow specifications in the kernel's form.
#include "uverbs/flow_spec.hh"

#include <infiniband/driver.h>
#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace verbs::uverbs {
namespace {

/// A filter specification: two filters, value and mask, of the same fields in both forms.
struct Filter {
    uint32_t type;         ///< enum ibv_flow_spec_type, without INNER
    uint32_t kernel_type;  ///< what the kernel calls it
    size_t offset;         ///< of the value in the specification
    size_t size;           ///< of one filter, in both forms
    size_t fields;         ///< bytes of it that are fields
    bool may_be_inner;     ///< there are such headers inside of a tunnel
    bool may_grow;         ///< a program may have a longer one, if what this library does not know is zero
};

template <class Spec, size_t kFields = sizeof(Spec::val)>
constexpr Filter filter(ibv_flow_spec_type type, bool may_be_inner)
{
    return {.type = type,
            .kernel_type = type,
            .offset = offsetof(Spec, val),
            .size = sizeof(Spec::val),
            .fields = kFields,
            .may_be_inner = may_be_inner,
            .may_grow = false};
}

template <class Spec, size_t kFields = sizeof(Spec::val)>
constexpr Filter growing_filter(ibv_flow_spec_type type, ibv_flow_spec_type kernel_type)
{
    Filter growing = filter<Spec, kFields>(type, true);
    growing.kernel_type = kernel_type;
    growing.may_grow = true;
    return growing;
}

constexpr Filter kFilters[] = {
    filter<ibv_flow_spec_eth>(IBV_FLOW_SPEC_ETH, true),
    filter<ibv_flow_spec_ipv4>(IBV_FLOW_SPEC_IPV4, true),
    growing_filter<ibv_flow_spec_ipv4_ext>(IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV4),
    growing_filter<ibv_flow_spec_ipv6, offsetof(ibv_flow_ipv6_filter, hop_limit) + 1>(IBV_FLOW_SPEC_IPV6,
                                                                                      IBV_FLOW_SPEC_IPV6),
    filter<ibv_flow_spec_esp>(IBV_FLOW_SPEC_ESP, true),
    filter<ibv_flow_spec_tcp_udp>(IBV_FLOW_SPEC_TCP, true),
    filter<ibv_flow_spec_tcp_udp>(IBV_FLOW_SPEC_UDP, true),
    filter<ibv_flow_spec_tunnel>(IBV_FLOW_SPEC_VXLAN_TUNNEL, false),
    filter<ibv_flow_spec_gre>(IBV_FLOW_SPEC_GRE, false),
    filter<ibv_flow_spec_mpls>(IBV_FLOW_SPEC_MPLS, true),
};

/// Programs lay specifications out without padding between them, so members are read byte by byte.
template <class Member>
Member read(const std::byte *spec, size_t offset)
{
    Member member;
    std::memcpy(&member, spec + offset, sizeof member);  // NOLINT(bugprone-sizeof-expression): pointers too
    return member;
}

size_t finish(uint32_t type, size_t size, std::byte *to)
{
    ib_uverbs_flow_spec_hdr header = {};
    header.type = type;
    header.size = static_cast<uint16_t>(size);
    std::memcpy(to, &header, sizeof header);
    return size;
}

Result<size_t> filter_to_kernel(const Filter &filter, uint32_t inner, const std::byte *spec, std::byte *to)
{
    if (inner != 0 && !filter.may_be_inner)
        return Status(EINVAL);
    size_t there = filter.size;  // of one filter as the program has it
    if (filter.may_grow) {
        size_t size = flow_spec_size(spec);
        if (size < filter.offset + 2 * filter.size)
            return Status(EINVAL);
        there = (size - filter.offset) / 2;
    }
    const std::byte *from = spec + filter.offset;
    to += sizeof(ib_uverbs_flow_spec_hdr);
    for (int i = 0; i < 2; ++i, from += there, to += filter.size) {
        if (std::any_of(from + filter.fields, from + there, [](std::byte b) { return b != std::byte{}; }))
            return Status(EOPNOTSUPP);
        std::memcpy(to, from, filter.fields);
    }
    size_t size = sizeof(ib_uverbs_flow_spec_hdr) + 2 * filter.size;
    return finish(filter.kernel_type | inner, size, to - size);
}

/// An action with one number, which stands at the same place in all of them.
size_t action_to_kernel(uint32_t type, uint32_t number, std::byte *to)
{
    static_assert(offsetof(ib_uverbs_flow_spec_action_tag, tag_id) ==
                      offsetof(ib_uverbs_flow_spec_action_handle, handle) &&
                  offsetof(ib_uverbs_flow_spec_action_tag, tag_id) ==
                      offsetof(ib_uverbs_flow_spec_action_count, handle));
    std::memcpy(to + offsetof(ib_uverbs_flow_spec_action_tag, tag_id), &number, sizeof number);
    return finish(type, sizeof(ib_uverbs_flow_spec_action_tag), to);
}

}  // namespace

size_t flow_spec_size(const std::byte *spec)
{
    return read<uint16_t>(spec, offsetof(ibv_flow_spec, hdr.size));
}

Result<size_t> flow_spec_to_kernel(const std::byte *spec, std::byte *to)
{
    auto type = read<uint32_t>(spec, offsetof(ibv_flow_spec, hdr.type));
    switch (type) {
        case IBV_FLOW_SPEC_ACTION_TAG:
            return action_to_kernel(type, read<uint32_t>(spec, offsetof(ibv_flow_spec_action_tag, tag_id)),
                                    to);
        case IBV_FLOW_SPEC_ACTION_DROP:
            return finish(type, sizeof(ib_uverbs_flow_spec_action_drop), to);
        case IBV_FLOW_SPEC_ACTION_HANDLE: {
            const auto *action =
                read<const verbs_flow_action *>(spec, offsetof(ibv_flow_spec_action_handle, action));
            return action_to_kernel(type, action->handle, to);
        }
        case IBV_FLOW_SPEC_ACTION_COUNT: {
            const auto *counters =
                read<const verbs_counters *>(spec, offsetof(ibv_flow_spec_counter_action, counters));
            return action_to_kernel(type, counters->handle, to);
        }
        default:
            break;
    }
    uint32_t inner = type & IBV_FLOW_SPEC_INNER;
    const auto *found = std::find_if(std::begin(kFilters), std::end(kFilters),
                                     [&](const Filter &filter) { return filter.type == (type & ~inner); });
    if (found == std::end(kFilters))
        return Status(EINVAL);
    return filter_to_kernel(*found, inner, spec, to);
}

}  // namespace verbs::uverbs
