/* SPDX-License-Identifier: BSD-2-Clause */
/* What control verbs cost: each creates, changes or destroys objects through a provider that only passes commands on. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *datagram_qp, *raw_qp;
static char page[4096] __attribute__((aligned(4096)));

/* Objects of the measurement that is running. */
static void *objects[kTimes];

static void made(size_t i, void *object)
{
    objects[i] = object;
}

static void check(const char *what)
{
    for (size_t i = 0; i < kTimes; i++)
        need(objects[i] != NULL, what);
}

/* A pair of verbs: the first fills `objects`, the second empties it. Both run once before they count, since the first
 * call finds symbols and allocates what stays. */
static void measure_pair(const char *create_name, void (*create)(size_t i), const char *destroy_name,
                         void (*destroy)(size_t i))
{
    create(0);
    need(objects[0] != NULL, create_name);
    destroy(0);
    measure(create_name, create);
    check(create_name);
    measure(destroy_name, destroy);
}

#define DESTROY(name, type, call)          \
    static void name(size_t i)             \
    {                                      \
        type *object = (type *)objects[i]; \
        need((call) == 0, #name);          \
    }

static void alloc_pd(size_t i)
{
    made(i, ibv_alloc_pd(context));
}
DESTROY(dealloc_pd, struct ibv_pd, ibv_dealloc_pd(object))

static void reg_mr(size_t i)
{
    made(i, ibv_reg_mr(pd, page, sizeof page, IBV_ACCESS_LOCAL_WRITE));
}
DESTROY(dereg_mr, struct ibv_mr, ibv_dereg_mr(object))
static void rereg_mr(size_t i)
{
    need(ibv_rereg_mr(objects[i], IBV_REREG_MR_CHANGE_TRANSLATION, NULL, page, 2048, 0) == 0, "rereg_mr");
}

static void alloc_mw(size_t i)
{
    made(i, ibv_alloc_mw(pd, IBV_MW_TYPE_1));
}
DESTROY(dealloc_mw, struct ibv_mw, ibv_dealloc_mw(object))

static void create_cq(size_t i)
{
    made(i, ibv_create_cq(context, 16, NULL, NULL, 0));
}
DESTROY(destroy_cq, struct ibv_cq, ibv_destroy_cq(object))
static void create_cq_ex(size_t i)
{
    struct ibv_cq_init_attr_ex attr = {.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS};
    struct ibv_cq_ex *made_cq = ibv_create_cq_ex(context, &attr);
    made(i, made_cq != NULL ? ibv_cq_ex_to_cq(made_cq) : NULL);
}
static void resize_cq(size_t i)
{
    (void)i;
    need(ibv_resize_cq(cq, 64) == 0, "resize_cq");
}
static void modify_cq(size_t i)
{
    (void)i;
    struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE,
                                      .moderate = {.cq_count = 1, .cq_period = 1}};
    need(ibv_modify_cq(cq, &attr) == 0, "modify_cq");
}

static void create_comp_channel(size_t i)
{
    made(i, ibv_create_comp_channel(context));
}
DESTROY(destroy_comp_channel, struct ibv_comp_channel, ibv_destroy_comp_channel(object))

static void create_srq(size_t i)
{
    struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1}};
    made(i, ibv_create_srq(pd, &attr));
}
static void modify_srq(size_t i)
{
    struct ibv_srq_attr attr = {.srq_limit = 1};
    need(ibv_modify_srq(objects[i], &attr, IBV_SRQ_LIMIT) == 0, "modify_srq");
}
static void query_srq(size_t i)
{
    struct ibv_srq_attr attr;
    need(ibv_query_srq(objects[i], &attr) == 0, "query_srq");
}
DESTROY(destroy_srq, struct ibv_srq, ibv_destroy_srq(object))

static struct ibv_qp_init_attr qp_attr(enum ibv_qp_type type)
{
    return (struct ibv_qp_init_attr){
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = type};
}
static void create_qp(size_t i)
{
    struct ibv_qp_init_attr attr = qp_attr(IBV_QPT_RC);
    made(i, ibv_create_qp(pd, &attr));
}
static void create_qp_ex(size_t i)
{
    struct ibv_qp_init_attr_ex attr = {.send_cq = cq,
                                       .recv_cq = cq,
                                       .cap = {.max_send_wr = 8, .max_send_sge = 1},
                                       .qp_type = IBV_QPT_UD,
                                       .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
                                       .pd = pd,
                                       .create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB};
    made(i, ibv_create_qp_ex(context, &attr));
}
static void modify_qp(size_t i)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    need(ibv_modify_qp(objects[i], &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "modify_qp");
}
static void query_qp(size_t i)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    need(ibv_query_qp(objects[i], &attr, IBV_QP_STATE, &init) == 0, "query_qp");
}
DESTROY(destroy_qp, struct ibv_qp, ibv_destroy_qp(object))

static void create_ah(size_t i)
{
    struct ibv_ah_attr attr = {
        .is_global = 1, .grh = {.dgid = {.raw = {0xfe, 0x80, [15] = 1}}}, .port_num = 1};
    made(i, ibv_create_ah(pd, &attr));
}
DESTROY(destroy_ah, struct ibv_ah, ibv_destroy_ah(object))

static const union ibv_gid group = {.raw = {0xff, 0x0e, [15] = 1}};
static void attach_mcast(size_t i)
{
    need(ibv_attach_mcast(datagram_qp, &group, (uint16_t)(0xc000 + i)) == 0, "attach_mcast");
}
static void detach_mcast(size_t i)
{
    need(ibv_detach_mcast(datagram_qp, &group, (uint16_t)(0xc000 + i)) == 0, "detach_mcast");
}

static void create_wq(size_t i)
{
    struct ibv_wq_init_attr attr = {.wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1, .pd = pd, .cq = cq};
    made(i, ibv_create_wq(context, &attr));
}
static void modify_wq(size_t i)
{
    struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
    need(ibv_modify_wq(objects[i], &attr) == 0, "modify_wq");
}
DESTROY(destroy_wq, struct ibv_wq, ibv_destroy_wq(object))

static void open_xrcd(size_t i)
{
    struct ibv_xrcd_init_attr attr = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
    made(i, ibv_open_xrcd(context, &attr));
}
DESTROY(close_xrcd, struct ibv_xrcd, ibv_close_xrcd(object))

static void create_flow(size_t i)
{
    /* Without padding: each specification follows the one before. */
    struct {
        struct ibv_flow_attr attr;
        struct ibv_flow_spec_eth eth;
        struct ibv_flow_spec_ipv4 ipv4;
    } flow = {.attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof flow, .num_of_specs = 2, .port = 1},
              .eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof flow.eth},
              .ipv4 = {.type = IBV_FLOW_SPEC_IPV4, .size = sizeof flow.ipv4}};
    made(i, ibv_create_flow(raw_qp, &flow.attr));
}
DESTROY(destroy_flow, struct ibv_flow, ibv_destroy_flow(object))

static void create_counters(size_t i)
{
    struct ibv_counters_init_attr attr = {.comp_mask = 0};
    made(i, ibv_create_counters(context, &attr));
}
static void read_counters(size_t i)
{
    uint64_t values[2];
    need(ibv_read_counters(objects[i], values, 2, 0) == 0, "read_counters");
}
DESTROY(destroy_counters, struct ibv_counters, ibv_destroy_counters(object))

static void alloc_dm(size_t i)
{
    struct ibv_alloc_dm_attr attr = {.length = 4096};
    made(i, ibv_alloc_dm(context, &attr));
}
DESTROY(free_dm, struct ibv_dm, ibv_free_dm(object))

static void query_device(size_t i)
{
    (void)i;
    struct ibv_device_attr attr;
    need(ibv_query_device(context, &attr) == 0, "query_device");
}
static void query_device_ex(size_t i)
{
    (void)i;
    struct ibv_device_attr_ex attr;
    need(ibv_query_device_ex(context, NULL, &attr) == 0, "query_device_ex");
}
static void query_port(size_t i)
{
    (void)i;
    struct ibv_port_attr attr;
    need(ibv_query_port(context, 1, &attr) == 0, "query_port");
}
static void query_gid(size_t i)
{
    (void)i;
    union ibv_gid gid;
    need(ibv_query_gid(context, 1, 0, &gid) == 0, "query_gid");
}
static void query_gid_ex(size_t i)
{
    (void)i;
    struct ibv_gid_entry entry;
    need(ibv_query_gid_ex(context, 1, 0, &entry, 0) == 0, "query_gid_ex");
}
static void query_gid_table(size_t i)
{
    (void)i;
    struct ibv_gid_entry entries[8];
    need(ibv_query_gid_table(context, entries, 8, 0) >= 0, "query_gid_table");
}
static void query_pkey(size_t i)
{
    (void)i;
    __be16 pkey;
    need(ibv_query_pkey(context, 1, 0, &pkey) == 0, "query_pkey");
}
static void open_device(size_t i)
{
    made(i, ibv_open_device(context->device));
}
DESTROY(close_device, struct ibv_context, ibv_close_device(object))

_Static_assert(sizeof(struct ibv_flow_spec_eth) % 4 == 0 && sizeof(struct ibv_flow_attr) % 4 == 0, "");

int main(void)
{
    context = open_named("relay0");
    pd = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, 64, NULL, NULL, 0);
    need(pd != NULL && cq != NULL, "setting up");
    struct ibv_qp_init_attr attr = qp_attr(IBV_QPT_UD);
    datagram_qp = ibv_create_qp(pd, &attr);
    attr = qp_attr(IBV_QPT_RAW_PACKET);
    raw_qp = ibv_create_qp(pd, &attr);
    need(datagram_qp != NULL && raw_qp != NULL, "setting up queue pairs");

    measure_pair("open_device", open_device, "close_device", close_device);
    measure_warm("query_device", query_device);
    measure_warm("query_device_ex", query_device_ex);
    measure_warm("query_port", query_port);
    measure_warm("query_gid", query_gid);
    measure_warm("query_gid_ex", query_gid_ex);
    measure_warm("query_gid_table", query_gid_table);
    measure_warm("query_pkey", query_pkey);
    measure_pair("alloc_pd", alloc_pd, "dealloc_pd", dealloc_pd);
    measure_pair("reg_mr", reg_mr, "dereg_mr", dereg_mr);
    for (size_t i = 0; i < kTimes; i++)
        reg_mr(i);
    measure_warm("rereg_mr", rereg_mr);
    for (size_t i = 0; i < kTimes; i++)
        dereg_mr(i);
    measure_pair("alloc_mw", alloc_mw, "dealloc_mw", dealloc_mw);
    measure_pair("alloc_dm", alloc_dm, "free_dm", free_dm);
    measure_pair("create_cq", create_cq, "destroy_cq", destroy_cq);
    measure_pair("create_cq_ex", create_cq_ex, "destroy_cq (extended)", destroy_cq);
    measure_warm("resize_cq", resize_cq);
    measure_warm("modify_cq", modify_cq);
    measure_pair("create_comp_channel", create_comp_channel, "destroy_comp_channel", destroy_comp_channel);
    measure_pair("create_srq", create_srq, "destroy_srq", destroy_srq);
    for (size_t i = 0; i < kTimes; i++)
        create_srq(i);
    measure_warm("modify_srq", modify_srq);
    measure_warm("query_srq", query_srq);
    for (size_t i = 0; i < kTimes; i++)
        destroy_srq(i);
    measure_pair("create_qp", create_qp, "destroy_qp", destroy_qp);
    measure_pair("create_qp_ex", create_qp_ex, "destroy_qp (extended)", destroy_qp);
    for (size_t i = 0; i < kTimes; i++)
        create_qp(i);
    measure_warm("modify_qp", modify_qp);
    measure_warm("query_qp", query_qp);
    for (size_t i = 0; i < kTimes; i++)
        destroy_qp(i);
    measure_pair("create_ah", create_ah, "destroy_ah", destroy_ah);
    attach_mcast(kTimes);
    detach_mcast(kTimes);
    measure("attach_mcast", attach_mcast);
    measure("detach_mcast", detach_mcast);
    measure_pair("create_wq", create_wq, "destroy_wq", destroy_wq);
    for (size_t i = 0; i < kTimes; i++)
        create_wq(i);
    measure_warm("modify_wq", modify_wq);
    for (size_t i = 0; i < kTimes; i++)
        destroy_wq(i);
    measure_pair("open_xrcd", open_xrcd, "close_xrcd", close_xrcd);
    measure_pair("create_flow", create_flow, "destroy_flow", destroy_flow);
    measure_pair("create_counters", create_counters, "destroy_counters", destroy_counters);
    for (size_t i = 0; i < kTimes; i++)
        create_counters(i);
    measure_warm("read_counters", read_counters);
    return 0;
}
