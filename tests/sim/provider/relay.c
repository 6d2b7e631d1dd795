/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A provider without a device of its own: each op hands its arguments to the ibv_cmd_* function of the same name, with
 * driver's data on both sides, so that a verb's command can be looked at on any library. Built twice, for provider ABI
 * 34 (the stock library's and, as a foreign plugin, ours) and for our own.
 */
#ifdef RELAY_34
#include "driver_34.h"
#else
#include <infiniband/driver.h>
#endif

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <string.h>

/* What the driver's part of a request holds, and of an answer before it is given. */
enum { kRequestByte = 0xd1, kAnswerByte = 0xe1, kDriverBytes = 8 };
enum { kHeader = sizeof(struct ib_uverbs_cmd_hdr) };
enum { kExtendedHeader = kHeader + sizeof(struct ib_uverbs_ex_cmd_hdr) };

/* A command is bytes here: a header and a core part, which the library fills, and the driver's. */
#define BYTES(name, size, byte)                                  \
    union {                                                      \
        unsigned char bytes[(size) + kDriverBytes];              \
        uint64_t aligned;                                        \
    } name##_storage;                                            \
    memset(name##_storage.bytes, 0, (size));                     \
    memset(name##_storage.bytes + (size), (byte), kDriverBytes); \
    void *const name = name##_storage.bytes;                     \
    const size_t name##_size = sizeof name##_storage.bytes
#define REQUEST(core) BYTES(request, kHeader + sizeof(struct core), kRequestByte)
#define REQUEST_EX(core) BYTES(request, kExtendedHeader + sizeof(struct core), kRequestByte)
#define ANSWER(core) BYTES(answer, sizeof(struct core), kAnswerByte)

/* A zeroed object of the provider's, or NULL and errno. */
#define NEW(type, object)                                  \
    struct type *const object = calloc(1, sizeof *object); \
    if (object == NULL)                                    \
    return NULL

/* Gives back what a failed command leaves, and tells why. */
static void *unmade(void *object, int error)
{
    free(object);
    errno = error;
    return NULL;
}
#define MADE(object, shown, error)                                 \
    do {                                                           \
        int error_ = (error);                                      \
        return error_ == 0 ? (shown) : unmade((object), (error_)); \
    } while (0)

/* Frees an object whose command went well. */
static int gone(void *object, int error)
{
    if (error == 0)
        free(object);
    return error;
}

/* ---- device and port ---- */

/* Without printf, which would be most of what the verb costs. */
static char *put_number(char *to, uint64_t number, unsigned base)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    while (count != 0)
        *to++ = digits[--count];
    return to;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t attr_size)
{
    ANSWER(ib_uverbs_ex_query_device_resp);
    size_t size = answer_size;
    int error = ibv_cmd_query_device_any(context, input, attr, attr_size, answer, &size);
    /* The kernel's number, and how much of the answer is said to be there. */
    if (error == 0) {
        char *end = attr->orig_attr.fw_ver;
        end = put_number(end, ((struct ib_uverbs_ex_query_device_resp *)answer)->base.fw_ver, 16);
        end = stpcpy(end, " of ");
        end = put_number(end, size, 10);
        strcpy(end, " bytes");
    }
    return error;
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr)
{
    struct {
        uint64_t words[3];
    } request;
    return ibv_cmd_query_port(context, port_num, attr, (void *)&request, sizeof request);
}

/* ---- protection domains ---- */

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
    NEW(ibv_pd, pd);
    REQUEST(ib_uverbs_alloc_pd);
    ANSWER(ib_uverbs_alloc_pd_resp);
    MADE(pd, pd, ibv_cmd_alloc_pd(context, pd, request, request_size, answer, answer_size));
}

static int dealloc_pd(struct ibv_pd *pd)
{
    return gone(pd, ibv_cmd_dealloc_pd(pd));
}

static struct ibv_pd *import_pd(struct ibv_context *context, uint32_t handle)
{
    NEW(ibv_pd, pd);
    pd->context = context;
    pd->handle = handle;
    return pd;
}

static void unimport_pd(struct ibv_pd *pd)
{
    free(pd);
}

/* ---- memory ---- */

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    NEW(verbs_mr, mr);
    REQUEST(ib_uverbs_reg_mr);
    ANSWER(ib_uverbs_reg_mr_resp);
    MADE(mr, &mr->ibv_mr,
         ibv_cmd_reg_mr(pd, addr, length, iova, access, mr, request, request_size, answer, answer_size));
}

static int rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
    REQUEST(ib_uverbs_rereg_mr);
    ANSWER(ib_uverbs_rereg_mr_resp);
    return ibv_cmd_rereg_mr(mr, (uint32_t)flags, addr, length, (uintptr_t)addr, access, pd, request,
                            request_size, answer, answer_size);
}

static int dereg_mr(struct verbs_mr *mr)
{
    return gone(mr, mr->mr_type == IBV_MR_TYPE_NULL_MR ? 0 : ibv_cmd_dereg_mr(mr));
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                     struct ibv_sge *list, uint32_t count)
{
    return ibv_cmd_advise_mr(pd, advice, flags, list, count);
}

/* No command: the key is the device's own, as it is with hardware that has null memory. */
static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
    NEW(verbs_mr, mr);
    mr->ibv_mr.pd = pd;
    mr->ibv_mr.context = pd->context;
    mr->ibv_mr.lkey = 0x101;
    mr->mr_type = IBV_MR_TYPE_NULL_MR;
    return &mr->ibv_mr;
}

static struct ibv_mr *reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                    int access)
{
    NEW(verbs_mr, mr);
#ifdef RELAY_34
    MADE(mr, &mr->ibv_mr, ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr));
#else
    MADE(mr, &mr->ibv_mr, ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr, NULL));
#endif
}

static struct ibv_mr *import_mr(struct ibv_pd *pd, uint32_t handle)
{
    NEW(verbs_mr, mr);
    MADE(mr, &mr->ibv_mr, ibv_cmd_query_mr(pd, mr, handle));
}

static void unimport_mr(struct ibv_mr *mr)
{
    free(mr);
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    NEW(verbs_dm, dm);
    MADE(dm, &dm->dm, ibv_cmd_alloc_dm(context, attr, dm, NULL));
}

static int free_dm(struct ibv_dm *dm)
{
    return gone(dm, ibv_cmd_free_dm((struct verbs_dm *)dm));
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
                                unsigned int access)
{
    NEW(verbs_mr, mr);
    MADE(mr, &mr->ibv_mr, ibv_cmd_reg_dm_mr(pd, (struct verbs_dm *)dm, offset, length, access, mr, NULL));
}

static struct ibv_dm *import_dm(struct ibv_context *context, uint32_t handle)
{
    NEW(verbs_dm, dm);
    dm->dm.context = context;
    dm->handle = handle;
    dm->dm.handle = handle;
    return &dm->dm;
}

static void unimport_dm(struct ibv_dm *dm)
{
    free(dm);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    NEW(ibv_mw, mw);
    REQUEST(ib_uverbs_alloc_mw);
    ANSWER(ib_uverbs_alloc_mw_resp);
    MADE(mw, mw, ibv_cmd_alloc_mw(pd, type, mw, request, request_size, answer, answer_size));
}

static int dealloc_mw(struct ibv_mw *mw)
{
    return gone(mw, ibv_cmd_dealloc_mw(mw));
}

/* ---- completion queues ---- */

static struct ibv_cq *create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
                                int comp_vector)
{
    NEW(verbs_cq, cq);
    REQUEST(ib_uverbs_create_cq);
    ANSWER(ib_uverbs_create_cq_resp);
    MADE(cq, &cq->cq,
         ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->cq, request, request_size, answer,
                           answer_size));
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    NEW(verbs_cq, cq);
    REQUEST_EX(ib_uverbs_ex_create_cq);
    ANSWER(ib_uverbs_ex_create_cq_resp);
#ifdef RELAY_34
    MADE(cq, &cq->cq_ex,
         ibv_cmd_create_cq_ex(context, attr, cq, request, request_size, answer, answer_size, 0));
#else
    MADE(cq, &cq->cq_ex,
         ibv_cmd_create_cq_ex(context, attr, NULL, cq, request, request_size, answer, answer_size, 0));
#endif
}

static int resize_cq(struct ibv_cq *cq, int cqe)
{
    REQUEST(ib_uverbs_resize_cq);
    ANSWER(ib_uverbs_resize_cq_resp);
    return ibv_cmd_resize_cq(cq, cqe, request, request_size, answer, answer_size);
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
    REQUEST_EX(ib_uverbs_ex_modify_cq);
    return ibv_cmd_modify_cq(cq, attr, request, request_size);
}

static int destroy_cq(struct ibv_cq *cq)
{
    return gone(cq, ibv_cmd_destroy_cq(cq));
}

/* ---- shared receive queues ---- */

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    NEW(verbs_srq, srq);
    REQUEST(ib_uverbs_create_srq);
    ANSWER(ib_uverbs_create_srq_resp);
    MADE(srq, &srq->srq, ibv_cmd_create_srq(pd, &srq->srq, attr, request, request_size, answer, answer_size));
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    NEW(verbs_srq, srq);
    REQUEST(ib_uverbs_create_xsrq);
    ANSWER(ib_uverbs_create_srq_resp);
    MADE(srq, &srq->srq,
         ibv_cmd_create_srq_ex(context, srq, attr, request, request_size, answer, answer_size));
}

static int modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    REQUEST(ib_uverbs_modify_srq);
    return ibv_cmd_modify_srq(srq, attr, mask, request, request_size);
}

static int query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    REQUEST(ib_uverbs_query_srq);
    return ibv_cmd_query_srq(srq, attr, request, request_size);
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
    *number = ((struct verbs_srq *)srq)->srq_num;
    return 0;
}

static int destroy_srq(struct ibv_srq *srq)
{
    return gone(srq, ibv_cmd_destroy_srq(srq));
}

/* ---- queue pairs ---- */

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    NEW(verbs_qp, qp);
    REQUEST(ib_uverbs_create_qp);
    ANSWER(ib_uverbs_create_qp_resp);
    MADE(qp, &qp->qp, ibv_cmd_create_qp(pd, &qp->qp, attr, request, request_size, answer, answer_size));
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    NEW(verbs_qp, qp);
    const uint32_t plain = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    if ((attr->comp_mask & ~plain) == 0) {
        REQUEST(ib_uverbs_create_qp);
        ANSWER(ib_uverbs_create_qp_resp);
        MADE(qp, &qp->qp,
             ibv_cmd_create_qp_ex(context, qp, attr, request, request_size, answer, answer_size));
    }
    REQUEST_EX(ib_uverbs_ex_create_qp);
    ANSWER(ib_uverbs_ex_create_qp_resp);
#ifdef RELAY_34
    MADE(qp, &qp->qp, ibv_cmd_create_qp_ex2(context, qp, attr, request, request_size, answer, answer_size));
#else
    MADE(qp, &qp->qp,
         ibv_cmd_create_qp_ex2(context, qp, attr, request, request_size, answer, answer_size, NULL));
#endif
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
    NEW(verbs_qp, qp);
    REQUEST(ib_uverbs_open_qp);
    ANSWER(ib_uverbs_create_qp_resp);
    MADE(qp, &qp->qp,
         ibv_cmd_open_qp(context, qp, sizeof *qp, attr, request, request_size, answer, answer_size));
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    if ((mask & IBV_QP_RATE_LIMIT) != 0) {
        REQUEST_EX(ib_uverbs_ex_modify_qp);
        ANSWER(ib_uverbs_ex_modify_qp_resp);
        return ibv_cmd_modify_qp_ex(qp, attr, mask, request, request_size, answer, answer_size);
    }
    REQUEST(ib_uverbs_modify_qp);
    return ibv_cmd_modify_qp(qp, attr, mask, request, request_size);
}

static int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
    REQUEST(ib_uverbs_query_qp);
    return ibv_cmd_query_qp(qp, attr, mask, init, request, request_size);
}

static int destroy_qp(struct ibv_qp *qp)
{
    return gone(qp, ibv_cmd_destroy_qp(qp));
}

/* ---- address handles ---- */

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    NEW(ibv_ah, ah);
    ANSWER(ib_uverbs_create_ah_resp);
    MADE(ah, ah, ibv_cmd_create_ah(pd, ah, attr, answer, answer_size));
}

static int destroy_ah(struct ibv_ah *ah)
{
    return gone(ah, ibv_cmd_destroy_ah(ah));
}

/* ---- XRC domains ---- */

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    NEW(verbs_xrcd, xrcd);
    REQUEST(ib_uverbs_open_xrcd);
    ANSWER(ib_uverbs_open_xrcd_resp);
    MADE(xrcd, &xrcd->xrcd,
         ibv_cmd_open_xrcd(context, xrcd, sizeof *xrcd, attr, request, request_size, answer, answer_size));
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
    return gone(xrcd, ibv_cmd_close_xrcd((struct verbs_xrcd *)xrcd));
}

/* ---- work queues ---- */

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
    NEW(ibv_wq, wq);
    REQUEST_EX(ib_uverbs_ex_create_wq);
    ANSWER(ib_uverbs_ex_create_wq_resp);
    MADE(wq, wq, ibv_cmd_create_wq(context, attr, wq, request, request_size, answer, answer_size));
}

static int modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
    REQUEST_EX(ib_uverbs_ex_modify_wq);
    return ibv_cmd_modify_wq(wq, attr, request, request_size);
}

static int destroy_wq(struct ibv_wq *wq)
{
    return gone(wq, ibv_cmd_destroy_wq(wq));
}

static struct ibv_rwq_ind_table *create_rwq_ind_table(struct ibv_context *context,
                                                      struct ibv_rwq_ind_table_init_attr *attr)
{
    NEW(ibv_rwq_ind_table, table);
    ANSWER(ib_uverbs_ex_create_rwq_ind_table_resp);
    MADE(table, table, ibv_cmd_create_rwq_ind_table(context, attr, table, answer, answer_size));
}

static int destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
    return gone(table, ibv_cmd_destroy_rwq_ind_table(table));
}

/* ---- flows and counters ---- */

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    NEW(ibv_flow, flow);
    unsigned char driver[kDriverBytes];
    memset(driver, kRequestByte, sizeof driver);
    MADE(flow, flow, ibv_cmd_create_flow(qp, flow, attr, driver, sizeof driver));
}

static int destroy_flow(struct ibv_flow *flow)
{
    return gone(flow, ibv_cmd_destroy_flow(flow));
}

static struct ibv_flow_action *create_flow_action_esp(struct ibv_context *context,
                                                      struct ibv_flow_action_esp_attr *attr)
{
    NEW(verbs_flow_action, action);
    MADE(action, &action->action, ibv_cmd_create_flow_action_esp(context, attr, action, NULL));
}

static int modify_flow_action_esp(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr)
{
    return ibv_cmd_modify_flow_action_esp((struct verbs_flow_action *)action, attr, NULL);
}

static int destroy_flow_action(struct ibv_flow_action *action)
{
    return gone(action, ibv_cmd_destroy_flow_action((struct verbs_flow_action *)action));
}

static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
    NEW(verbs_counters, counters);
    MADE(counters, &counters->counters, ibv_cmd_create_counters(context, attr, counters, NULL));
}

static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags)
{
    return ibv_cmd_read_counters((struct verbs_counters *)counters, values, count, flags, NULL);
}

static int destroy_counters(struct ibv_counters *counters)
{
    return gone(counters, ibv_cmd_destroy_counters((struct verbs_counters *)counters));
}

/* ---- contexts ---- */

struct relay_context {
    struct verbs_context vctx;
};

static void free_context(struct ibv_context *context)
{
    struct relay_context *relay =
        (struct relay_context *)((char *)context - offsetof(struct relay_context, vctx.context));
    verbs_uninit_context(&relay->vctx);
    free(relay);
}

static const struct verbs_context_ops ops = {
    .advise_mr = advise_mr,
    .alloc_dm = alloc_dm,
    .alloc_mw = alloc_mw,
    .alloc_null_mr = alloc_null_mr,
    .alloc_pd = alloc_pd,
    .attach_mcast = ibv_cmd_attach_mcast,
    .close_xrcd = close_xrcd,
    .create_ah = create_ah,
    .create_counters = create_counters,
    .create_cq = create_cq,
    .create_cq_ex = create_cq_ex,
    .create_flow = create_flow,
    .create_flow_action_esp = create_flow_action_esp,
    .create_qp = create_qp,
    .create_qp_ex = create_qp_ex,
    .create_rwq_ind_table = create_rwq_ind_table,
    .create_srq = create_srq,
    .create_srq_ex = create_srq_ex,
    .create_wq = create_wq,
    .dealloc_mw = dealloc_mw,
    .dealloc_pd = dealloc_pd,
    .dereg_mr = dereg_mr,
    .destroy_ah = destroy_ah,
    .destroy_counters = destroy_counters,
    .destroy_cq = destroy_cq,
    .destroy_flow = destroy_flow,
    .destroy_flow_action = destroy_flow_action,
    .destroy_qp = destroy_qp,
    .destroy_rwq_ind_table = destroy_rwq_ind_table,
    .destroy_srq = destroy_srq,
    .destroy_wq = destroy_wq,
    .detach_mcast = ibv_cmd_detach_mcast,
    .free_context = free_context,
    .free_dm = free_dm,
    .get_srq_num = get_srq_num,
    .import_dm = import_dm,
    .import_mr = import_mr,
    .import_pd = import_pd,
    .modify_cq = modify_cq,
    .modify_flow_action_esp = modify_flow_action_esp,
    .modify_qp = modify_qp,
    .modify_srq = modify_srq,
    .modify_wq = modify_wq,
    .open_qp = open_qp,
    .open_xrcd = open_xrcd,
    .poll_cq = ibv_cmd_poll_cq,
    .post_recv = ibv_cmd_post_recv,
    .post_send = ibv_cmd_post_send,
    .post_srq_recv = ibv_cmd_post_srq_recv,
    .query_device_ex = query_device_ex,
    .query_port = query_port,
    .query_qp = query_qp,
    .query_srq = query_srq,
    .read_counters = read_counters,
    .reg_dm_mr = reg_dm_mr,
    .reg_dmabuf_mr = reg_dmabuf_mr,
    .reg_mr = reg_mr,
    .req_notify_cq = ibv_cmd_req_notify_cq,
    .rereg_mr = rereg_mr,
    .resize_cq = resize_cq,
    .unimport_dm = unimport_dm,
    .unimport_mr = unimport_mr,
    .unimport_pd = unimport_pd,
};

/* The kernel's number of a driver that nobody has: the library does not look at it. */
enum { kDriverId = 0 };

static struct relay_context *new_context(struct ibv_device *device, int cmd_fd)
{
    struct relay_context *relay = _verbs_init_and_alloc_context(
        device, cmd_fd, sizeof *relay, (struct verbs_context *)offsetof(struct relay_context, vctx),
        kDriverId);
    if (relay != NULL)
        verbs_set_ops(&relay->vctx, &ops);
    return relay;
}

static struct verbs_context *opened(struct relay_context *relay, int error)
{
    if (error == 0)
        return &relay->vctx;
    verbs_uninit_context(&relay->vctx);
    return unmade(relay, error);
}

static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd, void *private_data)
{
    (void)private_data;
    struct relay_context *relay = new_context(device, cmd_fd);
    if (relay == NULL)
        return NULL;
    REQUEST(ib_uverbs_get_context);
    ANSWER(ib_uverbs_get_context_resp);
#ifdef RELAY_34
    return opened(relay, ibv_cmd_get_context(&relay->vctx, request, request_size, answer, answer_size));
#else
    return opened(relay, ibv_cmd_get_context(&relay->vctx, request, request_size, NULL, answer, answer_size));
#endif
}

static struct verbs_context *import_context(struct ibv_device *device, int cmd_fd)
{
    struct relay_context *relay = new_context(device, cmd_fd);
    if (relay == NULL)
        return NULL;
    return opened(relay, ibv_cmd_query_context(&relay->vctx.context, NULL));
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
    (void)sysfs_dev;
    return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device *device)
{
    free(device);
}

static const struct verbs_match_ent match_table[] = {
    {.u = {.modalias = "rdma_device:*Nrelay*"}, .kind = VERBS_MATCH_MODALIAS},
    {.kind = VERBS_MATCH_SENTINEL},
};

static const struct verbs_device_ops device_ops = {
    .name = "relay",
    .match_min_abi_version = 1,
    .match_max_abi_version = 1,
    .match_table = match_table,
    .alloc_context = alloc_context,
    .import_context = import_context,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

static __attribute__((constructor)) void register_provider(void)
{
#ifdef RELAY_34
    verbs_register_driver_34(&device_ops);
#else
    verbs_register_driver_65(&device_ops);
#endif
}
