// SPDX-License-Identifier: BSD-2-Clause
// Receive work queues and the tables that spread receives over them.
#include <infiniband/verbs.h>

#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/event.hh"
#include "kernel/keys.hh"
#include "kernel/methods.hh"
#include "kernel/places.hh"

namespace sim {
namespace {

constexpr uint64_t kKnownFlags = IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING | IB_UVERBS_WQ_FLAGS_SCATTER_FCS |
                                 IB_UVERBS_WQ_FLAGS_DELAY_DROP | IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING;

struct Wanted {
    uint64_t user_handle = 0;
    uint32_t pd = kNone;
    uint32_t cq = kNone;
    uint64_t type = 0;
    uint32_t max_wr = 0;
    uint32_t max_sge = 0;
    uint64_t flags = 0;
    int event_fd = -1;
};

int make_wq(Call &call, const Wanted &wanted, uint32_t &handle, Object *&wq)
{
    const ib_uverbs_ex_query_device_resp &device = call.device().attributes;
    if (device.max_wq_type_rq == 0)
        return EOPNOTSUPP;
    if (wanted.type != IB_UVERBS_WQT_RQ || (wanted.flags & ~kKnownFlags) != 0)
        return EINVAL;
    if (call.find(UVERBS_OBJECT_PD, wanted.pd) == nullptr ||
        call.find(UVERBS_OBJECT_CQ, wanted.cq) == nullptr)
        return call.error();
    if (wanted.max_wr == 0 || wanted.max_wr > device.base.max_qp_wr || wanted.max_sge > device.base.max_sge)
        return EINVAL;
    wq = call.file().add(UVERBS_OBJECT_WQ, handle);
    if (wq == nullptr)
        return ENOMEM;
    call.file().hold(*wq, kPdPlace, wanted.pd);
    call.file().hold(*wq, kCqPlace, wanted.cq);
    wq->user_handle = wanted.user_handle;
    wq->cap.max_recv_wr = wanted.max_wr;
    wq->cap.max_recv_sge = wanted.max_sge;
    wq->async_channel = wanted.event_fd >= 0 ? channel_of(wanted.event_fd) : call.state().default_async;
    wq->number = next_qpn(call);
    wq->state = IBV_WQS_RESET;
    driver_other(call);
    return 0;
}

constexpr Attribute kCreate[] = {
    {UVERBS_ATTR_CREATE_WQ_HANDLE, "wq_handle", Kind::kNew, UVERBS_OBJECT_WQ},
    {UVERBS_ATTR_CREATE_WQ_TYPE, "wq_type", Kind::kConst},
    {UVERBS_ATTR_CREATE_WQ_USER_HANDLE, "user_handle", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_CREATE_WQ_PD_HANDLE, "pd_handle", Kind::kObject, UVERBS_OBJECT_PD},
    {UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, "cq_handle", Kind::kObject, UVERBS_OBJECT_CQ},
    {UVERBS_ATTR_CREATE_WQ_MAX_WR, "max_wr", Kind::kIn, 0, 4, 4},
    {UVERBS_ATTR_CREATE_WQ_MAX_SGE, "max_sge", Kind::kIn, 0, 4, 4},
    {UVERBS_ATTR_CREATE_WQ_FLAGS, "create_flags", Kind::kFlags},
    {UVERBS_ATTR_CREATE_WQ_EVENT_FD, "event_fd", Kind::kFd, 0, 0, 0, false},
    {UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, "max_wr", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, "max_sge", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, "wqn", Kind::kOut, 0, 4, 4, false},
};

int create_wq(Call &call)
{
    uint32_t handle = 0;
    Object *wq = nullptr;
    const int error = make_wq(call,
                              {.user_handle = call.in<uint64_t>(UVERBS_ATTR_CREATE_WQ_USER_HANDLE),
                               .pd = call.handle(UVERBS_ATTR_CREATE_WQ_PD_HANDLE),
                               .cq = call.handle(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE),
                               .type = call.constant(UVERBS_ATTR_CREATE_WQ_TYPE),
                               .max_wr = call.in<uint32_t>(UVERBS_ATTR_CREATE_WQ_MAX_WR),
                               .max_sge = call.in<uint32_t>(UVERBS_ATTR_CREATE_WQ_MAX_SGE),
                               .flags = call.in<uint64_t>(UVERBS_ATTR_CREATE_WQ_FLAGS),
                               .event_fd = call.descriptor(UVERBS_ATTR_CREATE_WQ_EVENT_FD)},
                              handle, wq);
    if (error != 0)
        return error;
    call.set_new(UVERBS_ATTR_CREATE_WQ_HANDLE, handle);
    call.out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, wq->cap.max_recv_wr);
    call.out(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, wq->cap.max_recv_sge);
    call.out(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, wq->number);
    return 0;
}

constexpr Field kCreateRequest[] = {
    SIM_FIELD(ib_uverbs_ex_create_wq, wq_type),
    SIM_FIELD(ib_uverbs_ex_create_wq, user_handle),
    SIM_FIELD(ib_uverbs_ex_create_wq, pd_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_ex_create_wq, cq_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_ex_create_wq, max_wr),
    SIM_FIELD(ib_uverbs_ex_create_wq, max_sge),
    SIM_FIELD(ib_uverbs_ex_create_wq, create_flags),
    SIM_FIELD(ib_uverbs_ex_create_wq, comp_mask, Show::kReserved),
    SIM_FIELD(ib_uverbs_ex_create_wq, reserved, Show::kReserved),
};
constexpr Field kCreateResponse[] = {SIM_FIELD(ib_uverbs_ex_create_wq_resp, wq_handle, Show::kHandle),
                                     SIM_FIELD(ib_uverbs_ex_create_wq_resp, max_wr),
                                     SIM_FIELD(ib_uverbs_ex_create_wq_resp, max_sge),
                                     SIM_FIELD(ib_uverbs_ex_create_wq_resp, wqn)};

int create_wq_write(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_create_wq>();
    if (request.comp_mask != 0)
        return EOPNOTSUPP;
    ib_uverbs_ex_create_wq_resp response = {};
    Object *wq = nullptr;
    const int error = make_wq(call,
                              {.user_handle = request.user_handle,
                               .pd = request.pd_handle,
                               .cq = request.cq_handle,
                               .type = request.wq_type,
                               .max_wr = request.max_wr,
                               .max_sge = request.max_sge,
                               .flags = request.create_flags},
                              response.wq_handle, wq);
    if (error != 0)
        return error;
    response.max_wr = wq->cap.max_recv_wr;
    response.max_sge = wq->cap.max_recv_sge;
    response.wqn = wq->number;
    response.response_length = sizeof response;
    call.respond(response);
    return 0;
}

constexpr Field kModifyRequest[] = {SIM_FIELD(ib_uverbs_ex_modify_wq, wq_handle, Show::kHandle),
                                    SIM_FIELD(ib_uverbs_ex_modify_wq, attr_mask),
                                    SIM_FIELD(ib_uverbs_ex_modify_wq, wq_state),
                                    SIM_FIELD(ib_uverbs_ex_modify_wq, curr_wq_state),
                                    SIM_FIELD(ib_uverbs_ex_modify_wq, flags),
                                    SIM_FIELD(ib_uverbs_ex_modify_wq, flags_mask)};

int modify_wq(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_modify_wq>();
    const uint32_t known = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE | IBV_WQ_ATTR_FLAGS;
    if (request.attr_mask == 0 || (request.attr_mask & ~known) != 0)
        return EINVAL;
    Object *wq = call.find(UVERBS_OBJECT_WQ, request.wq_handle);
    if (wq == nullptr)
        return call.error();
    if ((request.attr_mask & IBV_WQ_ATTR_FLAGS) != 0 && (request.flags_mask & ~kKnownFlags) != 0)
        return EINVAL;
    const uint32_t from =
        (request.attr_mask & IBV_WQ_ATTR_CURR_STATE) != 0 ? request.curr_wq_state : wq->state;
    const uint32_t to = (request.attr_mask & IBV_WQ_ATTR_STATE) != 0 ? request.wq_state : from;
    if (from > IBV_WQS_ERR || to > IBV_WQS_ERR || (from == IBV_WQS_ERR && to == IBV_WQS_RDY))
        return EINVAL;
    wq->state = to;
    driver_other(call);
    return 0;
}

constexpr Field kDestroyRequest[] = {SIM_FIELD(ib_uverbs_ex_destroy_wq, wq_handle, Show::kHandle),
                                     SIM_FIELD(ib_uverbs_ex_destroy_wq, comp_mask, Show::kReserved)};
constexpr Field kDestroyResponse[] = {SIM_FIELD(ib_uverbs_ex_destroy_wq_resp, events_reported)};

int destroy_wq_write(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_destroy_wq>();
    if (request.comp_mask != 0)
        return EOPNOTSUPP;
    Object last{};
    if (const int error = destroy_object(call, UVERBS_OBJECT_WQ, request.wq_handle, &last))
        return error;
    ib_uverbs_ex_destroy_wq_resp response = {};
    response.response_length = sizeof response;
    response.events_reported = last.async_events;
    call.respond(response);
    return 0;
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_WQ_HANDLE, "wq_handle", Kind::kDestroyed, UVERBS_OBJECT_WQ},
    {UVERBS_ATTR_DESTROY_WQ_RESP, "events_reported", Kind::kOut, 0, 4, 4},
};

int destroy_wq(Call &call)
{
    Object last{};
    const int error =
        destroy_object(call, UVERBS_OBJECT_WQ, call.handle(UVERBS_ATTR_DESTROY_WQ_HANDLE), &last);
    if (error == 0)
        call.out(UVERBS_ATTR_DESTROY_WQ_RESP, last.async_events);
    return error;
}

constexpr Field kTableRequest[] = {
    SIM_FIELD(ib_uverbs_ex_create_rwq_ind_table, log_ind_tbl_size),
    SIM_FIELD(ib_uverbs_ex_create_rwq_ind_table, comp_mask, Show::kReserved),
    {"wq_handles", sizeof(ib_uverbs_ex_create_rwq_ind_table), 8, Show::kBytes},
};
constexpr Field kTableResponse[] = {
    SIM_FIELD(ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_num)};

int create_table(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_create_rwq_ind_table>();
    if (request.comp_mask != 0)
        return EOPNOTSUPP;
    if (request.log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE)
        return EINVAL;
    const uint32_t size = 1u << request.log_ind_tbl_size;
    if (size > call.device().attributes.rss_caps.max_rwq_indirection_table_size ||
        size > Object{}.table.size())
        return EINVAL;
    if (call.core_in.size < sizeof request + size * sizeof(uint32_t))
        return ENOSPC;
    std::vector<uint32_t> handles(size);
    memcpy(handles.data(), call.core_in.bytes + sizeof request, size * sizeof(uint32_t));
    for (const uint32_t wq : handles)
        if (call.find(UVERBS_OBJECT_WQ, wq) == nullptr)
            return call.error();
    ib_uverbs_ex_create_rwq_ind_table_resp response = {};
    Object *table = call.file().add(UVERBS_OBJECT_RWQ_IND_TBL, response.ind_tbl_handle);
    if (table == nullptr)
        return ENOMEM;
    for (const uint32_t wq : handles) {
        table->table[table->table_size++] = wq;
        ++call.state().objects[wq].users;
    }
    table->number = next_srqn(call);
    response.ind_tbl_num = table->number;
    response.response_length = sizeof response;
    call.respond(response);
    driver_other(call);
    return 0;
}

constexpr Field kDestroyTableRequest[] = {
    SIM_FIELD(ib_uverbs_ex_destroy_rwq_ind_table, ind_tbl_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_ex_destroy_rwq_ind_table, comp_mask, Show::kReserved)};

int destroy_table_write(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_destroy_rwq_ind_table>();
    if (request.comp_mask != 0)
        return EOPNOTSUPP;
    return destroy_object(call, UVERBS_OBJECT_RWQ_IND_TBL, request.ind_tbl_handle);
}

constexpr Attribute kDestroyTable[] = {
    {UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, "ind_tbl_handle", Kind::kDestroyed, UVERBS_OBJECT_RWQ_IND_TBL}};

int destroy_table(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_RWQ_IND_TBL,
                          call.handle(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE));
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, "WQ/CREATE", kCreate, create_wq},
    {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, "WQ/DESTROY", kDestroy, destroy_wq},
    {UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, "RWQ_IND_TBL/DESTROY", kDestroyTable,
     destroy_table},
};
constexpr uint32_t kExtended = IB_USER_VERBS_CMD_FLAG_EXTENDED;
constexpr WriteMethod kWrite[] = {
    {kExtended | IB_USER_VERBS_EX_CMD_CREATE_WQ, "WQ/CREATE", offsetof(ib_uverbs_ex_create_wq, create_flags),
     offsetof(ib_uverbs_ex_create_wq_resp, wqn) + 4, kCreateRequest, kCreateResponse, create_wq_write, false},
    {kExtended | IB_USER_VERBS_EX_CMD_MODIFY_WQ,
     "WQ/MODIFY",
     offsetof(ib_uverbs_ex_modify_wq, flags),
     0,
     kModifyRequest,
     {},
     modify_wq,
     false},
    {kExtended | IB_USER_VERBS_EX_CMD_DESTROY_WQ, "WQ/DESTROY", sizeof(ib_uverbs_ex_destroy_wq),
     sizeof(ib_uverbs_ex_destroy_wq_resp), kDestroyRequest, kDestroyResponse, destroy_wq_write, false},
    {kExtended | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, "RWQ_IND_TBL/CREATE",
     sizeof(ib_uverbs_ex_create_rwq_ind_table), sizeof(ib_uverbs_ex_create_rwq_ind_table_resp), kTableRequest,
     kTableResponse, create_table, false},
    {kExtended | IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL,
     "RWQ_IND_TBL/DESTROY",
     sizeof(ib_uverbs_ex_destroy_rwq_ind_table),
     0,
     kDestroyTableRequest,
     {},
     destroy_table_write,
     false},
};

}  // namespace

Methods wq_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
