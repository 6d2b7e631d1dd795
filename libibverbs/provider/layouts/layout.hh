// SPDX-License-Identifier: BSD-2-Clause
// What differs between the objects of provider ABIs, as far as the library touches them.
//
// A provider is built against the private ABI of one release. Its number N, that of libNAME-rdmavN.so and of the entry
// verbs_register_driver_N that it calls, does not always say which: numbers 34 and 59 had several layouts. What does is
// in provider/recognise.hh.
#pragma once

#include <infiniband/driver.h>

#include <cstddef>
#include <span>

namespace verbs::provider {

/// A provider ABI. Every context and every recognised provider has one; it never changes.
struct Layout {
    int abi;                          ///< N of libNAME-rdmavN.so
    int first_release, last_release;  ///< that have it
    size_t context_size;              ///< of its verbs_context: as many bytes from the end of ours
    size_t qp_comp_mask;              ///< offset of comp_mask in its verbs_qp
    size_t qp_xrcd;                   ///< offset of xrcd in its verbs_qp
    size_t port_attr_size;            ///< of its ibv_port_attr, which is the front of ours
    bool links_dmabuf_mr;             ///< its ibv_cmd_reg_dmabuf_mr has an eighth parameter
    int ops_column;                   ///< of ops.def
};

/// Ours, that of <infiniband/driver.h>.
inline constexpr Layout kNativeLayout = {.abi = VERBS_PROVIDER_ABI,
                                         .first_release = VERBS_PROVIDER_ABI,
                                         .last_release = VERBS_PROVIDER_ABI,
                                         .context_size = sizeof(verbs_context),
                                         .qp_comp_mask = offsetof(verbs_qp, comp_mask),
                                         .qp_xrcd = offsetof(verbs_qp, xrcd),
                                         .port_attr_size = sizeof(ibv_port_attr),
                                         .links_dmabuf_mr = true,
                                         .ops_column = -1};

/// The others, by number and release.
extern const std::span<const Layout> kForeignLayouts;

/// The public part of a context, given the verbs_context of that layout: they end in the same members.
inline ibv_context *public_context(const Layout &layout, void *vctx)
{
    return reinterpret_cast<ibv_context *>(static_cast<char *>(vctx) + layout.context_size -
                                           sizeof(ibv_context));
}

/// The same of a verbs_context that a foreign provider hands in and that context_init has set up: its `sz` tells the
/// layout.
ibv_context *public_context(void *foreign_vctx);

/// The ops of a foreign layout's verbs_context_ops in our table; those that the layout has not are null.
verbs_context_ops native_ops(const Layout &layout, const void *foreign_ops);

}  // namespace verbs::provider
