// SPDX-License-Identifier: BSD-2-Clause
// Provider ABI 34 as of release 44.0: its ops, and the proof that the rest of its objects is ours.
#include "provider/layouts/abi_34.hh"

namespace verbs::provider::abi_34 {
namespace {

#define OP(name, slot) static_assert(offsetof(verbs_context_ops, name) == (slot) * sizeof(void *));
#include "provider/layouts/abi_34_ops.def"
#undef OP

constexpr size_t kFront = sizeof(::verbs_context) - sizeof(verbs_context);
#define MEMBER(name, offset) static_assert(offsetof(::verbs_context, name) == kFront + (offset));
#include "provider/layouts/abi_34_context.def"
#undef MEMBER

static_assert(offsetof(::ibv_qp_ex, wr_atomic_write) == 344);
static_assert(offsetof(::ibv_qp_ex, wr_flush) == sizeof(ibv_qp_ex));
static_assert(offsetof(::ibv_port_attr, port_cap_flags2) == 48);
static_assert(offsetof(::ibv_port_attr, active_speed_ex) == sizeof(ibv_port_attr));

// Objects that are the same in both.
static_assert(sizeof(verbs_device_ops) == 72 && sizeof(verbs_device) == 712 &&
              sizeof(verbs_sysfs_dev) == 992);
static_assert(sizeof(verbs_match_ent) == 24 && sizeof(verbs_mr) == 56 && sizeof(verbs_cq) == 288);
static_assert(sizeof(verbs_srq) == 160 && sizeof(verbs_xrcd) == 16 && sizeof(verbs_dm) == 40);
static_assert(sizeof(verbs_counters) == 16 && sizeof(verbs_flow_action) == 16);

}  // namespace

::verbs_context_ops native_ops(const verbs_context_ops &ops)
{
    return {
#define OP(name, slot) .name = ops.name,
#include "provider/layouts/abi_34_ops.def"
#undef OP
    };
}

}  // namespace verbs::provider::abi_34
