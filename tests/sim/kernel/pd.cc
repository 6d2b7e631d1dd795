// SPDX-License-Identifier: BSD-2-Clause
// Protection domains.
#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/methods.hh"

namespace sim {
namespace {

constexpr Field kAllocRequest[] = {SIM_FIELD(ib_uverbs_alloc_pd, response, Show::kHidden)};
constexpr Field kAllocResponse[] = {SIM_FIELD(ib_uverbs_alloc_pd_resp, pd_handle, Show::kHandle)};

int alloc_pd(Call &call)
{
    ib_uverbs_alloc_pd_resp response = {};
    if (call.file().add(UVERBS_OBJECT_PD, response.pd_handle) == nullptr)
        return ENOMEM;
    call.respond(response);
    driver_pd(call);
    return 0;
}

constexpr Field kDeallocRequest[] = {SIM_FIELD(ib_uverbs_dealloc_pd, pd_handle, Show::kHandle)};

int dealloc_pd(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_PD, call.request<ib_uverbs_dealloc_pd>().pd_handle);
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_PD_HANDLE, "pd_handle", Kind::kDestroyed, UVERBS_OBJECT_PD},
};

int destroy_pd(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_PD, call.handle(UVERBS_ATTR_DESTROY_PD_HANDLE));
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, "PD/DESTROY", kDestroy, destroy_pd},
};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_ALLOC_PD, "PD/ALLOC", sizeof(ib_uverbs_alloc_pd), sizeof(ib_uverbs_alloc_pd_resp),
     kAllocRequest, kAllocResponse, alloc_pd},
    {IB_USER_VERBS_CMD_DEALLOC_PD,
     "PD/DESTROY",
     sizeof(ib_uverbs_dealloc_pd),
     0,
     kDeallocRequest,
     {},
     dealloc_pd,
     false},
};

}  // namespace

Methods pd_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
