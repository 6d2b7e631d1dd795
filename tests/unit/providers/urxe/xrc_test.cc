// SPDX-License-Identifier: BSD-2-Clause
// Extended reliable connections of urxe: domains, receive queues that many connections share, and QPs that many open.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "loopback.hh"

namespace urxe::test {
namespace {

class Xrc : public Loopback {
protected:
    void SetUp() override
    {
        Loopback::SetUp();
        mr_ = make_mr(memory_, sizeof memory_);
        xrcd_ = open_domain(-1, O_CREAT);
        ASSERT_NE(xrcd_, nullptr);
        at_end([this] { return ibv_close_xrcd(xrcd_); });
    }
    ibv_xrcd *open_domain(int fd, int flags)
    {
        ibv_xrcd_init_attr attr = {
            .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = flags};
        return ibv_open_xrcd(context_, &attr);
    }
    ibv_srq *make_xrc_srq(ibv_cq *cq, ibv_xrcd *xrcd, ibv_pd *pd)
    {
        ibv_srq_init_attr_ex attr{};
        attr.attr.max_wr = 16;
        attr.attr.max_sge = 1;
        attr.comp_mask =
            IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
        attr.srq_type = IBV_SRQT_XRC;
        attr.pd = pd;
        attr.xrcd = xrcd;
        attr.cq = cq;
        ibv_srq *srq = ibv_create_srq_ex(context_, &attr);
        EXPECT_NE(srq, nullptr) << strerror(errno);
        at_end([srq] { return ibv_destroy_srq(srq); });
        return srq;
    }
    static uint32_t number_of(ibv_srq *srq)
    {
        uint32_t number = 0;
        EXPECT_EQ(ibv_get_srq_num(srq, &number), 0);
        return number;
    }
    /// Not destroyed at the end.
    ibv_qp *make_receiver(ibv_xrcd *xrcd)
    {
        ibv_qp_init_attr_ex attr{};
        attr.qp_type = IBV_QPT_XRC_RECV;
        attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
        attr.xrcd = xrcd;
        ibv_qp *qp = ibv_create_qp_ex(context_, &attr);
        EXPECT_NE(qp, nullptr) << strerror(errno);
        return qp;
    }
    ibv_qp *make_sender(ibv_cq *cq, uint64_t send_ops = 0)
    {
        ibv_qp_init_attr_ex attr{};
        attr.qp_type = IBV_QPT_XRC_SEND;
        attr.send_cq = cq;
        attr.cap.max_send_wr = 16;
        attr.cap.max_send_sge = 1;
        attr.comp_mask = IBV_QP_INIT_ATTR_PD | (send_ops != 0 ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0);
        attr.pd = pd_;
        attr.send_ops_flags = send_ops;
        ibv_qp *qp = ibv_create_qp_ex(context_, &attr);
        EXPECT_NE(qp, nullptr) << strerror(errno);
        at_end([qp] { return ibv_destroy_qp(qp); });
        return qp;
    }
    /// A sender and a receiver that are connected; the latter is destroyed at the end, if `keeps` is not set.
    struct Connection {
        ibv_cq *cq;
        ibv_qp *sender, *receiver;
    };
    Connection make_connection(uint64_t send_ops = 0, bool keeps = false)
    {
        Connection made{};
        made.cq = make_cq();
        made.sender = make_sender(made.cq, send_ops);
        made.receiver = make_receiver(xrcd_);
        if (!keeps)
            at_end([qp = made.receiver] { return ibv_destroy_qp(qp); });
        connect(made.receiver, made.sender->qp_num);
        connect(made.sender, made.receiver->qp_num);
        return made;
    }
    int post_to(ibv_qp *qp, uint32_t srq_num, ibv_wr_opcode opcode, uint64_t remote = 0, uint32_t rkey = 0)
    {
        ibv_sge sge = own(0, 8);
        ibv_send_wr wr{}, *bad = nullptr;
        wr.opcode = opcode;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.wr.rdma.remote_addr = remote;
        wr.wr.rdma.rkey = rkey;
        wr.qp_type.xrc.remote_srqn = srq_num;
        return ibv_post_send(qp, &wr, &bad);
    }
    ibv_sge own(size_t offset, uint32_t length) const
    {
        return {.addr = address_of(memory_ + offset), .length = length, .lkey = mr_->lkey};
    }

    char memory_[4096] = {};
    ibv_mr *mr_ = nullptr;
    ibv_xrcd *xrcd_ = nullptr;
};

TEST_F(Xrc, DomainsOfFiles)
{
    char path[] = "/tmp/urxe_xrc_XXXXXX";
    const int fd = mkstemp(path);
    ASSERT_GE(fd, 0);
    unlink(path);
    errno = 0;
    EXPECT_EQ(open_domain(fd, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
    ibv_xrcd *first = open_domain(fd, O_CREAT | O_EXCL);
    ASSERT_NE(first, nullptr);
    errno = 0;
    EXPECT_EQ(open_domain(fd, O_CREAT | O_EXCL), nullptr);
    EXPECT_EQ(errno, EEXIST);
    ibv_xrcd *second = open_domain(fd, 0);
    ASSERT_NE(second, nullptr);
    // What is made through one handle is known to the other, and each is kept by what was made through it alone.
    ibv_qp *qp = make_receiver(first);
    ibv_qp_open_attr attr{};
    attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    attr.qp_num = qp->qp_num;
    attr.qp_type = IBV_QPT_XRC_RECV;
    attr.xrcd = xrcd_;
    errno = 0;
    EXPECT_EQ(ibv_open_qp(context_, &attr), nullptr) << "of another domain";
    EXPECT_EQ(errno, EINVAL);
    attr.xrcd = second;
    ibv_qp *opened = ibv_open_qp(context_, &attr);
    ASSERT_NE(opened, nullptr);
    EXPECT_EQ(ibv_close_xrcd(first), EBUSY);
    EXPECT_EQ(ibv_close_xrcd(second), EBUSY);
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_EQ(ibv_close_xrcd(first), 0);
    EXPECT_EQ(ibv_close_xrcd(second), EBUSY);
    EXPECT_EQ(ibv_destroy_qp(opened), 0);
    EXPECT_EQ(ibv_close_xrcd(second), 0);
    EXPECT_EQ(open_domain(fd, 0), nullptr) << "the last one has destroyed it";
    EXPECT_EQ(close(fd), 0);
    errno = 0;
    EXPECT_EQ(open_domain(-1, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(open_domain(fd, O_CREAT), nullptr);
    EXPECT_EQ(errno, EBADF);
}

TEST_F(Xrc, SendsGoToTheQueueThatTheyName)
{
    ibv_cq *cqs[2] = {make_cq(), make_cq()};
    ibv_srq *srqs[2] = {make_xrc_srq(cqs[0], xrcd_, pd_), make_xrc_srq(cqs[1], xrcd_, pd_)};
    EXPECT_NE(number_of(srqs[0]), number_of(srqs[1]));
    const Connection connection = make_connection();
    for (uint64_t i = 0; i < 8; ++i) {
        const size_t to = i / 2 % 2;
        memory_[0] = static_cast<char>(i + 1);
        post_receive(srqs[to], i, own(64 * (i + 1), 8));
        ASSERT_EQ(post_to(connection.sender, number_of(srqs[to]), IBV_WR_SEND), 0);
        const ibv_wc wc = wait(cqs[to]);
        EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
        EXPECT_EQ(wc.wr_id, i);
        EXPECT_EQ(wc.opcode, IBV_WC_RECV);
        EXPECT_EQ(wc.qp_num, connection.receiver->qp_num);
        EXPECT_EQ(wc.src_qp, connection.sender->qp_num);
        EXPECT_TRUE(is_empty(cqs[1 - to]));
        EXPECT_EQ(memory_[64 * (i + 1)], static_cast<char>(i + 1));
        EXPECT_EQ(wait(connection.cq).status, IBV_WC_SUCCESS);
    }
}

TEST_F(Xrc, ExtendedPosting)
{
    ibv_cq *cq = make_cq();
    ibv_srq *srq = make_xrc_srq(cq, xrcd_, pd_);
    const Connection connection = make_connection(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
    ibv_qp_ex *qp = ibv_qp_to_qp_ex(connection.sender);
    ASSERT_NE(qp, nullptr);
    post_receive(srq, 1, own(64, 8));
    post_receive(srq, 2, own(128, 8));
    memory_[0] = 9;
    ibv_wr_start(qp);
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(qp);
    ibv_wr_set_xrc_srqn(qp, number_of(srq));
    ibv_wr_set_sge(qp, mr_->lkey, address_of(memory_), 8);
    ibv_wr_rdma_write_imm(qp, mr_->rkey, address_of(memory_ + 1024), htobe32(5));
    ibv_wr_set_xrc_srqn(qp, number_of(srq));
    ibv_wr_set_sge(qp, mr_->lkey, address_of(memory_), 8);
    ASSERT_EQ(ibv_wr_complete(qp), 0);
    EXPECT_EQ(wait(cq).wr_id, 1u);
    const ibv_wc wc = wait(cq);
    EXPECT_EQ(wc.wr_id, 2u);
    EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(wc.imm_data, htobe32(5));
    EXPECT_EQ(memory_[64], 9);
    EXPECT_EQ(memory_[1024], 9);
}

TEST_F(Xrc, RegionsAreOfTheQueuesProtectionDomain)
{
    ibv_pd *other = ibv_alloc_pd(context_);
    ASSERT_NE(other, nullptr);
    at_end([other] { return ibv_dealloc_pd(other); });
    ibv_cq *cq = make_cq();
    ibv_srq *own_srq = make_xrc_srq(cq, xrcd_, pd_), *other_srq = make_xrc_srq(cq, xrcd_, other);
    const Connection connection = make_connection();
    memory_[0] = 3;
    ASSERT_EQ(post_to(connection.sender, number_of(own_srq), IBV_WR_RDMA_WRITE, address_of(memory_ + 512),
                      mr_->rkey),
              0);
    EXPECT_EQ(wait(connection.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(memory_[512], 3);
    ASSERT_EQ(
        post_to(connection.sender, number_of(other_srq), IBV_WR_RDMA_WRITE, address_of(memory_), mr_->rkey),
        0);
    EXPECT_EQ(wait(connection.cq).status, IBV_WC_REM_ACCESS_ERR);
}

/// perftest gives each end all attributes of RC.
TEST_F(Xrc, EndsPutUpWithWhatTheOtherNeeds)
{
    ibv_qp *receiver = make_receiver(xrcd_), *sender = make_sender(make_cq());
    at_end([receiver] { return ibv_destroy_qp(receiver); });
    for (ibv_qp *qp : {sender, receiver}) {
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_INIT;
        attr.port_num = 1;
        ASSERT_EQ(
            ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
            0);
        attr.qp_state = IBV_QPS_RTR;
        attr.path_mtu = IBV_MTU_1024;
        attr.dest_qp_num = (qp == sender ? receiver : sender)->qp_num;
        attr.ah_attr = path_to(gid_);
        EXPECT_EQ(ibv_modify_qp(qp, &attr,
                                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
                  0);
        attr.qp_state = IBV_QPS_RTS;
        EXPECT_EQ(ibv_modify_qp(qp, &attr,
                                IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
                  0);
    }
}

TEST_F(Xrc, QueuesOfOtherDomainsAreOutOfReach)
{
    ibv_xrcd *other = open_domain(-1, O_CREAT);
    ASSERT_NE(other, nullptr);
    at_end([other] { return ibv_close_xrcd(other); });
    ibv_srq *foreign = make_xrc_srq(make_cq(), other, pd_), *basic = make_srq(4);
    uint32_t number = 0;
    EXPECT_EQ(ibv_get_srq_num(basic, &number), EINVAL);
    post_receive(foreign, 1, own(64, 8));
    for (const uint32_t wrong :
         {number_of(foreign), number_of(foreign) + 1, number_of(foreign) + 100, 0xffffffU}) {
        const Connection connection = make_connection();
        ASSERT_EQ(post_to(connection.sender, wrong, IBV_WR_SEND), 0);
        EXPECT_EQ(wait(connection.cq).status, IBV_WC_REM_INV_REQ_ERR);
        ibv_async_event event;
        ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
        while (event.event_type == IBV_EVENT_COMM_EST) {
            ibv_ack_async_event(&event);
            ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
        }
        EXPECT_EQ(event.event_type, IBV_EVENT_QP_REQ_ERR);
        EXPECT_EQ(event.element.qp, connection.receiver);
        ibv_ack_async_event(&event);
    }
}

TEST_F(Xrc, OpenedQpOutlivesItsMakersHandle)
{
    ibv_cq *cq = make_cq();
    ibv_srq *srq = make_xrc_srq(cq, xrcd_, pd_);
    const Connection connection = make_connection(0, true);
    ibv_qp_open_attr attr{};
    attr.comp_mask =
        IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE | IBV_QP_OPEN_ATTR_CONTEXT;
    attr.qp_num = connection.receiver->qp_num;
    attr.qp_type = IBV_QPT_XRC_RECV;
    attr.xrcd = xrcd_;
    attr.qp_context = this;
    ibv_qp *opened = ibv_open_qp(context_, &attr);
    ASSERT_NE(opened, nullptr);
    EXPECT_EQ(opened->qp_num, connection.receiver->qp_num);
    EXPECT_EQ(opened->qp_context, this);
    ibv_qp_attr state{};
    ibv_qp_init_attr init;
    ASSERT_EQ(ibv_query_qp(opened, &state, IBV_QP_STATE, &init), 0);
    EXPECT_EQ(state.qp_state, IBV_QPS_RTS);
    EXPECT_EQ(init.qp_type, IBV_QPT_XRC_RECV);
    ASSERT_EQ(ibv_destroy_qp(connection.receiver), 0);
    post_receive(srq, 4, own(64, 8));
    ASSERT_EQ(post_to(connection.sender, number_of(srq), IBV_WR_SEND), 0);
    EXPECT_EQ(wait(cq).wr_id, 4u);
    EXPECT_EQ(wait(connection.cq).status, IBV_WC_SUCCESS);
    state.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(ibv_modify_qp(opened, &state, IBV_QP_STATE), 0);
    EXPECT_EQ(opened->state, IBV_QPS_ERR);
    ASSERT_EQ(ibv_destroy_qp(opened), 0);
}

TEST_F(Xrc, WhatCannotBe)
{
    ibv_qp *receiver = make_receiver(xrcd_);
    ASSERT_NE(receiver, nullptr);
    ibv_sge sge = own(0, 8);
    ibv_send_wr send{}, *bad_send = nullptr;
    send.sg_list = &sge;
    send.num_sge = 1;
    ibv_recv_wr receive{}, *bad_receive = nullptr;
    receive.sg_list = &sge;
    receive.num_sge = 1;
    connect(receiver, 1);
    EXPECT_EQ(ibv_post_send(receiver, &send, &bad_send), ENOMEM) << "its queue has no place";
    EXPECT_EQ(ibv_post_recv(receiver, &receive, &bad_receive), EINVAL);
    EXPECT_EQ(ibv_close_xrcd(xrcd_), EBUSY);
    EXPECT_EQ(ibv_destroy_qp(receiver), 0);
    EXPECT_EQ(ibv_post_recv(make_sender(make_cq()), &receive, &bad_receive), EINVAL);
    ibv_qp_init_attr_ex attr{};
    attr.qp_type = IBV_QPT_XRC_RECV;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr.pd = pd_;
    errno = 0;
    EXPECT_EQ(ibv_create_qp_ex(context_, &attr), nullptr);
    EXPECT_NE(errno, 0);
    attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    errno = 0;
    EXPECT_EQ(ibv_create_qp_ex(context_, &attr), nullptr);
    EXPECT_EQ(errno, EINVAL);
    ibv_srq_init_attr_ex srq{};
    srq.attr.max_wr = 1;
    srq.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD;
    srq.srq_type = IBV_SRQT_XRC;
    srq.pd = pd_;
    srq.xrcd = xrcd_;
    errno = 0;
    EXPECT_EQ(ibv_create_srq_ex(context_, &srq), nullptr);
    EXPECT_EQ(errno, EINVAL);
    srq.srq_type = IBV_SRQT_TM;  // It has no domain.
    errno = 0;
    EXPECT_EQ(ibv_create_srq_ex(context_, &srq), nullptr);
    EXPECT_EQ(errno, EINVAL);
    ibv_device_attr device;
    ASSERT_EQ(ibv_query_device(context_, &device), 0);
    EXPECT_NE(device.device_cap_flags & IBV_DEVICE_XRC, 0u);
}

}  // namespace
}  // namespace urxe::test
