// SPDX-License-Identifier: BSD-2-Clause
// What differs between the objects of provider ABIs, as far as the library touches them.
#pragma once

#include <infiniband/driver.h>

#include <cstddef>

namespace verbs::provider {

/// A provider ABI. Every context and every registered provider has one; it never changes.
struct Layout {
    int abi;              ///< N of libNAME-rdmavN.so
    size_t context_size;  ///< of its verbs_context: as many bytes from the end of ours
    size_t qp_comp_mask;  ///< offset of comp_mask in its verbs_qp
    size_t qp_xrcd;       ///< offset of xrcd in its verbs_qp
};

/// Ours, that of <infiniband/driver.h>.
inline constexpr Layout kNativeLayout = {.abi = VERBS_PROVIDER_ABI,
                                         .context_size = sizeof(verbs_context),
                                         .qp_comp_mask = offsetof(verbs_qp, comp_mask),
                                         .qp_xrcd = offsetof(verbs_qp, xrcd)};

/// The public part of a context, given the verbs_context of that layout: they end in the same members.
inline ibv_context *public_context(const Layout &layout, void *vctx)
{
    return reinterpret_cast<ibv_context *>(static_cast<char *>(vctx) + layout.context_size -
                                           sizeof(ibv_context));
}

}  // namespace verbs::provider
