// SPDX-License-Identifier: BSD-2-Clause
// UC and UD: what is sent is complete, and what does not fit is dropped.
#include <gtest/gtest.h>

#include "packets.hh"

namespace urxe::transport::test {

namespace {

using wire::NakCode;
using wire::Operation;
using wire::Transport;

constexpr uint32_t kMtu = 256;

RequesterConfig requester_of(Transport transport)
{
    RequesterConfig config = Endpoint::kRequester;
    config.transport = transport;
    return config;
}

ResponderConfig responder_of(Transport transport)
{
    ResponderConfig config = Endpoint::kResponder;
    config.transport = transport;
    return config;
}

class unreliable : public testing::TestWithParam<Transport> {};

TEST_P(unreliable, completes_what_is_sent)
{
    Endpoint end(requester_of(GetParam()));
    for (uint32_t i = 0; i < 300; ++i)
        end.post({.op = Op::kSend, .length = kMtu, .dest_qpn = i, .qkey = 0x1111}, pattern(kMtu, i));
    end.post({.op = Op::kLocal});
    end.link_room = 299;
    std::vector<Sent> packets = progress_requester(end);
    ASSERT_EQ(packets.size(), 299u);
    EXPECT_EQ(end.completions.size(), 299u);
    EXPECT_EQ(end.requester.next_deadline(), kNever);
    end.link_room = SIZE_MAX;
    EXPECT_EQ(progress_requester(end).size(), 1u);
    EXPECT_EQ(end.completions.size(), 301u);
    EXPECT_EQ(end.requester.next_deadline(), kNever);
    EXPECT_EQ(packets[5].psn(), 105u);
    EXPECT_FALSE(packets[5].packet.bth.ack_request);
    EXPECT_EQ(packets[5].payload(), pattern(kMtu, 5));
    if (GetParam() == Transport::kUd) {
        EXPECT_EQ(packets[5].packet.bth.dest_qpn, 5u);
        EXPECT_EQ(packets[5].packet.deth.qkey, 0x1111u);
        EXPECT_EQ(packets[5].packet.deth.source_qpn, 0x11u);
    }
    EXPECT_EQ(end.violation, "");
}

TEST_P(unreliable, drops_messages_without_a_receive_or_too_long_for_it)
{
    const auto send = [](Endpoint &end, uint32_t psn, const Bytes &bytes) {
        wire::Packet packet = packet_of(Operation::kSendOnlyWithImmediate, psn, GetParam());
        packet.payload = bytes;
        packet.immediate.value = psn;
        packet.deth = {.qkey = Endpoint::kResponder.qkey, .source_qpn = 0x99};
        end.responder.receive(packet);
    };
    Endpoint end(Endpoint::kRequester, responder_of(GetParam()));
    send(end, 100, pattern(3));
    end.post_receive(5);
    send(end, 101, pattern(6));
    send(end, 102, pattern(5));
    ASSERT_EQ(end.received.size(), 1u);
    EXPECT_EQ(end.received[0].bytes, pattern(5));
    EXPECT_EQ(end.received[0].receipt.status, IBV_WC_SUCCESS);
    EXPECT_EQ(end.received[0].receipt.extra_value, 102u);
    EXPECT_EQ(end.received[0].receipt.source_qpn, GetParam() == Transport::kUd ? 0x99u : 0x22u);
    EXPECT_FALSE(end.fault);

    end.post_receive(5);
    end.fill_status = IBV_WC_LOC_PROT_ERR;
    send(end, 103, pattern(5));
    ASSERT_EQ(end.received.size(), 2u);
    EXPECT_EQ(end.received[1].receipt.status, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(end.fault, NakCode::kRemoteOperationalError);
    EXPECT_TRUE(end.fault_told);
    EXPECT_TRUE(progress_responder(end).empty());
    EXPECT_EQ(end.violation, "");
}

INSTANTIATE_TEST_SUITE_P(all, unreliable, testing::Values(Transport::kUc, Transport::kUd));

class connected : public testing::Test {
protected:
    connected() : end(requester_of(Transport::kUc), responder_of(Transport::kUc)) {}
    void TearDown() override
    {
        EXPECT_EQ(end.violation, "");
        EXPECT_FALSE(end.fault);
        EXPECT_TRUE(progress_responder(end).empty());
    }

    void receive(Operation operation, uint32_t psn, const Bytes &payload = {}, uint32_t length = 0)
    {
        wire::Packet packet = packet_of(operation, psn, Transport::kUc);
        packet.payload = payload;
        packet.bth.ack_request = true;
        packet.reth = {.address = end.memory.address,
                       .rkey = end.memory.rkey,
                       .length = length != 0 ? length : static_cast<uint32_t>(payload.size())};
        end.responder.receive(packet);
    }

    Endpoint end;
    const Bytes full = pattern(kMtu);
};

TEST_F(connected, cuts_messages)
{
    end.post({.op = Op::kWrite, .extra = Extra::kImmediate, .length = 2 * kMtu + 1, .extra_value = 4},
             pattern(2 * kMtu + 1));
    const std::vector<Sent> packets = progress_requester(end);
    ASSERT_EQ(packets.size(), 3u);
    EXPECT_EQ(packets[2].packet.bth.opcode,
              wire::opcode_of(Transport::kUc, Operation::kWriteLastWithImmediate));
    EXPECT_EQ(end.completions.size(), 1u);
    Endpoint peer(Endpoint::kRequester, responder_of(Transport::kUc));
    peer.post_receive(0);
    end.posted[0].request.rkey = peer.memory.rkey;
    for (Sent one : packets) {
        one.packet.reth.address = peer.memory.address;
        one.packet.reth.rkey = peer.memory.rkey;
        peer.responder.receive(one.packet);
    }
    ASSERT_EQ(peer.received.size(), 1u);
    EXPECT_EQ(peer.received[0].receipt.byte_count, 2 * kMtu + 1);
    EXPECT_EQ(part_of(peer.memory.bytes, 0, 2 * kMtu + 1), pattern(2 * kMtu + 1));
}

TEST_F(connected, loses_a_message_with_a_gap_and_takes_the_next)
{
    using enum Operation;
    end.post_receive(1000);
    end.post_receive(1000);
    receive(kSendFirst, 100, full);
    receive(kSendMiddle, 102, full);
    receive(kSendLast, 103, pattern(4));
    receive(kSendLast, 104, pattern(4));
    EXPECT_TRUE(end.received.empty());
    receive(kSendFirst, 200, pattern(kMtu, 9));
    receive(kSendLast, 201, pattern(5));
    ASSERT_EQ(end.received.size(), 1u);
    EXPECT_EQ(end.received[0].receipt.byte_count, kMtu + 5);
    EXPECT_EQ(part_of(end.received[0].bytes, 0, kMtu), pattern(kMtu, 9));
    // The last packet lost, and the message after it.
    receive(kSendFirst, 202, full);
    receive(kSendOnly, 204, pattern(1));
    ASSERT_EQ(end.received.size(), 2u);
    EXPECT_EQ(end.received[1].bytes, pattern(1));
    EXPECT_TRUE(end.receives.empty());
}

TEST_F(connected, delivers_nothing_of_which_a_part_did_not_fit)
{
    using enum Operation;
    end.post_receive(kMtu + 20);
    receive(kSendFirst, 100, full);
    receive(kSendMiddle, 101, full);
    receive(kSendLast, 102, pattern(20));
    EXPECT_TRUE(end.received.empty());
    receive(kSendOnly, 103, pattern(3));
    EXPECT_EQ(end.received.size(), 1u);
}

TEST_F(connected, begins_with_any_psn)
{
    end.post_receive(0);
    receive(Operation::kSendOnly, 0x800000);
    EXPECT_EQ(end.received.size(), 1u);
}

TEST_F(connected, drops_writes_that_are_wrong)
{
    using enum Operation;
    end.responder.set_access(IBV_ACCESS_REMOTE_READ);
    receive(kWriteOnly, 100, pattern(3));
    end.responder.set_access(IBV_ACCESS_REMOTE_WRITE);
    receive(kWriteFirst, 101, full, kMtu + 4);
    receive(kWriteLast, 102, pattern(3));
    receive(kWriteOnly, 103, pattern(3), 4);
    ++end.memory.rkey;
    receive(kWriteLast, 104, pattern(3));
    --end.memory.rkey;
    Bytes expected(end.memory.bytes.size());
    std::copy(full.begin(), full.end(), expected.begin());
    EXPECT_EQ(end.memory.bytes, expected);
    // An immediate without a receive: neither is delivered.
    receive(kWriteOnlyWithImmediate, 105, pattern(3, 9));
    EXPECT_EQ(end.memory.bytes, expected);
    receive(kWriteOnly, 106, pattern(3, 9));
    EXPECT_EQ(part_of(end.memory.bytes, 0, 3), pattern(3, 9));
}

TEST(datagram, needs_the_q_key)
{
    Endpoint end(Endpoint::kRequester, responder_of(Transport::kUd));
    end.post_receive(10);
    wire::Packet packet = packet_of(Operation::kSendOnly, 7, Transport::kUd);
    packet.deth.qkey = Endpoint::kResponder.qkey + 1;
    end.responder.receive(packet);
    EXPECT_TRUE(end.received.empty());
    EXPECT_EQ(end.receives.size(), 1u);
    end.responder.set_qkey(packet.deth.qkey);
    end.responder.receive(packet);
    EXPECT_EQ(end.received.size(), 1u);
}

TEST(datagram, is_no_longer_than_the_mtu)
{
    Endpoint end(Endpoint::kRequester, responder_of(Transport::kUd));
    end.post_receive(1000);
    const Bytes bytes = pattern(kMtu + 1);
    wire::Packet packet = packet_of(Operation::kSendOnly, 7, Transport::kUd);
    packet.deth.qkey = Endpoint::kResponder.qkey;
    packet.payload = bytes;
    end.responder.receive(packet);
    EXPECT_TRUE(end.received.empty());
    EXPECT_FALSE(end.fault);
}

TEST(pkey, matches_within_a_partition_if_one_is_a_full_member)
{
    EXPECT_TRUE(pkey_matches(0xffff, 0xffff));
    EXPECT_TRUE(pkey_matches(0xffff, 0x7fff));
    EXPECT_TRUE(pkey_matches(0x7fff, 0xffff));
    EXPECT_FALSE(pkey_matches(0x7fff, 0x7fff));
    EXPECT_FALSE(pkey_matches(0xffff, 0x8001));
    EXPECT_TRUE(pkey_matches(0x8001, 0x0001));
    EXPECT_FALSE(pkey_matches(0x8000, 0x8000));
}

}  // namespace

}  // namespace urxe::transport::test
