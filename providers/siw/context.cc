// SPDX-License-Identifier: BSD-2-Clause
// Opening a siw device, what it and its port tell, and the table of its ops.
#include "context.hh"

#include <infiniband/verbs.h>
#include <rdma/siw-abi.h>

#include <cstdio>

#include "common/extended.hh"
#include "common/memory.hh"
#include "cq.hh"
#include "mr.hh"
#include "pd.hh"
#include "qp.hh"
#include "srq.hh"

namespace siw {
namespace {

int query_device(ibv_context *context, const ibv_query_device_ex_input *input, ibv_device_attr_ex *attr,
                 size_t attr_size)
{
    ib_uverbs_ex_query_device_resp response{};
    size_t response_size = sizeof(response);
    const int error = ibv_cmd_query_device_any(context, input, attr, attr_size, &response, &response_size);
    if (error != 0)
        return error;
    const uint64_t firmware = response.base.fw_ver;
    std::snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
                  static_cast<unsigned>(firmware >> 32 & 0xffff),
                  static_cast<unsigned>(firmware >> 16 & 0xffff), static_cast<unsigned>(firmware & 0xffff));
    return 0;
}

int query_port(ibv_context *context, uint8_t port_num, ibv_port_attr *attr)
{
    struct ibv_query_port command {};
    return ibv_cmd_query_port(context, port_num, attr, &command, sizeof(command));
}

verbs_context *to_verbs_context(ibv_context *context)
{
    return reinterpret_cast<verbs_context *>(reinterpret_cast<char *>(context) -
                                             offsetof(verbs_context, context));
}

void context_free(ibv_context *ibcontext)
{
    verbs_context *context = to_verbs_context(ibcontext);
    verbs_uninit_context(context);
    std::free(context);
}

constexpr verbs_context_ops kContextOps = {
    .alloc_pd = pd_alloc,
    .create_cq = cq_create,
    .create_cq_ex = cq_create_ex,
    .create_qp = qp_create,
    .create_qp_ex = qp_create_ex,
    .create_srq = srq_create,
    .dealloc_pd = pd_dealloc,
    .dereg_mr = mr_dereg,
    .destroy_cq = cq_destroy,
    .destroy_qp = qp_destroy,
    .destroy_srq = srq_destroy,
    .free_context = context_free,
    .modify_qp = qp_modify,
    .modify_srq = srq_modify,
    .poll_cq = cq_poll,
    .post_recv = qp_post_recv,
    .post_send = qp_post_send,
    .post_srq_recv = srq_post_recv,
    .query_device_ex = query_device,
    .query_port = query_port,
    .query_qp = qp_query,
    .query_srq = srq_query,
    .reg_mr = mr_reg,
    .req_notify_cq = cq_req_notify,
};

}  // namespace

verbs_context *context_alloc(ibv_device *device, int cmd_fd, void *)
{
    auto *context = static_cast<verbs_context *>(
        _verbs_init_and_alloc_context(device, cmd_fd, sizeof(verbs_context), nullptr, RDMA_DRIVER_SIW));
    if (context == nullptr)
        return nullptr;
    struct ibv_get_context command {};
    common::Extended<ib_uverbs_get_context_resp, siw_uresp_alloc_ctx> response;
    const int error =
        ibv_cmd_get_context(context, &command, sizeof(command), nullptr, response.core(), response.size());
    if (error != 0) {
        verbs_uninit_context(context);
        std::free(context);
        return common::null_with(error);
    }
    verbs_set_ops(context, &kContextOps);
    return context;
}

}  // namespace siw
