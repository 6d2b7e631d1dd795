/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows, flow actions, counters; and objects that are imported by their handle. */
#include <unistd.h>

#include "calls.h"

struct flow_with_specs {
    struct ibv_flow_attr attr;
    unsigned char specs[256];
};

static void add(struct flow_with_specs *flow, const void *spec, size_t size)
{
    memcpy((char *)&flow->attr + flow->attr.size, spec, size);
    flow->attr.size = (uint16_t)(flow->attr.size + size);
    flow->attr.num_of_specs++;
}

static void flow_call(struct ibv_qp *qp, const char *label, struct flow_with_specs *flow)
{
    struct ibv_flow *made;
    call("create_flow %s", label);
    OBJECT(made, ibv_create_flow(qp, &flow->attr));
    call("destroy_flow %s", label);
    DESTROY(made, ibv_destroy_flow(made));
}

static void one_spec(struct ibv_qp *qp, const char *label, const void *spec, size_t size)
{
    struct flow_with_specs flow = {
        .attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof flow.attr, .port = 1}};
    add(&flow, spec, size);
    flow_call(qp, label, &flow);
}
#define ONE_SPEC(label, ...)                     \
    do {                                         \
        __VA_ARGS__;                             \
        spec.size = sizeof spec;                 \
        one_spec(qp, label, &spec, sizeof spec); \
    } while (0)

static void spec_calls(struct ibv_qp *qp, struct ibv_flow_action *action, struct ibv_counters *counters)
{
    ONE_SPEC("eth", struct ibv_flow_spec_eth spec = {.type = IBV_FLOW_SPEC_ETH};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("eth inner", struct ibv_flow_spec_eth spec = {.type = (enum ibv_flow_spec_type)(
                                                               IBV_FLOW_SPEC_ETH | IBV_FLOW_SPEC_INNER)};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("ipv4", struct ibv_flow_spec_ipv4 spec = {.type = IBV_FLOW_SPEC_IPV4};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("ipv4_ext", struct ibv_flow_spec_ipv4_ext spec = {.type = IBV_FLOW_SPEC_IPV4_EXT};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("ipv6", struct ibv_flow_spec_ipv6 spec = {.type = IBV_FLOW_SPEC_IPV6};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("esp", struct ibv_flow_spec_esp spec = {.type = IBV_FLOW_SPEC_ESP};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("tcp", struct ibv_flow_spec_tcp_udp spec = {.type = IBV_FLOW_SPEC_TCP};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("udp", struct ibv_flow_spec_tcp_udp spec = {.type = IBV_FLOW_SPEC_UDP};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("gre", struct ibv_flow_spec_gre spec = {.type = IBV_FLOW_SPEC_GRE};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("mpls", struct ibv_flow_spec_mpls spec = {.type = IBV_FLOW_SPEC_MPLS};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("vxlan", struct ibv_flow_spec_tunnel spec = {.type = IBV_FLOW_SPEC_VXLAN_TUNNEL};
             memset(&spec.val, 0x11, sizeof spec.val); memset(&spec.mask, 0x22, sizeof spec.mask));
    ONE_SPEC("tag", struct ibv_flow_spec_action_tag spec = {.type = IBV_FLOW_SPEC_ACTION_TAG, .tag_id = 77});
    ONE_SPEC("drop", struct ibv_flow_spec_action_drop spec = {.type = IBV_FLOW_SPEC_ACTION_DROP});
    if (action != NULL)
        ONE_SPEC("action", struct ibv_flow_spec_action_handle spec = {.type = IBV_FLOW_SPEC_ACTION_HANDLE,
                                                                      .action = action});
    if (counters != NULL)
        ONE_SPEC("count", struct ibv_flow_spec_counter_action spec = {.type = IBV_FLOW_SPEC_ACTION_COUNT,
                                                                      .counters = counters});
    ONE_SPEC("unknown", struct ibv_flow_spec_eth spec = {.type = (enum ibv_flow_spec_type)0x2f});
}

void calls_flow(void)
{
    struct ibv_cq *cq = ibv_create_cq(context, 10, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .cap = {.max_recv_wr = 4, .max_recv_sge = 1},
                                    .qp_type = IBV_QPT_RAW_PACKET};
    struct ibv_qp *qp = cq != NULL ? ibv_create_qp(pd, &init) : NULL;
    if (qp == NULL) {
        CLEAN(cq, ibv_destroy_cq(cq));
        return;
    }

    struct ibv_flow_action_esp esp = {.spi = 0x1234, .seq = 5, .flags = 0, .hard_limit_pkts = 1000};
    struct ibv_flow_action_esp_keymat_aes_gcm key = {
        .iv = 1, .iv_algo = 0, .salt = 3, .icv_len = 16, .key_len = 32};
    memset(key.aes_key, 0x77, sizeof key.aes_key);
    struct ibv_flow_action_esp_attr esp_attr = {.esp_attr = &esp,
                                                .keymat_proto = IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
                                                .keymat_len = sizeof key,
                                                .keymat_ptr = &key,
                                                .replay_proto = IBV_FLOW_ACTION_ESP_REPLAY_NONE,
                                                .comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN,
                                                .esn = 9};
    struct ibv_flow_action *action;
    call("create_flow_action_esp");
    OBJECT(action, ibv_create_flow_action_esp(context, &esp_attr));
    call("modify_flow_action_esp");
    IF(action, ibv_modify_flow_action_esp(action, &esp_attr));
    struct ibv_flow_action_esp_attr unknown = esp_attr;
    unknown.comp_mask = 1U << 9;
    struct ibv_flow_action *none;
    call("create_flow_action_esp unknown comp_mask");
    OBJECT(none, ibv_create_flow_action_esp(context, &unknown));
    CLEAN(none, ibv_destroy_flow_action(none));

    struct ibv_counters_init_attr counters_attr = {.comp_mask = 0};
    struct ibv_counters *counters = ibv_create_counters(context, &counters_attr);
    spec_calls(qp, action, counters);

    for (int type = 0; type <= 4; type++) {
        struct flow_with_specs flow = {
            .attr = {
                .type = (enum ibv_flow_attr_type)type, .size = sizeof flow.attr, .port = 1, .priority = 3}};
        char label[32];
        snprintf(label, sizeof label, "type %d", type);
        flow_call(qp, label, &flow);
    }
    struct flow_with_specs flow = {
        .attr = {.size = sizeof flow.attr, .port = 1, .flags = IBV_FLOW_ATTR_FLAGS_EGRESS}};
    struct ibv_flow_spec_eth eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof eth};
    struct ibv_flow_spec_ipv4 ipv4 = {.type = IBV_FLOW_SPEC_IPV4, .size = sizeof ipv4};
    struct ibv_flow_spec_tcp_udp udp = {.type = IBV_FLOW_SPEC_UDP, .size = sizeof udp};
    add(&flow, &eth, sizeof eth);
    add(&flow, &ipv4, sizeof ipv4);
    add(&flow, &udp, sizeof udp);
    flow_call(qp, "three specs, egress", &flow);
    flow.attr.flags = 1U << 20;
    flow_call(qp, "unknown flag", &flow);
    flow.attr.flags = 0;
    flow.attr.port = 99;
    flow_call(qp, "port 99", &flow);

    call("destroy_flow_action");
    DESTROY(action, ibv_destroy_flow_action(action));
    CLEAN(counters, ibv_destroy_counters(counters));
    CLEAN(qp, ibv_destroy_qp(qp));
    CLEAN(cq, ibv_destroy_cq(cq));
}

void calls_counters(void)
{
    struct ibv_counters_init_attr attr = {.comp_mask = 0};
    struct ibv_counters *counters;
    call("create_counters");
    OBJECT(counters, ibv_create_counters(context, &attr));
    if (counters != NULL) {
        uint64_t values[4] = {0};
        call("read_counters");
        ANSWER(ibv_read_counters(counters, values, 4, 0));
        call("read_counters cached");
        ANSWER(ibv_read_counters(counters, values, 1, IBV_READ_COUNTERS_ATTR_PREFER_CACHED));
        call("read_counters none");
        ANSWER(ibv_read_counters(counters, values, 0, 0));
        call("read_counters unknown flag");
        ANSWER(ibv_read_counters(counters, values, 1, 1U << 10));
        call("destroy_counters");
        DESTROY(counters, ibv_destroy_counters(counters));
    }
    attr.comp_mask = 1;
    call("create_counters unknown comp_mask");
    OBJECT(counters, ibv_create_counters(context, &attr));
}

void calls_import(void)
{
    struct ibv_mr *mr = ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE);
    int copy = dup(context->cmd_fd);
    struct ibv_context *imported;
    call("import_device");
    OBJECT(imported, ibv_import_device(copy));
    if (imported != NULL) {
        struct ibv_pd *imported_pd;
        call("import_pd");
        OBJECT(imported_pd, ibv_import_pd(imported, pd->handle));
        struct ibv_mr *imported_mr;
        call("import_mr");
        OBJECT(imported_mr,
               imported_pd != NULL && mr != NULL ? ibv_import_mr(imported_pd, mr->handle) : NULL);
        if (imported_mr != NULL) {
            field("length", imported_mr->length);
            field("keys", imported_mr->lkey == mr->lkey && imported_mr->rkey == mr->rkey);
            field("addr", (uintptr_t)imported_mr->addr);
            ibv_unimport_mr(imported_mr);
        }
        call("import_mr of no region");
        OBJECT(imported_mr, imported_pd != NULL ? ibv_import_mr(imported_pd, 9999) : NULL);
        if (imported_pd != NULL)
            ibv_unimport_pd(imported_pd);
        call("close_device imported");
        DESTROY(imported, ibv_close_device(imported));
    }
    close(copy);
    call("import_device of a file that is none");
    OBJECT(imported, ibv_import_device(0));
    call("import_device of no file");
    OBJECT(imported, ibv_import_device(-1));
    CLEAN(mr, ibv_dereg_mr(mr));
}
