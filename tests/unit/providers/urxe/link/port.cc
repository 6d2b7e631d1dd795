// SPDX-License-Identifier: BSD-2-Clause
// Queue pairs of tests: making, connecting and using them.
#include <sched.h>

#include <cstring>
#include <ctime>

#include "hosts.hh"

namespace hosts {
namespace {

/// After this long without a completion a test has failed.
constexpr time_t kSeconds = 30;

bool is_kind(const ibv_gid &gid, Address kind)
{
    const bool is_ipv4 = gid.raw[10] == 0xff && gid.raw[11] == 0xff && gid.raw[0] == 0;
    switch (kind) {
        case Address::kIpv4:
            return is_ipv4;
        case Address::kGlobal:
            return gid.raw[0] == 0xfd;
        default:
            return gid.raw[0] == 0xfe;
    }
}

time_t seconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

}  // namespace

int gid_index(ibv_context *context, Address kind)
{
    ibv_gid_entry entries[64];
    const ssize_t count = ibv_query_gid_table(context, entries, 64, 0);
    for (ssize_t i = 0; i < count; ++i)
        if (is_kind(entries[i].gid, kind))
            return static_cast<int>(entries[i].gid_index);
    return -1;
}

Port::Port(Side &of, const Options &wanted)
    : side(of),
      options(wanted),
      memory(options.size),
      context(side.open()),
      pd(ibv_alloc_pd(context)),
      mr(ibv_reg_mr(pd, memory.data(), memory.size(),
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_FLUSH_GLOBAL)),
      channel(options.uses_events ? ibv_create_comp_channel(context) : nullptr),
      send_cq(ibv_create_cq(context, 1024, nullptr, channel, 0)),
      receive_cq(ibv_create_cq(context, 1024, nullptr, channel, 0)),
      srq(nullptr),
      ah(nullptr)
{
    EXPECT_NE(mr, nullptr);
    if (options.shares_receives) {
        ibv_srq_init_attr attr{};
        attr.attr.max_wr = options.depth;
        attr.attr.max_sge = 2;
        srq = ibv_create_srq(pd, &attr);
        EXPECT_NE(srq, nullptr);
    }
    if (options.tags != 0) {
        ibv_srq_init_attr_ex attr{};
        attr.attr = {.max_wr = options.depth, .max_sge = 2, .srq_limit = 0};
        attr.comp_mask =
            IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
        attr.srq_type = IBV_SRQT_TM;
        attr.pd = pd;
        attr.cq = receive_cq;
        attr.tm_cap = {.max_num_tags = options.tags, .max_ops = 1};
        srq = ibv_create_srq_ex(context, &attr);
        EXPECT_NE(srq, nullptr);
    }
    ibv_qp_init_attr_ex init{};
    init.send_cq = send_cq;
    init.recv_cq = receive_cq;
    init.srq = srq;
    init.cap = {.max_send_wr = options.depth,
                .max_recv_wr = options.depth,
                .max_send_sge = 4,
                .max_recv_sge = 4,
                .max_inline_data = 256};
    init.qp_type = options.type;
    init.sq_sig_all = 1;
    init.comp_mask = IBV_QP_INIT_ATTR_PD;
    init.pd = pd;
    if (options.type == IBV_QPT_RC) {
        init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH;
    }
    qp = ibv_create_qp_ex(context, &init);
    EXPECT_NE(qp, nullptr);
    const bool is_datagram = options.type == IBV_QPT_UD;
    const bool is_reliable = options.type == IBV_QPT_RC;
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qkey = kQkey;
    attr.qp_access_flags =
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL;
    EXPECT_EQ(ibv_modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                (is_datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
              0);
    const int index = gid_index(context, options.address);
    EXPECT_GE(index, 0);
    Remote own = {reinterpret_cast<uintptr_t>(memory.data()),
                  mr->rkey,
                  qp->qp_num,
                  options.first_psn + static_cast<uint32_t>(side.host()) * 7,
                  {}};
    EXPECT_EQ(ibv_query_gid(context, 1, index, &own.gid), 0);
    remote = side.exchange(own);

    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = options.mtu;
    attr.dest_qp_num = remote.qp_num;
    attr.rq_psn = remote.psn;
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 8;
    attr.min_rnr_timer = options.min_rnr_timer;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.dgid = remote.gid;
    attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(index);
    attr.ah_attr.grh.hop_limit = 64;
    attr.ah_attr.grh.traffic_class = 0x48;
    if (is_datagram)
        ah = ibv_create_ah(pd, &attr.ah_attr);
    const int connected = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    EXPECT_EQ(ibv_modify_qp(qp, &attr,
                            IBV_QP_STATE | (is_datagram ? 0 : connected) |
                                (is_reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)),
              0);
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = options.timeout;
    attr.retry_cnt = options.retry_count;
    attr.rnr_retry = options.rnr_retry;
    attr.sq_psn = own.psn;
    EXPECT_EQ(ibv_modify_qp(qp, &attr,
                            IBV_QP_STATE | IBV_QP_SQ_PSN |
                                (is_reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                                   IBV_QP_MAX_QP_RD_ATOMIC
                                             : 0)),
              0);
    side.meet();
}

Port::~Port()
{
    if (ah != nullptr) {
        EXPECT_EQ(ibv_destroy_ah(ah), 0);
    }
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    if (srq != nullptr) {
        EXPECT_EQ(ibv_destroy_srq(srq), 0);
    }
    EXPECT_EQ(ibv_destroy_cq(send_cq), 0);
    EXPECT_EQ(ibv_destroy_cq(receive_cq), 0);
    if (channel != nullptr) {
        EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
    }
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
}

void Port::post_receive(size_t offset, size_t length)
{
    // In two pieces, of which the first ends where no packet does.
    const size_t half = length / 3;
    ibv_sge pieces[2] = {sge(offset, half), sge(offset + half, length - half)};
    ibv_recv_wr request{};
    request.wr_id = offset;
    request.sg_list = pieces;
    request.num_sge = length == 0 ? 0 : 2;
    ibv_recv_wr *bad = nullptr;
    ASSERT_EQ(srq != nullptr ? ibv_post_srq_recv(srq, &request, &bad) : ibv_post_recv(qp, &request, &bad), 0);
}

void Port::post(ibv_wr_opcode opcode, size_t offset, size_t length, size_t remote_offset,
                const std::function<void(ibv_send_wr &)> &change)
{
    const size_t half = length / 2;
    ibv_sge pieces[2] = {sge(offset, half), sge(offset + half, length - half)};
    ibv_send_wr request{};
    request.wr_id = offset;
    request.sg_list = pieces;
    request.num_sge = length == 0 ? 0 : 2;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    if (options.type == IBV_QPT_UD) {
        request.wr.ud = {.ah = ah, .remote_qpn = remote.qp_num, .remote_qkey = kQkey};
    } else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        request.wr.atomic = {
            .remote_addr = remote.address + remote_offset, .compare_add = 0, .swap = 0, .rkey = remote.rkey};
    } else {
        request.wr.rdma = {.remote_addr = remote.address + remote_offset, .rkey = remote.rkey};
    }
    if (change)
        change(request);
    ibv_send_wr *bad = nullptr;
    ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
}

ibv_wc Port::wait(ibv_cq *cq)
{
    ibv_wc completion{};
    const time_t start = seconds();
    for (uint32_t round = 0; ibv_poll_cq(cq, 1, &completion) == 0; ++round) {
        if (round % 1024 == 1023 && seconds() - start > kSeconds) {
            ADD_FAILURE() << "no completion on host " << side.host();
            completion.status = IBV_WC_GENERAL_ERR;
            return completion;
        }
        if (round % 64 == 63)
            sched_yield();
    }
    return completion;
}

void Port::expect_sent(ibv_wc_status status)
{
    const ibv_wc completion = wait_sent();
    EXPECT_STREQ(ibv_wc_status_str(completion.status), ibv_wc_status_str(status)) << "host " << side.host();
}

ibv_qp_state Port::state() const
{
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    EXPECT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
    return attr.qp_state;
}

}  // namespace hosts
