// SPDX-License-Identifier: BSD-2-Clause
// Creating and destroying flow rules.
#include "verbs/flow.hh"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "common/memory.hh"
#include "process.hh"
#include "verbs/qp.hh"

namespace urxe {

ibv_flow *flow_create(ibv_qp *ibqp, ibv_flow_attr *attr)
{
    // Other devices steer datagrams too.
    if (ibqp->qp_type != IBV_QPT_RAW_PACKET)
        return common::null_with(ibqp->qp_type == IBV_QPT_UD ? EOPNOTSUPP : EINVAL);
    auto made = common::allocate<Flow>();
    if (!made)
        return nullptr;
    int error = raw::rule_make(*attr, made->rule);
    const raw::Rule &rule = made->rule;
    if (error == 0 &&
        std::any_of(rule.counters, rule.counters + rule.num_counters,
                    [&](const ibv_counters *counters) { return counters->context != ibqp->context; }))
        error = EINVAL;
    made->flow.context = ibqp->context;
    made->qp = &to_qp(ibqp);
    if (error == 0)
        error = made->qp->process->taps.add(*made->qp->process, *made);
    return error != 0 ? common::null_with(error) : &made.release()->flow;
}

int flow_destroy(ibv_flow *ibflow)
{
    auto *flow = reinterpret_cast<Flow *>(ibflow);
    flow->qp->process->taps.remove(*flow->qp->process, *flow);
    std::free(flow);
    return 0;
}

}  // namespace urxe
