// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for queue pairs.
#include "uverbs/qp.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider/layouts/qp.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

namespace {

/// The parts of the creation attributes that the plain command knows, and the extended one, which leaves the rest
/// of them to the driver's own input.
constexpr uint32_t kPlainAttributes =
    IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
constexpr uint32_t kExtendedAttributes = kPlainAttributes | IBV_QP_INIT_ATTR_CREATE_FLAGS |
                                         IBV_QP_INIT_ATTR_MAX_TSO_HEADER | IBV_QP_INIT_ATTR_IND_TABLE |
                                         IBV_QP_INIT_ATTR_RX_HASH;

template <class Object>
std::optional<uint32_t> handle_of(const Object *object)
{
    return object != nullptr ? std::optional<uint32_t>(object->handle) : std::nullopt;
}

int create(ibv_context *context, verbs_qp &vqp, ibv_qp_init_attr_ex &attr,
           const verbs::uverbs::DriverData &driver, ibv_command_buffer *attributes = nullptr)
{
    auto has = [&attr](ibv_qp_init_attr_mask bit) { return (attr.comp_mask & bit) != 0; };
    if (!has(IBV_QP_INIT_ATTR_PD) && !has(IBV_QP_INIT_ATTR_XRCD))
        return creation_error(EINVAL);
    if ((has(IBV_QP_INIT_ATTR_PD) && attr.pd == nullptr) ||
        (has(IBV_QP_INIT_ATTR_XRCD) && attr.xrcd == nullptr))
        return creation_error(EINVAL);

    ibv_pd *pd = has(IBV_QP_INIT_ATTR_PD) ? attr.pd : nullptr;
    auto *xrcd = has(IBV_QP_INIT_ATTR_XRCD) ? reinterpret_cast<verbs_xrcd *>(attr.xrcd) : nullptr;
    ibv_rwq_ind_table *table = has(IBV_QP_INIT_ATTR_IND_TABLE) ? attr.rwq_ind_tbl : nullptr;
    verbs::uverbs::QpRequest request = {
        .user_handle = verbs::provider_api::user_handle(&vqp),
        .type = attr.qp_type,
        .cap = attr.cap,
        .signal_all = attr.sq_sig_all != 0,
        .create_flags = has(IBV_QP_INIT_ATTR_CREATE_FLAGS) ? attr.create_flags : 0,
        .source_qpn = attr.source_qpn,
        .pd_handle = handle_of(pd),
        .xrcd_handle = handle_of(xrcd),
        .send_cq_handle = handle_of(attr.send_cq),
        .recv_cq_handle = handle_of(attr.recv_cq),
        .srq_handle = handle_of(attr.srq),
        .ind_table_handle = table != nullptr ? std::optional<uint32_t>(table->ind_tbl_handle) : std::nullopt,
        .async_fd = context->async_fd};
    // Programs fill in more than an XRC queue pair has: an initiator receives nothing, a target has no queues.
    if (attr.qp_type == IBV_QPT_XRC_SEND) {
        request.recv_cq_handle.reset();
        request.srq_handle.reset();
        request.cap.max_recv_wr = request.cap.max_recv_sge = 0;
    } else if (attr.qp_type == IBV_QPT_XRC_RECV) {
        request.send_cq_handle.reset();
        request.recv_cq_handle.reset();
        request.srq_handle.reset();
    }
    verbs::Result<verbs::uverbs::QpInfo> info =
        verbs::uverbs::qp_create(channel(context), request, driver, attributes);
    if (!info)
        return creation_error(info.error());

    ibv_qp &qp = vqp.qp;
    qp.context = context;
    qp.qp_context = attr.qp_context;
    qp.pd = pd;
    qp.send_cq = attr.send_cq;
    qp.recv_cq = attr.recv_cq;
    qp.srq = attr.srq;
    qp.handle = info->handle;
    qp.qp_num = info->qp_num;
    qp.state = IBV_QPS_RESET;
    qp.qp_type = attr.qp_type;
    qp.events_completed = 0;
    pthread_mutex_init(&qp.mutex, nullptr);
    pthread_cond_init(&qp.cond, nullptr);
    if (xrcd != nullptr)
        verbs::provider::qp_set_xrcd(vqp, context, xrcd);
    attr.cap = info->cap;
    return 0;
}

ib_uverbs_create_qp_resp answer(const ibv_qp &qp, const ibv_qp_cap &cap)
{
    return {.qp_handle = qp.handle,
            .qpn = qp.qp_num,
            .max_send_wr = cap.max_send_wr,
            .max_recv_wr = cap.max_recv_wr,
            .max_send_sge = cap.max_send_sge,
            .max_recv_sge = cap.max_recv_sge,
            .max_inline_data = cap.max_inline_data,
            .reserved = 0};
}

}  // namespace

VERBS_EXPORT int ibv_cmd_create_qp(ibv_pd *pd, ibv_qp *qp, ibv_qp_init_attr *attr, struct ibv_create_qp *cmd,
                                   size_t cmd_size, ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
    ibv_qp_init_attr_ex attr_ex = {};
    attr_ex.qp_context = attr->qp_context;
    attr_ex.send_cq = attr->send_cq;
    attr_ex.recv_cq = attr->recv_cq;
    attr_ex.srq = attr->srq;
    attr_ex.cap = attr->cap;
    attr_ex.qp_type = attr->qp_type;
    attr_ex.sq_sig_all = attr->sq_sig_all;
    attr_ex.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr_ex.pd = pd;
    // Only the ibv_qp at the front is known to exist; without an XRC domain nothing behind it is touched.
    int error = create(pd->context, *reinterpret_cast<verbs_qp *>(qp), attr_ex,
                       verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (error != 0)
        return error;
    attr->cap = attr_ex.cap;
    verbs::provider_api::give_answer(resp, resp_size, answer(*qp, attr->cap));
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_qp);

VERBS_EXPORT int ibv_cmd_create_qp_ex(ibv_context *context, verbs_qp *qp, ibv_qp_init_attr_ex *attr_ex,
                                      struct ibv_create_qp *cmd, size_t cmd_size,
                                      ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
    if ((attr_ex->comp_mask & ~kPlainAttributes) != 0)
        return creation_error(EINVAL);
    int error =
        create(context, *qp, *attr_ex, verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (error == 0)
        verbs::provider_api::give_answer(resp, resp_size, answer(qp->qp, attr_ex->cap));
    return error;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_qp_ex);

VERBS_EXPORT int ibv_cmd_create_qp_ex2(ibv_context *context, verbs_qp *qp, ibv_qp_init_attr_ex *attr_ex,
                                       struct ibv_create_qp_ex *cmd, size_t cmd_size,
                                       ib_uverbs_ex_create_qp_resp *resp, size_t resp_size,
                                       ibv_command_buffer *driver)
{
    if ((attr_ex->comp_mask & ~kExtendedAttributes) != 0)
        return creation_error(EINVAL);
    int error = create(context, *qp, *attr_ex,
                       verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size), driver);
    if (error == 0)
        verbs::provider_api::give_answer(
            resp, resp_size,
            {.base = answer(qp->qp, attr_ex->cap), .comp_mask = 0, .response_length = sizeof *resp});
    return error;
}
VERBS_EXPORT_SINCE_64(ibv_cmd_create_qp_ex2);

VERBS_EXPORT int ibv_cmd_open_qp(ibv_context *context, verbs_qp *vqp, int vqp_size, ibv_qp_open_attr *attr,
                                 struct ibv_open_qp *cmd, size_t cmd_size, ib_uverbs_create_qp_resp *resp,
                                 size_t resp_size)
{
    constexpr uint32_t kNeeded = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    if (attr->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED)
        return creation_error(EOPNOTSUPP);
    if ((attr->comp_mask & kNeeded) != kNeeded || attr->xrcd == nullptr)
        return creation_error(EINVAL);
    auto *xrcd = reinterpret_cast<verbs_xrcd *>(attr->xrcd);
    verbs::Result<verbs::uverbs::QpInfo> info = verbs::uverbs::qp_open(
        channel(context), xrcd->handle, attr->qp_num, attr->qp_type, verbs::provider_api::user_handle(vqp),
        verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return creation_error(info.error());
    ibv_qp &qp = vqp->qp;
    qp.context = context;
    qp.qp_context = (attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0 ? attr->qp_context : nullptr;
    qp.pd = nullptr;
    qp.send_cq = nullptr;
    qp.recv_cq = nullptr;
    qp.srq = nullptr;
    qp.handle = info->handle;
    qp.qp_num = attr->qp_num;
    qp.state = IBV_QPS_UNKNOWN;
    qp.qp_type = attr->qp_type;
    qp.events_completed = 0;
    pthread_mutex_init(&qp.mutex, nullptr);
    pthread_cond_init(&qp.cond, nullptr);
    if (static_cast<size_t>(vqp_size) >= verbs::provider::layout(context).qp_xrcd + sizeof(void *))
        verbs::provider::qp_set_xrcd(*vqp, context, xrcd);
    verbs::provider_api::give_answer(resp, resp_size, answer(qp, {}));
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_open_qp);

VERBS_EXPORT int ibv_cmd_query_qp(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask, ibv_qp_init_attr *init_attr,
                                  struct ibv_query_qp *cmd, size_t cmd_size)
{
    constexpr int kKnown = (IBV_QP_RATE_LIMIT << 1) - 1;
    if ((attr_mask & ~kKnown) != 0)
        return EOPNOTSUPP;
    verbs::Status status =
        verbs::uverbs::qp_query(channel(qp->context), qp->handle, attr_mask, *attr, *init_attr,
                                verbs::provider_api::driver_data(cmd, cmd_size));
    if (!status)
        return status.error();
    init_attr->qp_context = qp->qp_context;
    init_attr->send_cq = qp->send_cq;
    init_attr->recv_cq = qp->recv_cq;
    init_attr->srq = qp->srq;
    init_attr->qp_type = qp->qp_type;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_query_qp);

VERBS_EXPORT int ibv_cmd_modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask, struct ibv_modify_qp *cmd,
                                   size_t cmd_size)
{
    constexpr int kPlainMask = (IBV_QP_DEST_QPN << 1) - 1;
    if ((attr_mask & ~kPlainMask) != 0)
        return EOPNOTSUPP;
    verbs::Status status = verbs::uverbs::qp_modify(channel(qp->context), qp->handle, *attr, attr_mask,
                                                    verbs::provider_api::driver_data(cmd, cmd_size));
    return status.error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_modify_qp);

VERBS_EXPORT int ibv_cmd_modify_qp_ex(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask,
                                      struct ibv_modify_qp_ex *cmd, size_t cmd_size,
                                      ib_uverbs_ex_modify_qp_resp *resp, size_t resp_size)
{
    ib_uverbs_ex_modify_qp_resp response;
    verbs::Status status =
        verbs::uverbs::qp_modify_ex(channel(qp->context), qp->handle, *attr, attr_mask, response,
                                    verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (status && resp != nullptr && resp_size >= sizeof *resp)
        *resp = response;
    return status.error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_modify_qp_ex);

VERBS_EXPORT int ibv_cmd_destroy_qp(ibv_qp *qp)
{
    ib_uverbs_destroy_qp_resp response;
    verbs::Status status = verbs::uverbs::qp_destroy(channel(qp->context), qp->handle, response);
    if (!status)
        return verbs::provider_api::destroy_error(status);
    verbs::provider_api::wait_for_acknowledgements(
        qp->mutex, qp->cond, [&] { return qp->events_completed == response.events_reported; });
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_qp);
