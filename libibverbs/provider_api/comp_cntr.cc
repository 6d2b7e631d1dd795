// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for completion counters.
#include "uverbs/comp_cntr.hh"

#include <infiniband/driver.h>

#include <algorithm>
#include <cstring>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;
using verbs::provider_api::newer_error;

namespace {

int modify(const ibv_comp_cntr &counter, ib_uverbs_comp_cntr_entry entry, ib_uverbs_comp_cntr_modify_op op,
           uint64_t value)
{
    return newer_error(
        verbs::uverbs::comp_cntr_modify(channel(counter.context), counter.handle, entry, op, value));
}

int read(const ibv_comp_cntr &counter, ib_uverbs_comp_cntr_entry entry, uint64_t &value)
{
    verbs::Result<uint64_t> count =
        verbs::uverbs::comp_cntr_read(channel(counter.context), counter.handle, entry);
    if (!count)
        return newer_error(count.status());
    value = *count;
    return 0;
}

}  // namespace

VERBS_EXPORT int ibv_cmd_query_comp_cntr_caps(ibv_context *context, ibv_comp_cntr_caps *caps,
                                              size_t caps_size)
{
    verbs::Result<ibv_comp_cntr_caps> kernel = verbs::uverbs::comp_cntr_caps_query(channel(context));
    if (!kernel)
        return newer_error(kernel.status());
    std::memset(caps, 0, caps_size);
    std::memcpy(caps, &*kernel, std::min(caps_size, sizeof *kernel));
    return 0;
}

VERBS_EXPORT int ibv_cmd_create_comp_cntr(ibv_context *context, ibv_comp_cntr *comp_cntr,
                                          ibv_command_buffer *link)
{
    verbs::Result<uint32_t> handle = verbs::uverbs::comp_cntr_create(channel(context), link);
    if (!handle)
        return creation_error(newer_error(handle.status()));
    comp_cntr->context = context;
    comp_cntr->handle = *handle;
    return 0;
}

VERBS_EXPORT int ibv_cmd_destroy_comp_cntr(ibv_comp_cntr *comp_cntr)
{
    return verbs::provider_api::destroy_error(
        verbs::uverbs::comp_cntr_destroy(channel(comp_cntr->context), comp_cntr->handle));
}

VERBS_EXPORT int ibv_cmd_set_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t value)
{
    return modify(*comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_COMP, IB_UVERBS_COMP_CNTR_MODIFY_OP_SET, value);
}

VERBS_EXPORT int ibv_cmd_set_err_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t value)
{
    return modify(*comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_ERR, IB_UVERBS_COMP_CNTR_MODIFY_OP_SET, value);
}

VERBS_EXPORT int ibv_cmd_inc_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t amount)
{
    return modify(*comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_COMP, IB_UVERBS_COMP_CNTR_MODIFY_OP_INC, amount);
}

VERBS_EXPORT int ibv_cmd_inc_err_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t amount)
{
    return modify(*comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_ERR, IB_UVERBS_COMP_CNTR_MODIFY_OP_INC, amount);
}

VERBS_EXPORT int ibv_cmd_read_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t *value)
{
    return read(*comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_COMP, *value);
}

VERBS_EXPORT int ibv_cmd_read_err_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t *value)
{
    return read(*comp_cntr, IB_UVERBS_COMP_CNTR_ENTRY_ERR, *value);
}

VERBS_EXPORT int ibv_cmd_qp_attach_comp_cntr(ibv_qp *qp, ibv_comp_cntr *comp_cntr,
                                             ibv_qp_attach_comp_cntr_attr *attr)
{
    if (attr->comp_mask != 0)
        return EOPNOTSUPP;
    return newer_error(
        verbs::uverbs::comp_cntr_attach(channel(qp->context), comp_cntr->handle, qp->handle, attr->op_mask));
}
