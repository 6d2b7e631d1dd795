// SPDX-License-Identifier: BSD-2-Clause
// Protection domains: the kernel's, or for parent domains their own.
#include "pd.hh"

#include "domain.hh"

namespace rxe {

ibv_pd *pd_alloc(ibv_context *context)
{
    auto pd = common::allocate<Pd>();
    if (!pd)
        return nullptr;
    struct ibv_alloc_pd command {};
    ib_uverbs_alloc_pd_resp response{};
    const int error =
        ibv_cmd_alloc_pd(context, &pd->pd, &command, sizeof(command), &response, sizeof(response));
    if (error != 0)
        return common::null_with(error);
    return &pd.release()->pd;
}

ibv_pd *pd_import(ibv_context *context, uint32_t handle)
{
    auto pd = common::allocate<Pd>();
    if (!pd)
        return nullptr;
    pd->pd.context = context;
    pd->pd.handle = handle;
    // No command describes a PD. One that nobody understands tells at least whether there is one of this
    // number, for the kernel looks the objects of a command up first: ENOENT, EINVAL for an object of another
    // kind.
    constexpr auto kNoAdvice = static_cast<ibv_advise_mr_advice>(UINT32_MAX);
    ibv_sge nothing{};
    const int error = ibv_cmd_advise_mr(&pd->pd, kNoAdvice, 0, &nothing, 1);
    const bool is_old_kernel = error == EPROTONOSUPPORT || error == ENOTTY;  // which cannot tell
    if (error != 0 && error != EOPNOTSUPP && !is_old_kernel)
        return common::null_with(error);
    return &pd.release()->pd;
}

void pd_unimport(ibv_pd *pd)
{
    std::free(to_pd(pd));
}

int pd_dealloc(ibv_pd *ibpd)
{
    Pd *pd = to_pd(ibpd);
    if (pd->protection != nullptr)
        return common::parent_domain_dealloc(pd);
    if (common::domain_is_used(pd->users))
        return EBUSY;
    const int error = ibv_cmd_dealloc_pd(ibpd);
    if (error == 0)
        std::free(pd);
    return error;
}

}  // namespace rxe
