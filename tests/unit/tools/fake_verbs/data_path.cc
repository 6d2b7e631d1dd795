// SPDX-License-Identifier: BSD-2-Clause
// The fake's protection domains, memory regions, completion queues and queue pairs.
//
// There is no wire. A queue pair completes each send at once, and each posted receive when the completion queue is
// polled, as if the peer had sent something that changed no byte of the buffer. Every call is logged with its
// arguments, addresses as offsets in their page.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <deque>

#include "objects.hh"
#include "scenario.hh"

#undef ibv_reg_mr

using namespace fake_verbs;

namespace fake_verbs {
namespace {

// In the order of their creation.
std::deque<Qp *> qps;
// The queue that events tell of.
Cq *the_cq;

unsigned page_offset(const void *address)
{
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(address) & 4095);
}

ibv_wc next_completion(uint64_t wr_id, ibv_wc_opcode opcode)
{
    static unsigned number;
    ibv_wc wc = {};
    wc.wr_id = wr_id;
    wc.opcode = opcode;
    auto scripted = scenario().completions.find(++number);
    if (scripted != scenario().completions.end()) {
        wc.status = static_cast<ibv_wc_status>(scripted->second.status);
        if (scripted->second.changes_wr_id)
            wc.wr_id = scripted->second.wr_id;
    }
    return wc;
}

// Writes what the scenario wants to have been received: in each page the number of the page plus
// "received_base", and "received_wrong" at the offset "received_wrong_at".
void deliver(const ibv_sge &sge)
{
    if (!scenario().values.count("received_base") || !sge.addr)
        return;
    auto *data = reinterpret_cast<unsigned char *>(sge.addr);
    for (uint32_t i = 0; i < sge.length; ++i)
        data[i] = static_cast<unsigned char>(i / 4096 + value("received_base", 0));
    uint64_t wrong_at = value("received_wrong_at", UINT64_MAX);
    if (wrong_at < sge.length)
        data[wrong_at] = static_cast<unsigned char>(value("received_wrong", 0));
}

// Completes one receive. Several queue pairs take turns.
void receive_one()
{
    static size_t turn;
    static bool pause;
    for (size_t tried = 0; tried < qps.size(); ++tried) {
        Qp *qp = qps[turn++ % qps.size()];
        if (qp->qp.qp_base.qp_type == IBV_QPT_XRC_SEND || qp->receives->wr_ids.empty())
            continue;
        // The program for XRC empties its queue before it looks at what it has received.
        if (qp->qp.qp_base.qp_type == IBV_QPT_XRC_RECV && (pause = !pause))
            return;
        deliver(qp->receives->buffer);
        qp->recv_cq->ready.push_back(next_completion(qp->receives->wr_ids.front(), IBV_WC_RECV));
        qp->recv_cq->ready.back().qp_num = qp->qp.qp_base.qp_num;
        qp->receives->wr_ids.pop_front();
        return;
    }
}

void log_sge(const ibv_sge *sge, int count)
{
    for (int i = 0; i < count; ++i)
        log("  sge lkey=%u length=%u address%%page=%u", sge[i].lkey, sge[i].length,
            static_cast<unsigned>(sge[i].addr & 4095));
}

// Logs the buffer that is sent, byte runs shortened to COUNTxVALUE.
void log_payload(const ibv_sge &sge)
{
    const auto *data = reinterpret_cast<const unsigned char *>(sge.addr);
    for (uint32_t start = 0, end; data && start < sge.length; start = end) {
        for (end = start + 1; end < sge.length && data[end] == data[start];)
            ++end;
        log("  payload %ux%02x", end - start, data[start]);
    }
}

int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad)
{
    log("ibv_post_send wr_id=%lu opcode=%d flags=%u next=%d", wr->wr_id, wr->opcode, wr->send_flags,
        wr->next != nullptr);
    log_sge(wr->sg_list, wr->num_sge);
    if (wr->num_sge == 1)
        log_payload(wr->sg_list[0]);
    if (int error = failure("ibv_post_send")) {
        *bad = wr;
        return error;
    }
    if (qp->qp_type == IBV_QPT_UD)
        log("  to ah=%d qpn=%#x qkey=%#x", wr->wr.ud.ah != nullptr, wr->wr.ud.remote_qpn,
            wr->wr.ud.remote_qkey);
    else if (qp->qp_type == IBV_QPT_XRC_SEND)
        log("  to srqn=%#x", wr->qp_type.xrc.remote_srqn);
    auto &ready = reinterpret_cast<Qp *>(qp)->send_cq->ready;
    ready.push_back(next_completion(wr->wr_id, IBV_WC_SEND));
    ready.back().qp_num = qp->qp_num;
    return 0;
}

int post_recv(ibv_qp *qp, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
    return post_receives("ibv_post_recv", reinterpret_cast<Qp *>(qp)->own, wr, bad);
}

int poll_cq(ibv_cq *cq, int entries, ibv_wc *wc)
{
    auto &ready = reinterpret_cast<Cq *>(cq)->ready;
    if (failure("ibv_poll_cq"))
        return -1;
    receive_one();
    int count = 0;
    for (; count < entries && !ready.empty(); ++count) {
        wc[count] = ready.front();
        ready.pop_front();
    }
    log("ibv_poll_cq(%d) = %d", entries, count);
    return count;
}

int req_notify_cq(ibv_cq *, int solicited_only)
{
    log("ibv_req_notify_cq(%d)", solicited_only);
    return failure("ibv_req_notify_cq");
}

int next_poll(ibv_cq_ex *cq)
{
    auto &ready = reinterpret_cast<Cq *>(cq)->ready;
    if (int error = failure("ibv_next_poll"))
        return error;
    if (ready.empty())
        return ENOENT;
    cq->status = ready.front().status;
    cq->wr_id = ready.front().wr_id;
    ready.pop_front();
    log("completion polled");
    return 0;
}

int start_poll(ibv_cq_ex *cq, ibv_poll_cq_attr *attr)
{
    log("ibv_start_poll(comp_mask=%u)", attr->comp_mask);
    if (int error = failure("ibv_start_poll"))
        return error;
    receive_one();
    return next_poll(cq);
}

void end_poll(ibv_cq_ex *)
{
    log("ibv_end_poll");
}

// Each timestamp is a little later after its predecessor than that was.
uint64_t read_completion_ts(ibv_cq_ex *)
{
    static uint64_t timestamp = value("first_timestamp", 1000);
    static uint64_t step = value("timestamp_step", 10);
    uint64_t result = timestamp & value("timestamp_mask", UINT64_MAX);
    timestamp += step;
    step += value("timestamp_step_growth", 0);
    log("ibv_wc_read_completion_ts = %lu", result);
    return result;
}

ibv_cq_ex *create_cq_ex(ibv_context *context, ibv_cq_init_attr_ex *attr)
{
    log("ibv_create_cq_ex(cqe=%u, cq_context=%d, channel=%d, vector=%u, wc_flags=%lu, comp_mask=%u)",
        attr->cqe, attr->cq_context != nullptr, attr->channel != nullptr, attr->comp_vector, attr->wc_flags,
        attr->comp_mask);
    if (failure("ibv_create_cq_ex"))
        return nullptr;
    return &make_cq(context, static_cast<int>(attr->cqe), attr->channel, attr->cq_context)->cq;
}

void wr_start(ibv_qp_ex *)
{
    log("ibv_wr_start");
}

void wr_send(ibv_qp_ex *qp)
{
    log("ibv_wr_send wr_id=%lu flags=%u", qp->wr_id, qp->wr_flags);
    auto *whole = reinterpret_cast<Qp *>(qp);
    whole->send_cq->ready.push_back(next_completion(qp->wr_id, IBV_WC_SEND));
}

void wr_set_sge(ibv_qp_ex *, uint32_t lkey, uint64_t address, uint32_t length)
{
    ibv_sge sge = {address, length, lkey};
    log_sge(&sge, 1);
}

int wr_complete(ibv_qp_ex *)
{
    log("ibv_wr_complete");
    return failure("ibv_wr_complete");
}

uint32_t next_qp_num()
{
    static auto number = static_cast<uint32_t>(value("qp_num", 0x123));
    return number++;
}

// Works on the attributes of ibv_create_qp as on those of ibv_create_qp_ex.
template <class Attributes>
Qp *make_qp(ibv_context *context, ibv_pd *pd, const Attributes &attr)
{
    auto *qp = new Qp();
    ibv_qp *base = &qp->qp.qp_base;
    base->context = context;
    base->pd = pd;
    base->qp_context = attr.qp_context;
    base->send_cq = attr.send_cq;
    base->recv_cq = attr.recv_cq;
    base->srq = attr.srq;
    base->qp_num = next_qp_num();
    base->qp_type = attr.qp_type;
    qp->qp.wr_start = wr_start;
    qp->qp.wr_send = wr_send;
    qp->qp.wr_set_sge = wr_set_sge;
    qp->qp.wr_complete = wr_complete;
    qp->send_cq = reinterpret_cast<Cq *>(attr.send_cq);
    qp->recv_cq = reinterpret_cast<Cq *>(attr.recv_cq);
    qp->receives = attr.srq ? &reinterpret_cast<Srq *>(attr.srq)->receives : &qp->own;
    qps.push_back(qp);
    return qp;
}

void log_qp_cap(const ibv_qp_cap &cap)
{
    log("  cap %u %u %u %u %u", cap.max_send_wr, cap.max_recv_wr, cap.max_send_sge, cap.max_recv_sge,
        cap.max_inline_data);
}

ibv_qp *create_qp_ex(ibv_context *context, ibv_qp_init_attr_ex *attr)
{
    log("ibv_create_qp_ex(qp_context=%d, srq=%d, type=%d, sq_sig_all=%d, comp_mask=%u, pd=%d, send_ops=%lu)",
        attr->qp_context != nullptr, attr->srq != nullptr, attr->qp_type, attr->sq_sig_all, attr->comp_mask,
        attr->pd != nullptr, attr->send_ops_flags);
    log_qp_cap(attr->cap);
    if (failure("ibv_create_qp_ex"))
        return nullptr;
    Qp *qp = make_qp(context, attr->pd, *attr);
    if (attr->qp_type == IBV_QPT_XRC_RECV)
        attach_to_xrc_srq(qp);
    return &qp->qp.qp_base;
}

int memcpy_to_dm(ibv_dm *, uint64_t offset, const void *from, size_t length)
{
    log("ibv_memcpy_to_dm(offset=%lu, from%%page=%u, length=%zu)", offset, page_offset(from), length);
    return failure("ibv_memcpy_to_dm");
}

int memcpy_from_dm(void *to, ibv_dm *, uint64_t offset, size_t length)
{
    log("ibv_memcpy_from_dm(to%%page=%u, offset=%lu, length=%zu)", page_offset(to), offset, length);
    return failure("ibv_memcpy_from_dm");
}

ibv_dm *alloc_dm(ibv_context *context, ibv_alloc_dm_attr *attr)
{
    log("ibv_alloc_dm(length=%zu, log_align_req=%u, comp_mask=%u)", attr->length, attr->log_align_req,
        attr->comp_mask);
    if (failure("ibv_alloc_dm"))
        return nullptr;
    auto *dm = static_cast<ibv_dm *>(calloc(1, sizeof(ibv_dm)));
    dm->context = context;
    dm->memcpy_to_dm = memcpy_to_dm;
    dm->memcpy_from_dm = memcpy_from_dm;
    return dm;
}

int free_dm(ibv_dm *dm)
{
    log("ibv_free_dm");
    if (int error = failure("ibv_free_dm")) {
        abandon(dm);
        return error;
    }
    free(dm);
    return 0;
}

ibv_mr *make_mr(ibv_pd *pd, void *address, size_t length)
{
    auto *mr = static_cast<ibv_mr *>(calloc(1, sizeof(ibv_mr)));
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = address;
    mr->length = length;
    mr->lkey = 77;
    mr->rkey = 78;
    return mr;
}

ibv_mr *reg_dm_mr(ibv_pd *pd, ibv_dm *, uint64_t offset, size_t length, unsigned access)
{
    log("ibv_reg_dm_mr(offset=%lu, length=%zu, access=%u)", offset, length, access);
    if (failure("ibv_reg_dm_mr"))
        return nullptr;
    return make_mr(pd, nullptr, length);
}

int advise_mr(ibv_pd *, ib_uverbs_advise_mr_advice advice, uint32_t flags, ibv_sge *sge, uint32_t count)
{
    log("ibv_advise_mr(advice=%d, flags=%u, count=%u)", advice, flags, count);
    log_sge(sge, static_cast<int>(count));
    return failure("ibv_advise_mr");
}

}  // namespace

Cq *make_cq(ibv_context *context, int cqe, ibv_comp_channel *channel, void *cq_context)
{
    auto *cq = new Cq();
    cq->cq.context = context;
    cq->cq.channel = channel;
    cq->cq.cqe = cqe;
    cq->cq.cq_context = cq_context;
    cq->cq.start_poll = start_poll;
    cq->cq.next_poll = next_poll;
    cq->cq.end_poll = end_poll;
    cq->cq.read_completion_ts = read_completion_ts;
    if (channel)
        the_cq = cq;
    return cq;
}

int post_receives(const char *verb, ReceiveQueue &receives, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
    if (int error = failure(verb)) {
        *bad = wr;
        return error;
    }
    if (wr->wr_id > UINT32_MAX)
        log("%s wr_id=an address next=%d", verb, wr->next != nullptr);
    else
        log("%s wr_id=%lu next=%d", verb, wr->wr_id, wr->next != nullptr);
    log_sge(wr->sg_list, wr->num_sge);
    receives.wr_ids.push_back(wr->wr_id);
    if (wr->num_sge == 1)
        receives.buffer = wr->sg_list[0];
    return 0;
}

void log_ah(const ibv_ah_attr &ah)
{
    log("  ah is_global=%u dlid=%u sl=%u src_path_bits=%u static_rate=%u port_num=%u", ah.is_global, ah.dlid,
        ah.sl, ah.src_path_bits, ah.static_rate, ah.port_num);
    if (ah.is_global)
        log("  grh dgid=%016llx%016llx flow_label=%u sgid_index=%u hop_limit=%u traffic_class=%u",
            static_cast<unsigned long long>(be64toh(ah.grh.dgid.global.subnet_prefix)),
            static_cast<unsigned long long>(be64toh(ah.grh.dgid.global.interface_id)), ah.grh.flow_label,
            ah.grh.sgid_index, ah.grh.hop_limit, ah.grh.traffic_class);
}

void abandon(void *object)
{
    static auto &abandoned = *new std::deque<void *>();
    abandoned.push_back(object);
}

void fill_data_path(verbs_context *context)
{
    context->context.ops.post_send = post_send;
    context->context.ops.post_recv = post_recv;
    context->context.ops.poll_cq = poll_cq;
    context->context.ops.req_notify_cq = req_notify_cq;
    context->create_cq_ex = create_cq_ex;
    context->create_qp_ex = create_qp_ex;
    context->alloc_dm = alloc_dm;
    context->free_dm = free_dm;
    context->reg_dm_mr = reg_dm_mr;
    context->advise_mr = advise_mr;
}

}  // namespace fake_verbs

#pragma GCC visibility push(default)
extern "C" {

ibv_pd *ibv_alloc_pd(ibv_context *context)
{
    log("ibv_alloc_pd");
    if (failure("ibv_alloc_pd"))
        return nullptr;
    auto *pd = static_cast<ibv_pd *>(calloc(1, sizeof(ibv_pd)));
    pd->context = context;
    return pd;
}

int ibv_dealloc_pd(ibv_pd *pd)
{
    log("ibv_dealloc_pd");
    if (int error = failure("ibv_dealloc_pd")) {
        abandon(pd);
        return error;
    }
    free(pd);
    return 0;
}

ibv_mr *ibv_reg_mr_iova2(ibv_pd *pd, void *address, size_t length, uint64_t, unsigned access)
{
    // The whole address space (implicit on-demand paging) starts at address 0.
    log("ibv_reg_mr(address%%page=%u%s, length=%zu, access=%u)", page_offset(address), address ? "" : " NULL",
        length, access);
    if (failure("ibv_reg_mr"))
        return nullptr;
    return make_mr(pd, address, length);
}

ibv_mr *ibv_reg_mr(ibv_pd *pd, void *address, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, address, length, reinterpret_cast<uintptr_t>(address),
                            static_cast<unsigned>(access));
}

int ibv_dereg_mr(ibv_mr *mr)
{
    log("ibv_dereg_mr");
    if (int error = failure("ibv_dereg_mr")) {
        abandon(mr);
        return error;
    }
    free(mr);
    return 0;
}

ibv_comp_channel *ibv_create_comp_channel(ibv_context *context)
{
    log("ibv_create_comp_channel");
    if (failure("ibv_create_comp_channel"))
        return nullptr;
    auto *channel = static_cast<ibv_comp_channel *>(calloc(1, sizeof(ibv_comp_channel)));
    channel->context = context;
    return channel;
}

int ibv_destroy_comp_channel(ibv_comp_channel *channel)
{
    log("ibv_destroy_comp_channel");
    if (int error = failure("ibv_destroy_comp_channel")) {
        abandon(channel);
        return error;
    }
    free(channel);
    return 0;
}

ibv_cq *ibv_create_cq(ibv_context *context, int cqe, void *cq_context, ibv_comp_channel *channel, int vector)
{
    log("ibv_create_cq(cqe=%d, cq_context=%d, channel=%d, vector=%d)", cqe, cq_context != nullptr,
        channel != nullptr, vector);
    if (failure("ibv_create_cq"))
        return nullptr;
    return reinterpret_cast<ibv_cq *>(make_cq(context, cqe, channel, cq_context));
}

int ibv_destroy_cq(ibv_cq *cq)
{
    log("ibv_destroy_cq");
    if (int error = failure("ibv_destroy_cq")) {
        abandon(cq);
        return error;
    }
    if (the_cq == reinterpret_cast<Cq *>(cq))
        the_cq = nullptr;
    delete reinterpret_cast<Cq *>(cq);
    return 0;
}

int ibv_get_cq_event(ibv_comp_channel *, ibv_cq **cq, void **cq_context)
{
    log("ibv_get_cq_event");
    if (failure("ibv_get_cq_event"))
        return -1;
    static unsigned events;
    *cq = reinterpret_cast<ibv_cq *>(the_cq);
    *cq_context = (*cq)->cq_context;
    // A notification for a queue that the program did not create.
    if (++events == value("foreign_event", 0))
        *cq = reinterpret_cast<ibv_cq *>(0x1234);
    return 0;
}

void ibv_ack_cq_events(ibv_cq *, unsigned count)
{
    log("ibv_ack_cq_events(%u)", count);
}

ibv_qp *ibv_create_qp(ibv_pd *pd, ibv_qp_init_attr *attr)
{
    log("ibv_create_qp(qp_context=%d, srq=%d, type=%d, sq_sig_all=%d)", attr->qp_context != nullptr,
        attr->srq != nullptr, attr->qp_type, attr->sq_sig_all);
    log_qp_cap(attr->cap);
    if (failure("ibv_create_qp"))
        return nullptr;
    return &make_qp(pd->context, pd, *attr)->qp.qp_base;
}

ibv_qp_ex *ibv_qp_to_qp_ex(ibv_qp *qp)
{
    return failure("ibv_qp_to_qp_ex") ? nullptr : reinterpret_cast<ibv_qp_ex *>(qp);
}

int ibv_query_qp(ibv_qp *, ibv_qp_attr *, int mask, ibv_qp_init_attr *init)
{
    log("ibv_query_qp(mask=%d)", mask);
    if (int error = failure("ibv_query_qp"))
        return error;
    init->cap.max_inline_data = static_cast<uint32_t>(value("max_inline_data", 0));
    return 0;
}

int ibv_modify_qp(ibv_qp *, ibv_qp_attr *attr, int mask)
{
    log("ibv_modify_qp(mask=%#x)", mask);
    auto show = [mask](int bit, const char *name, unsigned long number) {
        if (mask & bit)
            log("  %s=%lu", name, number);
    };
    show(IBV_QP_STATE, "qp_state", attr->qp_state);
    show(IBV_QP_PKEY_INDEX, "pkey_index", attr->pkey_index);
    show(IBV_QP_PORT, "port_num", attr->port_num);
    show(IBV_QP_ACCESS_FLAGS, "access_flags", attr->qp_access_flags);
    show(IBV_QP_PATH_MTU, "path_mtu", attr->path_mtu);
    show(IBV_QP_DEST_QPN, "dest_qp_num", attr->dest_qp_num);
    show(IBV_QP_RQ_PSN, "rq_psn", attr->rq_psn);
    show(IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", attr->max_dest_rd_atomic);
    show(IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", attr->min_rnr_timer);
    show(IBV_QP_TIMEOUT, "timeout", attr->timeout);
    show(IBV_QP_RETRY_CNT, "retry_cnt", attr->retry_cnt);
    show(IBV_QP_RNR_RETRY, "rnr_retry", attr->rnr_retry);
    show(IBV_QP_SQ_PSN, "sq_psn", attr->sq_psn);
    show(IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", attr->max_rd_atomic);
    show(IBV_QP_QKEY, "qkey", attr->qkey);
    if (mask & IBV_QP_AV)
        log_ah(attr->ah_attr);
    return failure("ibv_modify_qp");
}

int ibv_destroy_qp(ibv_qp *qp)
{
    log("ibv_destroy_qp");
    if (int error = failure("ibv_destroy_qp")) {
        abandon(qp);
        return error;
    }
    qps.erase(std::find(qps.begin(), qps.end(), reinterpret_cast<Qp *>(qp)));
    delete reinterpret_cast<Qp *>(qp);
    return 0;
}

const char *ibv_wc_status_str(ibv_wc_status status)
{
    static constexpr const char *names[] = {"status zero", "status one", "status two"};
    return status < 3 ? names[status] : "some other status";
}

}  // extern "C"
#pragma GCC visibility pop
