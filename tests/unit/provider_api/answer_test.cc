// SPDX-License-Identifier: BSD-2-Clause
// The common part of an answer reaches the provider, whatever form the command had.
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include <cstring>

#include "fake_context.hh"

namespace verbs::test {
namespace {

using namespace uverbs::test;

/// Room for an answer with eight bytes of the driver behind; all are painted.
template <class Core>
class Room {
public:
    Room() { std::memset(memory_, 0xee, sizeof memory_); }

    Core &core = *reinterpret_cast<Core *>(memory_);
    size_t size() const { return sizeof memory_; }

private:
    alignas(8) unsigned char memory_[sizeof(Core) + 8];
};

struct Form {
    const char *name;
    bool no_methods;
    bool no_ioctl;
};

class AnswerTest : public FakeContext, public testing::WithParamInterface<Form> {
protected:
    AnswerTest()
    {
        kernel.no_methods = GetParam().no_methods;
        kernel.no_ioctl = GetParam().no_ioctl;
    }

    ibv_cq cq_{};
};

TEST_P(AnswerTest, Context)
{
    verbs_context &whole = *verbs_get_ctx(context);
    int events = open("/dev/null", O_RDONLY | O_CLOEXEC);
    kernel.new_object = static_cast<uint64_t>(events);
    kernel.answers = {{UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, bytes("03000000")}};
    uint32_t written[] = {static_cast<uint32_t>(events), 3};
    kernel.written = std::string(reinterpret_cast<const char *>(written), sizeof written);
    struct ibv_get_context command {};
    Room<ib_uverbs_get_context_resp> resp;
    ASSERT_EQ(ibv_cmd_get_context(&whole, &command, sizeof command, nullptr, &resp.core, resp.size()), 0);
    EXPECT_EQ(resp.core.async_fd, static_cast<uint32_t>(events));
    EXPECT_EQ(resp.core.num_comp_vectors, 3u);
}

TEST_P(AnswerTest, ProtectionDomain)
{
    kernel.written = bytes("05000000");
    struct ibv_alloc_pd command {};
    Room<ib_uverbs_alloc_pd_resp> resp;
    ASSERT_EQ(ibv_cmd_alloc_pd(context, &pd, &command, sizeof command, &resp.core, resp.size()), 0);
    EXPECT_EQ(resp.core.pd_handle, 5u);
}

TEST_P(AnswerTest, MemoryRegion)
{
    verbs_mr mr{};
    kernel.written = bytes("01000000 02000000 03000000");
    struct ibv_reg_mr command {};
    Room<ib_uverbs_reg_mr_resp> resp;
    ASSERT_EQ(ibv_cmd_reg_mr(&pd, nullptr, 1, 0, 0, &mr, &command, sizeof command, &resp.core, resp.size()),
              0);
    EXPECT_EQ(resp.core.mr_handle, 1u);
    EXPECT_EQ(resp.core.lkey, 2u);
    EXPECT_EQ(resp.core.rkey, 3u);

    kernel.written = bytes("04000000 05000000");
    struct ibv_rereg_mr again {};
    Room<ib_uverbs_rereg_mr_resp> changed;
    ASSERT_EQ(
        ibv_cmd_rereg_mr(&mr, 0, nullptr, 1, 0, 0, &pd, &again, sizeof again, &changed.core, changed.size()),
        0);
    EXPECT_EQ(changed.core.lkey, 4u);
    EXPECT_EQ(changed.core.rkey, 5u);
}

TEST_P(AnswerTest, MemoryWindow)
{
    ibv_mw mw{};
    kernel.written = bytes("01000000 02000000");
    struct ibv_alloc_mw command {};
    Room<ib_uverbs_alloc_mw_resp> resp;
    ASSERT_EQ(ibv_cmd_alloc_mw(&pd, IBV_MW_TYPE_1, &mw, &command, sizeof command, &resp.core, resp.size()),
              0);
    EXPECT_EQ(resp.core.mw_handle, 1u);
    EXPECT_EQ(resp.core.rkey, 2u);
}

TEST_P(AnswerTest, CompletionQueue)
{
    kernel.new_object = 1;
    kernel.answers = {{UVERBS_ATTR_CREATE_CQ_RESP_CQE, bytes("7f000000")}};
    kernel.written = bytes("01000000 7f000000");
    struct ibv_create_cq command {};
    Room<ib_uverbs_create_cq_resp> resp;
    ASSERT_EQ(
        ibv_cmd_create_cq(context, 100, nullptr, 0, &cq_, &command, sizeof command, &resp.core, resp.size()),
        0);
    EXPECT_EQ(resp.core.cq_handle, 1u);
    EXPECT_EQ(resp.core.cqe, 127u);

    kernel.written = bytes("ff000000 00000000");
    struct ibv_resize_cq resize {};
    Room<ib_uverbs_resize_cq_resp> resized;
    ASSERT_EQ(ibv_cmd_resize_cq(&cq_, 200, &resize, sizeof resize, &resized.core, resized.size()), 0);
    EXPECT_EQ(resized.core.cqe, 255u);

    kernel.written = bytes("01000000 7f000000");
    verbs_cq cq_ex{};
    ibv_cq_init_attr_ex attr{};
    struct ibv_create_cq_ex extended {};
    Room<ib_uverbs_ex_create_cq_resp> more;
    ASSERT_EQ(ibv_cmd_create_cq_ex(context, &attr, nullptr, &cq_ex, &extended, sizeof extended, &more.core,
                                   more.size(), 0),
              0);
    EXPECT_EQ(more.core.base.cq_handle, 1u);
    EXPECT_EQ(more.core.base.cqe, 127u);
    EXPECT_EQ(more.core.comp_mask, 0u);
    EXPECT_EQ(more.core.response_length, sizeof more.core);
}

TEST_P(AnswerTest, SharedReceiveQueue)
{
    kernel.new_object = 1;
    kernel.answers = {{UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, bytes("02000000")},
                      {UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, bytes("03000000")},
                      {UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, bytes("04000000")}};
    kernel.written = bytes("01000000 02000000 03000000 04000000");
    ibv_srq srq{};
    ibv_srq_init_attr attr{};
    struct ibv_create_srq command {};
    Room<ib_uverbs_create_srq_resp> resp;
    ASSERT_EQ(ibv_cmd_create_srq(&pd, &srq, &attr, &command, sizeof command, &resp.core, resp.size()), 0);
    EXPECT_EQ(resp.core.srq_handle, 1u);
    EXPECT_EQ(resp.core.max_wr, 2u);
    EXPECT_EQ(resp.core.max_sge, 3u);

    verbs_srq xrc{};
    verbs_xrcd xrcd{};
    ibv_srq_init_attr_ex extended{};
    extended.comp_mask =
        IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    extended.srq_type = IBV_SRQT_XRC;
    extended.pd = &pd;
    extended.xrcd = &xrcd.xrcd;
    extended.cq = &cq_;
    struct ibv_create_xsrq xsrq {};
    Room<ib_uverbs_create_srq_resp> numbered;
    ASSERT_EQ(
        ibv_cmd_create_srq_ex(context, &xrc, &extended, &xsrq, sizeof xsrq, &numbered.core, numbered.size()),
        0);
    EXPECT_EQ(numbered.core.srqn, 4u);
    EXPECT_EQ(numbered.core.srq_handle, 1u);
}

TEST_P(AnswerTest, QueuePair)
{
    kernel.new_object = 1;
    // max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data
    const std::string cap = bytes("03000000 04000000 05000000 06000000 07000000");
    kernel.answers = {{UVERBS_ATTR_CREATE_QP_RESP_CAP, cap},
                      {UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, bytes("02000000")}};
    kernel.written = bytes("01000000 02000000") + cap;
    auto expect_answer = [](const ib_uverbs_create_qp_resp &resp) {
        EXPECT_EQ(resp.qp_handle, 1u);
        EXPECT_EQ(resp.qpn, 2u);
        EXPECT_EQ(resp.max_send_wr, 3u);
        EXPECT_EQ(resp.max_recv_wr, 4u);
        EXPECT_EQ(resp.max_send_sge, 5u);
        EXPECT_EQ(resp.max_recv_sge, 6u);
        EXPECT_EQ(resp.max_inline_data, 7u);
    };
    verbs_qp qp{};
    ibv_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = &cq_;
    attr.qp_type = IBV_QPT_RC;
    struct ibv_create_qp command {};
    Room<ib_uverbs_create_qp_resp> plain;
    ASSERT_EQ(ibv_cmd_create_qp(&pd, &qp.qp, &attr, &command, sizeof command, &plain.core, plain.size()), 0);
    expect_answer(plain.core);

    ibv_qp_init_attr_ex attr_ex{};
    attr_ex.send_cq = attr_ex.recv_cq = &cq_;
    attr_ex.qp_type = IBV_QPT_RC;
    attr_ex.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr_ex.pd = &pd;
    Room<ib_uverbs_create_qp_resp> ex;
    ASSERT_EQ(ibv_cmd_create_qp_ex(context, &qp, &attr_ex, &command, sizeof command, &ex.core, ex.size()), 0);
    expect_answer(ex.core);

    struct ibv_create_qp_ex extended {};
    Room<ib_uverbs_ex_create_qp_resp> ex2;
    ASSERT_EQ(ibv_cmd_create_qp_ex2(context, &qp, &attr_ex, &extended, sizeof extended, &ex2.core, ex2.size(),
                                    nullptr),
              0);
    expect_answer(ex2.core.base);
    EXPECT_EQ(ex2.core.response_length, sizeof ex2.core);
}

TEST_P(AnswerTest, OpenedQueuePair)
{
    kernel.written = bytes("01000000 02000000");
    verbs_qp qp{};
    verbs_xrcd xrcd{};
    ibv_qp_open_attr attr{};
    attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    attr.qp_num = 2;
    attr.xrcd = &xrcd.xrcd;
    attr.qp_type = IBV_QPT_XRC_RECV;
    struct ibv_open_qp command {};
    Room<ib_uverbs_create_qp_resp> resp;
    ASSERT_EQ(
        ibv_cmd_open_qp(context, &qp, sizeof qp, &attr, &command, sizeof command, &resp.core, resp.size()),
        0);
    EXPECT_EQ(resp.core.qp_handle, 1u);
    EXPECT_EQ(resp.core.qpn, 2u);
}

TEST_P(AnswerTest, AddressHandle)
{
    kernel.written = bytes("09000000");
    ibv_ah ah{};
    ibv_ah_attr attr{};
    Room<ib_uverbs_create_ah_resp> resp;
    ASSERT_EQ(ibv_cmd_create_ah(&pd, &ah, &attr, &resp.core, resp.size()), 0);
    EXPECT_EQ(resp.core.ah_handle, 9u);
}

TEST_P(AnswerTest, XrcDomain)
{
    kernel.written = bytes("09000000");
    verbs_xrcd xrcd{};
    ibv_xrcd_init_attr attr{};
    attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    attr.fd = -1;
    struct ibv_open_xrcd command {};
    Room<ib_uverbs_open_xrcd_resp> resp;
    ASSERT_EQ(ibv_cmd_open_xrcd(context, &xrcd, sizeof xrcd, &attr, &command, sizeof command, &resp.core,
                                resp.size()),
              0);
    EXPECT_EQ(resp.core.xrcd_handle, 9u);
}

TEST_P(AnswerTest, WorkQueueAndTable)
{
    kernel.new_object = 1;
    kernel.answers = {{UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, bytes("02000000")},
                      {UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, bytes("03000000")},
                      {UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, bytes("04000000")}};
    kernel.written = bytes("00000000 18000000 01000000 02000000 03000000 04000000");
    ibv_wq wq{};
    ibv_wq_init_attr attr{};
    attr.pd = &pd;
    attr.cq = &cq_;
    struct ibv_create_wq command {};
    Room<ib_uverbs_ex_create_wq_resp> resp;
    ASSERT_EQ(ibv_cmd_create_wq(context, &attr, &wq, &command, sizeof command, &resp.core, resp.size()), 0);
    EXPECT_EQ(resp.core.wq_handle, 1u);
    EXPECT_EQ(resp.core.max_wr, 2u);
    EXPECT_EQ(resp.core.max_sge, 3u);
    EXPECT_EQ(resp.core.wqn, 4u);
    EXPECT_EQ(resp.core.response_length, sizeof resp.core);

    kernel.written = bytes("00000000 10000000 05000000 06000000");
    ibv_wq *queues[] = {&wq};
    ibv_rwq_ind_table table{};
    ibv_rwq_ind_table_init_attr table_attr{};
    table_attr.ind_tbl = queues;
    Room<ib_uverbs_ex_create_rwq_ind_table_resp> of_table;
    ASSERT_EQ(ibv_cmd_create_rwq_ind_table(context, &table_attr, &table, &of_table.core, of_table.size()), 0);
    EXPECT_EQ(of_table.core.ind_tbl_handle, 5u);
    EXPECT_EQ(of_table.core.ind_tbl_num, 6u);
}

TEST_P(AnswerTest, IsNotWrittenOnFailure)
{
    kernel.error = kernel.write_error = EIO;
    struct ibv_alloc_pd command {};
    Room<ib_uverbs_alloc_pd_resp> resp;
    EXPECT_EQ(ibv_cmd_alloc_pd(context, &pd, &command, sizeof command, &resp.core, resp.size()), EIO);
    EXPECT_EQ(resp.core.pd_handle, 0xeeeeeeeeu);
}

INSTANTIATE_TEST_SUITE_P(Forms, AnswerTest,
                         testing::Values(Form{"method", false, false}, Form{"invoked", true, false},
                                         Form{"written", false, true}),
                         [](const testing::TestParamInfo<Form> &form) { return form.param.name; });

}  // namespace
}  // namespace verbs::test
