// SPDX-License-Identifier: BSD-2-Clause
// The verb behind each op of foreign provider ABIs, called with objects that the test makes up.
#include "verbs.hh"

#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <cstring>

#include "fake_kernel.h"

namespace verbs::test {
namespace {

intptr_t pointer(const void *object)
{
    return reinterpret_cast<intptr_t>(object);
}

char some_memory[4096];
ibv_gid gid;

intptr_t async_event(Objects &objects)
{
    ib_uverbs_async_event_desc kernel = {};
    kernel.event_type = IBV_EVENT_PORT_ACTIVE;
    return write(fake_kernel_async_events_of(objects.context->async_fd), &kernel, sizeof kernel) ==
                   sizeof kernel
               ? 0
               : -1;
}

}  // namespace

Objects::Objects(ibv_context *of)
    : context(of),
      mr(reinterpret_cast<ibv_mr *>(mr_memory_)),
      cq(ibv_cq_ex_to_cq(&cq_ex)),
      qp(reinterpret_cast<ibv_qp *>(qp_memory_)),
      srq(reinterpret_cast<ibv_srq *>(srq_memory_))
{
    pd.context = td.context = mr->context = mw.context = dm.context = channel.context = cq->context = of;
    qp->context = srq->context = wq.context = table.context = ah.context = xrcd.context = of;
    flow.context = action.context = counters.context = dmah.context = of;
    buf.pd = &pd;
    mr->pd = mw.pd = qp->pd = srq->pd = ah.pd = &pd;
    mr->addr = some_memory;
    mr->length = sizeof some_memory;
    mw.type = IBV_MW_TYPE_1;
}

#define NUMBER(op, ...)                                                           \
    {                                                                             \
#op, Answer::kNumber, [](Objects & o) -> intptr_t { return __VA_ARGS__; } \
    }
#define POINTER(op, ...)                                                        \
    {                                                                           \
#op, Answer::kPointer, [](Objects & o) { return pointer(__VA_ARGS__); } \
    }
#define NOTHING(op, ...)                                                      \
    {                                                                         \
#op, Answer::kNothing, [](Objects & o) -> intptr_t { __VA_ARGS__; return 0; } \
    }

const Verb kVerbs[82] = {
    NUMBER(advise_mr, ibv_advise_mr(&o.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, nullptr, 0)),
    {"alloc_buf", Answer::kPointer,
     [](Objects &o) {
         ibv_buf *buf = nullptr;
         return pointer(ibv_alloc_buf(&o.pd, 4096, &buf));
     }},
    {"alloc_dm", Answer::kPointer,
     [](Objects &o) {
         ibv_alloc_dm_attr attr = {};
         return pointer(ibv_alloc_dm(o.context, &attr));
     }},
    {"alloc_dmah", Answer::kPointer,
     [](Objects &o) {
         ibv_dmah_init_attr attr = {};
         return pointer(ibv_alloc_dmah(o.context, &attr));
     }},
    POINTER(alloc_mw, ibv_alloc_mw(&o.pd, IBV_MW_TYPE_2)),
    POINTER(alloc_null_mr, ibv_alloc_null_mr(&o.pd)),
    {"alloc_parent_domain", Answer::kPointer,
     [](Objects &o) {
         ibv_parent_domain_init_attr attr = {};
         attr.pd = &o.pd;
         return pointer(ibv_alloc_parent_domain(o.context, &attr));
     }},
    POINTER(alloc_pd, ibv_alloc_pd(o.context)),
    {"alloc_td", Answer::kPointer,
     [](Objects &o) {
         ibv_td_init_attr attr = {};
         return pointer(ibv_alloc_td(o.context, &attr));
     }},
    {"async_event", Answer::kNothing,
     [](Objects &o) -> intptr_t {
         ibv_async_event event;
         return async_event(o) != 0 || ibv_get_async_event(o.context, &event) != 0 ||
                event.event_type != IBV_EVENT_PORT_ACTIVE;
     }},
    NUMBER(attach_counters_point_flow, ibv_attach_counters_point_flow(&o.counters, nullptr, &o.flow)),
    NUMBER(attach_mcast, ibv_attach_mcast(o.qp, &gid, 0)),
    {"bind_mw", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         ibv_mw_bind bind = {};
         return ibv_bind_mw(o.qp, &o.mw, &bind);
     }},
    NUMBER(close_xrcd, ibv_close_xrcd(&o.xrcd)),
    {"cq_event", Answer::kNothing,
     [](Objects &o) -> intptr_t {
         int ends[2];
         if (pipe(ends) != 0)
             return -1;
         ib_uverbs_comp_event_desc kernel = {};
         kernel.cq_handle = reinterpret_cast<uintptr_t>(o.cq);
         ibv_cq *cq = nullptr;
         void *cq_context = nullptr;
         o.channel.fd = ends[0];
         bool ok = write(ends[1], &kernel, sizeof kernel) == sizeof kernel &&
                   ibv_get_cq_event(&o.channel, &cq, &cq_context) == 0 && cq == o.cq;
         close(ends[0]);
         close(ends[1]);
         return ok ? 0 : -1;
     }},
    {"create_ah", Answer::kPointer,
     [](Objects &o) {
         ibv_ah_attr attr = {};
         return pointer(ibv_create_ah(&o.pd, &attr));
     }},
    POINTER(create_counters, ibv_create_counters(o.context, nullptr)),
    POINTER(create_cq, ibv_create_cq(o.context, 1, nullptr, nullptr, 0)),
    {"create_cq_ex", Answer::kPointer,
     [](Objects &o) {
         ibv_cq_init_attr_ex attr = {};
         attr.cqe = 1;
         return pointer(ibv_create_cq_ex(o.context, &attr));
     }},
    POINTER(create_flow, ibv_create_flow(o.qp, nullptr)),
    POINTER(create_flow_action_esp, ibv_create_flow_action_esp(o.context, nullptr)),
    {"create_qp", Answer::kPointer,
     [](Objects &o) {
         ibv_qp_init_attr attr = {};
         return pointer(ibv_create_qp(&o.pd, &attr));
     }},
    {"create_qp_ex", Answer::kPointer,
     [](Objects &o) {
         ibv_qp_init_attr_ex attr = {};
         attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
         attr.pd = &o.pd;
         return pointer(ibv_create_qp_ex(o.context, &attr));
     }},
    POINTER(create_rwq_ind_table, ibv_create_rwq_ind_table(o.context, nullptr)),
    {"create_srq", Answer::kPointer,
     [](Objects &o) {
         ibv_srq_init_attr attr = {};
         return pointer(ibv_create_srq(&o.pd, &attr));
     }},
    {"create_srq_ex", Answer::kPointer,
     [](Objects &o) {
         ibv_srq_init_attr_ex attr = {};
         attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
         attr.srq_type = IBV_SRQT_XRC;
         attr.pd = &o.pd;
         return pointer(ibv_create_srq_ex(o.context, &attr));
     }},
    {"create_wq", Answer::kPointer,
     [](Objects &o) {
         ibv_wq_init_attr attr = {};
         return pointer(ibv_create_wq(o.context, &attr));
     }},
    NUMBER(dealloc_dmah, ibv_dealloc_dmah(&o.dmah)),
    NUMBER(dealloc_mw, ibv_dealloc_mw(&o.mw)),
    NUMBER(dealloc_pd, ibv_dealloc_pd(&o.pd)),
    NUMBER(dealloc_td, ibv_dealloc_td(&o.td)),
    NUMBER(dereg_mr, ibv_dereg_mr(o.mr)),
    NUMBER(destroy_ah, ibv_destroy_ah(&o.ah)),
    NUMBER(destroy_counters, ibv_destroy_counters(&o.counters)),
    NUMBER(destroy_cq, ibv_destroy_cq(o.cq)),
    NUMBER(destroy_flow, ibv_destroy_flow(&o.flow)),
    NUMBER(destroy_flow_action, ibv_destroy_flow_action(&o.action)),
    NUMBER(destroy_qp, ibv_destroy_qp(o.qp)),
    NUMBER(destroy_rwq_ind_table, ibv_destroy_rwq_ind_table(&o.table)),
    NUMBER(destroy_srq, ibv_destroy_srq(o.srq)),
    NUMBER(destroy_wq, ibv_destroy_wq(&o.wq)),
    NUMBER(detach_mcast, ibv_detach_mcast(o.qp, &gid, 0)),
    NUMBER(dm_export_dmabuf_fd, ibv_dm_export_dmabuf_fd(&o.dm)),
    NOTHING(free_buf, ibv_free_buf(&o.buf)),
    NUMBER(free_dm, ibv_free_dm(&o.dm)),
    {"get_srq_num", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         uint32_t number = 0;
         return ibv_get_srq_num(o.srq, &number);
     }},
    POINTER(import_dm, ibv_import_dm(o.context, 1)),
    POINTER(import_mr, ibv_import_mr(&o.pd, 1)),
    POINTER(import_pd, ibv_import_pd(o.context, 1)),
    NUMBER(modify_cq, ibv_modify_cq(o.cq, nullptr)),
    NUMBER(modify_flow_action_esp, ibv_modify_flow_action_esp(&o.action, nullptr)),
    {"modify_qp", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         ibv_qp_attr attr = {};
         return ibv_modify_qp(o.qp, &attr, IBV_QP_STATE);
     }},
    NUMBER(modify_qp_rate_limit, ibv_modify_qp_rate_limit(o.qp, nullptr)),
    NUMBER(modify_srq, ibv_modify_srq(o.srq, nullptr, 0)),
    NUMBER(modify_wq, ibv_modify_wq(&o.wq, nullptr)),
    POINTER(open_qp, ibv_open_qp(o.context, nullptr)),
    POINTER(open_xrcd, ibv_open_xrcd(o.context, nullptr)),
    NUMBER(poll_cq, ibv_poll_cq(o.cq, 1, nullptr)),
    NUMBER(post_recv, ibv_post_recv(o.qp, nullptr, nullptr)),
    NUMBER(post_send, ibv_post_send(o.qp, nullptr, nullptr)),
    NUMBER(post_srq_ops, ibv_post_srq_ops(o.srq, nullptr, nullptr)),
    NUMBER(post_srq_recv, ibv_post_srq_recv(o.srq, nullptr, nullptr)),
    {"query_device_ex", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         ibv_device_attr_ex attr = {};
         return ibv_query_device_ex(o.context, nullptr, &attr);
     }},
    NUMBER(query_ece, ibv_query_ece(o.qp, nullptr)),
    {"query_port", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         ibv_port_attr attr = {};
         return ibv_query_port(o.context, 1, &attr);
     }},
    {"query_port_speed", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         uint64_t speed = 0;
         return ibv_query_port_speed(o.context, 1, &speed);
     }},
    {"query_qp", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         ibv_qp_attr attr = {};
         ibv_qp_init_attr init = {};
         return ibv_query_qp(o.qp, &attr, IBV_QP_STATE, &init);
     }},
    NUMBER(query_qp_data_in_order, ibv_query_qp_data_in_order(o.qp, IBV_WR_SEND, 0)),
    {"query_rt_values", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         ibv_values_ex values = {};
         values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
         return ibv_query_rt_values_ex(o.context, &values);
     }},
    NUMBER(query_srq, ibv_query_srq(o.srq, nullptr)),
    {"read_counters", Answer::kNumber,
     [](Objects &o) -> intptr_t {
         uint64_t value = 0;
         return ibv_read_counters(&o.counters, &value, 1, 0);
     }},
    POINTER(reg_dm_mr, ibv_reg_dm_mr(&o.pd, &o.dm, 0, 1, IBV_ACCESS_ZERO_BASED)),
    POINTER(reg_dmabuf_mr, ibv_reg_dmabuf_mr(&o.pd, 0, 4096, 0, 0, 0)),
    POINTER(reg_mr, ibv_reg_mr(&o.pd, some_memory, sizeof some_memory, 0)),
    {"reg_mr_ex", Answer::kPointer,
     [](Objects &o) {
         ibv_mr_init_attr attr = {};
         attr.comp_mask = IBV_REG_MR_MASK_ADDR;
         attr.addr = some_memory;
         attr.length = sizeof some_memory;
         return pointer(ibv_reg_mr_ex(&o.pd, &attr));
     }},
    NUMBER(req_notify_cq, ibv_req_notify_cq(o.cq, 0)),
    NOTHING(rereg_mr, ibv_rereg_mr(o.mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0)),
    NUMBER(resize_cq, ibv_resize_cq(o.cq, 1)),
    NUMBER(set_ece, ibv_set_ece(o.qp, nullptr)),
    NOTHING(unimport_dm, ibv_unimport_dm(&o.dm)),
    NOTHING(unimport_mr, ibv_unimport_mr(o.mr)),
    NOTHING(unimport_pd, ibv_unimport_pd(&o.pd)),
};

}  // namespace verbs::test
