// SPDX-License-Identifier: BSD-2-Clause
// Making and destroying queue pairs.
#include <infiniband/verbs.h>

#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/event.hh"
#include "kernel/keys.hh"
#include "kernel/methods.hh"
#include "kernel/places.hh"
#include "kernel/qp_attributes.hh"

namespace sim {
namespace {

/// Those of ibv_qp_create_flags, and what only the extended write command takes: the other end of cross
/// channels (bits 2 to 4), a source QPN (bit 10).
constexpr uint64_t kKnownFlags = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |
                                 IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING |
                                 IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING | IB_UVERBS_QP_CREATE_SQ_SIG_ALL |
                                 1 << 2 | 1 << 3 | 1 << 4 | 1 << 10;

struct Wanted {
    uint64_t user_handle = 0;
    uint32_t pd = kNone;
    uint32_t send_cq = kNone;
    uint32_t recv_cq = kNone;
    uint32_t srq = kNone;
    uint32_t xrcd = kNone;
    uint32_t table = kNone;
    ib_uverbs_qp_cap cap{};
    uint32_t type = 0;
    uint64_t flags = 0;
    uint32_t source_qpn = 0;
    bool signals_all = false;
    int event_fd = -1;
};

bool is_known_type(uint32_t type)
{
    return type == IB_UVERBS_QPT_RC || type == IB_UVERBS_QPT_UC || type == IB_UVERBS_QPT_UD ||
           type == IB_UVERBS_QPT_RAW_PACKET || type == IB_UVERBS_QPT_XRC_INI ||
           type == IB_UVERBS_QPT_XRC_TGT || type == IB_UVERBS_QPT_DRIVER;
}

int check_type(Call &call, const Wanted &wanted)
{
    const bool is_software =
        call.device().driver_id == RDMA_DRIVER_RXE || call.device().driver_id == RDMA_DRIVER_SIW;
    const bool is_xrc = wanted.type == IB_UVERBS_QPT_XRC_INI || wanted.type == IB_UVERBS_QPT_XRC_TGT;
    if (is_xrc && (call.device().attributes.base.device_cap_flags & IB_UVERBS_DEVICE_XRC) == 0)
        return EOPNOTSUPP;
    if (is_software &&
        (is_xrc || wanted.type == IB_UVERBS_QPT_RAW_PACKET || wanted.type == IB_UVERBS_QPT_DRIVER))
        return EOPNOTSUPP;
    if (call.device().driver_id == RDMA_DRIVER_SIW && wanted.type != IB_UVERBS_QPT_RC)
        return EOPNOTSUPP;
    return 0;
}

int check_cap(Call &call, const Wanted &wanted)
{
    const ib_uverbs_query_device_resp &base = call.device().attributes.base;
    if (wanted.cap.max_send_wr > base.max_qp_wr || wanted.cap.max_send_sge > base.max_sge)
        return EINVAL;
    if (wanted.srq == kNone &&
        (wanted.cap.max_recv_wr > base.max_qp_wr || wanted.cap.max_recv_sge > base.max_sge))
        return EINVAL;
    return 0;
}

int check_objects(Call &call, const Wanted &wanted)
{
    if (!is_known_type(wanted.type) || (wanted.flags & ~kKnownFlags) != 0)
        return EINVAL;
    const struct {
        uint16_t kind;
        uint32_t handle;
    } named[] = {{UVERBS_OBJECT_PD, wanted.pd},      {UVERBS_OBJECT_CQ, wanted.send_cq},
                 {UVERBS_OBJECT_CQ, wanted.recv_cq}, {UVERBS_OBJECT_SRQ, wanted.srq},
                 {UVERBS_OBJECT_XRCD, wanted.xrcd},  {UVERBS_OBJECT_RWQ_IND_TBL, wanted.table}};
    for (const auto &[kind, handle] : named)
        if (handle != kNone && call.find(kind, handle) == nullptr)
            return call.error();
    return 0;
}

int make_qp(Call &call, const Wanted &wanted, uint32_t &handle, Object *&qp, ib_uverbs_qp_cap &answer)
{
    for (int (*check)(Call &, const Wanted &) : {check_objects, check_type, check_cap})
        if (const int error = check(call, wanted))
            return error;
    if (wanted.type != IB_UVERBS_QPT_XRC_TGT && wanted.pd == kNone)
        return EINVAL;
    qp = call.file().add(UVERBS_OBJECT_QP, handle);
    if (qp == nullptr)
        return ENOMEM;
    call.file().hold(*qp, kPdPlace, wanted.pd);
    call.file().hold(*qp, kCqPlace, wanted.send_cq);
    call.file().hold(*qp, kRecvCqPlace, wanted.recv_cq);
    call.file().hold(*qp, kSrqPlace, wanted.srq);
    call.file().hold(*qp, kXrcdPlace, wanted.xrcd);
    call.file().hold(*qp, kOtherPlace, wanted.table);
    qp->user_handle = wanted.user_handle;
    qp->type = wanted.type;
    qp->cap = wanted.cap;
    qp->is_srq = wanted.srq != kNone;
    qp->sq_sig_all = wanted.signals_all;
    qp->async_channel = wanted.event_fd >= 0 ? channel_of(wanted.event_fd) : call.state().default_async;
    qp->number = next_qpn(call);
    qp->state = IBV_QPS_RESET;
    const int error = driver_qp(call, *qp, answer);
    if (error != 0)
        call.file().discard(*qp);
    return error;
}

constexpr Attribute kCreate[] = {
    {UVERBS_ATTR_CREATE_QP_HANDLE, "qp_handle", Kind::kNew, UVERBS_OBJECT_QP},
    {UVERBS_ATTR_CREATE_QP_USER_HANDLE, "user_handle", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_CREATE_QP_PD_HANDLE, "pd_handle", Kind::kObject, UVERBS_OBJECT_PD, 0, 0, false},
    {UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, "xrcd_handle", Kind::kObject, UVERBS_OBJECT_XRCD, 0, 0, false},
    {UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, "send_cq_handle", Kind::kObject, UVERBS_OBJECT_CQ, 0, 0, false},
    {UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, "recv_cq_handle", Kind::kObject, UVERBS_OBJECT_CQ, 0, 0, false},
    {UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, "srq_handle", Kind::kObject, UVERBS_OBJECT_SRQ, 0, 0, false},
    {UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, "rwq_ind_tbl_handle", Kind::kObject, UVERBS_OBJECT_RWQ_IND_TBL,
     0, 0, false},
    {UVERBS_ATTR_CREATE_QP_CAP, "cap", Kind::kIn, 0, sizeof(ib_uverbs_qp_cap), sizeof(ib_uverbs_qp_cap), true,
     Show::kBytes},
    {UVERBS_ATTR_CREATE_QP_TYPE, "qp_type", Kind::kConst},
    {UVERBS_ATTR_CREATE_QP_FLAGS, "create_flags", Kind::kFlags, 0, 0, 0, false},
    {UVERBS_ATTR_CREATE_QP_SOURCE_QPN, "source_qpn", Kind::kIn, 0, 4, 4, false},
    {UVERBS_ATTR_CREATE_QP_EVENT_FD, "event_fd", Kind::kFd, 0, 0, 0, false},
    {UVERBS_ATTR_CREATE_QP_BUF_UMEM, "buf_umem", Kind::kIn, 0, sizeof(ib_uverbs_buffer_desc),
     sizeof(ib_uverbs_buffer_desc), false, Show::kBytes},
    {UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM, "rq_buf_umem", Kind::kIn, 0, sizeof(ib_uverbs_buffer_desc),
     sizeof(ib_uverbs_buffer_desc), false, Show::kBytes},
    {UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM, "sq_buf_umem", Kind::kIn, 0, sizeof(ib_uverbs_buffer_desc),
     sizeof(ib_uverbs_buffer_desc), false, Show::kBytes},
    {UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, "qpn", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_CREATE_QP_RESP_CAP, "cap", Kind::kOut, 0, sizeof(ib_uverbs_qp_cap), sizeof(ib_uverbs_qp_cap),
     true, Show::kBytes},
};

/// Which objects a type of queue pair is made of.
int check_presence(Call &call, uint64_t type)
{
    const bool has_pd = call.has(UVERBS_ATTR_CREATE_QP_PD_HANDLE);
    const bool has_send = call.has(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
    const bool has_recv = call.has(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
    const bool has_xrcd = call.has(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE);
    const bool has_table = call.has(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
    switch (type) {
        case IB_UVERBS_QPT_XRC_TGT:
            return has_xrcd && !has_pd && !has_send && !has_recv ? 0 : EINVAL;
        case IB_UVERBS_QPT_XRC_INI:
            return has_pd && has_send && !has_recv && !has_xrcd ? 0 : EINVAL;
        default:
            if (!has_pd || has_xrcd)
                return EINVAL;
            return has_table || (has_send && has_recv) ? 0 : EINVAL;
    }
}

int create_qp(Call &call)
{
    const uint64_t type = call.constant(UVERBS_ATTR_CREATE_QP_TYPE);
    const auto flags = call.in<uint64_t>(UVERBS_ATTR_CREATE_QP_FLAGS);
    const uint64_t known = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_UVERBS_QP_CREATE_SCATTER_FCS |
                           IB_UVERBS_QP_CREATE_CVLAN_STRIPPING | IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING |
                           IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
    if (!is_known_type(static_cast<uint32_t>(type)) || (flags & ~known) != 0)
        return EINVAL;
    if (const int error = check_presence(call, type))
        return error;
    uint32_t handle = 0;
    Object *qp = nullptr;
    ib_uverbs_qp_cap cap{};
    const int error = make_qp(call,
                              {.user_handle = call.in<uint64_t>(UVERBS_ATTR_CREATE_QP_USER_HANDLE),
                               .pd = call.handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE),
                               .send_cq = call.handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE),
                               .recv_cq = call.handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE),
                               .srq = call.handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE),
                               .xrcd = call.handle(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE),
                               .table = call.handle(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE),
                               .cap = call.in<ib_uverbs_qp_cap>(UVERBS_ATTR_CREATE_QP_CAP),
                               .type = static_cast<uint32_t>(type),
                               .flags = flags & ~uint64_t{IB_UVERBS_QP_CREATE_SQ_SIG_ALL},
                               .source_qpn = call.in<uint32_t>(UVERBS_ATTR_CREATE_QP_SOURCE_QPN),
                               .signals_all = (flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0,
                               .event_fd = call.descriptor(UVERBS_ATTR_CREATE_QP_EVENT_FD)},
                              handle, qp, cap);
    if (error != 0)
        return error;
    call.set_new(UVERBS_ATTR_CREATE_QP_HANDLE, handle);
    call.out(UVERBS_ATTR_CREATE_QP_RESP_CAP, cap);
    call.out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->number);
    return 0;
}

#define CREATE_FIELDS(type)                                                                             \
    SIM_FIELD(type, user_handle), SIM_FIELD(type, pd_handle, Show::kHandle),                            \
        SIM_FIELD(type, send_cq_handle, Show::kHandle), SIM_FIELD(type, recv_cq_handle, Show::kHandle), \
        SIM_FIELD(type, is_srq), SIM_FIELD(type, srq_handle, Show::kHandle),                            \
        {"cap", offsetof(type, max_send_wr), sizeof(ib_uverbs_qp_cap), Show::kBytes},                   \
        SIM_FIELD(type, qp_type), SIM_FIELD(type, sq_sig_all), SIM_FIELD(type, reserved, Show::kReserved)

constexpr Field kCreateRequest[] = {SIM_FIELD(ib_uverbs_create_qp, response, Show::kHidden),
                                    CREATE_FIELDS(ib_uverbs_create_qp)};
constexpr Field kCreateExRequest[] = {CREATE_FIELDS(ib_uverbs_ex_create_qp),
                                      SIM_FIELD(ib_uverbs_ex_create_qp, comp_mask),
                                      SIM_FIELD(ib_uverbs_ex_create_qp, create_flags),
                                      SIM_FIELD(ib_uverbs_ex_create_qp, rwq_ind_tbl_handle, Show::kHandle),
                                      SIM_FIELD(ib_uverbs_ex_create_qp, source_qpn)};
constexpr Field kCreateResponse[] = {
    SIM_FIELD(ib_uverbs_create_qp_resp, qp_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_create_qp_resp, qpn),
    {"cap", offsetof(ib_uverbs_create_qp_resp, max_send_wr), sizeof(ib_uverbs_qp_cap), Show::kBytes}};

ib_uverbs_create_qp_resp response_of(const Object &qp, uint32_t handle, const ib_uverbs_qp_cap &cap)
{
    ib_uverbs_create_qp_resp response = {};
    response.qp_handle = handle;
    response.qpn = qp.number;
    memcpy(&response.max_send_wr, &cap, sizeof cap);
    return response;
}

template <class Request>
Wanted wanted_by(const Request &request)
{
    Wanted wanted{
        .user_handle = request.user_handle, .type = request.qp_type, .signals_all = request.sq_sig_all != 0};
    memcpy(&wanted.cap, &request.max_send_wr, sizeof wanted.cap);
    if (request.qp_type == IB_UVERBS_QPT_XRC_TGT) {
        wanted.xrcd = request.pd_handle;
        return wanted;
    }
    wanted.pd = request.pd_handle;
    wanted.send_cq = request.send_cq_handle;
    if (request.qp_type == IB_UVERBS_QPT_XRC_INI) {
        wanted.cap.max_recv_wr = 0;
        wanted.cap.max_recv_sge = 0;
        return wanted;
    }
    wanted.recv_cq = request.recv_cq_handle;
    if (request.is_srq != 0)
        wanted.srq = request.srq_handle;
    return wanted;
}

int create_qp_write(Call &call)
{
    const Wanted wanted = wanted_by(call.request<ib_uverbs_create_qp>());
    uint32_t handle = 0;
    Object *qp = nullptr;
    ib_uverbs_qp_cap cap{};
    const int error = make_qp(call, wanted, handle, qp, cap);
    if (error == 0)
        call.respond(response_of(*qp, handle, cap));
    return error;
}

int create_qp_ex(Call &call)
{
    const auto request = call.request<ib_uverbs_ex_create_qp>();
    // Here the flags are the kernel's inner ones: multicast loopback, cross channel and managed queues (bits
    // 1 to 4), FCS, VLAN stripping, source QPN and padding (bits 8 to 11).
    constexpr uint32_t kFlags = 0x1e | 0xf00;
    if ((request.comp_mask & ~uint32_t{IB_UVERBS_CREATE_QP_SUP_COMP_MASK}) != 0 || request.reserved != 0 ||
        (request.create_flags & ~kFlags) != 0)
        return EINVAL;
    Wanted wanted = wanted_by(request);
    if ((request.comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE) != 0) {
        wanted.table = request.rwq_ind_tbl_handle;
        if (call.find(UVERBS_OBJECT_RWQ_IND_TBL, wanted.table) == nullptr)
            return EINVAL;
        wanted.recv_cq = kNone;
        if (request.max_send_wr == 0)
            wanted.send_cq = kNone;
    }
    wanted.flags = request.create_flags;
    wanted.source_qpn = request.source_qpn;
    uint32_t handle = 0;
    Object *qp = nullptr;
    ib_uverbs_qp_cap cap{};
    const int error = make_qp(call, wanted, handle, qp, cap);
    if (error != 0)
        return error;
    ib_uverbs_ex_create_qp_resp response = {};
    response.base = response_of(*qp, handle, cap);
    response.response_length = sizeof response;
    call.respond(response);
    return 0;
}

constexpr Field kOpenRequest[] = {SIM_FIELD(ib_uverbs_open_qp, response, Show::kHidden),
                                  SIM_FIELD(ib_uverbs_open_qp, user_handle),
                                  SIM_FIELD(ib_uverbs_open_qp, pd_handle, Show::kHandle),
                                  SIM_FIELD(ib_uverbs_open_qp, qpn),
                                  SIM_FIELD(ib_uverbs_open_qp, qp_type),
                                  SIM_FIELD(ib_uverbs_open_qp, reserved, Show::kReserved)};

/// The queue pair is looked for in this file: domains are not shared between files here.
int open_qp(Call &call)
{
    const auto request = call.request<ib_uverbs_open_qp>();
    if (call.find(UVERBS_OBJECT_XRCD, request.pd_handle) == nullptr)
        return call.error();
    for (uint32_t place = 0; place < call.state().end; ++place) {
        const Object *found = call.file().find_any(place);
        if (found == nullptr || found->kind != UVERBS_OBJECT_QP || found->number != request.qpn ||
            found->holds[kXrcdPlace] != request.pd_handle || found->type != IB_UVERBS_QPT_XRC_TGT)
            continue;
        const Object original = *found;
        uint32_t handle = 0;
        Object *qp = call.file().add(UVERBS_OBJECT_QP, handle);
        if (qp == nullptr)
            return ENOMEM;
        call.file().hold(*qp, kXrcdPlace, request.pd_handle);
        qp->user_handle = request.user_handle;
        qp->type = original.type;
        qp->number = original.number;
        qp->state = original.state;
        qp->async_channel = call.state().default_async;
        call.respond(response_of(*qp, handle, qp->cap));
        return 0;
    }
    return EINVAL;
}

constexpr Field kDestroyRequest[] = {SIM_FIELD(ib_uverbs_destroy_qp, response, Show::kHidden),
                                     SIM_FIELD(ib_uverbs_destroy_qp, qp_handle, Show::kHandle),
                                     SIM_FIELD(ib_uverbs_destroy_qp, reserved, Show::kReserved)};
constexpr Field kDestroyResponse[] = {SIM_FIELD(ib_uverbs_destroy_qp_resp, events_reported)};

int destroy_qp_write(Call &call)
{
    Object last{};
    const int error =
        destroy_object(call, UVERBS_OBJECT_QP, call.request<ib_uverbs_destroy_qp>().qp_handle, &last);
    if (error == 0)
        call.respond(ib_uverbs_destroy_qp_resp{.events_reported = last.async_events});
    return error;
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_QP_HANDLE, "qp_handle", Kind::kDestroyed, UVERBS_OBJECT_QP},
    {UVERBS_ATTR_DESTROY_QP_RESP, "events_reported", Kind::kOut, 0, 4, 4},
};

int destroy_qp(Call &call)
{
    Object last{};
    const int error =
        destroy_object(call, UVERBS_OBJECT_QP, call.handle(UVERBS_ATTR_DESTROY_QP_HANDLE), &last);
    if (error == 0)
        call.out(UVERBS_ATTR_DESTROY_QP_RESP,
                 ib_uverbs_destroy_qp_resp{.events_reported = last.async_events});
    return error;
}

constexpr Attribute kAttachCounter[] = {
    {UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, "qp_handle", Kind::kObject, UVERBS_OBJECT_QP},
    {UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, "cntr_handle", Kind::kObject, UVERBS_OBJECT_COMP_CNTR},
    {UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, "op_mask", Kind::kFlags},
};

int attach_counter(Call &call)
{
    const auto mask = call.in<uint64_t>(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK);
    if (mask == 0 || mask > 0x3f)
        return EINVAL;
    Object *qp = call.find(UVERBS_OBJECT_QP, call.handle(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE));
    // A queue pair counts until it is destroyed, and is attached before it sends.
    if (qp->state == IBV_QPS_RTS)
        return EINVAL;
    if (qp->holds[kOtherPlace] != kNone)
        return EBUSY;
    call.file().hold(*qp, kOtherPlace, call.handle(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE));
    return 0;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, "QP/CREATE", kCreate, create_qp},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, "QP/DESTROY", kDestroy, destroy_qp},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR, "QP/ATTACH_COMP_CNTR", kAttachCounter,
     attach_counter},
};
const WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_CREATE_QP, "QP/CREATE", sizeof(ib_uverbs_create_qp), sizeof(ib_uverbs_create_qp_resp),
     kCreateRequest, kCreateResponse, create_qp_write},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_QP, "QP/CREATE",
     offsetof(ib_uverbs_ex_create_qp, comp_mask), sizeof(ib_uverbs_create_qp_resp), kCreateExRequest,
     kCreateResponse, create_qp_ex, false},
    {IB_USER_VERBS_CMD_OPEN_QP, "QP/OPEN", sizeof(ib_uverbs_open_qp), sizeof(ib_uverbs_create_qp_resp),
     kOpenRequest, kCreateResponse, open_qp},
    {IB_USER_VERBS_CMD_QUERY_QP, "QP/QUERY", sizeof(ib_uverbs_query_qp), sizeof(ib_uverbs_query_qp_resp),
     query_qp_request(), query_qp_response(), query_qp},
    {IB_USER_VERBS_CMD_MODIFY_QP,
     "QP/MODIFY",
     sizeof(ib_uverbs_modify_qp),
     0,
     modify_qp_request(),
     {},
     modify_qp,
     false},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
     "QP/MODIFY",
     sizeof(ib_uverbs_modify_qp),
     0,
     modify_qp_request(),
     {},
     modify_qp_ex,
     false},
    {IB_USER_VERBS_CMD_DESTROY_QP, "QP/DESTROY", sizeof(ib_uverbs_destroy_qp),
     sizeof(ib_uverbs_destroy_qp_resp), kDestroyRequest, kDestroyResponse, destroy_qp_write},
};

}  // namespace

Methods qp_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
