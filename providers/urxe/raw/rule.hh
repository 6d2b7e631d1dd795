// SPDX-License-Identifier: BSD-2-Clause
// Flow rules: what the program says, checked, and whether a frame is meant.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "raw/frame.hh"

namespace urxe::raw {

/// A specification that frames are compared with: `value` in the bits of `mask`, as bytes of its kind's filter.
struct Spec {
    static constexpr size_t kMost = sizeof(ibv_flow_ipv6_filter);
    ibv_flow_spec_type type;
    uint8_t value[kMost], mask[kMost];
};

struct Rule {
    static constexpr size_t kSpecs = 3;  ///< one for each layer: Ethernet, network, transport
    static constexpr size_t kCounters = 4;
    ibv_flow_attr_type type;
    uint16_t priority;  ///< the lowest number is asked first
    bool traps;         ///< not: rules of higher numbers may have the frame too
    bool drops;
    uint32_t tag;
    uint8_t num_specs, num_counters;
    Spec specs[kSpecs];
    ibv_counters *counters[kCounters];
};

/// Makes a rule of what ibv_create_flow gets. 0; EINVAL for what no device could mean, EOPNOTSUPP for what this one cannot.
/// `attr.size` is not looked at: the kernel's library does not either, and programs leave it zero.
int rule_make(const ibv_flow_attr &attr, Rule &rule);

/// Whether the rule's specifications fit the frame; of the default types, whether it is meant at all.
bool rule_matches(const Rule &rule, const Headers &headers);

/// Whether `a` is asked before `b`, where both match: rules of programs by their priority, then MC_DEFAULT, then ALL_DEFAULT.
/// A sniffer's rule comes first of all, and takes nothing away from others.
bool rule_precedes(const Rule &a, const Rule &b);

/// Whether rules behind this one in the order do not get a frame that it matches.
inline bool rule_ends(const Rule &rule)
{
    return rule.traps && rule.type != IBV_FLOW_ATTR_SNIFFER;
}

}  // namespace urxe::raw
