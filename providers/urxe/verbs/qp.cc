// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs: creating, changing, asking and destroying them.
#include "verbs/qp.hh"

#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "common/memory.hh"
#include "common/qp.hh"
#include "context.hh"
#include "direct/completion.hh"
#include "direct/memory.hh"
#include "link/endpoint.hh"
#include "verbs/path.hh"
#include "verbs/pd.hh"
#include "verbs/qp_state.hh"
#include "verbs/raw_qp.hh"
#include "verbs/rendezvous.hh"
#include "verbs/xrcd.hh"
#include "wire/codes.hh"

namespace urxe {
namespace {

constexpr uint64_t kSendOps =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
    IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH |
    IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
constexpr uint64_t kDatagramSendOps = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr uint64_t kUnreliableSendOps = kDatagramSendOps | IBV_QP_EX_WITH_RDMA_WRITE |
                                        IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_BIND_MW;

/// What the extended verbs can post to a QP of that type; 0: there are none.
uint64_t send_ops_of(ibv_qp_type type)
{
    switch (type) {
        case IBV_QPT_RC:
        case IBV_QPT_XRC_SEND:
            return kSendOps;
        case IBV_QPT_UC:
            return kUnreliableSendOps;
        case IBV_QPT_UD:
            return kDatagramSendOps;
        case IBV_QPT_RAW_PACKET:
            return IBV_QP_EX_WITH_SEND;
        default:
            return 0;
    }
}

/// 0, or the errno value with which a request for a QP is refused.
int check(const ibv_qp_init_attr_ex &attr)
{
    // It has nothing but its domain.
    if (attr.qp_type == IBV_QPT_XRC_RECV)
        return (attr.comp_mask & ~uint32_t{IBV_QP_INIT_ATTR_XRCD}) != 0 ? EOPNOTSUPP
               : attr.comp_mask == 0 || attr.xrcd == nullptr            ? EINVAL
                                                                        : 0;
    // raw_qp_create() looks at these.
    constexpr uint32_t kSpreads = IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
    if (attr.qp_type == IBV_QPT_RAW_PACKET && (attr.comp_mask & kSpreads) != 0)
        return 0;
    const uint64_t send_ops = send_ops_of(attr.qp_type);
    if (send_ops == 0)
        return EOPNOTSUPP;
    if (const int error = common::check_qp_attr(attr, send_ops); error != 0)
        return error;
    const ibv_qp_cap &cap = attr.cap;
    if (cap.max_send_wr > kMaxWr || cap.max_recv_wr > kMaxWr || cap.max_send_sge > direct::kMaxSegments ||
        cap.max_recv_sge > direct::kMaxSegments || cap.max_inline_data > kMaxInlineData)
        return EINVAL;
    if (attr.srq != nullptr && to_srq(attr.srq).matches_tags() && attr.qp_type != IBV_QPT_RC)
        return EINVAL;
    return attr.send_cq == nullptr || (attr.recv_cq == nullptr && attr.qp_type != IBV_QPT_XRC_SEND) ? EINVAL
                                                                                                    : 0;
}

/// The ring of requests. 0 or ENOMEM.
int make_send_queue(Qp &qp, ibv_pd *pd, ibv_qp_cap &cap)
{
    // With tags, the library fetches what messages name.
    const bool fetches = qp.srq != nullptr && qp.srq->matches_tags();
    const uint32_t num_segments = fetches ? kMaxTagSegments : cap.max_send_sge;
    const uint32_t num_requests = std::max(cap.max_send_wr, 1U) + (fetches ? 2 * kRendezvous : 0);
    const size_t room = std::max<size_t>(num_segments * sizeof(shared::Segment), cap.max_inline_data);
    const size_t size = (sizeof(Request) + room + 63) / 64 * 64;
    const uint32_t places = std::bit_ceil(num_requests);
    constexpr size_t kAlignment = 64;
    size_t space = size * places + kAlignment;
    qp.requests_memory = common::member_allocate(pd == nullptr ? nullptr : common::to_pd(pd),
                                                 static_cast<uint64_t>(Resource::kQp), space, kAlignment,
                                                 qp.requests_membership);
    if (qp.requests_memory == nullptr)
        return ENOMEM;
    void *aligned = qp.requests_memory;
    qp.requests = static_cast<char *>(std::align(kAlignment, size * places, aligned, space));
    qp.request_size = static_cast<uint32_t>(size);
    qp.request_mask = places - 1;
    qp.max_send_wr = fetches ? num_requests : cap.max_send_wr;
    qp.max_send_sge = cap.max_send_sge;
    qp.max_inline = cap.max_inline_data =
        std::min(kMaxInlineData, static_cast<uint32_t>(size - sizeof(Request)));
    return 0;
}

void free_send_queue(Qp &qp)
{
    common::member_free(qp.requests_memory, static_cast<uint64_t>(Resource::kQp), qp.requests_membership);
}

/// Calls each(cq) for those that it uses, and the one that the program named for its receives if it is another.
template <class Each>
void for_each_cq(const Qp &qp, Each each)
{
    for (Cq *cq : {qp.send_cq, qp.recv_cq})
        if (cq != nullptr)
            each(*cq);
    if (qp.recv_cq != nullptr && qp.verbs.qp.recv_cq != &qp.recv_cq->verbs.cq)
        each(to_cq(qp.verbs.qp.recv_cq));
}

/// What the queue pair has in the heap, with an index of its own. 0 or a positive errno value. Under process.lock.
int make_entry(Qp &qp, const ibv_qp_init_attr_ex &attr)
{
    Process &process = *qp.process;
    qp.index = process.qp_indices.take(shared::QpTable::kCapacity);
    if (qp.index == 0)
        return ENOMEM;
    int error = process.qps.make(qp.index) ? process.make_entry(process.header().qps, qp.index) : ENOMEM;
    if (error == 0) {
        qp.shared = process.entry(process.header().qps, qp.index);
        if (qp.has_receives())
            error = qp.receives.init(process, qp.shared->receives, attr.cap.max_recv_wr,
                                     attr.cap.max_recv_sge, qp.pd_number, false);
    }
    if (error != 0) {
        process.qp_indices.give(qp.index);
        return error;
    }
    shared::QpEntry &entry = *qp.shared;
    qp.generation = entry.generation.load() + 1;
    entry.generation.store(qp.generation);
    entry.state.store(IBV_QPS_RESET);
    entry.type = attr.qp_type;
    entry.access = 0;
    entry.pd = qp.pd_number;
    entry.dest_qp_num = entry.qkey = 0;
    entry.recv_cq = qp.recv_cq == nullptr ? 0 : qp.recv_cq->index;
    entry.srq = qp.srq == nullptr ? 0 : qp.srq->index;
    entry.xrcd = qp.xrcd;
    for (uint32_t &counter : entry.counters)
        counter = 0;
    entry.mtu = wire::kMaxMtu;
    entry.attention.store(0);
    entry.qp_num.store(process.qp_num(qp.index), std::memory_order_release);
    for_each_cq(qp, [](Cq &cq) { ++cq.users; });
    if (qp.srq != nullptr)
        ++qp.srq->users;
    if (qp.xrcd != 0)
        ++to_xrcd(attr.xrcd).users;
    process.qps.set(qp.index, &qp);
    return 0;
}

/// Keeps everybody from polling what a QP completes. Always in one order.
class CqLocks {
public:
    explicit CqLocks(const Qp &qp)
        : first_(std::min(qp.send_cq, qp.recv_cq)), second_(std::max(qp.send_cq, qp.recv_cq))
    {
        // The lesser is the null pointer where there is but one.
        if (first_ != nullptr)
            first_->lock.lock();
        if (second_ != first_)
            second_->lock.lock();
    }
    CqLocks(const CqLocks &) = delete;
    CqLocks &operator=(const CqLocks &) = delete;
    ~CqLocks()
    {
        if (second_ != first_)
            second_->lock.unlock();
        if (first_ != nullptr)
            first_->lock.unlock();
    }

private:
    Cq *const first_, *const second_;
};

/// Calls each(srq) for the SRQs that are in reach of a receiving XRC QP. Under process.lock.
template <class Each>
void for_each_xrc_srq(Qp &qp, Each each)
{
    if (qp.xrcd == 0)
        return;
    qp.process->srqs.for_each([&](Srq &srq) {
        if (srq.xrcd == qp.xrcd)
            each(srq);
    });
}

/// Forgets what was posted and what has completed.
void clear(Qp &qp)
{
    const CqLocks polls(qp);
    common::Locked locked(qp.send_lock);
    qp.process->remove_waiting(qp);
    qp.posted.store(0);
    qp.next = 0;
    qp.freed.store(0);
    qp.told_end = 0;
    qp.give_up_at = 0;
    qp.rnr_tries = 0;
    if (qp.srq != nullptr)
        qp.srq->drop_taken(qp.index, qp.generation);
    // Completions of before are of another generation; but those in CQs of SRQs stay.
    if (qp.xrcd == 0) {
        qp.generation = qp.shared->generation.load() + 1;
        qp.shared->generation.store(qp.generation);
    }
    forget_peer(qp);
    qp.uses_packets = false;
    link::Endpoint::destroy(std::exchange(qp.endpoint, nullptr));
    if (qp.has_receives())
        qp.receives.clear();
}

/// Completes all that is posted with IBV_WC_WR_FLUSH_ERR. The state says ERR already. Under state_lock.
void flush(Qp &qp)
{
    qp.process->wait_for_accesses();
    {
        common::Locked locked(qp.send_lock);
        qp.process->remove_waiting(qp);
        if (qp.endpoint != nullptr)
            qp.endpoint->stop();
        qp_run(qp);
    }
    if (qp.recv_cq != nullptr)
        qp_flush_receives(qp);
}

/// Tells the program of an event, if it has the handle that the event is of.
void raise(Qp &qp, ibv_event_type type)
{
    if (!qp.is_disowned)
        to_context(qp.verbs.qp.context)->events.raise(qp.events, type);
}

void set_state(Qp &qp, ibv_qp_state state)
{
    qp.state.store(state);
    qp.shared->state.store(state, std::memory_order_release);
}

void take_over(Qp &qp, const ibv_qp_attr &attr, int mask)
{
    ibv_qp_attr &own = qp.attr;
    shared::QpEntry &entry = *qp.shared;
    if ((mask & IBV_QP_ACCESS_FLAGS) != 0)
        entry.access = own.qp_access_flags = attr.qp_access_flags;
    if ((mask & IBV_QP_PKEY_INDEX) != 0)
        own.pkey_index = attr.pkey_index;
    if ((mask & IBV_QP_PORT) != 0)
        own.port_num = attr.port_num;
    if ((mask & IBV_QP_QKEY) != 0)
        entry.qkey = own.qkey = attr.qkey;
    if ((mask & IBV_QP_AV) != 0)
        own.ah_attr = attr.ah_attr;
    if ((mask & IBV_QP_PATH_MTU) != 0) {
        own.path_mtu = attr.path_mtu;
        entry.mtu = static_cast<uint32_t>(wire::mtu_bytes(attr.path_mtu));
    }
    if ((mask & IBV_QP_TIMEOUT) != 0)
        own.timeout = attr.timeout;
    if ((mask & IBV_QP_RETRY_CNT) != 0)
        own.retry_cnt = attr.retry_cnt;
    if ((mask & IBV_QP_RNR_RETRY) != 0)
        own.rnr_retry = attr.rnr_retry;
    if ((mask & IBV_QP_RQ_PSN) != 0)
        own.rq_psn = attr.rq_psn & 0xffffff;
    if ((mask & IBV_QP_SQ_PSN) != 0)
        own.sq_psn = attr.sq_psn & 0xffffff;
    if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0)
        own.max_rd_atomic = attr.max_rd_atomic;
    if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0)
        own.max_dest_rd_atomic = attr.max_dest_rd_atomic;
    if ((mask & IBV_QP_MIN_RNR_TIMER) != 0)
        entry.min_rnr_timer = own.min_rnr_timer = attr.min_rnr_timer;
    if ((mask & IBV_QP_DEST_QPN) != 0)
        entry.dest_qp_num = own.dest_qp_num = attr.dest_qp_num;
    if ((mask & IBV_QP_PATH_MIG_STATE) != 0)
        own.path_mig_state = attr.path_mig_state;
}

/// 0 or EINVAL; with an address, the GID at its index in `source`.
int check_attr(const Qp &qp, const ibv_qp_attr &attr, int mask, ibv_gid &source)
{
    if (((mask & IBV_QP_PORT) != 0 && attr.port_num != 1) ||
        ((mask & IBV_QP_PKEY_INDEX) != 0 && attr.pkey_index != 0) ||
        ((mask & IBV_QP_PATH_MTU) != 0 && wire::mtu_bytes(attr.path_mtu) == 0) ||
        ((mask & IBV_QP_TIMEOUT) != 0 && attr.timeout > 31) ||
        ((mask & IBV_QP_RETRY_CNT) != 0 && attr.retry_cnt > 7) ||
        ((mask & IBV_QP_RNR_RETRY) != 0 && attr.rnr_retry > 7) ||
        ((mask & IBV_QP_MIN_RNR_TIMER) != 0 && attr.min_rnr_timer > 31) ||
        ((mask & IBV_QP_DEST_QPN) != 0 && attr.dest_qp_num > 0xffffff) ||
        ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0 && attr.max_rd_atomic > kMaxRdAtomic) ||
        ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 && attr.max_dest_rd_atomic > kMaxRdAtomic) ||
        (mask & (IBV_QP_ALT_PATH | IBV_QP_RATE_LIMIT)) != 0)
        return EINVAL;
    if ((mask & IBV_QP_AV) == 0)
        return 0;
    ibv_gid_entry entry;
    if (attr.ah_attr.is_global == 0 || attr.ah_attr.port_num != 1 ||
        gid_query(qp.verbs.qp.context, 1, attr.ah_attr.grh.sgid_index, &entry) != 0)
        return EINVAL;
    source = entry.gid;
    return 0;
}

/// Makes the QP known to the wire. 0 or a positive errno value; that the port is not to be had is none: a datagram QP has
/// other ways, and a connected one finds out when nobody answers.
int open_endpoint(Qp &qp)
{
    static_cast<void>(qp.process->open_link());
    if (!qp.process->link.is_open())
        return ENOMEM;
    link::Route route{};
    const ibv_global_route &grh = qp.attr.ah_attr.grh;
    route.flow.source = std::bit_cast<wire::Address>(qp.shared->local_gid);
    route.flow.destination = std::bit_cast<wire::Address>(grh.dgid);
    route.flow.source_port = route.flow.destination_port = wire::kRoceUdpPort;
    // Only a link-local address needs to be told where it is one.
    if (IN6_IS_ADDR_LINKLOCAL(reinterpret_cast<const in6_addr *>(grh.dgid.raw)) ||
        qp.verbs.qp.qp_type == IBV_QPT_UD)
        route.interface = if_nametoindex(device_of(*qp.verbs.qp.context).interface);
    route.slot = qp.packet_slot;
    route.traffic_class = grh.traffic_class;
    route.hop_limit = grh.hop_limit;
    qp.endpoint = link::Endpoint::create(qp, route);
    return qp.endpoint == nullptr ? ENOMEM : 0;
}

int modify(Qp &qp, const ibv_qp_attr &attr, int mask)
{
    if (qp.spread != nullptr)
        return EOPNOTSUPP;  // It has neither queue; its work queues have states.
    const ibv_qp_state from = qp.state.load();
    if ((mask & IBV_QP_CUR_STATE) != 0 && attr.cur_qp_state != from)
        return EINVAL;
    const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attr.qp_state : from;
    if (const int error = qp_check_transition(qp.verbs.qp.qp_type, from, to, mask); error != 0)
        return error;
    ibv_gid source{};
    if (const int error = check_attr(qp, attr, mask, source); error != 0)
        return error;
    {
        common::Locked locked(qp.send_lock);
        take_over(qp, attr, mask);
        if ((mask & IBV_QP_AV) != 0) {
            qp.shared->local_gid = source;
            qp.shared->remote_gid = attr.ah_attr.grh.dgid;
        }
        if (from == IBV_QPS_INIT && to == IBV_QPS_RTR && qp.verbs.qp.qp_type != IBV_QPT_RAW_PACKET) {
            qp.shared->is_established.store(0);
            if (qp.verbs.qp.qp_type != IBV_QPT_UD)
                find_connected_peer(qp);
            // Whoever looked for QPs of the dead may have come too early.
            if (qp.peer != nullptr && qp.peer->is_dead.load())
                qp_call_attention(qp, shared::kAttentionError);
            if (qp.peer == nullptr)
                if (const int error = open_endpoint(qp); error != 0)
                    return error;
        }
    }
    set_state(qp, to);
    switch (to) {
        case IBV_QPS_RESET:
            qp.process->wait_for_accesses();
            clear(qp);
            break;
        case IBV_QPS_ERR:
            flush(qp);
            break;
        case IBV_QPS_RTS: {
            common::Locked locked(qp.send_lock);
            if (qp.endpoint != nullptr) {
                qp.endpoint->refresh();
                qp.endpoint->start_requester();
            }
            qp_go_on(qp);
            break;
        }
        case IBV_QPS_SQD:
            if ((mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0 && attr.en_sqd_async_notify != 0)
                raise(qp, IBV_EVENT_SQ_DRAINED);
            break;
        default:
            break;
    }
    return 0;
}

}  // namespace

ibv_qp *qp_create(ibv_pd *pd, ibv_qp_init_attr *attr)
{
    return common::create_qp_by_ex(pd, attr, qp_create_ex);
}

ibv_qp *qp_create_ex(ibv_context *context, ibv_qp_init_attr_ex *attr)
{
    if (const int error = check(*attr); error != 0)
        return common::null_with(error);
    if (attr->qp_type == IBV_QPT_RAW_PACKET)
        return raw_qp_create(context, *attr);
    Qp *qp = qp_make(context, *attr);
    return qp == nullptr ? nullptr : &qp->verbs.qp;
}

Qp *qp_make(ibv_context *context, ibv_qp_init_attr_ex &attr)
{
    const bool is_xrc_recv = attr.qp_type == IBV_QPT_XRC_RECV;
    const bool is_xrc_send = attr.qp_type == IBV_QPT_XRC_SEND;
    if (is_xrc_recv)
        attr.cap = {};
    if (is_xrc_send)
        attr.cap.max_recv_wr = attr.cap.max_recv_sge = 0;
    ibv_pd *pd = is_xrc_recv ? nullptr : attr.pd;
    Process &process = process_of(*context);
    auto made = common::member_allocate<Qp>(pd, Resource::kQp);
    if (!made)
        return nullptr;
    Qp &qp = *made;
    qp.process = &process;
    qp.self = &qp;
    qp.pd_number = pd == nullptr ? 0 : pd_number(pd);
    const auto cq_of = [](ibv_cq *cq) { return cq == nullptr ? nullptr : &to_cq(cq); };
    qp.send_cq = is_xrc_recv ? nullptr : cq_of(attr.send_cq);
    qp.recv_cq = is_xrc_recv || is_xrc_send ? nullptr : cq_of(attr.recv_cq);
    qp.srq = qp.recv_cq == nullptr || attr.srq == nullptr ? nullptr : &to_srq(attr.srq);
    qp.signals_all = attr.sq_sig_all != 0;
    qp.state.store(IBV_QPS_RESET);
    ibv_qp &ibqp = qp.verbs.qp;
    ibqp.context = context;
    ibqp.qp_context = attr.qp_context;
    ibqp.pd = pd;
    ibqp.send_cq = qp.send_cq == nullptr ? nullptr : attr.send_cq;
    ibqp.recv_cq = qp.recv_cq == nullptr ? nullptr : attr.recv_cq;
    ibqp.srq = qp.srq == nullptr ? nullptr : attr.srq;
    // All that comes to an SRQ with tags completes in one place.
    if (qp.srq != nullptr && qp.srq->matches_tags())
        qp.recv_cq = &to_cq(qp.srq->verbs.cq);
    if (is_xrc_recv) {
        qp.xrcd = to_xrcd(attr.xrcd).number;
        qp.verbs.xrcd = &to_xrcd(attr.xrcd).verbs;
        qp.verbs.comp_mask |= VERBS_QP_XRCD;
    }
    ibqp.state = IBV_QPS_RESET;
    ibqp.qp_type = attr.qp_type;
    qp.events.event.element.qp = &ibqp;
    int error = make_send_queue(qp, pd, attr.cap);
    if (error == 0) {
        qp.state_lock.init();
        pthread_mutex_init(&ibqp.mutex, nullptr);
        pthread_cond_init(&ibqp.cond, nullptr);
        if (common::wants_send_ops(attr))
            qp_ex_init(qp);
        common::Locked locked(process.lock);
        error = make_entry(qp, attr);
    }
    if (error != 0) {
        free_send_queue(qp);
        return common::null_with(error);
    }
    ibqp.handle = qp.index;
    ibqp.qp_num = process.qp_num(qp.index);
    qp.attr.cap = attr.cap;
    if (pd != nullptr)
        pd_ref(pd);
    return made.release();
}

int qp_modify(ibv_qp *ibqp, ibv_qp_attr *attr, int mask)
{
    Qp &qp = qp_behind(ibqp);
    qp.process->attend();
    int error;
    {
        common::Locked locked(qp.state_lock);
        error = modify(qp, *attr, mask);
    }
    qp.process->attend();
    return error;
}

int qp_query(ibv_qp *ibqp, ibv_qp_attr *attr, int, ibv_qp_init_attr *init_attr)
{
    Qp &qp = qp_behind(ibqp);
    qp.process->attend();
    common::Locked locked(qp.state_lock);
    *attr = qp.attr;
    attr->qp_state = attr->cur_qp_state = qp.state.load();
    *init_attr = {};
    init_attr->qp_context = ibqp->qp_context;
    init_attr->send_cq = ibqp->send_cq;
    init_attr->recv_cq = ibqp->recv_cq;
    init_attr->srq = ibqp->srq;
    init_attr->cap = qp.attr.cap;
    init_attr->qp_type = ibqp->qp_type;
    init_attr->sq_sig_all = qp.signals_all ? 1 : 0;
    return 0;
}

int qp_destroy(ibv_qp *handle)
{
    Qp *qp = &qp_behind(handle);
    ibv_qp &ibqp = qp->verbs.qp;
    Process &process = *qp->process;
    const bool is_makers = handle == &ibqp;
    ibv_context *context = ibqp.context;
    if (qp->endpoint != nullptr) {
        // The acknowledgement of what the program has taken may wait for more to say: nobody could say it later.
        common::Locked locked(qp->send_lock);
        if (qp->endpoint->is_touched)
            qp->endpoint->run();
    }
    bool is_last;
    {
        common::Locked locked(process.lock);
        if (qp->attachments != nullptr || process.taps.has_flows(*qp))
            return EBUSY;
        is_last = qp_close(handle);
        if (is_last)
            qp_abandon(*qp);
    }
    if (is_last) {
        process.wait_for_accesses();
        process.wait_for_own_threads();
        for (uint32_t round = 0; qp->users.load(std::memory_order_acquire) != 0; ++round) {
            process.poll_link(false, link::Link::Look::kLikely);  // which lets go of those that it found
            shared::wait_a_little(round);
        }
        link::Endpoint::destroy(qp->endpoint);
    }
    if (is_makers) {
        to_context(context)->events.forget(qp->events);
        wait_for_acks(ibqp, [&] { return ibqp.events_completed == qp->events.given; });
    }
    if (!is_last)
        return 0;
    {
        common::Locked locked(process.lock);
        for_each_cq(*qp, [](Cq &cq) { --cq.users; });
        if (qp->srq != nullptr) {
            qp->srq->drop_taken(qp->index, qp->generation);
            --qp->srq->users;
        }
        for_each_xrc_srq(*qp, [&](Srq &srq) { srq.receives.drop_taken(qp->index, qp->generation); });
        if (qp->has_receives())
            qp->receives.destroy(process);
        comp_cntr_detach(*qp);
        process.qp_indices.give(qp->index);
    }
    raw_qp_release(*qp);
    if (ibqp.pd != nullptr)
        pd_unref(ibqp.pd);
    pthread_cond_destroy(&ibqp.cond);
    pthread_mutex_destroy(&ibqp.mutex);
    qp->state_lock.destroy();
    free_send_queue(*qp);
    common::member_free(qp, static_cast<uint64_t>(Resource::kQp), qp->membership);
    return 0;
}

uint32_t qp_mtu(const Qp &qp)
{
    const size_t bytes = wire::mtu_bytes(qp.attr.path_mtu);
    return static_cast<uint32_t>(bytes == 0 ? wire::kMaxMtu : bytes);
}

void qp_abandon(Qp &qp)
{
    {
        const CqLocks polls(qp);
        qp.process->qps.set(qp.index, nullptr);
        qp.shared->state.store(IBV_QPS_RESET);
        qp.shared->qp_num.store(0);
    }
    // Who polls the CQ of an SRQ may have found it before.
    for_each_xrc_srq(qp, [](Srq &srq) { common::Locked polls(to_cq(srq.verbs.cq).lock); });
    common::Locked locked(qp.send_lock);
    qp.process->remove_waiting(qp);
    // Who has found it by its number and is about to answer its packets would have it wait again.
    if (qp.endpoint != nullptr)
        qp.endpoint->is_touched = false;
    forget_peer(qp);
}

void qp_become_inherited(Qp &qp)
{
    qp.state_lock.init();
    qp.send_lock.unlock();
    qp.is_busy.store(0);
    qp.users.store(0);
    qp.is_listed = false;
    if (qp.endpoint != nullptr)
        qp.endpoint->is_touched = false;  // It is the parent who answers.
    qp.receives.become_inherited();
    to_context(qp.verbs.qp.context)->events.become_inherited();
}

int qp_post_recv(ibv_qp *ibqp, ibv_recv_wr *list, ibv_recv_wr **bad)
{
    Qp &qp = to_qp(ibqp);
    const ibv_qp_state state = qp.state.load(std::memory_order_relaxed);
    if (!qp.has_receives() || state == IBV_QPS_RESET || list == nullptr) [[unlikely]] {
        *bad = list;
        return EINVAL;
    }
    const int error = qp.receives.post(list, bad);
    if (qp.state.load(std::memory_order_relaxed) == IBV_QPS_ERR) [[unlikely]] {
        common::Locked locked(qp.state_lock);
        if (qp.state.load() == IBV_QPS_ERR)
            qp_flush_receives(qp);
    }
    return error;
}

void qp_flush_receives(Qp &qp)
{
    ReceiveQueue &receives = qp.srq != nullptr ? qp.srq->receives : qp.receives;
    cq_for_each(*qp.recv_cq, [&](const shared::Completion &completion) {
        if (completion.qp != qp.index || completion.qp_generation != qp.generation)
            return;
        if (completion.kind == shared::kReceiveCompletion)
            receives.mark_delivered(completion.request);
        if (qp.srq != nullptr && shared::ends_tag(completion))
            qp.srq->tags.mark_delivered(completion.request);
    });
    bool fits = true;
    auto kind = shared::kReceiveCompletion;
    const auto flush = [&](uint32_t slot) {
        direct::NewCompletion completion{};
        completion.qp = qp.index;
        completion.qp_generation = qp.generation;
        completion.request = slot;
        completion.status = IBV_WC_WR_FLUSH_ERR;
        completion.kind = kind;
        comp_cntr_count(qp, IBV_QP_ATTACH_COMP_CNTR_OP_RECV, false, 0);
        fits &= direct::push(*qp.process, qp.process->self, *qp.recv_cq->shared, completion) ==
                direct::Pushed::kYes;
    };
    if (qp.srq != nullptr)
        receives.flush_taken(qp.index, qp.generation, flush);
    else
        receives.flush(flush);
    if (qp.srq != nullptr && qp.srq->matches_tags()) {
        kind = shared::kTagCompletion;
        qp.srq->tags.flush_taken(qp.index, qp.generation, flush);
    }
    if (!fits)
        cq_overrun(*qp.recv_cq);
}

void qp_to_error(Qp &qp, uint32_t events)
{
    {
        common::Locked locked(qp.state_lock);
        const ibv_qp_state state = qp.state.load();
        if (state == IBV_QPS_RESET || state == IBV_QPS_INIT)
            return;
        set_state(qp, IBV_QPS_ERR);
        flush(qp);
    }
    if ((events & shared::kAttentionAccessError) != 0)
        raise(qp, IBV_EVENT_QP_ACCESS_ERR);
    if ((events & shared::kAttentionRequestError) != 0)
        raise(qp, IBV_EVENT_QP_REQ_ERR);
    if ((events & shared::kAttentionFatal) != 0)
        raise(qp, IBV_EVENT_QP_FATAL);
    if (qp.srq != nullptr)
        raise(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

/// The peer cannot reach this process's memory, so packets go both ways from now on. What was carried out so far is
/// complete on both sides, so that the first packet is the first that each expects.
void use_packets(Qp &qp)
{
    common::Locked locked(qp.state_lock);
    qp.uses_packets = true;
    const ibv_qp_state state = qp.state.load();
    if (qp.peer == nullptr || qp.endpoint != nullptr ||
        (state != IBV_QPS_RTR && state != IBV_QPS_RTS && state != IBV_QPS_SQD))
        return;
    common::Locked sends(qp.send_lock);
    qp.process->remove_waiting(qp);
    qp.packet_slot = qp.peer->slot;
    forget_peer(qp);
    if (open_endpoint(qp) != 0 || state == IBV_QPS_RTR)
        return;
    qp.endpoint->start_requester();
    qp_run(qp);
}

void qp_attend(Qp &qp)
{
    const uint32_t why = qp.shared->attention.exchange(0, std::memory_order_acq_rel);
    if ((why & shared::kAttentionEstablished) != 0)
        raise(qp, IBV_EVENT_COMM_EST);
    if ((why & shared::kAttentionFatal) != 0) {
        const auto check = [](Cq *cq) {
            if (cq != nullptr && cq->shared->overrun.load() != 0)
                cq_overrun(*cq);
        };
        check(qp.send_cq);
        check(qp.recv_cq);
        for_each_xrc_srq(qp, [&](Srq &srq) { check(&to_cq(srq.verbs.cq)); });
    }
    if ((why & shared::kAttentionPackets) != 0)
        use_packets(qp);
    if ((why & shared::kAttentionError) != 0)
        qp_to_error(qp, why);
}

void qp_lost_peer(Qp &qp, Peer &peer)
{
    bool is_lost;
    {
        common::Locked locked(qp.send_lock);
        // Like on a wire, nobody is told of a QP that its owner destroyed: who has nothing to ask of it goes on unharmed.
        is_lost = qp.peer == &peer && qp.verbs.qp.qp_type != IBV_QPT_UD &&
                  (qp.is_waiting || qp.remote->qp_num.load() == qp.attr.dest_qp_num);
    }
    if (is_lost)
        qp_to_error(qp, 0);
}

}  // namespace urxe
