// SPDX-License-Identifier: BSD-2-Clause
// The send queue element of each operation, byte by byte, through ibv_post_send and through ibv_wr_*; what is refused;
// and when the driver is told.
#include <functional>

#include "fake_kernel.hh"

namespace siw::test {
namespace {

constexpr uint64_t kRemote = 0xaabbccdd00112230;
constexpr uint64_t kAllOps = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE |
                             IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_LOCAL_INV;

struct Operation {
    const char *name;
    std::function<void(ibv_send_wr &)> classic;
    std::function<void(ibv_qp_ex *)> extended;
    std::string sqe;  // the words that are expected
};

ibv_sge sges[2] = {{0x1000200030004000, 16, 0x1111}, {0x5000600070008000, 32, 0x2222}};
char inline_bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

/// wr_id, and opcode, number of SGEs and flags.
#define HEAD(opcode, count, flags)                                                \
    {0, 0x55667788}, {4, 0x11223344},                                             \
    {                                                                             \
        8, opcode << 24 | count << 16 | flags | SIW_WQE_VALID | SIW_WQE_SIGNALLED \
    }
#define ONE_SGE                                   \
    {24, 0x30004000}, {28, 0x10002000}, {32, 16}, \
    {                                             \
        36, 0x1111                                \
    }
#define TWO_SGES                                           \
    ONE_SGE, {40, 0x70008000}, {44, 0x50006000}, {48, 32}, \
    {                                                      \
        52, 0x2222                                         \
    }
#define RDMA                        \
    {12, 0x9999}, {16, 0x00112230}, \
    {                               \
        20, 0xaabbccdd              \
    }
#define INLINE_BYTES                              \
    {32, 12}, {40, 0x04030201}, {44, 0x08070605}, \
    {                                             \
        48, 0x0c0b0a09                            \
    }

const std::vector<Operation> &operations()
{
    static const std::vector<Operation> list = {
        {"send", [](ibv_send_wr &wr) { wr.opcode = IBV_WR_SEND; },
         [](ibv_qp_ex *qp) {
             qp->wr_send(qp);
             qp->wr_set_sge_list(qp, 2, sges);
         },
         words({HEAD(3, 2, 0), TWO_SGES})},
        {"send_flags",
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_SEND;
             wr.send_flags |= IBV_SEND_SOLICITED | IBV_SEND_FENCE;
         },
         [](ibv_qp_ex *qp) {
             qp->wr_flags |= IBV_SEND_SOLICITED | IBV_SEND_FENCE;
             qp->wr_send(qp);
             qp->wr_set_sge_list(qp, 2, sges);
         },
         words({HEAD(3, 2, 0x18), TWO_SGES})},
        {"send_inv",
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_SEND_WITH_INV;
             wr.invalidate_rkey = 0x777;
         },
         [](ibv_qp_ex *qp) {
             qp->wr_send_inv(qp, 0x777);
             qp->wr_set_sge_list(qp, 2, sges);
         },
         words({HEAD(5, 2, 0), {12, 0x777}, TWO_SGES})},
        {"write", [](ibv_send_wr &wr) { wr.opcode = IBV_WR_RDMA_WRITE; },
         [](ibv_qp_ex *qp) {
             qp->wr_rdma_write(qp, 0x9999, kRemote);
             qp->wr_set_sge_list(qp, 2, sges);
         },
         words({HEAD(0, 2, 0), RDMA, TWO_SGES})},
        {"read",
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_RDMA_READ;
             wr.num_sge = 1;
         },
         [](ibv_qp_ex *qp) {
             qp->wr_rdma_read(qp, 0x9999, kRemote);
             qp->wr_set_sge(qp, 0x1111, 0x1000200030004000, 16);
         },
         words({HEAD(1, 1, 0), RDMA, ONE_SGE})},
        {"local_inv",
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_LOCAL_INV;
             wr.invalidate_rkey = 0x777;
         },
         [](ibv_qp_ex *qp) { qp->wr_local_inv(qp, 0x777); }, words({HEAD(10, 0, 0), {12, 0x777}})},
        {"send_inline",
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_SEND;
             wr.send_flags |= IBV_SEND_INLINE;
         },
         [](ibv_qp_ex *qp) {
             qp->wr_send(qp);
             qp->wr_set_inline_data(qp, inline_bytes, 12);
         },
         words({HEAD(3, 1, 2), INLINE_BYTES})},
        {"write_inline",
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_RDMA_WRITE;
             wr.send_flags |= IBV_SEND_INLINE;
         },
         [](ibv_qp_ex *qp) {
             const ibv_data_buf bufs[] = {{inline_bytes, 5}, {inline_bytes + 5, 0}, {inline_bytes + 5, 7}};
             qp->wr_rdma_write(qp, 0x9999, kRemote);
             qp->wr_set_inline_data_list(qp, 3, bufs);
         },
         words({HEAD(0, 1, 2), RDMA, INLINE_BYTES})},
        {"nothing",
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_SEND;
             wr.num_sge = 0;
             wr.sg_list = nullptr;
         },
         [](ibv_qp_ex *qp) { qp->wr_send(qp); }, words({HEAD(3, 0, 0)})},
    };
    return list;
}

class SendElement : public SiwTest, public testing::WithParamInterface<size_t> {
protected:
    siw_sqe *ring() const { return kernel_.ring<siw_sqe>(1); }
};

TEST_P(SendElement, ThroughPostSend)
{
    const Operation &operation = operations()[GetParam()];
    ibv_qp *qp = make_qp();
    ibv_sge inline_sges[] = {{reinterpret_cast<uintptr_t>(inline_bytes), 4, 0},
                             {reinterpret_cast<uintptr_t>(inline_bytes) + 4, 8, 0}};
    ibv_send_wr wr{};
    wr.wr_id = 0x1122334455667788;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = sges;
    wr.num_sge = 2;
    wr.wr.rdma = {.remote_addr = kRemote, .rkey = 0x9999};
    operation.classic(wr);
    if ((wr.send_flags & IBV_SEND_INLINE) != 0)
        wr.sg_list = inline_sges;
    ASSERT_EQ(post_send(qp, &wr), 0);
    EXPECT_EQ(words(ring(), 8 * sizeof(siw_sqe)), operation.sqe);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
}

TEST_P(SendElement, ThroughWr)
{
    const Operation &operation = operations()[GetParam()];
    auto *qp = reinterpret_cast<ibv_qp_ex *>(make_qp(kAllOps));
    ASSERT_NE(qp, nullptr);
    qp->wr_start(qp);
    qp->wr_id = 0x1122334455667788;
    qp->wr_flags = IBV_SEND_SIGNALED;
    operation.extended(qp);
    EXPECT_EQ(ring()[0].flags & SIW_WQE_VALID, 0);
    ASSERT_EQ(qp->wr_complete(qp), 0);
    EXPECT_EQ(words(ring(), 8 * sizeof(siw_sqe)), operation.sqe);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
}

INSTANTIATE_TEST_SUITE_P(Operations, SendElement, testing::Range<size_t>(0, 9),
                         [](const auto &test) { return std::string(operations()[test.param].name); });

TEST(SendElements, AllAreTested)
{
    EXPECT_EQ(operations().size(), 9u);
}

class PostSend : public SiwTest {
protected:
    PostSend() : qp_(make_qp()) {}

    static ibv_send_wr write(uint64_t wr_id, ibv_send_wr *next = nullptr)
    {
        ibv_send_wr wr{};
        wr.wr_id = wr_id;
        wr.next = next;
        wr.opcode = IBV_WR_RDMA_WRITE;
        wr.sg_list = sges;
        wr.num_sge = 1;
        return wr;
    }

    siw_sqe *ring() const { return kernel_.ring<siw_sqe>(1); }
    bool valid(int slot) const { return (ring()[slot].flags & SIW_WQE_VALID) != 0; }
    int posted() const
    {
        int count = 0;
        for (int i = 0; i < 8; ++i)
            count += valid(i);
        return count;
    }
    /// The driver takes an element.
    void take(int slot) { ring()[slot].flags = 0; }
    int post(ibv_send_wr *wr) { return post_send(qp_, wr); }

    ibv_qp *qp_;
};

TEST_F(PostSend, SignalsEveryRequestWhereTheQpSaysSo)
{
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.cap = {1, 1, 1, 1, 0};
    attr.sq_sig_all = 1;
    ibv_qp *qp = ops().create_qp(pd_, &attr);
    qps_.push_back(qp);
    ibv_send_wr wr = write(1);
    EXPECT_EQ(post(&wr), 0);
    EXPECT_EQ(kernel_.ring<siw_sqe>(3)[0].flags, SIW_WQE_VALID);
    EXPECT_EQ(post_send(qp, &wr), 0);
    EXPECT_EQ(ring()[0].flags, SIW_WQE_VALID | SIW_WQE_SIGNALLED);
}

TEST_F(PostSend, AListHasOneDoorbell)
{
    ibv_send_wr last = write(2), first = write(1, &last);
    EXPECT_EQ(post(&first), 0);
    EXPECT_EQ(posted(), 2);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
}

TEST_F(PostSend, NoDoorbellWhereTheDriverComesBy)
{
    ibv_send_wr wr = write(1);
    EXPECT_EQ(post(&wr), 0);
    EXPECT_EQ(post(&wr), 0);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
    take(0);
    EXPECT_EQ(post(&wr), 0);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
    take(1);
    take(2);
    EXPECT_EQ(post(&wr), 0);
    EXPECT_EQ(kernel_.count("doorbell"), 2);
}

TEST_F(PostSend, AListOfTheQueuesSizeHasADoorbell)
{
    ibv_send_wr list[9];
    for (uint64_t i = 0; i < 9; ++i)
        list[i] = write(i, i < 8 ? &list[i + 1] : nullptr);
    EXPECT_EQ(post(list), ENOMEM);
    EXPECT_EQ(bad_send_, &list[8]);
    EXPECT_EQ(posted(), 8);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
    EXPECT_EQ(post(&list[8]), ENOMEM);
    take(0);
    EXPECT_EQ(post(&list[8]), 0);
    EXPECT_EQ(ring()[0].id, 8u);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
}

TEST_F(PostSend, TakesBackWhatTheDriverRefuses)
{
    ibv_send_wr last = write(3), first = write(2, &last);
    kernel_.fail("doorbell", ENOTCONN);
    EXPECT_EQ(post(&first), ENOTCONN);
    EXPECT_EQ(bad_send_, &first);
    EXPECT_EQ(posted(), 0);
    EXPECT_EQ(post(&last), 0);
    EXPECT_EQ(ring()[0].id, 3u);
    EXPECT_EQ(posted(), 1);
    EXPECT_EQ(kernel_.count("doorbell"), 2);
}

TEST_F(PostSend, TakesBackAllOfAFullQueue)
{
    ibv_send_wr list[8];
    for (uint64_t i = 0; i < 8; ++i)
        list[i] = write(i, i < 7 ? &list[i + 1] : nullptr);
    kernel_.fail("doorbell", EIO);
    EXPECT_EQ(post(list), EIO);
    EXPECT_EQ(posted(), 0);
    EXPECT_EQ(post(list), 0);
    EXPECT_EQ(posted(), 8);
}

TEST_F(PostSend, StopsAtTheFirstThatIsRefused)
{
    ibv_send_wr last = write(3), bad = write(2, &last), first = write(1, &bad);
    for (const uint32_t opcode :
         {uint32_t{IBV_WR_RDMA_WRITE_WITH_IMM}, uint32_t{IBV_WR_SEND_WITH_IMM},
          uint32_t{IBV_WR_ATOMIC_CMP_AND_SWP}, uint32_t{IBV_WR_ATOMIC_FETCH_AND_ADD},
          uint32_t{IBV_WR_BIND_MW}, uint32_t{IBV_WR_TSO}, uint32_t{IBV_WR_DRIVER1}, uint32_t{IBV_WR_FLUSH},
          uint32_t{IBV_WR_ATOMIC_WRITE}, uint32_t{77}, UINT32_MAX}) {
        std::memcpy(&bad.opcode, &opcode, sizeof(opcode));
        EXPECT_EQ(post(&first), EINVAL) << opcode;
        EXPECT_EQ(bad_send_, &bad);
        EXPECT_EQ(posted(), 1);
        for (int i = 0; i < 8; ++i)
            take(i);
    }
}

TEST_F(PostSend, RefusesDataThatDoNotFit)
{
    ibv_sge many[5] = {};
    char bytes[81] = {};
    ibv_sge whole[2] = {{reinterpret_cast<uintptr_t>(bytes), 41, 0},
                        {reinterpret_cast<uintptr_t>(bytes), 40, 0}};
    ibv_send_wr wr = write(1);
    wr.sg_list = many;
    wr.num_sge = 5;
    EXPECT_EQ(post(&wr), EINVAL);
    wr.num_sge = -1;
    EXPECT_EQ(post(&wr), EINVAL);
    wr.opcode = IBV_WR_RDMA_READ;
    wr.num_sge = 2;
    EXPECT_EQ(post(&wr), EINVAL);
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_INLINE;
    EXPECT_EQ(post(&wr), EINVAL);
    wr.opcode = IBV_WR_SEND;
    wr.sg_list = whole;
    wr.num_sge = 2;
    EXPECT_EQ(post(&wr), EINVAL);
    EXPECT_EQ(posted(), 0);
    whole[1].length = 39;
    EXPECT_EQ(post(&wr), 0);
    EXPECT_EQ(ring()[0].sge[0].length, 80u);
    EXPECT_EQ(post(nullptr), EINVAL);
}

}  // namespace
}  // namespace siw::test
