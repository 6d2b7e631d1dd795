// SPDX-License-Identifier: BSD-2-Clause
// Creating, changing and destroying work queues and indirection tables.
#include "verbs/wq.hh"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/domain.hh"
#include "common/memory.hh"
#include "context.hh"
#include "direct/memory.hh"
#include "verbs/qp.hh"

namespace urxe {
namespace {

Wq &to_wq(ibv_wq *wq)
{
    return *reinterpret_cast<Wq *>(wq);
}

/// The number of an enumerator, which a program's may be none of.
template <class Enum>
uint32_t number_of(const Enum &value)
{
    uint32_t number;
    static_assert(sizeof number == sizeof value);
    std::memcpy(&number, &value, sizeof number);
    return number;
}

int post_receive(ibv_wq *wq, ibv_recv_wr *list, ibv_recv_wr **bad)
{
    return qp_post_recv(&to_wq(wq).queue->verbs.qp, list, bad);
}

/// Takes the QP behind a work queue to a state. 0 or a positive errno value.
int set_state(Qp &qp, ibv_qp_state state)
{
    ibv_qp_attr attr{};
    attr.qp_state = state;
    attr.port_num = 1;
    return qp_modify(&qp.verbs.qp, &attr, IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0));
}

/// `from` and `to` are ibv_wq_state. 0 or a positive errno value.
int go_to(Qp &qp, uint32_t from, uint32_t to)
{
    if (to == IBV_WQS_RESET)
        return set_state(qp, IBV_QPS_RESET);
    if (to == IBV_WQS_ERR)
        return set_state(qp, IBV_QPS_ERR);
    if (from == IBV_WQS_RDY)
        return 0;
    const int error = set_state(qp, IBV_QPS_INIT);
    return error != 0 ? error : set_state(qp, IBV_QPS_RTR);
}

}  // namespace

ibv_wq *wq_create(ibv_context *context, ibv_wq_init_attr *attr)
{
    const uint32_t flags = (attr->comp_mask & IBV_WQ_INIT_ATTR_FLAGS) != 0 ? attr->create_flags : 0;
    if ((attr->comp_mask & ~uint32_t{IBV_WQ_INIT_ATTR_FLAGS}) != 0 || flags != 0)
        return common::null_with(EOPNOTSUPP);
    if (number_of(attr->wq_type) != IBV_WQT_RQ || attr->pd == nullptr || attr->cq == nullptr ||
        attr->max_wr == 0 || attr->max_wr > kMaxWr || attr->max_sge > direct::kMaxSegments)
        return common::null_with(EINVAL);
    auto made = common::allocate<Wq>();
    if (!made)
        return nullptr;
    ibv_qp_init_attr_ex queue{};
    queue.recv_cq = attr->cq;
    queue.pd = attr->pd;
    queue.qp_type = IBV_QPT_RAW_PACKET;
    queue.cap.max_recv_wr = attr->max_wr;
    queue.cap.max_recv_sge = attr->max_sge;
    made->queue = qp_make(context, queue);
    if (made->queue == nullptr)
        return nullptr;
    ibv_wq &wq = made->wq;
    wq.context = context;
    wq.pd = attr->pd;
    wq.cq = attr->cq;
    wq.wq_num = made->queue->verbs.qp.qp_num;
    wq.handle = made->queue->index;
    wq.state = IBV_WQS_RESET;
    wq.wq_type = IBV_WQT_RQ;
    wq.post_recv = post_receive;
    return &made.release()->wq;
}

int wq_modify(ibv_wq *ibwq, ibv_wq_attr *attr)
{
    constexpr uint32_t kKnown = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE;
    if ((attr->attr_mask & ~kKnown) != 0)
        return EOPNOTSUPP;
    const uint32_t from = number_of(ibwq->state);
    const uint32_t to = (attr->attr_mask & IBV_WQ_ATTR_STATE) != 0 ? number_of(attr->wq_state) : from;
    if (to > IBV_WQS_ERR ||
        ((attr->attr_mask & IBV_WQ_ATTR_CURR_STATE) != 0 && number_of(attr->curr_wq_state) != from) ||
        (from == IBV_WQS_ERR && to == IBV_WQS_RDY))
        return EINVAL;
    const int error = go_to(*to_wq(ibwq).queue, from, to);
    if (error == 0)
        ibwq->state = static_cast<ibv_wq_state>(to);
    return error;
}

int wq_destroy(ibv_wq *ibwq)
{
    Wq &wq = to_wq(ibwq);
    if (common::domain_is_used(wq.users))
        return EBUSY;
    if (const int error = qp_destroy(&wq.queue->verbs.qp); error != 0)
        return error;
    pthread_cond_destroy(&ibwq->cond);
    pthread_mutex_destroy(&ibwq->mutex);
    std::free(&wq);
    return 0;
}

ibv_rwq_ind_table *table_create(ibv_context *context, ibv_rwq_ind_table_init_attr *attr)
{
    if (attr->comp_mask != 0)
        return common::null_with(EOPNOTSUPP);
    if (attr->log_ind_tbl_size > kMaxLogTableSize || attr->ind_tbl == nullptr)
        return common::null_with(EINVAL);
    const uint32_t size = 1U << attr->log_ind_tbl_size;
    if (std::any_of(attr->ind_tbl, attr->ind_tbl + size,
                    [&](const ibv_wq *wq) { return wq == nullptr || wq->context != context; }))
        return common::null_with(EINVAL);
    auto *table =
        static_cast<IndirectionTable *>(std::calloc(1, sizeof(IndirectionTable) + size * sizeof(void *)));
    if (table == nullptr)
        return common::null_with(ENOMEM);
    table->table.context = context;
    table->size = size;
    for (uint32_t i = 0; i < size; ++i) {
        table->queues[i] = &to_wq(attr->ind_tbl[i]);
        common::domain_ref(table->queues[i]->users);
    }
    table->table.ind_tbl_handle = table->table.ind_tbl_num =
        static_cast<int>(process_of(*context).next_table.fetch_add(1) + 1);
    return &table->table;
}

int table_destroy(ibv_rwq_ind_table *ibtable)
{
    IndirectionTable &table = to_table(ibtable);
    if (common::domain_is_used(table.users))
        return EBUSY;
    for (uint32_t i = 0; i < table.size; ++i)
        common::domain_unref(table.queues[i]->users);
    std::free(&table);
    return 0;
}

void table_ref(IndirectionTable &table)
{
    common::domain_ref(table.users);
}

void table_unref(IndirectionTable &table)
{
    common::domain_unref(table.users);
}

Qp &table_queue(const IndirectionTable &table, uint32_t hash)
{
    return *table.queues[hash & (table.size - 1)]->queue;
}

}  // namespace urxe
