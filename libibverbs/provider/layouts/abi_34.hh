// SPDX-License-Identifier: BSD-2-Clause
// Provider ABI 34 as of release 44.0: where its objects differ from ours. ABI-frozen.
#pragma once

#include <infiniband/driver.h>

#include "provider/layouts/layout.hh"

namespace verbs::provider::abi_34 {

/// Lacks the members in front of query_port; from there on it is ours.
struct verbs_context {
    alignas(void *) char members[320];
    ibv_context context;
};
static_assert(sizeof(verbs_context) == 648 && offsetof(verbs_context, context) == 320);

/// Ends before wr_flush.
struct ibv_qp_ex {
    alignas(::ibv_qp_ex) char members[352];
};
static_assert(sizeof(ibv_qp_ex) == 352);

struct verbs_qp {
    union {
        ibv_qp qp;
        ibv_qp_ex qp_ex;
    };
    uint32_t comp_mask;
    verbs_xrcd *xrcd;
};
static_assert(sizeof(verbs_qp) == 368 && offsetof(verbs_qp, comp_mask) == 352 &&
              offsetof(verbs_qp, xrcd) == 360);

/// Ends before active_speed_ex.
struct ibv_port_attr {
    alignas(::ibv_port_attr) char members[52];
};
static_assert(sizeof(ibv_port_attr) == 52);

/// An op has the signature that it has in ours.
struct verbs_context_ops {
#define OP(name, slot) decltype(::verbs_context_ops::name) name;
#include "provider/layouts/abi_34_ops.def"
#undef OP
};
static_assert(sizeof(verbs_context_ops) == 608);

inline constexpr Layout kLayout = {.abi = 34,
                                   .context_size = sizeof(verbs_context),
                                   .qp_comp_mask = offsetof(verbs_qp, comp_mask),
                                   .qp_xrcd = offsetof(verbs_qp, xrcd)};

/// The same ops in our table; those that the ABI has not are null.
::verbs_context_ops native_ops(const verbs_context_ops &ops);

}  // namespace verbs::provider::abi_34
