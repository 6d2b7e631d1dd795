// SPDX-License-Identifier: BSD-2-Clause
// Memory regions.
#include <fcntl.h>
#include <infiniband/verbs.h>

#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/keys.hh"
#include "kernel/methods.hh"
#include "kernel/places.hh"
#include "session.hh"

namespace sim {
namespace {

constexpr uint32_t kKnownAccess = 0x3ff | IB_UVERBS_ACCESS_OPTIONAL_RANGE;

struct Region {
    uint64_t start = 0;
    uint64_t length = 0;
    uint64_t iova = 0;
    uint32_t pd = kNone;
    uint32_t access = 0;
    uint32_t other = kNone;  ///< device memory or DMA handle
};

/// What the kernel demands of access flags: rights to write from afar imply the local one.
int check_access(Call &call, uint32_t access)
{
    const uint32_t writes = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
    if ((access & writes) != 0 && (access & IB_UVERBS_ACCESS_LOCAL_WRITE) == 0)
        return EINVAL;
    if ((access & ~kKnownAccess) != 0)
        return EINVAL;
    if ((access & IB_UVERBS_ACCESS_ON_DEMAND) != 0 &&
        (call.device().attributes.odp_caps.general_caps & IB_UVERBS_ODP_SUPPORT) == 0)
        return EINVAL;
    return 0;
}

int make_region(Call &call, const Region &region, uint32_t &handle, Object *&mr)
{
    if (const int error = check_access(call, region.access))
        return error;
    if (call.find(UVERBS_OBJECT_PD, region.pd) == nullptr)
        return call.error();
    mr = call.file().add(UVERBS_OBJECT_MR, handle);
    if (mr == nullptr)
        return ENOMEM;
    call.file().hold(*mr, kPdPlace, region.pd);
    call.file().hold(*mr, kOtherPlace, region.other);
    mr->start = region.start;
    mr->length = region.length;
    mr->iova = region.iova;
    mr->access = region.access;
    mr->number = next_key(call);
    const uint32_t remote =
        IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
    // rxe gives an rkey only with remote rights; others always.
    mr->number2 =
        call.device().driver_id == RDMA_DRIVER_RXE && (region.access & remote) == 0 ? 0 : mr->number;
    driver_mr(call, *mr);
    return 0;
}

constexpr Field kRegRequest[] = {
    SIM_FIELD(ib_uverbs_reg_mr, response, Show::kHidden),
    SIM_FIELD(ib_uverbs_reg_mr, start, Show::kPointer),
    SIM_FIELD(ib_uverbs_reg_mr, length),
    SIM_FIELD(ib_uverbs_reg_mr, hca_va, Show::kIova),
    SIM_FIELD(ib_uverbs_reg_mr, pd_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_reg_mr, access_flags),
};
constexpr Field kRegResponse[] = {
    SIM_FIELD(ib_uverbs_reg_mr_resp, mr_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_reg_mr_resp, lkey),
    SIM_FIELD(ib_uverbs_reg_mr_resp, rkey),
};

int reg_mr(Call &call)
{
    const auto request = call.request<ib_uverbs_reg_mr>();
    if ((request.start & 4095) != (request.hca_va & 4095))
        return EINVAL;
    ib_uverbs_reg_mr_resp response = {};
    Object *mr = nullptr;
    const int error = make_region(call,
                                  {.start = request.start,
                                   .length = request.length,
                                   .iova = request.hca_va,
                                   .pd = request.pd_handle,
                                   .access = request.access_flags},
                                  response.mr_handle, mr);
    if (error != 0)
        return error;
    response.lkey = mr->number;
    response.rkey = mr->number2;
    call.respond(response);
    return 0;
}

constexpr Field kReregRequest[] = {
    SIM_FIELD(ib_uverbs_rereg_mr, response, Show::kHidden),
    SIM_FIELD(ib_uverbs_rereg_mr, mr_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_rereg_mr, flags),
    SIM_FIELD(ib_uverbs_rereg_mr, start, Show::kPointer),
    SIM_FIELD(ib_uverbs_rereg_mr, length),
    SIM_FIELD(ib_uverbs_rereg_mr, hca_va, Show::kIova),
    SIM_FIELD(ib_uverbs_rereg_mr, pd_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_rereg_mr, access_flags),
};
constexpr Field kReregResponse[] = {SIM_FIELD(ib_uverbs_rereg_mr_resp, lkey),
                                    SIM_FIELD(ib_uverbs_rereg_mr_resp, rkey)};

int rereg_mr(Call &call)
{
    const auto request = call.request<ib_uverbs_rereg_mr>();
    const bool changes_range = (request.flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
    if (request.flags == 0)
        return EINVAL;
    if ((request.flags & ~uint32_t{IBV_REREG_MR_FLAGS_SUPPORTED}) != 0)
        return EOPNOTSUPP;
    if (changes_range && (request.start & 4095) != (request.hca_va & 4095))
        return EINVAL;
    Object *mr = call.find(UVERBS_OBJECT_MR, request.mr_handle);
    if (mr == nullptr)
        return call.error();
    if (mr->holds[kOtherPlace] != kNone)
        return EINVAL;
    if (mr->users != 0)
        return EBUSY;
    if ((request.flags & IBV_REREG_MR_CHANGE_ACCESS) != 0)
        if (const int error = check_access(call, request.access_flags))
            return error;
    if ((request.flags & IBV_REREG_MR_CHANGE_PD) != 0) {
        if (call.find(UVERBS_OBJECT_PD, request.pd_handle) == nullptr)
            return call.error();
        --call.state().objects[mr->holds[kPdPlace]].users;
        call.file().hold(*mr, kPdPlace, request.pd_handle);
    }
    if ((request.flags & IBV_REREG_MR_CHANGE_ACCESS) != 0)
        mr->access = request.access_flags;
    if (changes_range) {
        mr->start = request.start;
        mr->length = request.length;
        mr->iova = request.hca_va;
    }
    call.respond(ib_uverbs_rereg_mr_resp{.lkey = mr->number, .rkey = mr->number2});
    driver_other(call);
    return 0;
}

constexpr Field kDeregRequest[] = {SIM_FIELD(ib_uverbs_dereg_mr, mr_handle, Show::kHandle)};

int dereg_mr(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_MR, call.request<ib_uverbs_dereg_mr>().mr_handle);
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_MR_HANDLE, "mr_handle", Kind::kDestroyed, UVERBS_OBJECT_MR}};

int destroy_mr(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_MR, call.handle(UVERBS_ATTR_DESTROY_MR_HANDLE));
}

constexpr Attribute kRegDm[] = {
    {UVERBS_ATTR_REG_DM_MR_HANDLE, "mr_handle", Kind::kNew, UVERBS_OBJECT_MR},
    {UVERBS_ATTR_REG_DM_MR_OFFSET, "offset", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_REG_DM_MR_LENGTH, "length", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_REG_DM_MR_PD_HANDLE, "pd_handle", Kind::kObject, UVERBS_OBJECT_PD},
    {UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, "access_flags", Kind::kFlags},
    {UVERBS_ATTR_REG_DM_MR_DM_HANDLE, "dm_handle", Kind::kObject, UVERBS_OBJECT_DM},
    {UVERBS_ATTR_REG_DM_MR_RESP_LKEY, "lkey", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_REG_DM_MR_RESP_RKEY, "rkey", Kind::kOut, 0, 4, 4},
};

int reg_dm_mr(Call &call)
{
    const auto offset = call.in<uint64_t>(UVERBS_ATTR_REG_DM_MR_OFFSET);
    const auto length = call.in<uint64_t>(UVERBS_ATTR_REG_DM_MR_LENGTH);
    const auto access = call.in<uint64_t>(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS);
    const uint32_t dm = call.handle(UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
    if ((access & ~uint64_t{kKnownAccess}) != 0 || (access & IB_UVERBS_ACCESS_ZERO_BASED) == 0)
        return EINVAL;
    const uint64_t room = call.find(UVERBS_OBJECT_DM, dm)->length;
    if (offset > room || length > room - offset)
        return EINVAL;
    uint32_t handle = 0;
    Object *mr = nullptr;
    const int error = make_region(call,
                                  {.start = offset,
                                   .length = length,
                                   .pd = call.handle(UVERBS_ATTR_REG_DM_MR_PD_HANDLE),
                                   .access = static_cast<uint32_t>(access),
                                   .other = dm},
                                  handle, mr);
    if (error != 0)
        return error;
    call.set_new(UVERBS_ATTR_REG_DM_MR_HANDLE, handle);
    call.out(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, mr->number);
    call.out(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, mr->number2);
    return 0;
}

constexpr Attribute kAdvise[] = {
    {UVERBS_ATTR_ADVISE_MR_PD_HANDLE, "pd_handle", Kind::kObject, UVERBS_OBJECT_PD},
    {UVERBS_ATTR_ADVISE_MR_ADVICE, "advice", Kind::kConst},
    {UVERBS_ATTR_ADVISE_MR_FLAGS, "flags", Kind::kFlags},
    {UVERBS_ATTR_ADVISE_MR_SGE_LIST, "sge_list", Kind::kIn, 0, sizeof(ib_uverbs_sge), UINT16_MAX, true,
     Show::kBytes},
};

int advise_mr(Call &call)
{
    if (call.constant(UVERBS_ATTR_ADVISE_MR_ADVICE) > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
        return EOPNOTSUPP;
    if ((call.in<uint64_t>(UVERBS_ATTR_ADVISE_MR_FLAGS) & ~uint64_t{IB_UVERBS_ADVISE_MR_FLAG_FLUSH}) != 0)
        return EINVAL;
    if (call.attribute(UVERBS_ATTR_ADVISE_MR_SGE_LIST)->len % sizeof(ib_uverbs_sge) != 0)
        return EINVAL;
    driver_other(call);
    return 0;
}

constexpr Attribute kQuery[] = {
    {UVERBS_ATTR_QUERY_MR_HANDLE, "mr_handle", Kind::kObject, UVERBS_OBJECT_MR},
    {UVERBS_ATTR_QUERY_MR_RESP_LKEY, "lkey", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_QUERY_MR_RESP_RKEY, "rkey", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_QUERY_MR_RESP_LENGTH, "length", Kind::kOut, 0, 8, 8},
    {UVERBS_ATTR_QUERY_MR_RESP_IOVA, "iova", Kind::kOut, 0, 8, 8, false, Show::kIova},
};

int query_mr(Call &call)
{
    const Object *mr = call.find(UVERBS_OBJECT_MR, call.handle(UVERBS_ATTR_QUERY_MR_HANDLE));
    call.out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr->number);
    call.out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr->number2);
    call.out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr->length);
    call.out(UVERBS_ATTR_QUERY_MR_RESP_IOVA, mr->iova);
    return 0;
}

constexpr Attribute kRegDmabuf[] = {
    {UVERBS_ATTR_REG_DMABUF_MR_HANDLE, "mr_handle", Kind::kNew, UVERBS_OBJECT_MR},
    {UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, "pd_handle", Kind::kObject, UVERBS_OBJECT_PD},
    {UVERBS_ATTR_REG_DMABUF_MR_OFFSET, "offset", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_REG_DMABUF_MR_LENGTH, "length", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_REG_DMABUF_MR_IOVA, "iova", Kind::kIn, 0, 8, 8, true, Show::kIova},
    {UVERBS_ATTR_REG_DMABUF_MR_FD, "fd", Kind::kRawFd},
    {UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, "access_flags", Kind::kFlags},
    {UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, "lkey", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, "rkey", Kind::kOut, 0, 4, 4},
};

int reg_dmabuf_mr(Call &call)
{
    const auto offset = call.in<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_OFFSET);
    const auto iova = call.in<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_IOVA);
    const auto access = call.in<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS);
    const uint64_t allowed = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
                             IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC |
                             IB_UVERBS_ACCESS_OPTIONAL_RANGE;
    if ((access & ~allowed) != 0 || (offset & 4095) != (iova & 4095))
        return EINVAL;
    if (fcntl(call.descriptor(UVERBS_ATTR_REG_DMABUF_MR_FD), F_GETFD) < 0)
        return EBADF;
    uint32_t handle = 0;
    Object *mr = nullptr;
    const int error = make_region(call,
                                  {.start = offset,
                                   .length = call.in<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_LENGTH),
                                   .iova = iova,
                                   .pd = call.handle(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE),
                                   .access = static_cast<uint32_t>(access)},
                                  handle, mr);
    if (error != 0)
        return error;
    call.set_new(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, handle);
    call.out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, mr->number);
    call.out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, mr->number2);
    return 0;
}

constexpr Attribute kReg[] = {
    {UVERBS_ATTR_REG_MR_HANDLE, "mr_handle", Kind::kNew, UVERBS_OBJECT_MR},
    {UVERBS_ATTR_REG_MR_ADDR, "start", Kind::kIn, 0, 8, 8, false, Show::kPointer},
    {UVERBS_ATTR_REG_MR_LENGTH, "length", Kind::kIn, 0, 8, 8},
    {UVERBS_ATTR_REG_MR_IOVA, "hca_va", Kind::kIn, 0, 8, 8, true, Show::kIova},
    {UVERBS_ATTR_REG_MR_PD_HANDLE, "pd_handle", Kind::kObject, UVERBS_OBJECT_PD},
    {UVERBS_ATTR_REG_MR_ACCESS_FLAGS, "access_flags", Kind::kFlags},
    {UVERBS_ATTR_REG_MR_DMA_HANDLE, "dmah_handle", Kind::kObject, UVERBS_OBJECT_DMAH, 0, 0, false},
    {UVERBS_ATTR_REG_MR_FD, "fd", Kind::kRawFd, 0, 0, 0, false},
    {UVERBS_ATTR_REG_MR_FD_OFFSET, "fd_offset", Kind::kIn, 0, 8, 8, false},
    {UVERBS_ATTR_REG_MR_RESP_LKEY, "lkey", Kind::kOut, 0, 4, 4},
    {UVERBS_ATTR_REG_MR_RESP_RKEY, "rkey", Kind::kOut, 0, 4, 4},
};

int reg_mr_ioctl(Call &call)
{
    const bool has_address = call.has(UVERBS_ATTR_REG_MR_ADDR);
    const bool has_file = call.has(UVERBS_ATTR_REG_MR_FD);
    const auto start = call.in<uint64_t>(UVERBS_ATTR_REG_MR_ADDR);
    const auto offset = call.in<uint64_t>(UVERBS_ATTR_REG_MR_FD_OFFSET);
    const auto iova = call.in<uint64_t>(UVERBS_ATTR_REG_MR_IOVA);
    const auto access = call.in<uint64_t>(UVERBS_ATTR_REG_MR_ACCESS_FLAGS);
    if (has_address == has_file || has_file != call.has(UVERBS_ATTR_REG_MR_FD_OFFSET))
        return EINVAL;
    if (((has_file ? offset : start) & 4095) != (iova & 4095) || (access & ~uint64_t{kKnownAccess}) != 0)
        return EINVAL;
    if (has_file && fcntl(call.descriptor(UVERBS_ATTR_REG_MR_FD), F_GETFD) < 0)
        return EBADF;
    uint32_t handle = 0;
    Object *mr = nullptr;
    const int error = make_region(call,
                                  {.start = has_file ? offset : start,
                                   .length = call.in<uint64_t>(UVERBS_ATTR_REG_MR_LENGTH),
                                   .iova = iova,
                                   .pd = call.handle(UVERBS_ATTR_REG_MR_PD_HANDLE),
                                   .access = static_cast<uint32_t>(access),
                                   .other = call.handle(UVERBS_ATTR_REG_MR_DMA_HANDLE)},
                                  handle, mr);
    if (error != 0)
        return error;
    call.set_new(UVERBS_ATTR_REG_MR_HANDLE, handle);
    call.out(UVERBS_ATTR_REG_MR_RESP_LKEY, mr->number);
    call.out(UVERBS_ATTR_REG_MR_RESP_RKEY, mr->number2);
    return 0;
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, "MR/REG_DM", kRegDm, reg_dm_mr, true},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, "MR/DESTROY", kDestroy, destroy_mr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, "MR/ADVISE", kAdvise, advise_mr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, "MR/QUERY", kQuery, query_mr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, "MR/REG_DMABUF", kRegDmabuf, reg_dmabuf_mr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR, "MR/REG_EX", kReg, reg_mr_ioctl},
};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_REG_MR, "MR/REG", sizeof(ib_uverbs_reg_mr), sizeof(ib_uverbs_reg_mr_resp), kRegRequest,
     kRegResponse, reg_mr},
    {IB_USER_VERBS_CMD_REREG_MR, "MR/REREG", sizeof(ib_uverbs_rereg_mr), sizeof(ib_uverbs_rereg_mr_resp),
     kReregRequest, kReregResponse, rereg_mr},
    {IB_USER_VERBS_CMD_DEREG_MR,
     "MR/DESTROY",
     sizeof(ib_uverbs_dereg_mr),
     0,
     kDeregRequest,
     {},
     dereg_mr,
     false},
};

}  // namespace

Methods mr_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
