// SPDX-License-Identifier: BSD-2-Clause
// Extended reliable connections between two hosts: queues and protection domains that requests name.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "hosts.hh"

namespace {

using hosts::Side;

class Xrc : public hosts::Test {};

constexpr size_t kMemory = size_t{1} << 20;
constexpr int kQueues = 2;
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL;
constexpr time_t kSeconds = 30;

/// What the target tells of itself, and the initiator of its QP. Each queue has a protection domain of its own.
struct Told {
    uint32_t qp_num, psn;
    ibv_gid gid;
    uint32_t srq_num[kQueues], rkey[kQueues];
    uint64_t address;
};

/// What both ends have: a device with memory, and the way to the other.
class End {
public:
    explicit End(Side &of) : side(of), context(side.open()), memory(kMemory)
    {
        index_ = hosts::gid_index(context, hosts::Address::kIpv4);
        own.psn = 0xfffff0 + static_cast<uint32_t>(side.host());
        EXPECT_EQ(ibv_query_gid(context, 1, index_, &own.gid), 0);
        own.address = reinterpret_cast<uintptr_t>(memory.data());
    }
    End(const End &) = delete;
    End &operator=(const End &) = delete;
    ~End() { EXPECT_EQ(ibv_close_device(context), 0); }

    void connect(ibv_qp *qp, bool sends, uint8_t rnr_retry)
    {
        own.qp_num = qp->qp_num;
        other = side.exchange(own);
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_INIT;
        attr.port_num = 1;
        attr.qp_access_flags = kAccess & ~IBV_ACCESS_LOCAL_WRITE;
        EXPECT_EQ(
            ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
            0);
        attr.qp_state = IBV_QPS_RTR;
        attr.path_mtu = IBV_MTU_1024;
        attr.dest_qp_num = other.qp_num;
        attr.rq_psn = other.psn;
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 8;
        attr.min_rnr_timer = 12;
        attr.ah_attr.is_global = 1;
        attr.ah_attr.port_num = 1;
        attr.ah_attr.grh.dgid = other.gid;
        attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(index_);
        attr.ah_attr.grh.hop_limit = 64;
        const int ready = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
        EXPECT_EQ(
            ibv_modify_qp(qp, &attr, ready | (sends ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)),
            0);
        if (sends) {
            attr.qp_state = IBV_QPS_RTS;
            attr.timeout = 17;
            attr.retry_cnt = 7;
            attr.rnr_retry = rnr_retry;
            attr.sq_psn = own.psn;
            EXPECT_EQ(ibv_modify_qp(qp, &attr,
                                    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                        IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
                      0);
        }
        side.meet();
    }
    ibv_wc wait(ibv_cq *cq) const
    {
        ibv_wc completion{};
        const time_t start = time(nullptr);
        while (ibv_poll_cq(cq, 1, &completion) == 0) {
            sched_yield();
            if (time(nullptr) - start > kSeconds) {
                ADD_FAILURE() << "no completion on host " << side.host();
                completion.status = IBV_WC_GENERAL_ERR;
                return completion;
            }
        }
        return completion;
    }
    static ibv_qp_state state(ibv_qp *qp)
    {
        ibv_qp_attr attr{};
        ibv_qp_init_attr init{};
        EXPECT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
        return attr.qp_state;
    }

    Side &side;
    ibv_context *context;
    std::vector<uint8_t> memory;
    Told own{}, other{};

private:
    int index_;
};

/// A receiving QP, which stays in RTR, and the queues of its domain.
class Target : public End {
public:
    explicit Target(Side &of) : End(of)
    {
        ibv_xrcd_init_attr domain = {
            .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
        xrcd = ibv_open_xrcd(context, &domain);
        EXPECT_NE(xrcd, nullptr);
        for (int i = 0; i < kQueues; ++i) {
            pd[i] = ibv_alloc_pd(context);
            mr[i] = ibv_reg_mr(pd[i], memory.data(), memory.size(), kAccess);
            cq[i] = ibv_create_cq(context, 256, nullptr, nullptr, 0);
            ibv_srq_init_attr_ex attr{};
            attr.attr = {.max_wr = 128, .max_sge = 1, .srq_limit = 0};
            attr.comp_mask =
                IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
            attr.srq_type = IBV_SRQT_XRC;
            attr.pd = pd[i];
            attr.xrcd = xrcd;
            attr.cq = cq[i];
            srq[i] = ibv_create_srq_ex(context, &attr);
            EXPECT_NE(srq[i], nullptr);
            EXPECT_EQ(ibv_get_srq_num(srq[i], &own.srq_num[i]), 0);
            own.rkey[i] = mr[i]->rkey;
        }
        ibv_qp_init_attr_ex init{};
        init.qp_type = IBV_QPT_XRC_RECV;
        init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
        init.xrcd = xrcd;
        qp = ibv_create_qp_ex(context, &init);
        EXPECT_NE(qp, nullptr);
        connect(qp, false, 0);
    }
    ~Target()
    {
        EXPECT_EQ(ibv_destroy_qp(qp), 0);
        for (int i = 0; i < kQueues; ++i) {
            EXPECT_EQ(ibv_destroy_srq(srq[i]), 0);
            EXPECT_EQ(ibv_destroy_cq(cq[i]), 0);
            EXPECT_EQ(ibv_dereg_mr(mr[i]), 0);
            EXPECT_EQ(ibv_dealloc_pd(pd[i]), 0);
        }
        EXPECT_EQ(ibv_close_xrcd(xrcd), 0);
    }

    void post_receive(int queue, size_t offset, size_t length)
    {
        ibv_sge sge = {reinterpret_cast<uintptr_t>(memory.data() + offset), static_cast<uint32_t>(length),
                       mr[queue]->lkey};
        ibv_recv_wr request{}, *bad = nullptr;
        request.wr_id = offset;
        request.sg_list = &sge;
        request.num_sge = 1;
        ASSERT_EQ(ibv_post_srq_recv(srq[queue], &request, &bad), 0);
    }

    ibv_xrcd *xrcd;
    ibv_pd *pd[kQueues];
    ibv_mr *mr[kQueues];
    ibv_cq *cq[kQueues];
    ibv_srq *srq[kQueues];
    ibv_qp *qp;
};

class Initiator : public End {
public:
    explicit Initiator(Side &of, uint8_t rnr_retry = 7)
        : End(of),
          pd(ibv_alloc_pd(context)),
          mr(ibv_reg_mr(pd, memory.data(), memory.size(), kAccess)),
          cq(ibv_create_cq(context, 256, nullptr, nullptr, 0))
    {
        ibv_qp_init_attr_ex init{};
        init.qp_type = IBV_QPT_XRC_SEND;
        init.send_cq = cq;
        init.cap.max_send_wr = 64;
        init.cap.max_send_sge = 1;
        init.sq_sig_all = 1;
        init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        init.pd = pd;
        init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH;
        qp = ibv_create_qp_ex(context, &init);
        EXPECT_NE(qp, nullptr);
        connect(qp, true, rnr_retry);
    }
    ~Initiator()
    {
        EXPECT_EQ(ibv_destroy_qp(qp), 0);
        EXPECT_EQ(ibv_destroy_cq(cq), 0);
        EXPECT_EQ(ibv_dereg_mr(mr), 0);
        EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    }

    /// For the memory at the same offset, in the protection domain and with the key of the queue.
    void post(int queue, ibv_wr_opcode opcode, size_t offset, size_t length, uint32_t immediate = 0)
    {
        post_with(opcode, offset, length, immediate, other.srq_num[queue], other.rkey[queue]);
    }
    void post_with(ibv_wr_opcode opcode, size_t offset, size_t length, uint32_t immediate, uint32_t srq_num,
                   uint32_t rkey)
    {
        ibv_sge sge = {reinterpret_cast<uintptr_t>(memory.data() + offset), static_cast<uint32_t>(length),
                       mr->lkey};
        ibv_send_wr request{}, *bad = nullptr;
        request.opcode = opcode;
        request.sg_list = &sge;
        request.num_sge = 1;
        request.imm_data = immediate;
        if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
            request.wr.atomic = {
                .remote_addr = other.address + offset, .compare_add = 5, .swap = 0, .rkey = rkey};
        else
            request.wr.rdma = {.remote_addr = other.address + offset, .rkey = rkey};
        request.qp_type.xrc.remote_srqn = srq_num;
        ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
    }
    void expect_sent(ibv_wc_status status = IBV_WC_SUCCESS)
    {
        EXPECT_STREQ(ibv_wc_status_str(wait(cq).status), ibv_wc_status_str(status));
    }

    ibv_pd *pd;
    ibv_mr *mr;
    ibv_cq *cq;
    ibv_qp *qp;
};

constexpr size_t kLengths[] = {0, 1, 1000, 1024, 5000, 200'000};

TEST_F(Xrc, MessagesArriveInTheQueueThatTheyName)
{
    hosts::run(
        [](Side &side) {
            Initiator initiator(side);
            uint32_t turn = 0;
            for (const size_t length : kLengths)
                for (const ibv_wr_opcode opcode :
                     {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM}) {
                    hosts::fill(initiator.memory.data(), length, turn);
                    side.meet();
                    initiator.post(static_cast<int>(turn % kQueues), opcode, 0, length, turn);
                    initiator.expect_sent();
                    side.meet();
                    ++turn;
                }
        },
        [](Side &side) {
            Target target(side);
            uint32_t turn = 0;
            for (const size_t length : kLengths)
                for (const ibv_wr_opcode opcode :
                     {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM}) {
                    const int queue = static_cast<int>(turn % kQueues);
                    std::memset(target.memory.data(), 0, length);
                    target.post_receive(queue, 0, length);
                    side.meet();
                    const ibv_wc completion = target.wait(target.cq[queue]);
                    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
                    EXPECT_EQ(completion.byte_len, length);
                    EXPECT_EQ(completion.qp_num, target.qp->qp_num);
                    EXPECT_EQ(completion.opcode,
                              opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
                    if (opcode != IBV_WR_SEND) {
                        EXPECT_EQ(completion.imm_data, turn);
                    }
                    EXPECT_TRUE(hosts::is_filled(target.memory.data(), length, turn)) << turn;
                    side.meet();
                    ++turn;
                }
        });
}

TEST_F(Xrc, MemoryIsReadAndWritten)
{
    hosts::run(
        [](Side &side) {
            Initiator initiator(side);
            hosts::fill(initiator.memory.data(), 100'000, 1);
            side.meet();
            initiator.post(0, IBV_WR_RDMA_WRITE, 0, 100'000);
            initiator.expect_sent();
            // Reads of both domains at once. The target stays in RTR, and answers with more packets than go out at once.
            initiator.post(0, IBV_WR_RDMA_READ, 200'000, 200'000);
            initiator.post(1, IBV_WR_RDMA_READ, 400'000, 200'000);
            initiator.post(0, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 8);
            for (int i = 0; i < 3; ++i)
                initiator.expect_sent();
            EXPECT_TRUE(hosts::is_filled(initiator.memory.data() + 200'000, 200'000, 2));
            EXPECT_TRUE(hosts::is_filled(initiator.memory.data() + 400'000, 200'000, 3));
            ibv_qp_ex *ex = ibv_qp_to_qp_ex(initiator.qp);
            const uint64_t value = 0x1122334455667788;
            ibv_wr_start(ex);
            ibv_wr_atomic_write(ex, initiator.other.rkey[1], initiator.other.address + 64, &value);
            ibv_wr_set_xrc_srqn(ex, initiator.other.srq_num[1]);
            ibv_wr_flush(ex, initiator.other.rkey[0], initiator.other.address, 100, IBV_FLUSH_GLOBAL,
                         IBV_FLUSH_RANGE);
            ibv_wr_set_xrc_srqn(ex, initiator.other.srq_num[0]);
            ASSERT_EQ(ibv_wr_complete(ex), 0);
            initiator.expect_sent();
            initiator.expect_sent();
            side.meet();
        },
        [](Side &side) {
            Target target(side);
            hosts::fill(target.memory.data() + 200'000, 200'000, 2);
            hosts::fill(target.memory.data() + 400'000, 200'000, 3);
            side.meet();
            side.meet();
            std::vector<uint8_t> expected(100'000);
            hosts::fill(expected.data(), expected.size(), 1);
            uint64_t sum = 0;
            std::memcpy(&sum, expected.data() + 8, sizeof sum);
            sum += 5;
            std::memcpy(expected.data() + 8, &sum, sizeof sum);
            const uint64_t value = 0x1122334455667788;
            std::memcpy(expected.data() + 64, &value, sizeof value);
            EXPECT_EQ(std::memcmp(target.memory.data(), expected.data(), expected.size()), 0);
            EXPECT_EQ(End::state(target.qp), IBV_QPS_RTR);
        });
}

TEST_F(Xrc, RequestsWaitForReceives)
{
    hosts::run(
        [](Side &side) {
            Initiator initiator(side);
            hosts::fill(initiator.memory.data(), 5000, 1);
            initiator.post(1, IBV_WR_SEND, 0, 5000);
            side.meet();
            initiator.expect_sent();
            side.meet();
        },
        [](Side &side) {
            Target target(side);
            target.post_receive(0, 10'000, 5000);  // another queue's
            side.meet();
            target.post_receive(1, 0, 5000);
            EXPECT_EQ(target.wait(target.cq[1]).status, IBV_WC_SUCCESS);
            EXPECT_TRUE(hosts::is_filled(target.memory.data(), 5000, 1));
            side.meet();
        });
}

/// What a request for `queue`, with the key of `domain`, ends with, and the state of the target then.
void expect_refusal(uint32_t (*srq_num)(const Told &), int domain, ibv_wr_opcode opcode, ibv_wc_status status)
{
    hosts::run(
        [&](Side &side) {
            Initiator initiator(side);
            initiator.post_with(opcode, 0, 100, 0, srq_num(initiator.other), initiator.other.rkey[domain]);
            initiator.expect_sent(status);
            EXPECT_EQ(End::state(initiator.qp), IBV_QPS_ERR);
            side.meet();
        },
        [](Side &side) {
            Target target(side);
            target.post_receive(0, 0, 4096);
            std::memset(target.memory.data(), 7, 100);
            side.meet();
            // The initiator may hear of it before another thread has changed the state here.
            while (End::state(target.qp) != IBV_QPS_ERR)
                usleep(1000);
            for (int i = 0; i < 100; ++i)
                EXPECT_EQ(target.memory[static_cast<size_t>(i)], 7);
        });
}

TEST_F(Xrc, QueuesThatDoNotExistAreRefused)
{
    const auto none = [](const Told &told) { return told.srq_num[1] + 5; };
    expect_refusal(none, 0, IBV_WR_SEND, IBV_WC_REM_INV_REQ_ERR);
    expect_refusal(none, 0, IBV_WR_RDMA_WRITE, IBV_WC_REM_INV_REQ_ERR);
}

TEST_F(Xrc, MemoryOfAnotherDomainIsRefused)
{
    const auto second = [](const Told &told) { return told.srq_num[1]; };
    expect_refusal(second, 0, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR);
    expect_refusal(second, 0, IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Xrc, SeveralProcessesHaveTargets)
{
    constexpr uint32_t kCount = 100;
    constexpr size_t kLength = 3000;
    hosts::run(
        [](Side &side) {
            Initiator initiator(side);
            side.meet();
            for (uint32_t turn = 0; turn < kCount; ++turn) {
                const size_t offset = turn % 8 * kLength;
                if (turn >= 8)
                    initiator.expect_sent();
                hosts::fill(initiator.memory.data() + offset, kLength, turn);
                initiator.post(static_cast<int>(turn % kQueues), IBV_WR_SEND_WITH_IMM, offset, kLength, turn);
            }
            for (int i = 0; i < 8; ++i)
                initiator.expect_sent();
            side.meet();
        },
        [](Side &side) {
            Target target(side);
            for (uint32_t turn = 0; turn < kCount; ++turn)
                target.post_receive(static_cast<int>(turn % kQueues), turn * kLength, kLength);
            side.meet();
            for (uint32_t turn = 0; turn < kCount; ++turn) {
                const ibv_wc completion = target.wait(target.cq[turn % kQueues]);
                ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
                ASSERT_EQ(completion.imm_data, turn);
                ASSERT_TRUE(hosts::is_filled(target.memory.data() + completion.wr_id, kLength, turn));
            }
            side.meet();
        },
        3);
}

}  // namespace
