// SPDX-License-Identifier: BSD-2-Clause
// Flow specifications in the kernel's form.
#include "uverbs/flow_spec.hh"

#include <infiniband/driver.h>
#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <cstring>

namespace verbs::uverbs {
namespace {

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

/// A filter specification: two filters, value and mask, of the same fields in both forms.
template <class Spec>
size_t filter_to_kernel(uint32_t type, const std::byte *spec, std::byte *to)
{
    constexpr size_t kSize = 2 * sizeof(Spec::val);
    std::memcpy(to + sizeof(ib_uverbs_flow_spec_hdr), spec + offsetof(Spec, val), kSize);
    return finish(type, sizeof(ib_uverbs_flow_spec_hdr) + kSize, to);
}

/// One that a program may have longer, if what this library does not know is zero. kFields bytes of a filter are fields.
template <class Spec, size_t kFields = sizeof(Spec::val)>
Result<size_t> growing_filter_to_kernel(uint32_t type, const std::byte *spec, std::byte *to)
{
    constexpr size_t kSize = sizeof(ib_uverbs_flow_spec_hdr) + 2 * sizeof(Spec::val);
    size_t size = flow_spec_size(spec);
    if (size < offsetof(Spec, val) + 2 * sizeof(Spec::val))
        return Status(EINVAL);
    size_t there = (size - offsetof(Spec, val)) / 2;  // of one filter as the program has it
    const std::byte *from = spec + offsetof(Spec, val);
    std::byte *filter = to + sizeof(ib_uverbs_flow_spec_hdr);
    for (int i = 0; i < 2; ++i, from += there, filter += sizeof(Spec::val)) {
        if (std::any_of(from + kFields, from + there, [](std::byte b) { return b != std::byte{}; }))
            return Status(EOPNOTSUPP);
        std::memcpy(filter, from, kFields);
    }
    return finish(type, kSize, to);
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
        // No header inside of a tunnel is a tunnel's.
        case IBV_FLOW_SPEC_VXLAN_TUNNEL:
            return filter_to_kernel<ibv_flow_spec_tunnel>(type, spec, to);
        case IBV_FLOW_SPEC_GRE:
            return filter_to_kernel<ibv_flow_spec_gre>(type, spec, to);
        default:
            break;
    }
    switch (type & ~uint32_t{IBV_FLOW_SPEC_INNER}) {
        case IBV_FLOW_SPEC_ETH:
            return filter_to_kernel<ibv_flow_spec_eth>(type, spec, to);
        case IBV_FLOW_SPEC_IPV4:
            return filter_to_kernel<ibv_flow_spec_ipv4>(type, spec, to);
        case IBV_FLOW_SPEC_IPV4_EXT:
            return growing_filter_to_kernel<ibv_flow_spec_ipv4_ext>(
                type ^ IBV_FLOW_SPEC_IPV4_EXT ^ IBV_FLOW_SPEC_IPV4, spec, to);
        case IBV_FLOW_SPEC_IPV6:
            return growing_filter_to_kernel<ibv_flow_spec_ipv6,
                                            offsetof(ibv_flow_ipv6_filter, hop_limit) + 1>(type, spec, to);
        case IBV_FLOW_SPEC_ESP:
            return filter_to_kernel<ibv_flow_spec_esp>(type, spec, to);
        case IBV_FLOW_SPEC_TCP:
        case IBV_FLOW_SPEC_UDP:
            return filter_to_kernel<ibv_flow_spec_tcp_udp>(type, spec, to);
        case IBV_FLOW_SPEC_MPLS:
            return filter_to_kernel<ibv_flow_spec_mpls>(type, spec, to);
        default:
            return Status(EINVAL);
    }
}

}  // namespace verbs::uverbs
