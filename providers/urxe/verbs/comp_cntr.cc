// SPDX-License-Identifier: BSD-2-Clause
// Completion counters.
#include "verbs/comp_cntr.hh"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/memory.hh"
#include "context.hh"
#include "verbs/qp.hh"
#include "verbs/xrcd.hh"

namespace urxe {
namespace {

using shared::Counted;

CompCntr &to_counter(ibv_comp_cntr *counter)
{
    return *reinterpret_cast<CompCntr *>(counter);
}

/// Where peers find the counter of an operation that they carry out; kKinds: they do not.
Counted counted(uint32_t op)
{
    switch (op) {
        case IBV_QP_ATTACH_COMP_CNTR_OP_RECV:
            return Counted::kReceives;
        case IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ:
            return Counted::kReads;
        case IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE:
            return Counted::kWrites;
        default:
            return Counted::kKinds;
    }
}

}  // namespace

int comp_cntr_query_caps(ibv_context *, ibv_comp_cntr_caps *caps, size_t size)
{
    const ibv_comp_cntr_caps whole = {.max_value = UINT64_MAX,
                                      .max_counters = shared::CountTable::kCapacity - 1,
                                      .supported_qp_attach_ops = (1U << kCountedOps) - 1};
    std::memcpy(caps, &whole, std::min(size, sizeof whole));
    return 0;
}

ibv_comp_cntr *comp_cntr_create(ibv_context *context, ibv_comp_cntr_init_attr *attr)
{
    uint32_t type;  // The program's may be none that there is.
    static_assert(sizeof type == sizeof attr->type);
    std::memcpy(&type, &attr->type, sizeof type);
    if (type != IBV_COMP_CNTR_TYPE_WRS && type != IBV_COMP_CNTR_TYPE_BYTES)
        return common::null_with(EOPNOTSUPP);
    Process &process = process_of(*context);
    common::Allocated<CompCntr> made = common::allocate<CompCntr>();
    if (!made)
        return nullptr;
    common::Locked locked(process.lock);
    made->index = process.count_indices.take(shared::CountTable::kCapacity);
    if (made->index == 0)
        return common::null_with(ENOMEM);
    if (process.make_entry(process.header().counts, made->index) != 0) {
        process.count_indices.give(made->index);
        return common::null_with(ENOMEM);
    }
    made->shared = process.entry(process.header().counts, made->index);
    made->shared->counts_bytes = type == IBV_COMP_CNTR_TYPE_BYTES ? 1 : 0;
    made->shared->successes.store(0);
    made->shared->failures.store(0);
    made->verbs.context = context;
    made->verbs.handle = made->index;
    return &made.release()->verbs;
}

int comp_cntr_destroy(ibv_comp_cntr *ibcounter)
{
    CompCntr *counter = &to_counter(ibcounter);
    Process &process = process_of(*ibcounter->context);
    common::Locked locked(process.lock);
    if (counter->users != 0)
        return EBUSY;
    process.count_indices.give(counter->index);
    std::free(counter);
    return 0;
}

int comp_cntr_set(ibv_comp_cntr *counter, uint64_t value)
{
    to_counter(counter).shared->successes.store(value);
    return 0;
}

int comp_cntr_set_err(ibv_comp_cntr *counter, uint64_t value)
{
    to_counter(counter).shared->failures.store(value);
    return 0;
}

int comp_cntr_inc(ibv_comp_cntr *counter, uint64_t amount)
{
    to_counter(counter).shared->successes.fetch_add(amount);
    return 0;
}

int comp_cntr_inc_err(ibv_comp_cntr *counter, uint64_t amount)
{
    to_counter(counter).shared->failures.fetch_add(amount);
    return 0;
}

int comp_cntr_read(ibv_comp_cntr *counter, uint64_t *value)
{
    *value = to_counter(counter).shared->successes.load();
    return 0;
}

int comp_cntr_read_err(ibv_comp_cntr *counter, uint64_t *value)
{
    *value = to_counter(counter).shared->failures.load();
    return 0;
}

int comp_cntr_attach(ibv_qp *ibqp, ibv_comp_cntr *ibcounter, ibv_qp_attach_comp_cntr_attr *attr)
{
    if (ibqp->qp_type == IBV_QPT_RAW_PACKET)
        return EOPNOTSUPP;
    Qp &qp = qp_behind(ibqp);
    CompCntr &counter = to_counter(ibcounter);
    if (attr->comp_mask != 0 || attr->op_mask >> kCountedOps != 0)
        return EOPNOTSUPP;
    if (attr->op_mask == 0 || ibcounter->context != ibqp->context)
        return EINVAL;
    common::Locked locked(qp.process->lock);
    common::Locked modifies(qp.state_lock);
    if (const ibv_qp_state state = qp.state.load(); state != IBV_QPS_RESET && state != IBV_QPS_INIT)
        return EINVAL;
    for (uint32_t i = 0; i < kCountedOps; ++i)
        if ((attr->op_mask >> i & 1) != 0 && qp.counters[i] != nullptr && qp.counters[i] != &counter)
            return EBUSY;
    for (uint32_t i = 0; i < kCountedOps; ++i) {
        if ((attr->op_mask >> i & 1) == 0 || qp.counters[i] != nullptr)
            continue;
        qp.counters[i] = &counter;
        ++counter.users;
        if (const Counted place = counted(1U << i); place != Counted::kKinds)
            qp.shared->counters[static_cast<uint32_t>(place)] = counter.index;
    }
    qp.has_counters = true;
    return 0;
}

void comp_cntr_count(Qp &qp, uint32_t op, bool is_success, uint64_t bytes)
{
    if (op == 0)
        return;
    if (const CompCntr *counter = qp.counters[std::countr_zero(op)]; counter != nullptr)
        counter->shared->add(is_success, bytes);
}

void comp_cntr_detach(Qp &qp)
{
    for (CompCntr *&counter : qp.counters) {
        if (counter != nullptr)
            --counter->users;
        counter = nullptr;
    }
}

}  // namespace urxe
