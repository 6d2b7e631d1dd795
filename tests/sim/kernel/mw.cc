// SPDX-License-Identifier: BSD-2-Clause
// Memory windows.
#include <infiniband/verbs.h>

#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/keys.hh"
#include "kernel/methods.hh"
#include "kernel/places.hh"

namespace sim {
namespace {

constexpr Field kAllocRequest[] = {
    SIM_FIELD(ib_uverbs_alloc_mw, response, Show::kHidden),
    SIM_FIELD(ib_uverbs_alloc_mw, pd_handle, Show::kHandle),
    SIM_FIELD(ib_uverbs_alloc_mw, mw_type),
    SIM_FIELD(ib_uverbs_alloc_mw, reserved, Show::kReserved),
};
constexpr Field kAllocResponse[] = {SIM_FIELD(ib_uverbs_alloc_mw_resp, mw_handle, Show::kHandle),
                                    SIM_FIELD(ib_uverbs_alloc_mw_resp, rkey)};

int alloc_mw(Call &call)
{
    const auto request = call.request<ib_uverbs_alloc_mw>();
    if (call.find(UVERBS_OBJECT_PD, request.pd_handle) == nullptr)
        return call.error();
    if (request.mw_type != IBV_MW_TYPE_1 && request.mw_type != IBV_MW_TYPE_2)
        return EINVAL;
    ib_uverbs_alloc_mw_resp response = {};
    Object *mw = call.file().add(UVERBS_OBJECT_MW, response.mw_handle);
    if (mw == nullptr)
        return ENOMEM;
    call.file().hold(*mw, kPdPlace, request.pd_handle);
    mw->type = request.mw_type;
    mw->number = next_key(call);
    response.rkey = mw->number;
    call.respond(response);
    driver_other(call);
    return 0;
}

constexpr Field kDeallocRequest[] = {SIM_FIELD(ib_uverbs_dealloc_mw, mw_handle, Show::kHandle)};

int dealloc_mw(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_MW, call.request<ib_uverbs_dealloc_mw>().mw_handle);
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_MW_HANDLE, "mw_handle", Kind::kDestroyed, UVERBS_OBJECT_MW}};

int destroy_mw(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_MW, call.handle(UVERBS_ATTR_DESTROY_MW_HANDLE));
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, "MW/DESTROY", kDestroy, destroy_mw}};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_ALLOC_MW, "MW/ALLOC", sizeof(ib_uverbs_alloc_mw), sizeof(ib_uverbs_alloc_mw_resp),
     kAllocRequest, kAllocResponse, alloc_mw},
    {IB_USER_VERBS_CMD_DEALLOC_MW,
     "MW/DESTROY",
     sizeof(ib_uverbs_dealloc_mw),
     0,
     kDeallocRequest,
     {},
     dealloc_mw,
     false},
};

}  // namespace

Methods mw_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
