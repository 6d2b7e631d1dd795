// SPDX-License-Identifier: BSD-2-Clause
// Protection domains: the kernel's, with nothing of the provider's own.
#include "pd.hh"

#include "common/memory.hh"

namespace siw {

ibv_pd *pd_alloc(ibv_context *context)
{
    auto pd = common::allocate<ibv_pd>();
    if (!pd)
        return nullptr;
    struct ibv_alloc_pd command {};
    ib_uverbs_alloc_pd_resp response{};
    const int error =
        ibv_cmd_alloc_pd(context, pd.get(), &command, sizeof(command), &response, sizeof(response));
    if (error != 0)
        return common::null_with(error);
    return pd.release();
}

int pd_dealloc(ibv_pd *pd)
{
    const int error = ibv_cmd_dealloc_pd(pd);
    if (error == 0)
        std::free(pd);
    return error;
}

}  // namespace siw
