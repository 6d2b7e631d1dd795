// SPDX-License-Identifier: BSD-2-Clause
// For providers of ABI 34: the functions whose parameters differ from those of ours. ABI-frozen.
#include <infiniband/driver.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider/layouts/abi_34.hh"
#include "provider/ops.hh"
#include "provider_api/context.hh"

namespace abi_34 = verbs::provider::abi_34;
using verbs::provider::extended;

VERBS_EXPORT void *verbs_init_and_alloc_context_34(ibv_device *device, int cmd_fd, size_t alloc_size,
                                                   abi_34::verbs_context *context_offset, uint32_t driver_id)
{
    return verbs::provider_api::context_alloc(abi_34::kLayout, *device, cmd_fd, alloc_size,
                                              reinterpret_cast<uintptr_t>(context_offset), driver_id);
}
VERBS_EXPORT_AS(verbs_init_and_alloc_context_34, _verbs_init_and_alloc_context, IBVERBS_PRIVATE_34);

VERBS_EXPORT void verbs_uninit_context_34(abi_34::verbs_context *vctx)
{
    verbs::provider::context_uninit(vctx->context);
}
VERBS_EXPORT_AS(verbs_uninit_context_34, verbs_uninit_context, IBVERBS_PRIVATE_34);

VERBS_EXPORT void verbs_set_ops_34(abi_34::verbs_context *vctx, const abi_34::verbs_context_ops *ops)
{
    verbs::provider::set_ops(extended(&vctx->context), abi_34::native_ops(*ops));
}
VERBS_EXPORT_AS(verbs_set_ops_34, verbs_set_ops, IBVERBS_PRIVATE_34);

VERBS_EXPORT void verbs_log_34(abi_34::verbs_context *ctx, uint32_t level, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    verbs::provider_api::context_log(ctx != nullptr ? &ctx->context : nullptr, level, fmt, args);
    va_end(args);
}
VERBS_EXPORT_AS(verbs_log_34, __verbs_log, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_get_context_34(abi_34::verbs_context *vctx, struct ibv_get_context *cmd,
                                        size_t cmd_size, ib_uverbs_get_context_resp *resp, size_t resp_size)
{
    return verbs::provider_api::context_get(vctx->context, cmd, cmd_size, {}, resp, resp_size);
}
VERBS_EXPORT_AS(ibv_cmd_get_context_34, ibv_cmd_get_context, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_query_port_34(ibv_context *context, uint8_t port_num,
                                       abi_34::ibv_port_attr *port_attr, struct ibv_query_port *cmd,
                                       size_t cmd_size)
{
    ibv_port_attr whole;
    int error = ibv_cmd_query_port(context, port_num, &whole, cmd, cmd_size);
    if (error == 0)
        std::memcpy(port_attr, &whole, sizeof *port_attr);
    return error;
}
VERBS_EXPORT_AS(ibv_cmd_query_port_34, ibv_cmd_query_port, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_create_cq_ex_34(ibv_context *context, const ibv_cq_init_attr_ex *cq_attr,
                                         verbs_cq *cq, struct ibv_create_cq_ex *cmd, size_t cmd_size,
                                         ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
                                         uint32_t cmd_flags)
{
    // The release knew no other flag.
    return ibv_cmd_create_cq_ex(context, cq_attr, nullptr, cq, cmd, cmd_size, resp, resp_size,
                                cmd_flags & VERBS_CREATE_CQ_CAN_LOSE_TIMESTAMPS);
}
VERBS_EXPORT_AS(ibv_cmd_create_cq_ex_34, ibv_cmd_create_cq_ex, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_create_qp_ex2_34(ibv_context *context, verbs_qp *qp, ibv_qp_init_attr_ex *attr_ex,
                                          struct ibv_create_qp_ex *cmd, size_t cmd_size,
                                          ib_uverbs_ex_create_qp_resp *resp, size_t resp_size)
{
    return ibv_cmd_create_qp_ex2(context, qp, attr_ex, cmd, cmd_size, resp, resp_size, nullptr);
}
VERBS_EXPORT_AS(ibv_cmd_create_qp_ex2_34, ibv_cmd_create_qp_ex2, IBVERBS_PRIVATE_34);

VERBS_EXPORT int ibv_cmd_reg_dmabuf_mr_34(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                          int access, verbs_mr *vmr)
{
    return ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr, nullptr);
}
VERBS_EXPORT_AS(ibv_cmd_reg_dmabuf_mr_34, ibv_cmd_reg_dmabuf_mr, IBVERBS_PRIVATE_34);
