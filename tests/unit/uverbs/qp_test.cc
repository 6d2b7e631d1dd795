// SPDX-License-Identifier: BSD-2-Clause
// Commands for queue pairs.
#include "uverbs/qp.hh"

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const QpRequest kReliable = {
    .user_handle = 0x1234567890,
    .type = IBV_QPT_RC,
    .cap = {.max_send_wr = 1, .max_recv_wr = 2, .max_send_sge = 3, .max_recv_sge = 4, .max_inline_data = 5},
    .signal_all = false,
    .create_flags = 0,
    .source_qpn = 0,
    .pd_handle = 0x11,
    .send_cq_handle = 0x22,
    .recv_cq_handle = 0x23,
    .async_fd = 78};

QpRequest with_srq()
{
    QpRequest qp = kReliable;
    qp.srq_handle = 0x55;
    qp.signal_all = true;
    return qp;
}

QpRequest xrc_target()
{
    return {.user_handle = 0x1234567890,
            .type = IBV_QPT_XRC_RECV,
            .cap = {},
            .signal_all = false,
            .create_flags = 0,
            .source_qpn = 0,
            .xrcd_handle = 0x66,
            .async_fd = 78};
}

QpRequest spread_packets()
{
    QpRequest qp = kReliable;
    qp.type = IBV_QPT_RAW_PACKET;
    qp.create_flags = IBV_QP_CREATE_SCATTER_FCS;
    qp.recv_cq_handle.reset();
    qp.ind_table_handle = 0x8a;
    return qp;
}

QpRequest with_source()
{
    QpRequest qp = kReliable;
    qp.type = IBV_QPT_UD;
    qp.create_flags = IBV_QP_CREATE_SOURCE_QPN;
    qp.source_qpn = 0x123456;
    return qp;
}

ibv_ah_attr destination(uint8_t port)
{
    return {.grh = {.dgid = {.raw = {0xfe, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, port}},
                    .flow_label = 0x12345,
                    .sgid_index = 1,
                    .hop_limit = 64,
                    .traffic_class = 0x1c},
            .dlid = 0x4321,
            .sl = 3,
            .src_path_bits = 5,
            .static_rate = 7,
            .is_global = 1,
            .port_num = port};
}

const ibv_qp_attr kAttr = {.qp_state = IBV_QPS_RTR,
                           .cur_qp_state = IBV_QPS_INIT,
                           .path_mtu = IBV_MTU_1024,
                           .path_mig_state = IBV_MIG_REARM,
                           .qkey = 0x11111111,
                           .rq_psn = 0x222222,
                           .sq_psn = 0x333333,
                           .dest_qp_num = 0x444444,
                           .qp_access_flags = 7,
                           .ah_attr = destination(1),
                           .alt_ah_attr = destination(2),
                           .pkey_index = 0x0506,
                           .alt_pkey_index = 0x0708,
                           .en_sqd_async_notify = 1,
                           .max_rd_atomic = 9,
                           .max_dest_rd_atomic = 10,
                           .min_rnr_timer = 11,
                           .port_num = 1,
                           .timeout = 12,
                           .retry_cnt = 13,
                           .rnr_retry = 14,
                           .alt_port_num = 2,
                           .alt_timeout = 15,
                           .rate_limit = 0x99999999};
constexpr int kEverything = (IBV_QP_DEST_QPN << 1) - 1;

const Command kCommands[] = {
    {"create", [](Channel &channel) { return qp_create(channel, kReliable, kDriverData).error(); },
     ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
           {object(UVERBS_ATTR_CREATE_QP_HANDLE, 0), in(UVERBS_ATTR_UHW_IN, "d0d1d2d3 d4d5d6d7"),
            out(UVERBS_ATTR_UHW_OUT, 8), object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0x11),
            object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0x22),
            object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0x23),
            in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_QP_CAP, "01000000 02000000 03000000 04000000 05000000"),
            in(UVERBS_ATTR_CREATE_QP_TYPE, "02000000 00000000"), object(UVERBS_ATTR_CREATE_QP_EVENT_FD, 0x4e),
            out(UVERBS_ATTR_CREATE_QP_RESP_CAP, 20), out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4)}),
     invoke(IB_USER_VERBS_CMD_CREATE_QP,
            "00000000 00000000 90785634 12000000 11000000 22000000 23000000 00000000 01000000 02000000 "
            "03000000 04000000 05000000 00020000",
            32, "d0d1d2d3 d4d5d6d7", 8),
     write("18000000 12000a00 answer 90785634 12000000 11000000 22000000 23000000 00000000 01000000 02000000 "
           "03000000 04000000 05000000 00020000 d0d1d2d3 d4d5d6d7")},
    {"create_with_srq", [](Channel &channel) { return qp_create(channel, with_srq(), {}).error(); },
     ioctl(
         UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
         {object(UVERBS_ATTR_CREATE_QP_HANDLE, 0), object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0x11),
          object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, 0x55), object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0x22),
          object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0x23),
          in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, "90785634 12000000"),
          in(UVERBS_ATTR_CREATE_QP_CAP, "01000000 02000000 03000000 04000000 05000000"),
          in(UVERBS_ATTR_CREATE_QP_TYPE, "02000000 00000000"), in(UVERBS_ATTR_CREATE_QP_FLAGS, "00100000"),
          object(UVERBS_ATTR_CREATE_QP_EVENT_FD, 0x4e), out(UVERBS_ATTR_CREATE_QP_RESP_CAP, 20),
          out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4)}),
     invoke(IB_USER_VERBS_CMD_CREATE_QP,
            "00000000 00000000 90785634 12000000 11000000 22000000 23000000 55000000 01000000 02000000 "
            "03000000 04000000 05000000 01020100",
            32),
     write("18000000 10000800 answer 90785634 12000000 11000000 22000000 23000000 55000000 01000000 02000000 "
           "03000000 04000000 05000000 01020100")},
    {"create_xrc_target", [](Channel &channel) { return qp_create(channel, xrc_target(), {}).error(); },
     ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
           {object(UVERBS_ATTR_CREATE_QP_HANDLE, 0), object(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, 0x66),
            in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_QP_CAP, "00000000 00000000 00000000 00000000 00000000"),
            in(UVERBS_ATTR_CREATE_QP_TYPE, "0a000000 00000000"), object(UVERBS_ATTR_CREATE_QP_EVENT_FD, 0x4e),
            out(UVERBS_ATTR_CREATE_QP_RESP_CAP, 20), out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4)}),
     invoke(IB_USER_VERBS_CMD_CREATE_QP,
            "00000000 00000000 90785634 12000000 66000000 00000000 00000000 00000000 00000000 00000000 "
            "00000000 00000000 00000000 000a0000",
            32),
     write("18000000 10000800 answer 90785634 12000000 66000000 00000000 00000000 00000000 00000000 00000000 "
           "00000000 00000000 00000000 000a0000")},
    {"create_with_ind_table",
     [](Channel &channel) { return qp_create(channel, spread_packets(), kDriverData).error(); },
     ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
           {object(UVERBS_ATTR_CREATE_QP_HANDLE, 0), in(UVERBS_ATTR_UHW_IN, "d0d1d2d3 d4d5d6d7"),
            out(UVERBS_ATTR_UHW_OUT, 8), object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0x11),
            object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0x22),
            object(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, 0x8a),
            in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_QP_CAP, "01000000 02000000 03000000 04000000 05000000"),
            in(UVERBS_ATTR_CREATE_QP_TYPE, "08000000 00000000"), in(UVERBS_ATTR_CREATE_QP_FLAGS, "00010000"),
            object(UVERBS_ATTR_CREATE_QP_EVENT_FD, 0x4e), out(UVERBS_ATTR_CREATE_QP_RESP_CAP, 20),
            out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4)}),
     invoke(IB_USER_VERBS_EX_CMD_CREATE_QP | kExtended,
            "90785634 12000000 11000000 22000000 00000000 00000000 01000000 02000000 03000000 04000000 "
            "05000000 00080000 01000000 00010000 8a000000 00000000",
            40, "d0d1d2d3 d4d5d6d7", 8),
     write("18000080 08000500 answer 01000100 00000000 90785634 12000000 11000000 22000000 00000000 00000000 "
           "01000000 02000000 03000000 04000000 05000000 00080000 01000000 00010000 8a000000 00000000 "
           "d0d1d2d3 d4d5d6d7")},
    {"create_with_source", [](Channel &channel) { return qp_create(channel, with_source(), {}).error(); },
     ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
           {object(UVERBS_ATTR_CREATE_QP_HANDLE, 0), object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0x11),
            object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0x22),
            object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0x23),
            in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_QP_CAP, "01000000 02000000 03000000 04000000 05000000"),
            in(UVERBS_ATTR_CREATE_QP_TYPE, "04000000 00000000"),
            in(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, "56341200"), object(UVERBS_ATTR_CREATE_QP_EVENT_FD, 0x4e),
            out(UVERBS_ATTR_CREATE_QP_RESP_CAP, 20), out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4)}),
     invoke(IB_USER_VERBS_EX_CMD_CREATE_QP | kExtended,
            "90785634 12000000 11000000 22000000 23000000 00000000 01000000 02000000 03000000 04000000 "
            "05000000 00040000 00000000 00040000 00000000 56341200",
            40),
     write("18000080 08000500 answer 00000000 00000000 90785634 12000000 11000000 22000000 23000000 00000000 "
           "01000000 02000000 03000000 04000000 05000000 00040000 00000000 00040000 00000000 56341200")},
    {"create_with_driver_attributes",
     [](Channel &channel) {
         DriverAttributes driver;
         return qp_create(channel, kReliable, {}, &driver.buffer).error();
     },
     ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
           {object(UVERBS_ATTR_CREATE_QP_HANDLE, 0), in(0x1004, "bc0a0000"), out(0x1005, 4),
            object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0x11), object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0x22),
            object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0x23),
            in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, "90785634 12000000"),
            in(UVERBS_ATTR_CREATE_QP_CAP, "01000000 02000000 03000000 04000000 05000000"),
            in(UVERBS_ATTR_CREATE_QP_TYPE, "02000000 00000000"), object(UVERBS_ATTR_CREATE_QP_EVENT_FD, 0x4e),
            out(UVERBS_ATTR_CREATE_QP_RESP_CAP, 20), out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4)}),
     {},
     {}},
    {"open",
     [](Channel &channel) {
         return qp_open(channel, 0x66, 0x123456, IBV_QPT_XRC_RECV, 0x1234567890, kDriverData).error();
     },
     {},
     invoke(IB_USER_VERBS_CMD_OPEN_QP,
            "00000000 00000000 90785634 12000000 66000000 56341200 0a000000 00000000", 32,
            "d0d1d2d3 d4d5d6d7", 8),
     write(
         "28000000 0c000a00 answer 90785634 12000000 66000000 56341200 0a000000 00000000 d0d1d2d3 d4d5d6d7")},
    {"modify",
     [](Channel &channel) { return qp_modify(channel, 0x33, kAttr, kEverything, kDriverRequest).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_MODIFY_QP,
            "fe800102 03040506 0708090a 0b0c0d01 45230100 21430000 01401c03 05070101 fe800102 03040506 "
            "0708090a 0b0c0d02 45230100 21430000 01401c03 05070102 33000000 ffff1f00 11111111 22222200 "
            "33333300 44444400 07000000 06050807 02010301 01090a0b 010c0d0e 020f0000",
            0, "d0d1d2d3 d4d5d6d7"),
     write(
         "1a000000 20000000 fe800102 03040506 0708090a 0b0c0d01 45230100 21430000 01401c03 05070101 fe800102 "
         "03040506 0708090a 0b0c0d02 45230100 21430000 01401c03 05070102 33000000 ffff1f00 11111111 22222200 "
         "33333300 44444400 07000000 06050807 02010301 01090a0b 010c0d0e 020f0000 d0d1d2d3 d4d5d6d7")},
    {"modify_state",
     [](Channel &channel) { return qp_modify(channel, 0x33, kAttr, IBV_QP_STATE, {}).error(); },
     {},
     invoke(IB_USER_VERBS_CMD_MODIFY_QP,
            "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
            "00000000 00000000 00000000 00000000 00000000 00000000 33000000 01000000 00000000 00000000 "
            "00000000 00000000 00000000 00000000 02000000 00000000 00000000 00000000"),
     write("1a000000 1e000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
           "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 33000000 01000000 "
           "00000000 00000000 00000000 00000000 00000000 00000000 02000000 00000000 00000000 00000000")},
    {"modify_rate_limit",
     [](Channel &channel) {
         ib_uverbs_ex_modify_qp_resp response;
         return qp_modify_ex(channel, 0x33, kAttr, IBV_QP_STATE | IBV_QP_RATE_LIMIT, response, kDriverData)
             .error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_MODIFY_QP | kExtended,
            "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
            "00000000 00000000 00000000 00000000 00000000 00000000 33000000 01000002 00000000 00000000 "
            "00000000 00000000 00000000 00000000 02000000 00000000 00000000 00000000 99999999 00000000",
            8, "d0d1d2d3 d4d5d6d7", 8),
     write("1a000080 0f000100 answer 01000100 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
           "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
           "33000000 01000002 00000000 00000000 00000000 00000000 00000000 00000000 02000000 00000000 "
           "00000000 00000000 99999999 00000000 d0d1d2d3 d4d5d6d7")},
    {"modify_ex_state",
     [](Channel &channel) {
         ib_uverbs_ex_modify_qp_resp response;
         return qp_modify_ex(channel, 0x33, kAttr, IBV_QP_STATE, response, {}).error();
     },
     {},
     invoke(IB_USER_VERBS_EX_CMD_MODIFY_QP | kExtended,
            "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
            "00000000 00000000 00000000 00000000 00000000 00000000 33000000 01000000 00000000 00000000 "
            "00000000 00000000 00000000 00000000 02000000 00000000 00000000 00000000 00000000 00000000",
            8),
     write("1a000080 0f000100 answer 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
           "00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
           "33000000 01000000 00000000 00000000 00000000 00000000 00000000 00000000 02000000 00000000 "
           "00000000 00000000 00000000 00000000")},
    {"query",
     [](Channel &channel) {
         ibv_qp_attr attr;
         ibv_qp_init_attr init;
         return qp_query(channel, 0x33, IBV_QP_STATE, attr, init, kDriverRequest).error();
     },
     {},
     invoke(IB_USER_VERBS_CMD_QUERY_QP, "00000000 00000000 33000000 01000000", 128, "d0d1d2d3 d4d5d6d7"),
     write("19000000 08002000 answer 33000000 01000000 d0d1d2d3 d4d5d6d7")},
    {"destroy",
     [](Channel &channel) {
         ib_uverbs_destroy_qp_resp response;
         return qp_destroy(channel, 0x33, response).error();
     },
     ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY,
           {object(UVERBS_ATTR_DESTROY_QP_HANDLE, 0x33), out(UVERBS_ATTR_DESTROY_QP_RESP, 4)}),
     invoke(IB_USER_VERBS_CMD_DESTROY_QP, "00000000 00000000 33000000 00000000", 4),
     write("1b000000 06000100 answer 33000000 00000000")},
};

INSTANTIATE_TEST_SUITE_P(Qp, Commands, testing::ValuesIn(kCommands), command_name);

class QpTest : public testing::Test {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

void expect_granted(const Result<QpInfo> &qp)
{
    ASSERT_TRUE(qp);
    EXPECT_EQ(qp->handle, 0x33U);
    EXPECT_EQ(qp->qp_num, 0x11U);
    EXPECT_EQ(qp->cap.max_send_wr, 11U);
    EXPECT_EQ(qp->cap.max_recv_wr, 12U);
    EXPECT_EQ(qp->cap.max_send_sge, 13U);
    EXPECT_EQ(qp->cap.max_recv_sge, 14U);
    EXPECT_EQ(qp->cap.max_inline_data, 15U);
}

TEST_F(QpTest, HasHandleNumberAndSizes)
{
    kernel.new_object = 0x33;
    kernel.answers = {
        {UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, bytes("11000000")},
        {UVERBS_ATTR_CREATE_QP_RESP_CAP, bytes("0b000000 0c000000 0d000000 0e000000 0f000000")}};
    expect_granted(qp_create(channel, kReliable, {}));
}

TEST_F(QpTest, HasHandleNumberAndSizesOfAWriteCommand)
{
    kernel.no_methods = true;
    kernel.written = bytes("33000000 11000000 0b000000 0c000000 0d000000 0e000000 0f000000");
    expect_granted(qp_create(channel, kReliable, {}));
    expect_granted(qp_create(channel, spread_packets(), {}));
}

TEST_F(QpTest, IsNotMadeByWriteWhenADriverHasAttributes)
{
    kernel.no_methods = true;
    DriverAttributes driver;
    EXPECT_EQ(qp_create(channel, kReliable, {}, &driver.buffer).error(), EPROTONOSUPPORT);
    // It may have been the driver's attribute that the kernel does not know.
    EXPECT_TRUE(channel.offers({UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE}));
}

TEST_F(QpTest, IsOpened)
{
    kernel.written = bytes("33000000 56341200");
    Result<QpInfo> qp = qp_open(channel, 0x66, 0x123456, IBV_QPT_XRC_RECV, 0, {});
    ASSERT_TRUE(qp);
    EXPECT_EQ(qp->handle, 0x33U);
    EXPECT_EQ(qp->qp_num, 0x123456U);
}

constexpr char kDescription[] =
    // two destinations
    "fe800102 03040506 0708090a 0b0c0d01 45230100 2143 0000 01 40 1c 03 05 07 01 01"
    "fe800102 03040506 0708090a 0b0c0d02 45230100 2143 0000 01 40 1c 03 05 07 01 02"
    // max_send_wr to max_inline_data, then qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags
    "0b000000 0c000000 0d000000 0e000000 0f000000"
    "11111111 22222200 33333300 44444400 07000000"
    // pkey_index, alt_pkey_index, and single bytes from qp_state on
    "0605 0807 02 01 03 01 01 09 0a 0b 01 0c 0d 0e 02 0f 01 000000 0000";

TEST_F(QpTest, TellsItsAttributes)
{
    kernel.written = bytes(kDescription);
    ibv_qp_attr attr = {};
    ibv_qp_init_attr init = {};
    ASSERT_TRUE(qp_query(channel, 0x33, IBV_QP_STATE, attr, init, {}));
    EXPECT_EQ(attr.qp_state, IBV_QPS_RTR);
    EXPECT_EQ(attr.cur_qp_state, IBV_QPS_INIT);
    EXPECT_EQ(attr.path_mtu, IBV_MTU_1024);
    EXPECT_EQ(attr.path_mig_state, IBV_MIG_REARM);
    EXPECT_EQ(attr.qkey, 0x11111111U);
    EXPECT_EQ(attr.rq_psn, 0x222222U);
    EXPECT_EQ(attr.sq_psn, 0x333333U);
    EXPECT_EQ(attr.dest_qp_num, 0x444444U);
    EXPECT_EQ(attr.qp_access_flags, 7U);
    EXPECT_EQ(attr.pkey_index, 0x0506);
    EXPECT_EQ(attr.alt_pkey_index, 0x0708);
    EXPECT_EQ(attr.sq_draining, 1);
    EXPECT_EQ(attr.max_rd_atomic, 9);
    EXPECT_EQ(attr.max_dest_rd_atomic, 10);
    EXPECT_EQ(attr.min_rnr_timer, 11);
    EXPECT_EQ(attr.port_num, 1);
    EXPECT_EQ(attr.timeout, 12);
    EXPECT_EQ(attr.retry_cnt, 13);
    EXPECT_EQ(attr.rnr_retry, 14);
    EXPECT_EQ(attr.alt_port_num, 2);
    EXPECT_EQ(attr.alt_timeout, 15);
    for (auto [of, port] : {std::pair(&attr.ah_attr, 1), std::pair(&attr.alt_ah_attr, 2)}) {
        EXPECT_EQ(of->grh.dgid.raw[0], 0xfe);
        EXPECT_EQ(of->grh.dgid.raw[15], port);
        EXPECT_EQ(of->grh.flow_label, 0x12345U);
        EXPECT_EQ(of->grh.sgid_index, 1);
        EXPECT_EQ(of->grh.hop_limit, 64);
        EXPECT_EQ(of->grh.traffic_class, 0x1c);
        EXPECT_EQ(of->dlid, 0x4321);
        EXPECT_EQ(of->sl, 3);
        EXPECT_EQ(of->src_path_bits, 5);
        EXPECT_EQ(of->static_rate, 7);
        EXPECT_EQ(of->is_global, 1);
        EXPECT_EQ(of->port_num, port);
    }
    EXPECT_EQ(init.sq_sig_all, 1);
    EXPECT_EQ(init.cap.max_send_wr, 11U);
    EXPECT_EQ(init.cap.max_inline_data, 15U);
    EXPECT_EQ(attr.cap.max_recv_sge, 14U);
}

TEST_F(QpTest, LeavesAttributesAloneWhenItCannotBeQueried)
{
    kernel.written = bytes(kDescription);
    kernel.error = EINVAL;
    ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    ibv_qp_init_attr init = {.sq_sig_all = 5};
    EXPECT_EQ(qp_query(channel, 0x33, IBV_QP_STATE, attr, init, {}).error(), EINVAL);
    EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);
    EXPECT_EQ(init.sq_sig_all, 5);
}

TEST_F(QpTest, TakesTheAnswerOfTheExtendedModification)
{
    kernel.written = bytes("00000000 08000000");
    ib_uverbs_ex_modify_qp_resp response;
    ASSERT_TRUE(qp_modify_ex(channel, 0x33, kAttr, IBV_QP_RATE_LIMIT, response, {}));
    EXPECT_EQ(response.response_length, 8U);
}

TEST_F(QpTest, CountsEventsWhenItIsDestroyed)
{
    kernel.answers = {{UVERBS_ATTR_DESTROY_QP_RESP, bytes("03000000")}};
    ib_uverbs_destroy_qp_resp response;
    ASSERT_TRUE(qp_destroy(channel, 0x33, response));
    EXPECT_EQ(response.events_reported, 3U);
}

}  // namespace
}  // namespace verbs::uverbs::test
