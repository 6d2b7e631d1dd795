// SPDX-License-Identifier: BSD-2-Clause
// The WQE of each operation, byte by byte, through ibv_post_send and through ibv_wr_*; and what is refused.
#include <cstring>
#include <functional>

#include "fake_kernel.hh"

namespace rxe::test {
namespace {

constexpr uint64_t kRemote = 0xaabbccdd00112230;
constexpr uint64_t kAllOps = 0x3ff | IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE;

struct Operation {
    const char *name;
    ibv_qp_type type;
    std::function<void(ibv_send_wr &)> classic;
    std::function<void(ibv_qp_ex *)> extended;
    std::string wqe;  // the words that are expected, of a WQE that is the second in the queue
};

ibv_sge sges[2] = {{0x1000200030004000, 16, 0x1111}, {0x5000600070008000, 32, 0x2222}};
char inline_bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
ibv_mw mw2 = {.context = nullptr, .pd = nullptr, .rkey = 0x80000155, .handle = 0, .type = IBV_MW_TYPE_2};
ibv_mr mr = {
    .context = nullptr, .pd = nullptr, .addr = nullptr, .length = 0, .handle = 0, .lkey = 0x2a4, .rkey = 0};
const ibv_mw_bind_info kBind = {.mr = &mr, .addr = 0x7000, .length = 0x300, .mw_access_flags = 2};

void two_sges(ibv_qp_ex *qp)
{
    qp->wr_set_sge_list(qp, 2, sges);
}

// What every WQE of these tests has: wr_id, opcode, IBV_SEND_SIGNALED, the number 1 in its queue.
#define HEAD(opcode)                                                         \
    {0, 0x55667788}, {4, 0x11223344}, {12, opcode}, {16, IBV_SEND_SIGNALED}, \
    {                                                                        \
        176, 1                                                               \
    }
#define TWO_SGES                                                                                    \
    {184, 48}, {188, 48}, {196, 2}, {208, 0x30004000}, {212, 0x10002000}, {216, 16}, {220, 0x1111}, \
        {224, 0x70008000}, {228, 0x50006000}, {232, 32},                                            \
    {                                                                                               \
        236, 0x2222                                                                                 \
    }
#define IOVA            \
    {152, 0x00112230},  \
    {                   \
        156, 0xaabbccdd \
    }
#define RDMA                                  \
    IOVA, {24, 0x00112230}, {28, 0xaabbccdd}, \
    {                                         \
        32, 0x9999                            \
    }

const std::vector<Operation> &operations()
{
    static const std::vector<Operation> list = {
        {"send", IBV_QPT_RC, [](ibv_send_wr &wr) { wr.opcode = IBV_WR_SEND; },
         [](ibv_qp_ex *qp) {
             qp->wr_send(qp);
             two_sges(qp);
         },
         words({HEAD(2), TWO_SGES})},
        {"send_uc", IBV_QPT_UC, [](ibv_send_wr &wr) { wr.opcode = IBV_WR_SEND; },
         [](ibv_qp_ex *qp) {
             qp->wr_send(qp);
             two_sges(qp);
         },
         words({HEAD(2), TWO_SGES})},
        {"send_imm", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_SEND_WITH_IMM;
             wr.imm_data = 0x04030201;
         },
         [](ibv_qp_ex *qp) {
             qp->wr_send_imm(qp, 0x04030201);
             two_sges(qp);
         },
         words({HEAD(3), TWO_SGES, {20, 0x04030201}})},
        {"send_inv", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_SEND_WITH_INV;
             wr.invalidate_rkey = 0x777;
         },
         [](ibv_qp_ex *qp) {
             qp->wr_send_inv(qp, 0x777);
             two_sges(qp);
         },
         words({HEAD(9), TWO_SGES, {20, 0x777}})},
        {"write", IBV_QPT_RC, [](ibv_send_wr &wr) { wr.opcode = IBV_WR_RDMA_WRITE; },
         [](ibv_qp_ex *qp) {
             qp->wr_rdma_write(qp, 0x9999, kRemote);
             two_sges(qp);
         },
         words({HEAD(0), TWO_SGES, RDMA})},
        {"write_imm", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
             wr.imm_data = 0x04030201;
         },
         [](ibv_qp_ex *qp) {
             qp->wr_rdma_write_imm(qp, 0x9999, kRemote, 0x04030201);
             two_sges(qp);
         },
         words({HEAD(1), TWO_SGES, RDMA, {20, 0x04030201}})},
        {"read", IBV_QPT_RC, [](ibv_send_wr &wr) { wr.opcode = IBV_WR_RDMA_READ; },
         [](ibv_qp_ex *qp) {
             qp->wr_rdma_read(qp, 0x9999, kRemote);
             two_sges(qp);
         },
         words({HEAD(4), TWO_SGES, RDMA})},
        {"cmp_swp", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
             wr.wr.atomic = {.remote_addr = kRemote,
                             .compare_add = 0x1234500000001,
                             .swap = 0x5432100000002,
                             .rkey = 0x9999};
         },
         [](ibv_qp_ex *qp) {
             qp->wr_atomic_cmp_swp(qp, 0x9999, kRemote, 0x1234500000001, 0x5432100000002);
             two_sges(qp);
         },
         words({HEAD(5),
                TWO_SGES,
                IOVA,
                {24, 0x00112230},
                {28, 0xaabbccdd},
                {32, 1},
                {36, 0x12345},
                {40, 2},
                {44, 0x54321},
                {48, 0x9999}})},
        {"fetch_add", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
             wr.wr.atomic = {
                 .remote_addr = kRemote, .compare_add = 0x1234500000001, .swap = 99, .rkey = 0x9999};
         },
         [](ibv_qp_ex *qp) {
             qp->wr_atomic_fetch_add(qp, 0x9999, kRemote, 0x1234500000001);
             two_sges(qp);
         },
         words({HEAD(6),
                TWO_SGES,
                IOVA,
                {24, 0x00112230},
                {28, 0xaabbccdd},
                {32, 1},
                {36, 0x12345},
                {48, 0x9999}})},
        {"local_inv", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_LOCAL_INV;
             wr.invalidate_rkey = 0x777;
         },
         [](ibv_qp_ex *qp) { qp->wr_local_inv(qp, 0x777); }, words({HEAD(7), {20, 0x777}})},
        {"bind_mw", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_BIND_MW;
             wr.bind_mw = {.mw = &mw2, .rkey = 0x80000156, .bind_info = kBind};
         },
         [](ibv_qp_ex *qp) { qp->wr_bind_mw(qp, &mw2, 0x80000156, &kBind); },
         words(
             {HEAD(8), {24, 0x7000}, {32, 0x300}, {40, 0x2a4}, {44, 0x80000155}, {48, 0x80000156}, {52, 2}})},
        {"bind_mw_uc", IBV_QPT_UC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_BIND_MW;
             wr.bind_mw = {.mw = &mw2, .rkey = 0x80000156, .bind_info = kBind};
         },
         [](ibv_qp_ex *qp) { qp->wr_bind_mw(qp, &mw2, 0x80000156, &kBind); },
         words(
             {HEAD(8), {24, 0x7000}, {32, 0x300}, {40, 0x2a4}, {44, 0x80000155}, {48, 0x80000156}, {52, 2}})},
        {"send_inline", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_SEND;
             wr.send_flags |= IBV_SEND_INLINE;
         },
         [](ibv_qp_ex *qp) {
             qp->wr_send(qp);
             qp->wr_set_inline_data(qp, inline_bytes, 12);
         },
         words({HEAD(2),
                {16, IBV_SEND_SIGNALED | IBV_SEND_INLINE},
                {184, 12},
                {188, 12},
                {208, 0x04030201},
                {212, 0x08070605},
                {216, 0x0c0b0a09}})},
        {"write_inline", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_RDMA_WRITE;
             wr.send_flags |= IBV_SEND_INLINE;
         },
         [](ibv_qp_ex *qp) {
             const ibv_data_buf bufs[] = {{inline_bytes, 5}, {inline_bytes + 5, 0}, {inline_bytes + 5, 7}};
             qp->wr_rdma_write(qp, 0x9999, kRemote);
             qp->wr_set_inline_data_list(qp, 3, bufs);
         },
         words({HEAD(0),
                RDMA,
                {16, IBV_SEND_SIGNALED | IBV_SEND_INLINE},
                {184, 12},
                {188, 12},
                {208, 0x04030201},
                {212, 0x08070605},
                {216, 0x0c0b0a09}})},
        {"atomic_write", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             static ibv_sge eight[] = {{reinterpret_cast<uintptr_t>(inline_bytes), 3, 0},
                                       {reinterpret_cast<uintptr_t>(inline_bytes) + 3, 5, 0}};
             wr.opcode = IBV_WR_ATOMIC_WRITE;
             wr.sg_list = eight;
             wr.num_sge = 2;
         },
         [](ibv_qp_ex *qp) { qp->wr_atomic_write(qp, 0x9999, kRemote, inline_bytes); },
         words({HEAD(15), RDMA, {184, 8}, {188, 8}, {208, 0x04030201}, {212, 0x08070605}})},
        {"flush", IBV_QPT_RC, nullptr,
         [](ibv_qp_ex *qp) { qp->wr_flush(qp, 0x9999, kRemote, 0x1234, IB_FLUSH_PERSISTENT, 1); },
         words({HEAD(14),
                IOVA,
                {24, 0x00112230},
                {28, 0xaabbccdd},
                {32, 0x1234},
                {36, 0x9999},
                {40, 0x0102},
                {184, 0x1234},
                {188, 0x1234}})},
        {"nothing", IBV_QPT_RC,
         [](ibv_send_wr &wr) {
             wr.opcode = IBV_WR_SEND;
             wr.num_sge = 0;
             wr.sg_list = nullptr;
         },
         [](ibv_qp_ex *qp) { qp->wr_send(qp); }, words({HEAD(2)})},
    };
    return list;
}

class SendWqe : public RxeTest, public testing::WithParamInterface<size_t> {
protected:
    SendWqe()
    {
        kernel_.capabilities = IB_UVERBS_DEVICE_ATOMIC_WRITE | IB_UVERBS_DEVICE_FLUSH_GLOBAL;
        reopen();
    }

    /// Leaves the first slot behind, so that the WQE is number 1.
    ibv_qp *used_qp(ibv_qp_type type, uint64_t ops)
    {
        ibv_qp *qp = make_qp(type, ops);
        ibv_send_wr wr{};
        wr.opcode = IBV_WR_SEND;
        EXPECT_EQ(post_send(qp, &wr), 0);
        return qp;
    }

    /// The second WQE; of its data, as much as it says to have. What lay in the ring before does not show.
    std::string wqe() const
    {
        const uint8_t *element = kernel_.ring().element(1);
        const auto *send = reinterpret_cast<const rxe_send_wqe *>(element);
        size_t size = sizeof(*send) + send->dma.num_sge * sizeof(rxe_sge);
        if (send->dma.num_sge == 0 && send->wr.opcode != IBV_WR_FLUSH)
            size += send->dma.length;
        return operations()[GetParam()].type == IBV_QPT_UD ? words(element, size)
                                                           : connected_words(element, size);
    }
};

TEST_P(SendWqe, ThroughPostSend)
{
    const Operation &operation = operations()[GetParam()];
    ibv_qp *qp = used_qp(operation.type, 0);
    if (!operation.classic) {  // ibv_post_send cannot say what to flush
        ibv_send_wr flush{};
        flush.opcode = IBV_WR_FLUSH;
        EXPECT_EQ(post_send(qp, &flush), EINVAL);
        return;
    }
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
    EXPECT_EQ(wqe(), operation.wqe);
    EXPECT_EQ(kernel_.ring().producer(), 2u);
    EXPECT_EQ(kernel_.count("doorbell"), 2);
}

TEST_P(SendWqe, ThroughWr)
{
    const Operation &operation = operations()[GetParam()];
    const uint64_t ops = operation.type == IBV_QPT_RC ? kAllOps : uint64_t{IBV_QP_EX_WITH_SEND};
    ibv_qp *qp = used_qp(operation.type, ops);
    auto *extended = reinterpret_cast<ibv_qp_ex *>(qp);
    extended->wr_start(extended);
    extended->wr_id = 0x1122334455667788;
    extended->wr_flags = IBV_SEND_SIGNALED;
    operation.extended(extended);
    EXPECT_EQ(kernel_.ring().producer(), 1u);
    ASSERT_EQ(extended->wr_complete(extended), 0);
    EXPECT_EQ(wqe(), operation.wqe);
    EXPECT_EQ(kernel_.ring().producer(), 2u);
    EXPECT_EQ(kernel_.count("doorbell"), 2);
}

INSTANTIATE_TEST_SUITE_P(Operations, SendWqe, testing::Range<size_t>(0, 17),
                         [](const auto &test) { return std::string(operations()[test.param].name); });

TEST(SendWqes, AllAreTested)
{
    EXPECT_EQ(operations().size(), 17u);
}

class PostSend : public RxeTest {
protected:
    ibv_send_wr write(uint64_t wr_id)
    {
        ibv_send_wr wr{};
        wr.wr_id = wr_id;
        wr.opcode = IBV_WR_RDMA_WRITE;
        wr.sg_list = sges;
        wr.num_sge = 1;
        wr.wr.rdma = {.remote_addr = kRemote, .rkey = 1};
        return wr;
    }

    uint64_t wr_id(uint32_t index) const
    {
        return reinterpret_cast<const rxe_send_wqe *>(kernel_.ring().element(index))->wr.wr_id;
    }

    /// Posts a list of which the second request is `middle`, and expects that the first alone is posted.
    void expect_refused(ibv_qp *qp, ibv_send_wr middle, int error)
    {
        const uint32_t producer = kernel_.ring().producer();
        const int doorbells = kernel_.count("doorbell");
        ibv_send_wr last = write(3), first = write(1);
        first.next = &middle;
        middle.next = &last;
        EXPECT_EQ(post_send(qp, &first), error);
        EXPECT_EQ(bad_send_, &middle);
        EXPECT_EQ(kernel_.ring().producer(), (producer + 1) & 7);
        EXPECT_EQ(kernel_.count("doorbell"), doorbells + 1);
        EXPECT_EQ(wr_id(producer), 1u);
        kernel_.ring().buf->consumer_index = kernel_.ring().producer();
    }
};

TEST_F(PostSend, RingsOnceForAList)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_send_wr list[5];
    for (uint64_t i = 0; i < 5; ++i) {
        list[i] = write(i);
        list[i].next = i < 4 ? &list[i + 1] : nullptr;
    }
    EXPECT_EQ(post_send(qp, list), 0);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
    EXPECT_EQ(kernel_.ring().producer(), 5u);
    for (uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(wr_id(i), i);
        EXPECT_EQ(reinterpret_cast<const rxe_send_wqe *>(kernel_.ring().element(i))->ssn, i);
    }
}

TEST_F(PostSend, RefusesNothing)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    EXPECT_EQ(post_send(qp, nullptr), EINVAL);
    EXPECT_EQ(bad_send_, nullptr);
    EXPECT_EQ(kernel_.count("doorbell"), 0);
}

TEST_F(PostSend, RefusesBeforeReadyToSend)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_send_wr wr = write(1);
    for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR}) {
        qp->state = state;
        EXPECT_EQ(post_send(qp, &wr), EINVAL);
        EXPECT_EQ(bad_send_, &wr);
    }
    EXPECT_EQ(kernel_.ring().producer(), 0u);
    EXPECT_EQ(kernel_.count("doorbell"), 0);
    qp->state = IBV_QPS_ERR;  // the driver flushes it
    EXPECT_EQ(post_send(qp, &wr), 0);
}

TEST_F(PostSend, StopsWhereTheQueueIsFull)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_send_wr list[9];
    for (uint64_t i = 0; i < 9; ++i) {
        list[i] = write(i);
        list[i].next = i < 8 ? &list[i + 1] : nullptr;
    }
    EXPECT_EQ(post_send(qp, list), ENOMEM);
    EXPECT_EQ(bad_send_, &list[7]);
    EXPECT_EQ(kernel_.ring().producer(), 7u);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
    EXPECT_EQ(post_send(qp, list), ENOMEM);
    EXPECT_EQ(bad_send_, &list[0]);
    EXPECT_EQ(kernel_.count("doorbell"), 1);
    kernel_.ring().buf->consumer_index = 2;
    list[1].next = nullptr;
    EXPECT_EQ(post_send(qp, list), 0);
    EXPECT_EQ(kernel_.ring().producer(), 1u);
    EXPECT_EQ(wr_id(7), 0u);
    EXPECT_EQ(wr_id(0), 1u);
}

TEST_F(PostSend, RefusesWhatDoesNotFit)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_sge many[5] = {sges[0], sges[0], sges[0], sges[0], sges[0]};
    ibv_send_wr wr = write(2);
    wr.sg_list = many;
    wr.num_sge = 5;
    expect_refused(qp, wr, EINVAL);
    wr.num_sge = -1;
    expect_refused(qp, wr, EINVAL);
    many[0].length = many[1].length = 0x80000000;  // together more than a message can be
    wr.num_sge = 2;
    expect_refused(qp, wr, EINVAL);

    char bytes[65] = {};
    ibv_sge data[2] = {{reinterpret_cast<uintptr_t>(bytes), 60, 0},
                       {reinterpret_cast<uintptr_t>(bytes), 5, 0}};
    wr.sg_list = data;
    wr.send_flags = IBV_SEND_INLINE;
    expect_refused(qp, wr, EINVAL);
    wr.num_sge = -1;
    expect_refused(qp, wr, EINVAL);
    data[1].length = 4;
    wr.num_sge = 2;
    wr.next = nullptr;
    EXPECT_EQ(post_send(qp, &wr), 0);
}

TEST_F(PostSend, RefusesOperationsThatTheQpLacks)
{
    ibv_qp *rc = make_qp(IBV_QPT_RC);
    for (const int opcode :
         {int{IBV_WR_TSO}, int{IBV_WR_DRIVER1}, int{IBV_WR_FLUSH}, int{IBV_WR_ATOMIC_WRITE}, 16, 77, -1}) {
        ibv_send_wr wr = write(2);
        wr.opcode = static_cast<ibv_wr_opcode>(opcode);
        expect_refused(rc, wr, EINVAL);
    }
    for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_LOCAL_INV}) {
        ibv_send_wr wr = write(2);
        wr.opcode = opcode;
        wr.send_flags = IBV_SEND_INLINE;
        expect_refused(rc, wr, EINVAL);
    }
    ibv_qp *uc = make_qp(IBV_QPT_UC);
    for (const ibv_wr_opcode opcode :
         {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_LOCAL_INV}) {
        ibv_send_wr wr = write(2);
        wr.opcode = opcode;
        expect_refused(uc, wr, EINVAL);
    }
}

TEST_F(PostSend, RefusesBrokenAtomics)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_sge eight = {0x1000, 8, 1};
    ibv_send_wr wr = write(2);
    wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr.sg_list = &eight;
    wr.wr.atomic = {.remote_addr = 0x1004, .compare_add = 1, .swap = 0, .rkey = 1};
    expect_refused(qp, wr, EINVAL);
    wr.wr.atomic.remote_addr = 0x1000;
    eight.length = 7;
    expect_refused(qp, wr, EINVAL);
    wr.num_sge = 0;
    expect_refused(qp, wr, EINVAL);
}

TEST_F(PostSend, AtomicWriteTakesEightBytes)
{
    kernel_.capabilities = IB_UVERBS_DEVICE_ATOMIC_WRITE;
    reopen();
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_sge data = {reinterpret_cast<uintptr_t>(inline_bytes), 8, 0};
    ibv_send_wr wr = write(2);
    wr.opcode = IBV_WR_ATOMIC_WRITE;
    wr.sg_list = &data;
    for (const uint32_t length : {7U, 9U, 0U}) {
        data.length = length;
        expect_refused(qp, wr, EINVAL);
    }
    data.length = 8;
    wr.wr.rdma.remote_addr = kRemote + 4;
    expect_refused(qp, wr, EINVAL);
    wr.wr.rdma.remote_addr = kRemote;
    wr.send_flags = IBV_SEND_INLINE;
    EXPECT_EQ(post_send(qp, &wr), 0);
}

TEST_F(PostSend, TellsOfAGoneDevice)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_send_wr wr = write(1);
    kernel_.fail("doorbell", EIO);
    EXPECT_EQ(post_send(qp, &wr), EIO);
    EXPECT_EQ(bad_send_, &wr);
}

TEST_F(PostSend, TellsOfAShortWrite)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_send_wr wr = write(1);
    kernel_.fail("doorbell", kShortWrite);
    EXPECT_EQ(post_send(qp, &wr), EIO);
    EXPECT_EQ(bad_send_, &wr);
    EXPECT_EQ(kernel_.count("doorbell of the library"), 0);
}

TEST_F(PostSend, LetsTheLibraryRingWhereTheKernelTakesNoWriteCommands)
{
    for (const int refusal : {EACCES, ENOSYS}) {
        ibv_qp *qp = make_qp(IBV_QPT_RC);
        const int written = kernel_.count("doorbell"), others = kernel_.count("doorbell of the library");
        ibv_send_wr wr = write(1);
        kernel_.fail("doorbell", refusal);
        EXPECT_EQ(post_send(qp, &wr), 0);
        EXPECT_EQ(post_send(qp, &wr), 0);
        EXPECT_EQ(kernel_.count("doorbell"), written + 1) << "one refusal is enough";
        EXPECT_EQ(kernel_.count("doorbell of the library"), others + 2);
        EXPECT_EQ(kernel_.ring().producer(), 2u);

        kernel_.fail("doorbell of the library", EINVAL);
        EXPECT_EQ(post_send(qp, &wr), EINVAL);
        EXPECT_EQ(bad_send_, &wr);
        EXPECT_EQ(kernel_.ring().producer(), 2u);
        kernel_.fail("doorbell of the library", EIO);
        EXPECT_EQ(post_send(qp, &wr), EIO);
        EXPECT_EQ(kernel_.ring().producer(), 3u);
    }
}

TEST_F(PostSend, LeavesNothingInTheQueueThatTheDriverRefuses)
{
    ibv_qp *qp = make_qp(IBV_QPT_RC);
    ibv_send_wr first = write(1);
    ibv_send_wr second = write(2);
    first.next = &second;
    kernel_.fail("doorbell", EINVAL);  // another process has reset the QP
    EXPECT_EQ(post_send(qp, &first), EINVAL);
    EXPECT_EQ(bad_send_, &first);
    EXPECT_EQ(kernel_.ring().producer(), 0u);

    EXPECT_EQ(post_send(qp, &second), 0);
    EXPECT_EQ(kernel_.ring().producer(), 1u);
    uint64_t wr_id;
    std::memcpy(&wr_id, kernel_.ring().element(0), sizeof(wr_id));
    EXPECT_EQ(wr_id, second.wr_id);

    kernel_.fail("doorbell", EIO);
    EXPECT_EQ(post_send(qp, &second), EIO);
    EXPECT_EQ(kernel_.ring().producer(), 2u) << "the driver may be looking at it";
}

TEST_F(PostSend, DatagramsCarryTheNumberOfTheAddress)
{
    ibv_qp *qp = make_qp(IBV_QPT_UD);
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.grh.sgid_index = 1;
    ibv_ah *ah = ops().create_ah(pd_, &attr);
    ASSERT_NE(ah, nullptr);
    ibv_send_wr wr{};
    wr.wr_id = 0x1122334455667788;
    wr.opcode = IBV_WR_SEND_WITH_IMM;
    wr.imm_data = 0x04030201;
    wr.sg_list = sges;
    wr.num_sge = 2;
    wr.wr.ud = {.ah = ah, .remote_qpn = 0x123456, .remote_qkey = 0x11111111};
    ASSERT_EQ(post_send(qp, &wr), 0);
    EXPECT_EQ(words(kernel_.ring().element(0), 240), words({{0, 0x55667788},
                                                            {4, 0x11223344},
                                                            {12, 3},
                                                            {20, 0x04030201},
                                                            {24, 0x123456},
                                                            {28, 0x11111111},
                                                            {36, 5},
                                                            TWO_SGES}));
    wr.wr.ud.ah = nullptr;
    EXPECT_EQ(post_send(qp, &wr), EINVAL);
    EXPECT_EQ(bad_send_, &wr);
    wr.wr.ud.ah = ah;
    wr.opcode = IBV_WR_RDMA_WRITE;
    EXPECT_EQ(post_send(qp, &wr), EINVAL);
    EXPECT_EQ(kernel_.ring().producer(), 1u);
    EXPECT_EQ(ops().destroy_ah(ah), 0);
}

}  // namespace
}  // namespace rxe::test
