// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion counters.
#include "uverbs/comp_cntr.hh"

#include "uverbs/attributes.hh"

namespace verbs::uverbs {

Result<ibv_comp_cntr_caps> comp_cntr_caps_query(Channel &channel)
{
    ibv_comp_cntr_caps caps = {};
    Status status =
        Attributes<3>({UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS})
            .out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, caps.max_counters)
            .out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, caps.max_value)
            .out(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, caps.supported_qp_attach_ops)
            .issue(channel);
    if (!status)
        return status;
    return caps;
}

Result<uint32_t> comp_cntr_create(Channel &channel, ibv_command_buffer *driver)
{
    Attributes<1> attributes({UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE});
    Status status = attributes.new_object(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE).issue(channel, driver);
    if (!status)
        return status;
    return attributes.result();
}

Status comp_cntr_destroy(Channel &channel, uint32_t handle)
{
    return Attributes<1>({UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_DESTROY})
        .object(UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE, handle)
        .issue(channel);
}

Status comp_cntr_modify(Channel &channel, uint32_t handle, ib_uverbs_comp_cntr_entry entry,
                        ib_uverbs_comp_cntr_modify_op op, uint64_t value)
{
    return Attributes<4>({UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_MODIFY})
        .object(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, handle)
        .constant(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, entry)
        .constant(UVERBS_ATTR_MODIFY_COMP_CNTR_OP, op)
        .in(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, value)
        .issue(channel);
}

Result<uint64_t> comp_cntr_read(Channel &channel, uint32_t handle, ib_uverbs_comp_cntr_entry entry)
{
    uint64_t value = 0;
    Status status = Attributes<3>({UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ})
                        .object(UVERBS_ATTR_READ_COMP_CNTR_HANDLE, handle)
                        .constant(UVERBS_ATTR_READ_COMP_CNTR_ENTRY, entry)
                        .out(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, value)
                        .issue(channel);
    if (!status)
        return status;
    return value;
}

Status comp_cntr_attach(Channel &channel, uint32_t handle, uint32_t qp_handle, uint32_t op_mask)
{
    return Attributes<3>({UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR})
        .object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, qp_handle)
        .object(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, handle)
        .in(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, op_mask)
        .issue(channel);
}

}  // namespace verbs::uverbs
