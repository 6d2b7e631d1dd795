// SPDX-License-Identifier: BSD-2-Clause
// For providers of foreign ABIs: the functions that depend on their layout, or whose parameters differ from those of ours.
// The number in a function's name is the first that has it so. ABI-frozen.
#include <infiniband/driver.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider/ops.hh"
#include "provider_api/context.hh"

using verbs::provider::extended;
using verbs::provider::layout;
using verbs::provider::public_context;

// A foreign verbs_context comes as void *: where its members are, its layout says.

VERBS_EXPORT void verbs_uninit_context_34(void *vctx)
{
    verbs::provider::context_uninit(*public_context(vctx));
}
VERBS_EXPORT_AS(verbs_uninit_context_34, verbs_uninit_context, IBVERBS_PRIVATE_34);
VERBS_EXPORT_AS(verbs_uninit_context_34, verbs_uninit_context, IBVERBS_PRIVATE_57);
VERBS_EXPORT_AS(verbs_uninit_context_34, verbs_uninit_context, IBVERBS_PRIVATE_59);
VERBS_EXPORT_AS(verbs_uninit_context_34, verbs_uninit_context, IBVERBS_PRIVATE_64);

VERBS_EXPORT void verbs_set_ops_34(void *vctx, const void *ops)
{
    ibv_context *context = public_context(vctx);
    verbs::provider::set_ops(extended(context), verbs::provider::native_ops(layout(context), ops));
}
VERBS_EXPORT_AS(verbs_set_ops_34, verbs_set_ops, IBVERBS_PRIVATE_34);
VERBS_EXPORT_AS(verbs_set_ops_34, verbs_set_ops, IBVERBS_PRIVATE_57);
VERBS_EXPORT_AS(verbs_set_ops_34, verbs_set_ops, IBVERBS_PRIVATE_59);
VERBS_EXPORT_AS(verbs_set_ops_34, verbs_set_ops, IBVERBS_PRIVATE_64);

VERBS_EXPORT void verbs_log_34(void *vctx, uint32_t level, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    verbs::provider_api::context_log(vctx != nullptr ? public_context(vctx) : nullptr, level, fmt, args);
    va_end(args);
}
VERBS_EXPORT_AS(verbs_log_34, __verbs_log, IBVERBS_PRIVATE_34);
VERBS_EXPORT_AS(verbs_log_34, __verbs_log, IBVERBS_PRIVATE_57);
VERBS_EXPORT_AS(verbs_log_34, __verbs_log, IBVERBS_PRIVATE_59);
VERBS_EXPORT_AS(verbs_log_34, __verbs_log, IBVERBS_PRIVATE_64);

VERBS_EXPORT int ibv_cmd_get_context_34(void *vctx, struct ibv_get_context *cmd, size_t cmd_size,
                                        ib_uverbs_get_context_resp *resp, size_t resp_size)
{
    return verbs::provider_api::context_get(*public_context(vctx), cmd, cmd_size, {}, resp, resp_size);
}
VERBS_EXPORT_AS(ibv_cmd_get_context_34, ibv_cmd_get_context, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_get_context_57(void *vctx, struct ibv_get_context *cmd, size_t cmd_size,
                                        ibv_fd_arr *fds, ib_uverbs_get_context_resp *resp, size_t resp_size)
{
    return verbs::provider_api::context_get(*public_context(vctx), cmd, cmd_size,
                                            verbs::provider_api::files_of(fds), resp, resp_size);
}
VERBS_EXPORT_AS(ibv_cmd_get_context_57, ibv_cmd_get_context, IBVERBS_PRIVATE_57);
VERBS_EXPORT_AS(ibv_cmd_get_context_57, ibv_cmd_get_context, IBVERBS_PRIVATE_59);
VERBS_EXPORT_AS(ibv_cmd_get_context_57, ibv_cmd_get_context, IBVERBS_PRIVATE_64);

VERBS_EXPORT int ibv_cmd_query_port_34(ibv_context *context, uint8_t port_num, ibv_port_attr *port_attr,
                                       struct ibv_query_port *cmd, size_t cmd_size)
{
    ibv_port_attr whole;
    int error = ibv_cmd_query_port(context, port_num, &whole, cmd, cmd_size);
    if (error == 0)
        std::memcpy(port_attr, &whole, layout(context).port_attr_size);
    return error;
}
VERBS_EXPORT_AS(ibv_cmd_query_port_34, ibv_cmd_query_port, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_create_cq_ex2_34(ibv_context *context, const ibv_cq_init_attr_ex *cq_attr,
                                          verbs_cq *cq, struct ibv_create_cq_ex *cmd, size_t cmd_size,
                                          ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
                                          uint32_t cmd_flags, ibv_command_buffer *driver)
{
    // The releases knew no other flag.
    return ibv_cmd_create_cq_ex2(context, cq_attr, nullptr, cq, cmd, cmd_size, resp, resp_size,
                                 cmd_flags & VERBS_CREATE_CQ_CAN_LOSE_TIMESTAMPS, driver);
}
VERBS_EXPORT_AS(ibv_cmd_create_cq_ex2_34, ibv_cmd_create_cq_ex2, IBVERBS_PRIVATE_34);
VERBS_EXPORT_AS(ibv_cmd_create_cq_ex2_34, ibv_cmd_create_cq_ex2, IBVERBS_PRIVATE_57);

VERBS_EXPORT int ibv_cmd_create_cq_ex_34(ibv_context *context, const ibv_cq_init_attr_ex *cq_attr,
                                         verbs_cq *cq, struct ibv_create_cq_ex *cmd, size_t cmd_size,
                                         ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
                                         uint32_t cmd_flags)
{
    return ibv_cmd_create_cq_ex2_34(context, cq_attr, cq, cmd, cmd_size, resp, resp_size, cmd_flags, nullptr);
}
VERBS_EXPORT_AS(ibv_cmd_create_cq_ex_34, ibv_cmd_create_cq_ex, IBVERBS_PRIVATE_34);
VERBS_EXPORT_AS(ibv_cmd_create_cq_ex_34, ibv_cmd_create_cq_ex, IBVERBS_PRIVATE_57);

VERBS_EXPORT int ibv_cmd_create_qp_ex2_34(ibv_context *context, verbs_qp *qp, ibv_qp_init_attr_ex *attr_ex,
                                          struct ibv_create_qp_ex *cmd, size_t cmd_size,
                                          ib_uverbs_ex_create_qp_resp *resp, size_t resp_size)
{
    return ibv_cmd_create_qp_ex2(context, qp, attr_ex, cmd, cmd_size, resp, resp_size, nullptr);
}
VERBS_EXPORT_AS(ibv_cmd_create_qp_ex2_34, ibv_cmd_create_qp_ex2, IBVERBS_PRIVATE_34);
VERBS_EXPORT_AS(ibv_cmd_create_qp_ex2_34, ibv_cmd_create_qp_ex2, IBVERBS_PRIVATE_57);
VERBS_EXPORT_AS(ibv_cmd_create_qp_ex2_34, ibv_cmd_create_qp_ex2, IBVERBS_PRIVATE_59);

VERBS_EXPORT int ibv_cmd_reg_dmabuf_mr_34(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                          int access, verbs_mr *vmr, ibv_command_buffer *driver)
{
    // Callers of older releases hand in seven arguments: the eighth is whatever lies on their stack.
    return ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr,
                                 layout(pd->context).links_dmabuf_mr ? driver : nullptr);
}
VERBS_EXPORT_AS(ibv_cmd_reg_dmabuf_mr_34, ibv_cmd_reg_dmabuf_mr, IBVERBS_PRIVATE_34);
