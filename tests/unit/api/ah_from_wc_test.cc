// SPDX-License-Identifier: BSD-2-Clause
// The way back to a sender. The cases and their outcomes are those that release 44.0 gave on an rxe device.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "fake_port.hh"

namespace {

using verbs::test::FakePort;
using verbs::test::gid;

constexpr uint32_t kIpv6 = 0x6ab12345;  // version 6, traffic class 0xab, flow label 0x12345
constexpr uint8_t kUdp = 0x11;
constexpr uint8_t kIba = 0x1b;

ibv_grh ipv6_header(const std::string &source, const std::string &destination, uint8_t next_header,
                    uint32_t first_word = kIpv6)
{
    ibv_grh grh = {};
    grh.version_tclass_flow = htonl(first_word);
    grh.next_hdr = next_header;
    grh.hop_limit = 33;
    grh.sgid = gid(source);
    grh.dgid = gid(destination);
    return grh;
}

struct Ipv4 {
    uint8_t version_length = 0x45;
    uint16_t checksum_error = 0;  // added to the right checksum
    uint32_t first_word = 0x77777777;
};

/// An IPv4 header from 10.7.0.2 in the last 20 of the 40 bytes.
ibv_grh ipv4_header(const std::string &destination, const Ipv4 &how)
{
    uint8_t header[20] = {how.version_length, 0xb8, 0, 200, 0, 0, 0x40, 0, 61, kUdp};
    std::memcpy(header + 12, gid("10.7.0.2").raw + 12, 4);
    std::memcpy(header + 16, gid(destination).raw + 12, 4);
    uint32_t sum = 0;
    for (size_t i = 0; i < sizeof header; i += 2)
        sum += static_cast<uint32_t>(header[i] << 8 | header[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    auto checksum = static_cast<uint16_t>(~((sum & 0xffff) + (sum >> 16)) + how.checksum_error);
    header[10] = static_cast<uint8_t>(checksum >> 8);
    header[11] = static_cast<uint8_t>(checksum);

    ibv_grh grh;
    std::memset(static_cast<void *>(&grh), 0, sizeof grh);
    grh.version_tclass_flow = htonl(how.first_word);
    grh.next_hdr = kUdp;
    std::memcpy(reinterpret_cast<char *>(&grh) + 20, header, sizeof header);
    return grh;
}

std::string bytes_of(const ibv_ah_attr &attr)
{
    return {reinterpret_cast<const char *>(&attr), sizeof attr};
}

class AhFromWcTest : public testing::Test {
protected:
    AhFromWcTest()
    {
        port_.add_gid("fe80::1", IBV_GID_TYPE_ROCE_V1);
        port_.add_gid("fe80::1", IBV_GID_TYPE_ROCE_V2);
        port_.add_empty_gid();
        port_.add_gid("10.7.0.1", IBV_GID_TYPE_ROCE_V2);
        wc_.slid = 0x1234;
        wc_.sl = 5;
        wc_.dlid_path_bits = 0x7f;
        wc_.wc_flags = IBV_WC_GRH;
        std::memset(static_cast<void *>(&attr_), 0xee, sizeof attr_);
        untouched_ = attr_;
        errno = 0;
    }

    int init(ibv_grh *grh, uint8_t port_num = FakePort::kPort)
    {
        return ibv_init_ah_from_wc(port_.context(), port_num, &wc_, grh, &attr_);
    }

    void expect_failure(ibv_grh grh, int error, uint8_t port_num = FakePort::kPort)
    {
        EXPECT_EQ(init(&grh, port_num), -1);
        EXPECT_EQ(errno, error);
        EXPECT_EQ(bytes_of(attr_), bytes_of(untouched_)) << "written in spite of the failure";
    }

    void expect_sender(ibv_grh grh, const std::string &sender, uint8_t sgid_index)
    {
        ASSERT_EQ(init(&grh), 0);
        EXPECT_EQ(attr_.is_global, 1);
        ibv_gid expected = gid(sender);
        EXPECT_EQ(std::memcmp(&attr_.grh.dgid, &expected, sizeof expected), 0);
        EXPECT_EQ(attr_.grh.sgid_index, sgid_index);
    }

    FakePort port_;
    ibv_wc wc_ = {};
    ibv_ah_attr attr_;
    ibv_ah_attr untouched_;
};

TEST_F(AhFromWcTest, TakesTheLocalPartFromTheCompletion)
{
    wc_.wc_flags = 0;
    ASSERT_EQ(init(nullptr), 0);
    EXPECT_EQ(attr_.dlid, 0x1234);
    EXPECT_EQ(attr_.sl, 5);
    EXPECT_EQ(attr_.src_path_bits, 0x7f);
    EXPECT_EQ(attr_.port_num, FakePort::kPort);
    EXPECT_EQ(attr_.is_global, 0);
    EXPECT_EQ(attr_.static_rate, 0);
    EXPECT_EQ(attr_.grh.flow_label, 0U);
}

TEST_F(AhFromWcTest, TakesTheFlowLabelEvenWithoutAHeader)
{
    wc_.wc_flags = 0;
    ibv_grh grh = ipv6_header("fe80::2", "fe80::99", kUdp);
    ASSERT_EQ(init(&grh, 9), 0) << "the port does not matter without a header";
    EXPECT_EQ(attr_.grh.flow_label, 0x12345U);
    EXPECT_EQ(attr_.is_global, 0);
    EXPECT_EQ(attr_.port_num, 9);
}

TEST_F(AhFromWcTest, AnswersIpv6)
{
    expect_sender(ipv6_header("fe80::2", "fe80::1", kUdp), "fe80::2", 1);
    EXPECT_EQ(attr_.grh.flow_label, 0x12345U);
    EXPECT_EQ(attr_.grh.hop_limit, 33);
    EXPECT_EQ(attr_.grh.traffic_class, 0xab);
    EXPECT_EQ(attr_.dlid, 0x1234);
}

TEST_F(AhFromWcTest, TellsRoceVersionsApart)
{
    expect_sender(ipv6_header("fe80::2", "fe80::1", kIba), "fe80::2", 0);
    expect_sender(ipv6_header("fe80::2", "10.7.0.1", kUdp), "fe80::2", 3);
}

TEST_F(AhFromWcTest, AnswersIpv4)
{
    expect_sender(ipv4_header("10.7.0.1", {}), "10.7.0.2", 3);
    EXPECT_EQ(attr_.grh.hop_limit, 61);
    EXPECT_EQ(attr_.grh.traffic_class, 0xb8);
    EXPECT_EQ(attr_.grh.flow_label, 0x77777U) << "as stock: of the bytes in front of the header";
}

TEST_F(AhFromWcTest, TakesIpv4ForGrantedWhereNothingElseFits)
{
    expect_sender(ipv4_header("10.7.0.1", {.checksum_error = 1}), "10.7.0.2", 3);
    expect_sender(ipv4_header("10.7.0.1", {.version_length = 0x46}), "10.7.0.2", 3);
}

TEST_F(AhFromWcTest, LetsTheChecksumDecideBetweenTwoVersions)
{
    expect_sender(ipv4_header("10.7.0.1", {.first_word = kIpv6}), "10.7.0.2", 3);
    std::memcpy(static_cast<void *>(&attr_), &untouched_, sizeof attr_);
    // As IPv6, these are for GIDs that the port does not have.
    expect_failure(ipv4_header("10.7.0.1", {.checksum_error = 1, .first_word = kIpv6}), EINVAL);
    expect_failure(ipv4_header("10.7.0.1", {.version_length = 0x46, .first_word = kIpv6}), EINVAL);
}

TEST_F(AhFromWcTest, RefusesOtherProtocols)
{
    expect_failure(ipv6_header("fe80::2", "fe80::1", 6), EPROTONOSUPPORT);
    expect_failure(ipv6_header("fe80::2", "fe80::1", kUdp, 0x5ab12345), EPROTONOSUPPORT);
    expect_failure(ipv6_header("fe80::2", "fe80::1", kUdp, 0), EPROTONOSUPPORT);
}

TEST_F(AhFromWcTest, RefusesWhatWasNotForThisPort)
{
    expect_failure(ipv6_header("fe80::2", "fe80::9", kUdp), EINVAL);
    expect_failure(ipv6_header("fe80::2", "ff02::1", kUdp), EINVAL);
    expect_failure(ipv4_header("10.7.0.9", {}), EINVAL);
    expect_failure(ipv4_header("224.0.0.5", {}), EINVAL);
    expect_failure(ipv6_header("fe80::2", "fe80::1", kUdp), EINVAL, 2);
}

TEST_F(AhFromWcTest, RefusesAMissingHeader)
{
    EXPECT_EQ(init(nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(AhFromWcTest, PassesOnWhyTheTableCannotBeRead)
{
    port_.gid_error = EIO;
    expect_failure(ipv6_header("fe80::2", "fe80::1", kUdp), EIO);
}

TEST_F(AhFromWcTest, CreatesTheAddressHandle)
{
    ibv_grh grh = ipv6_header("fe80::2", "fe80::1", kUdp);
    EXPECT_NE(ibv_create_ah_from_wc(port_.pd(), &wc_, &grh, FakePort::kPort), nullptr);
    ASSERT_EQ(port_.address_handles.size(), 1U);
    EXPECT_EQ(port_.address_handles[0].grh.sgid_index, 1);

    grh.next_hdr = 6;
    EXPECT_EQ(ibv_create_ah_from_wc(port_.pd(), &wc_, &grh, FakePort::kPort), nullptr);
    EXPECT_EQ(errno, EPROTONOSUPPORT);
    EXPECT_EQ(port_.address_handles.size(), 1U);
}

}  // namespace
