// SPDX-License-Identifier: BSD-2-Clause
// Flow rules and frames: whatever both are, nothing outside of the frame is read, and a rule that asks for what a frame
// has matches it.
//
// An input is a byte for the rule's type, one for the number of specifications, for each its kind and its filters, and
// then the frame.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "raw/checksum.hh"
#include "raw/frame.hh"
#include "raw/rule.hh"
#include "raw/segment.hh"
#include "raw/toeplitz.hh"

namespace {

using namespace urxe::raw;
using Bytes = std::vector<uint8_t>;

void require(bool condition)
{
    if (!condition)
        abort();
}

struct Kind {
    uint32_t type;
    size_t size;
};
constexpr Kind kKinds[] = {
    {IBV_FLOW_SPEC_ETH, sizeof(ibv_flow_spec_eth)},
    {IBV_FLOW_SPEC_IPV4, sizeof(ibv_flow_spec_ipv4)},
    {IBV_FLOW_SPEC_IPV4_EXT, sizeof(ibv_flow_spec_ipv4_ext)},
    {IBV_FLOW_SPEC_IPV6, sizeof(ibv_flow_spec_ipv6)},
    {IBV_FLOW_SPEC_TCP, sizeof(ibv_flow_spec_tcp_udp)},
    {IBV_FLOW_SPEC_UDP, sizeof(ibv_flow_spec_tcp_udp)},
    {IBV_FLOW_SPEC_ACTION_TAG, sizeof(ibv_flow_spec_action_tag)},
    {IBV_FLOW_SPEC_ACTION_DROP, sizeof(ibv_flow_spec_action_drop)},
    {IBV_FLOW_SPEC_GRE, sizeof(ibv_flow_spec_gre)},
};

class Input {
public:
    Input(const uint8_t *data, size_t size) : data_(data), left_(size) {}
    uint8_t byte()
    {
        if (left_ == 0)
            return 0;
        --left_;
        return *data_++;
    }
    const uint8_t *rest() const { return data_; }
    size_t left() const { return left_; }

private:
    const uint8_t *data_;
    size_t left_;
};

void append(Bytes &rule, const void *from, size_t size)
{
    const auto *bytes = static_cast<const uint8_t *>(from);
    rule.insert(rule.end(), bytes, bytes + size);
}

/// Whether there is what the specification is about.
bool has_header(const Spec &spec, const Headers &headers)
{
    switch (spec.type) {
        case IBV_FLOW_SPEC_ETH:
            return headers.has_vlan || (spec.mask[14] | spec.mask[15]) == 0;
        case IBV_FLOW_SPEC_IPV6:
            return headers.has_ipv6;
        case IBV_FLOW_SPEC_TCP:
            return headers.transport == 6;
        case IBV_FLOW_SPEC_UDP:
            return headers.transport == 17;
        default:
            return headers.has_ipv4;
    }
}

/// Makes the specification one that asks for just this frame, in the bits of the same mask.
void ask_for(Spec &spec, const Headers &headers)
{
    Spec wanted = spec;
    switch (spec.type) {
        case IBV_FLOW_SPEC_ETH:
            memcpy(wanted.value, &headers.eth, sizeof headers.eth);
            break;
        case IBV_FLOW_SPEC_IPV6:
            memcpy(wanted.value, &headers.ipv6, sizeof headers.ipv6);
            break;
        case IBV_FLOW_SPEC_TCP:
        case IBV_FLOW_SPEC_UDP:
            memcpy(wanted.value, &headers.ports, sizeof headers.ports);
            break;
        default:
            memcpy(wanted.value, &headers.ipv4, sizeof headers.ipv4);
            break;
    }
    for (size_t i = 0; i < sizeof spec.value; ++i)
        spec.value[i] = wanted.value[i] & spec.mask[i];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input input(data, size);
    ibv_flow_attr attr{};
    const uint8_t type = input.byte();
    attr.type = static_cast<ibv_flow_attr_type>(type & 3);
    attr.flags = (type & 4) != 0 ? IBV_FLOW_ATTR_FLAGS_DONT_TRAP : 0;
    attr.port = 1;
    attr.num_of_specs = input.byte() % 5;
    Bytes bytes;
    append(bytes, &attr, sizeof attr);
    for (unsigned i = 0; i < attr.num_of_specs; ++i) {
        const uint8_t kind = input.byte();
        const Kind &known = kKinds[kind % std::size(kKinds)];
        const auto spec_size = static_cast<uint16_t>(known.size + (kind >= 0xf8 ? 1 : 0));
        append(bytes, &known.type, sizeof known.type);
        append(bytes, &spec_size, sizeof spec_size);
        for (size_t at = 6; at < spec_size; ++at)
            bytes.push_back(input.byte());
    }
    const Bytes frame(input.rest(), input.rest() + input.left());

    Rule rule;
    const int error = rule_make(*reinterpret_cast<const ibv_flow_attr *>(bytes.data()), rule);
    require(error == 0 || error == EINVAL || error == EOPNOTSUPP);
    const Headers headers = parse(frame);
    require(headers.is_frame == (frame.size() >= kEthernetHeader));
    require(headers.end <= frame.size() && !(headers.has_ipv4 && headers.has_ipv6));
    require(headers.transport == 0 || headers.transport_at < headers.end);
    if (error == 0) {
        const bool matches = rule_matches(rule, headers);
        require(!matches || headers.is_frame);
        bool has_all = headers.is_frame && rule.type == IBV_FLOW_ATTR_NORMAL;
        for (size_t i = 0; i < rule.num_specs; ++i) {
            has_all = has_all && has_header(rule.specs[i], headers);
            ask_for(rule.specs[i], headers);
        }
        require(!has_all || rule_matches(rule, headers));
        require(!rule_precedes(rule, rule));
    }

    uint8_t key[kHashKey];
    std::fill_n(key, sizeof key, uint8_t{0x5a});
    for (const uint64_t fields : {uint64_t{0}, uint64_t{0xff}})
        require(frame_hash(key, fields, headers) == 0 || fields != 0);
    Bytes changed = frame;
    set_checksums(changed, headers);
    require(!headers.has_ipv4 || network_checksum_is_right(changed, headers));
    constexpr size_t kPart = 5;
    const size_t parts = segment_count(frame, headers, kPart);
    for (size_t i = 0; parts > 1 && i < parts; ++i) {
        changed.resize(frame.size());
        changed.resize(segment_write(frame, headers, kPart, i, changed));
        require(!changed.empty() && parse(changed).end == changed.size());
    }
    return 0;
}
