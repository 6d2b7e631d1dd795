// SPDX-License-Identifier: BSD-2-Clause
// Address handles with drivers that number them, and with those that want the vector in each WQE.
#include "rxe/ah.hh"

#include <cstring>

#include "fake_kernel.hh"

namespace rxe::test {
namespace {

class AhTest : public RxeTest {
protected:
    AhTest()
    {
        attr_.is_global = 1;
        attr_.port_num = 1;
        attr_.grh = {
            .dgid = {}, .flow_label = 0x12345, .sgid_index = 1, .hop_limit = 7, .traffic_class = 0x42};
        const uint8_t ipv4[] = {0xff, 0xff, 10, 0, 0, 2};
        std::memcpy(attr_.grh.dgid.raw + 10, ipv4, sizeof(ipv4));
    }

    ibv_ah_attr attr_{};
};

TEST_F(AhTest, KeepsTheDriversNumber)
{
    ibv_ah *ah = ops().create_ah(pd_, &attr_);
    ASSERT_NE(ah, nullptr);
    EXPECT_EQ(to_ah(ah)->number, 5u);
    EXPECT_EQ(kernel_.count("query_gid"), 0);
    EXPECT_EQ(ops().destroy_ah(ah), 0);
}

TEST_F(AhTest, WithoutANumberTheWqeHasTheVector)
{
    kernel_.numbers_ahs = false;
    ibv_ah *ah = ops().create_ah(pd_, &attr_);
    ASSERT_NE(ah, nullptr);
    ibv_qp *qp = make_qp(IBV_QPT_UD);
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    wr.wr.ud = {.ah = ah, .remote_qpn = 0x11, .remote_qkey = 0x22};
    ASSERT_EQ(post_send(qp, &wr), 0);
    // Vector at 56: port and type, GRH at 64 with the GID, label, index, hops and class, then both IPv4 addresses.
    EXPECT_EQ(words(kernel_.ring().element(0), 208), words({{12, 2},
                                                            {24, 0x11},
                                                            {28, 0x22},
                                                            {56, 0x0101},
                                                            {72, 0xffff0000},
                                                            {76, 0x0200000a},
                                                            {80, 0x12345},
                                                            {84, 0x420701},
                                                            {88, AF_INET},
                                                            {92, 0x0100000a},
                                                            {116, AF_INET},
                                                            {120, 0x0200000a}}));
    EXPECT_EQ(ops().destroy_ah(ah), 0);
}

TEST_F(AhTest, VectorOfIpv6)
{
    kernel_.numbers_ahs = false;
    attr_.grh.sgid_index = 0;
    attr_.grh.dgid = {};
    attr_.grh.dgid.raw[0] = 0xfe;
    attr_.grh.dgid.raw[15] = 2;
    ibv_ah *ah = ops().create_ah(pd_, &attr_);
    ASSERT_NE(ah, nullptr);
    const rxe_av &vector = to_ah(ah)->vector;
    EXPECT_EQ(vector.network_type, RXE_NETWORK_TYPE_IPV6);
    EXPECT_EQ(vector.sgid_addr._sockaddr_in6.sin6_family, AF_INET6);
    EXPECT_EQ(vector.sgid_addr._sockaddr_in6.sin6_addr.s6_addr[15], 1);
    EXPECT_EQ(vector.dgid_addr._sockaddr_in6.sin6_addr.s6_addr[0], 0xfe);
    EXPECT_EQ(vector.dgid_addr._sockaddr_in6.sin6_addr.s6_addr[15], 2);
    EXPECT_EQ(ops().destroy_ah(ah), 0);
}

TEST_F(AhTest, FailsWithoutLeftovers)
{
    errno = 0;
    kernel_.fail("create_ah", ETIMEDOUT);
    EXPECT_EQ(ops().create_ah(pd_, &attr_), nullptr);
    EXPECT_EQ(errno, ETIMEDOUT);
    kernel_.numbers_ahs = false;
    kernel_.fail("query_gid", ENODATA);
    EXPECT_EQ(ops().create_ah(pd_, &attr_), nullptr);
    EXPECT_EQ(errno, ENODATA);
    EXPECT_EQ(kernel_.count("destroy_ah"), 1);
}

TEST_F(AhTest, StaysWhereDestroyingFails)
{
    ibv_ah *ah = ops().create_ah(pd_, &attr_);
    kernel_.fail("destroy_ah", EBUSY);
    EXPECT_EQ(ops().destroy_ah(ah), EBUSY);
    EXPECT_EQ(to_ah(ah)->number, 5u);
    EXPECT_EQ(ops().destroy_ah(ah), 0);
}

}  // namespace
}  // namespace rxe::test
