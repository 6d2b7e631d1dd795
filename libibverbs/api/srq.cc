// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"

using verbs::provider::ops;

VERBS_EXPORT ibv_srq *ibv_create_srq(ibv_pd *pd, ibv_srq_init_attr *srq_init_attr)
{
    return ops(pd->context).create_srq(pd, srq_init_attr);
}

VERBS_EXPORT int ibv_modify_srq(ibv_srq *srq, ibv_srq_attr *srq_attr, int srq_attr_mask)
{
    return ops(srq->context).modify_srq(srq, srq_attr, srq_attr_mask);
}

VERBS_EXPORT int ibv_query_srq(ibv_srq *srq, ibv_srq_attr *srq_attr)
{
    return ops(srq->context).query_srq(srq, srq_attr);
}

VERBS_EXPORT int ibv_destroy_srq(ibv_srq *srq)
{
    return ops(srq->context).destroy_srq(srq);
}
