// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion counters.
#pragma once

#include <infiniband/driver.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "base/result.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs {

// ioctl only: EPROTONOSUPPORT or ENOTTY on kernels that do not know the method.

/// What the device's counters can do.
Result<ibv_comp_cntr_caps> comp_cntr_caps_query(Channel &channel);

/// Makes a counter; the kernel's handle.
Result<uint32_t> comp_cntr_create(Channel &channel, ibv_command_buffer *driver);
Status comp_cntr_destroy(Channel &channel, uint32_t handle);

/// Sets one of the two counts of a counter, or adds to it.
Status comp_cntr_modify(Channel &channel, uint32_t handle, ib_uverbs_comp_cntr_entry entry,
                        ib_uverbs_comp_cntr_modify_op op, uint64_t value);
Result<uint64_t> comp_cntr_read(Channel &channel, uint32_t handle, ib_uverbs_comp_cntr_entry entry);

/// `op_mask`: enum ib_uverbs_qp_attach_comp_cntr_op.
Status comp_cntr_attach(Channel &channel, uint32_t handle, uint32_t qp_handle, uint32_t op_mask);

}  // namespace verbs::uverbs
