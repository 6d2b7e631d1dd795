// SPDX-License-Identifier: BSD-2-Clause
// Completion counters.
#include <infiniband/driver.h>

#include <algorithm>
#include <cstring>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT int _ibv_query_comp_cntr_caps(ibv_context *context, ibv_comp_cntr_caps *caps, size_t caps_size)
{
    // A program of a later release may have a larger structure, which it finds zeroed behind what is known
    // here.
    ibv_comp_cntr_caps whole = {};
    int error = ops(context).query_comp_cntr_caps(context, &whole, sizeof whole);
    if (error != 0)
        return error;
    std::memset(caps, 0, caps_size);
    std::memcpy(caps, &whole, std::min(caps_size, sizeof whole));
    return 0;
}

VERBS_EXPORT ibv_comp_cntr *ibv_create_comp_cntr(ibv_context *context, ibv_comp_cntr_init_attr *cc_attr)
{
    if (cc_attr->comp_mask != 0 || cc_attr->flags != 0)
        return verbs::null_with(EOPNOTSUPP);
    ibv_comp_cntr *comp_cntr = ops(context).create_comp_cntr(context, cc_attr);
    if (comp_cntr != nullptr)
        comp_cntr->context = context;
    return comp_cntr;
}

VERBS_EXPORT int ibv_destroy_comp_cntr(ibv_comp_cntr *comp_cntr)
{
    return ops(comp_cntr->context).destroy_comp_cntr(comp_cntr);
}

VERBS_EXPORT int ibv_set_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t value)
{
    return ops(comp_cntr->context).set_comp_cntr(comp_cntr, value);
}

VERBS_EXPORT int ibv_set_err_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t value)
{
    return ops(comp_cntr->context).set_err_comp_cntr(comp_cntr, value);
}

VERBS_EXPORT int ibv_inc_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t amount)
{
    return ops(comp_cntr->context).inc_comp_cntr(comp_cntr, amount);
}

VERBS_EXPORT int ibv_inc_err_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t amount)
{
    return ops(comp_cntr->context).inc_err_comp_cntr(comp_cntr, amount);
}

VERBS_EXPORT int ibv_read_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t *value)
{
    return ops(comp_cntr->context).read_comp_cntr(comp_cntr, value);
}

VERBS_EXPORT int ibv_read_err_comp_cntr(ibv_comp_cntr *comp_cntr, uint64_t *value)
{
    return ops(comp_cntr->context).read_err_comp_cntr(comp_cntr, value);
}

VERBS_EXPORT int ibv_qp_attach_comp_cntr(ibv_qp *qp, ibv_comp_cntr *comp_cntr,
                                         ibv_qp_attach_comp_cntr_attr *attr)
{
    return ops(qp->context).qp_attach_comp_cntr(qp, comp_cntr, attr);
}
