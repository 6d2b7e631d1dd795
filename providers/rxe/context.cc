// SPDX-License-Identifier: BSD-2-Clause
// Opening an rxe device, what it and its ports tell, and the table of its ops.
#include "context.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "ah.hh"
#include "buf.hh"
#include "cq.hh"
#include "domain.hh"
#include "mr.hh"
#include "mw.hh"
#include "pd.hh"
#include "qp.hh"
#include "srq.hh"

namespace rxe {
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

void context_free(ibv_context *ibcontext)
{
    Context *context = to_context(ibcontext);
    verbs_uninit_context(&context->verbs);
    std::free(context);
}

constexpr verbs_context_ops kContextOps = {
    .alloc_buf = buf_alloc,
    .alloc_mw = mw_alloc,
    .alloc_parent_domain = common::parent_domain_alloc,
    .alloc_pd = pd_alloc,
    .alloc_td = common::td_alloc,
    .attach_mcast = ibv_cmd_attach_mcast,
    .bind_mw = qp_bind_mw,
    .create_ah = ah_create,
    .create_cq = cq_create,
    .create_cq_ex = cq_create_ex,
    .create_qp = qp_create,
    .create_qp_ex = qp_create_ex,
    .create_srq = srq_create,
    .dealloc_mw = mw_dealloc,
    .dealloc_pd = pd_dealloc,
    .dealloc_td = common::td_dealloc,
    .dereg_mr = mr_dereg,
    .destroy_ah = ah_destroy,
    .destroy_cq = cq_destroy,
    .destroy_qp = qp_destroy,
    .destroy_srq = srq_destroy,
    .detach_mcast = ibv_cmd_detach_mcast,
    .free_buf = buf_free,
    .free_context = context_free,
    .import_mr = mr_import,
    .import_pd = pd_import,
    .modify_qp = qp_modify,
    .modify_srq = srq_modify,
    .poll_cq = cq_poll,
    .post_recv = qp_post_recv,
    .post_send = qp_post_send,
    .post_srq_recv = srq_post_recv,
    .query_device_ex = query_device,
    .query_port = query_port,
    .query_port_speed = ibv_cmd_query_port_speed,
    .query_qp = qp_query,
    .query_srq = srq_query,
    .reg_dmabuf_mr = mr_reg_dmabuf,
    .reg_mr = mr_reg,
    .req_notify_cq = ibv_cmd_req_notify_cq,
    .rereg_mr = mr_rereg,
    .resize_cq = cq_resize,
    .unimport_mr = mr_unimport,
    .unimport_pd = pd_unimport,
};

/// A context for the file, once `command` has answered for it; null and errno if that fails.
template <class Command>
verbs_context *context_make(ibv_device *device, int cmd_fd, Command command)
{
    static_assert(offsetof(Context, verbs) == 0);
    auto *context = static_cast<Context *>(
        _verbs_init_and_alloc_context(device, cmd_fd, sizeof(Context), nullptr, RDMA_DRIVER_RXE));
    if (context == nullptr)
        return nullptr;
    const int error = command(*context);
    if (error != 0) {
        verbs_uninit_context(&context->verbs);
        std::free(context);
        return common::null_with(error);
    }
    verbs_set_ops(&context->verbs, &kContextOps);

    ibv_device_attr_ex attr{};
    if (ibv_cmd_query_device_any(&context->verbs.context, nullptr, &attr, sizeof(attr), nullptr, nullptr) ==
        0)
        context->capabilities = attr.device_cap_flags_ex;
    return &context->verbs;
}

}  // namespace

int resized(const char *queue, ibv_context &context, int error)
{
    if (error != 0)
        __verbs_log(&to_context(&context)->verbs, VERBS_LOG_ERR,
                    "the %s was resized, but its new ring cannot be mapped (%s): it takes part in nothing "
                    "any more; destroy "
                    "it, and free memory or address space before making another",
                    queue, strerrordesc_np(error));
    return error;
}

verbs_context *context_alloc(ibv_device *device, int cmd_fd, void *)
{
    return context_make(device, cmd_fd, [](Context &context) {
        struct ibv_get_context command {};
        ib_uverbs_get_context_resp response{};
        return ibv_cmd_get_context(&context.verbs, &command, sizeof(command), nullptr, &response,
                                   sizeof(response));
    });
}

verbs_context *context_import(ibv_device *device, int cmd_fd)
{
    return context_make(device, cmd_fd, [](Context &context) {
        const int error = ibv_cmd_query_context(&context.verbs.context, nullptr);
        if (error != EOPNOTSUPP)
            return error;
        // The driver cannot describe a context; the rest works all the same. One vector it has in any case.
        context.verbs.context.num_comp_vectors = 1;
        return 0;
    });
}

}  // namespace rxe
