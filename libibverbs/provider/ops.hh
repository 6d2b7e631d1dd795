// SPDX-License-Identifier: BSD-2-Clause
// The ops of a context: defaults for all, replaced by those that its provider has.
#pragma once

#include <infiniband/driver.h>

namespace verbs::provider {

/// A table with a default in every slot. An op that returns int answers EOPNOTSUPP, one that returns a
/// pointer answers null with errno EOPNOTSUPP, one that returns a file descriptor -1 with errno EOPNOTSUPP,
/// one that returns nothing does nothing. query_qp_data_in_order, which has no way to fail, answers that
/// nothing is known to be in order; reg_mr_ex does what reg_mr and reg_dmabuf_mr can.
extern const verbs_context_ops kDefaultOps;

/// Puts the ops that `ops` has (those that are not null) into the context's table and into the members that
/// inline verbs call, as far as the context has those.
void set_ops(verbs_context &vctx, const verbs_context_ops &ops);

}  // namespace verbs::provider
