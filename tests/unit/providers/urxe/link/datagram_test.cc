// SPDX-License-Identifier: BSD-2-Clause
// Datagrams between two hosts, and what their receivers learn of the senders.
#include <arpa/inet.h>
#include <netinet/ip.h>

#include <cstring>

#include "hosts.hh"

namespace {

using hosts::Address;
using hosts::Port;
using hosts::Side;

constexpr size_t kGrh = 40;
constexpr size_t kLengths[] = {0, 1, 3, 64, 1000, 1023, 1024};

class Datagrams : public hosts::Test, public testing::WithParamInterface<Address> {};

void expect_grh(const Port &port, const uint8_t *grh, size_t length)
{
    if (port.options.address == Address::kIpv4) {
        iphdr header;
        std::memcpy(&header, grh + 20, sizeof header);
        EXPECT_EQ(header.version, 4);
        EXPECT_EQ(header.ihl, 5);
        EXPECT_EQ(header.ttl, 64);
        EXPECT_EQ(header.tos, 0x48);
        EXPECT_EQ(std::memcmp(&header.saddr, port.remote.gid.raw + 12, 4), 0);
        EXPECT_EQ(header.daddr, inet_addr("10.7.0.2"));
        return;
    }
    ibv_grh header;
    std::memcpy(&header, grh, sizeof header);
    EXPECT_EQ(ntohl(header.version_tclass_flow) >> 20, 0x648u);
    EXPECT_EQ(header.hop_limit, 64);
    EXPECT_GE(ntohs(header.paylen), length);
    EXPECT_EQ(std::memcmp(&header.sgid, &port.remote.gid, sizeof header.sgid), 0);
    EXPECT_EQ(header.dgid.raw[15], 2);
}

TEST_P(Datagrams, ArriveWithTheirHeader)
{
    const Port::Options options = {.type = IBV_QPT_UD, .address = GetParam()};
    hosts::run(
        [&](Side &side) {
            Port port(side, options);
            for (const size_t length : kLengths)
                for (const bool has_immediate : {false, true}) {
                    hosts::fill(port.at(0), length, static_cast<uint32_t>(length));
                    side.meet();
                    port.post(has_immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, 0, length, 0,
                              [&](ibv_send_wr &request) {
                                  request.imm_data = htonl(77);
                                  if (length <= 64)
                                      request.send_flags |= IBV_SEND_INLINE;
                              });
                    port.expect_sent();
                    side.meet();
                }
        },
        [&](Side &side) {
            Port port(side, options);
            for (const size_t length : kLengths)
                for (const bool has_immediate : {false, true}) {
                    std::memset(port.at(0), 0x5a, 2048);
                    port.post_receive(0, length + kGrh);
                    side.meet();
                    const ibv_wc completion = port.wait_received();
                    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
                    EXPECT_EQ(completion.byte_len, length + kGrh);
                    EXPECT_EQ(completion.src_qp, port.remote.qp_num);
                    EXPECT_EQ(completion.wc_flags & IBV_WC_GRH, IBV_WC_GRH);
                    EXPECT_EQ((completion.wc_flags & IBV_WC_WITH_IMM) != 0, has_immediate);
                    if (has_immediate) {
                        EXPECT_EQ(completion.imm_data, htonl(77));
                    }
                    expect_grh(port, port.at(0), length);
                    EXPECT_TRUE(hosts::is_filled(port.at(kGrh), length, static_cast<uint32_t>(length)));
                    EXPECT_EQ(*port.at(kGrh + length), 0x5a);
                    side.meet();
                }
        });
}

TEST_P(Datagrams, CanBeAnsweredByTheirHeader)
{
    const Port::Options options = {.type = IBV_QPT_UD, .address = GetParam()};
    hosts::run(
        [&](Side &side) {
            Port port(side, options);
            port.post_receive(0, 100);
            side.meet();
            port.post(IBV_WR_SEND, 1024, 4, 0);
            port.expect_sent();
            EXPECT_EQ(port.wait_received().byte_len, 8 + kGrh);
        },
        [&](Side &side) {
            Port port(side, options);
            port.post_receive(0, 100);
            side.meet();
            ibv_wc completion = port.wait_received();
            ibv_ah *back =
                ibv_create_ah_from_wc(port.pd, &completion, reinterpret_cast<ibv_grh *>(port.at(0)), 1);
            ASSERT_NE(back, nullptr);
            port.post(IBV_WR_SEND, 1024, 8, 0, [&](ibv_send_wr &request) { request.wr.ud.ah = back; });
            port.expect_sent();
            EXPECT_EQ(ibv_destroy_ah(back), 0);
        });
}

TEST_P(Datagrams, AreLostWithAnotherKey)
{
    const Port::Options options = {.type = IBV_QPT_UD, .address = GetParam()};
    hosts::run(
        [&](Side &side) {
            Port port(side, options);
            side.meet();
            for (const uint32_t key : {Port::kQkey + 1, Port::kQkey}) {
                port.post(IBV_WR_SEND_WITH_IMM, 0, 16, 0, [&](ibv_send_wr &request) {
                    request.wr.ud.remote_qkey = key;
                    request.imm_data = key;
                });
                port.expect_sent();
            }
        },
        [&](Side &side) {
            Port port(side, options);
            port.post_receive(0, 100);
            side.meet();
            EXPECT_EQ(port.wait_received().imm_data, Port::kQkey);
        });
}

INSTANTIATE_TEST_SUITE_P(Addresses, Datagrams,
                         testing::Values(Address::kIpv4, Address::kGlobal, Address::kLinkLocal));

}  // namespace
