// SPDX-License-Identifier: BSD-2-Clause
// The fixture with the device above the loopback interface.
#include "loopback.hh"

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace urxe::test {

void Loopback::SetUp()
{
    setenv("URXE", "lo", 1);
    ibv_device **list = ibv_get_device_list(nullptr);
    ASSERT_NE(list, nullptr);
    for (int i = 0; list[i] != nullptr; ++i)
        if (std::strcmp(ibv_get_device_name(list[i]), "urxe_lo") == 0)
            context_ = ibv_open_device(list[i]);
    ibv_free_device_list(list);
    ASSERT_NE(context_, nullptr) << strerror(errno);
    at_end([this] { return ibv_close_device(context_); });
    pd_ = ibv_alloc_pd(context_);
    ASSERT_NE(pd_, nullptr);
    at_end([this] { return ibv_dealloc_pd(pd_); });
    ASSERT_EQ(ibv_query_gid(context_, 1, 0, &gid_), 0);
}

void Loopback::TearDown()
{
    for (; !undos_.empty(); undos_.pop_back())
        EXPECT_EQ(undos_.back()(), 0);
}

ibv_cq *Loopback::make_cq(int cqe)
{
    ibv_cq *cq = ibv_create_cq(context_, cqe, nullptr, nullptr, 0);
    EXPECT_NE(cq, nullptr);
    at_end([cq] { return ibv_destroy_cq(cq); });
    return cq;
}

ibv_qp *Loopback::make_qp(ibv_cq *cq, ibv_qp_type type, ibv_srq *srq)
{
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq;
    attr.srq = srq;
    attr.cap = {
        .max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 0};
    attr.qp_type = type;
    ibv_qp *qp = ibv_create_qp(pd_, &attr);
    EXPECT_NE(qp, nullptr);
    at_end([qp] { return ibv_destroy_qp(qp); });
    return qp;
}

ibv_srq *Loopback::make_srq(uint32_t max_wr)
{
    ibv_srq_init_attr attr{};
    attr.attr.max_wr = max_wr;
    attr.attr.max_sge = 1;
    ibv_srq *srq = ibv_create_srq(pd_, &attr);
    EXPECT_NE(srq, nullptr);
    at_end([srq] { return ibv_destroy_srq(srq); });
    return srq;
}

ibv_mr *Loopback::make_mr(void *memory, size_t length, int access)
{
    ibv_mr *mr = ibv_reg_mr(pd_, memory, length, access);
    EXPECT_NE(mr, nullptr) << strerror(errno);
    at_end([mr] { return ibv_dereg_mr(mr); });
    return mr;
}

ibv_ah_attr Loopback::path_to(const ibv_gid &gid) const
{
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = 1;
    attr.grh.dgid = gid;
    attr.grh.hop_limit = 64;
    return attr;
}

void Loopback::connect(ibv_qp *qp, uint32_t remote_qp_num)
{
    const ibv_qp_type type = qp->qp_type;
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qkey = kQkey;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    const int own = type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | own), 0);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_4096;
    attr.dest_qp_num = remote_qp_num;
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 4;
    attr.min_rnr_timer = 1;
    attr.ah_attr = path_to(gid_);
    int mask = IBV_QP_STATE;
    const bool answers = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
    const bool asks = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
    if (type != IBV_QPT_UD)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (answers)
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (answers || asks)
        mask |= IBV_QP_TIMEOUT;
    if (asks)
        mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
}

Loopback::Pair Loopback::make_pair(ibv_qp_type type, ibv_srq *srq)
{
    Pair pair{};
    for (int side = 0; side < 2; ++side) {
        pair.cq[side] = make_cq();
        pair.qp[side] = make_qp(pair.cq[side], type, side == 1 ? srq : nullptr);
    }
    for (int side = 0; side < 2; ++side)
        connect(pair.qp[side], pair.qp[1 - side]->qp_num);
    return pair;
}

void Loopback::post_receive(ibv_qp *qp, uint64_t wr_id, const ibv_sge &sge)
{
    ibv_sge list = sge;
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = wr_id;
    wr.sg_list = &list;
    wr.num_sge = 1;
    ASSERT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
}

void Loopback::post_receive(ibv_srq *srq, uint64_t wr_id, const ibv_sge &sge)
{
    ibv_sge list = sge;
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = wr_id;
    wr.sg_list = &list;
    wr.num_sge = 1;
    ASSERT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
}

int Loopback::post(ibv_qp *qp, ibv_wr_opcode opcode, const ibv_sge &sge, uint64_t remote, uint32_t rkey)
{
    ibv_sge list = sge;
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &list;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey;
    if (opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_LOCAL_INV)
        wr.invalidate_rkey = rkey;
    return ibv_post_send(qp, &wr, &bad);
}

ibv_wc Loopback::wait(ibv_cq *cq)
{
    ibv_wc wc{};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    do {
        if (ibv_poll_cq(cq, 1, &wc) == 1)
            return wc;
    } while (std::chrono::steady_clock::now() < end);
    ADD_FAILURE() << "no completion";
    wc.status = IBV_WC_GENERAL_ERR;
    return wc;
}

bool Loopback::is_empty(ibv_cq *cq)
{
    ibv_wc wc;
    return ibv_poll_cq(cq, 1, &wc) == 0;
}

}  // namespace urxe::test
