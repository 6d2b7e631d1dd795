// SPDX-License-Identifier: BSD-2-Clause
// The members of a verbs_qp, wherever its provider's ABI has them.
#pragma once

#include <infiniband/driver.h>

#include "provider/context.hh"

namespace verbs::provider {

/// verbs_qp.comp_mask (enum verbs_qp_mask) of a queue pair of `context`.
inline uint32_t &qp_comp_mask(verbs_qp &qp, ibv_context *context)
{
    return *reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(&qp) + layout(context).qp_comp_mask);
}

/// Remembers the XRC domain of a queue pair of `context`.
inline void qp_set_xrcd(verbs_qp &qp, ibv_context *context, verbs_xrcd *xrcd)
{
    qp_comp_mask(qp, context) |= VERBS_QP_XRCD;
    *reinterpret_cast<verbs_xrcd **>(reinterpret_cast<char *>(&qp) + layout(context).qp_xrcd) = xrcd;
}

/// The XRC domain of a queue pair of `context`, or null.
inline verbs_xrcd *qp_xrcd(verbs_qp &qp, ibv_context *context)
{
    if ((qp_comp_mask(qp, context) & VERBS_QP_XRCD) == 0)
        return nullptr;
    return *reinterpret_cast<verbs_xrcd **>(reinterpret_cast<char *>(&qp) + layout(context).qp_xrcd);
}

}  // namespace verbs::provider
