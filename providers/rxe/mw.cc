// SPDX-License-Identifier: BSD-2-Clause
// Memory windows: allocated here, bound by work requests.
#include "mw.hh"

#include "common/memory.hh"

namespace rxe {

ibv_mw *mw_alloc(ibv_pd *pd, ibv_mw_type type)
{
    auto mw = common::allocate<ibv_mw>();
    if (!mw)
        return nullptr;
    struct ibv_alloc_mw command {};
    ib_uverbs_alloc_mw_resp response{};
    const int error =
        ibv_cmd_alloc_mw(pd, type, mw.get(), &command, sizeof(command), &response, sizeof(response));
    if (error != 0)
        return common::null_with(error);
    return mw.release();
}

int mw_dealloc(ibv_mw *mw)
{
    const int error = ibv_cmd_dealloc_mw(mw);
    if (error == 0)
        std::free(mw);
    return error;
}

}  // namespace rxe
