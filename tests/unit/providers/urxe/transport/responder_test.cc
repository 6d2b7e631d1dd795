// SPDX-License-Identifier: BSD-2-Clause
// The responder, rule by rule: what it does with requests that are right.
#include "responder_fixture.hh"

namespace urxe::transport::test {

namespace {

TEST_F(responder, puts_messages_into_receives)
{
    using enum Operation;
    end.post_receive(10);
    end.post_receive(1000);
    end.post_receive(0);
    wire::Packet solicited = request(kSendOnly, 100, pattern(10));
    solicited.bth.solicited = true;
    EXPECT_EQ(answer(solicited), (Replies{ack(100, 1)}));
    EXPECT_EQ(answer(request(kSendFirst, 101, pattern(kMtu, 2), false)), Replies{});
    EXPECT_EQ(answer(request(kSendMiddle, 102, pattern(kMtu, 3))), (Replies{ack(102, 1)}));
    EXPECT_EQ(answer(request(kSendLastWithInvalidate, 103, pattern(7, 4))), (Replies{ack(103, 2)}));
    EXPECT_EQ(answer(request(kSendOnlyWithImmediate, 104)), (Replies{ack(104, 3)}));
    ASSERT_EQ(end.received.size(), 3u);
    EXPECT_EQ(end.received[0].bytes, pattern(10));
    EXPECT_TRUE(end.received[0].receipt.solicited);
    EXPECT_EQ(end.received[0].receipt.extra, Extra::kNone);
    EXPECT_EQ(end.received[0].receipt.source_qpn, 0x22u);
    EXPECT_EQ(end.received[1].receipt.byte_count, 2 * kMtu + 7);
    EXPECT_EQ(part_of(end.received[1].bytes, kMtu, kMtu), pattern(kMtu, 3));
    EXPECT_EQ(part_of(end.received[1].bytes, 2 * kMtu, 7), pattern(7, 4));
    EXPECT_EQ(end.received[1].receipt.extra, Extra::kInvalidate);
    EXPECT_EQ(end.received[1].receipt.extra_value, 0x88u);
    EXPECT_EQ(end.invalidated, (std::vector<uint32_t>{0x88}));
    EXPECT_EQ(end.received[2].receipt.extra, Extra::kImmediate);
    EXPECT_EQ(end.received[2].receipt.extra_value, 0x77u);
    EXPECT_FALSE(end.received[2].receipt.is_write);
}

TEST_F(responder, says_once_when_writes_and_reads_are_over)
{
    using enum Operation;
    wire::Packet first = request(kWriteFirst, 100, pattern(kMtu));
    first.reth.length = kMtu + 5;
    receive(first);
    EXPECT_TRUE(end.done.empty());
    wire::Packet last = request(kWriteLast, 101, pattern(5));
    receive(last);
    EXPECT_EQ(end.done, (std::vector<Done>{{true, true, kMtu + 5}}));
    receive(last);  // once more
    end.link_room = 1;
    receive(ranged(kReadRequest, 102, 0, 2 * kMtu));
    EXPECT_TRUE(end.responder.progress());
    EXPECT_EQ(end.done.size(), 1u);
    end.link_room = SIZE_MAX;
    progress();
    EXPECT_EQ(end.done.back(), (Done{false, true, 2 * kMtu}));
    answer(ranged(kReadRequest, 102, 0, 2 * kMtu));  // once more
    EXPECT_EQ(end.done.size(), 2u);
    answer(ranged(kReadRequest, 104, 1 << 20, 1));
    EXPECT_EQ(end.done.back(), (Done{false, false, 0}));
    EXPECT_EQ(end.done.size(), 3u);
}

TEST_F(responder, acknowledges_many_at_once_when_asked)
{
    for (uint32_t i = 0; i < 3; ++i) {
        end.post_receive(0);
        receive(request(Operation::kSendOnly, 100 + i, {}, i != 2));
    }
    EXPECT_FALSE(end.responder.progress());
    EXPECT_EQ(replies(take_packets(end)), (Replies{ack(101, 3)}));
    EXPECT_EQ(progress(), Replies{});
    end.link_room = 0;
    end.post_receive(0);
    receive(request(Operation::kSendOnly, 103));
    EXPECT_TRUE(end.responder.progress());
    end.link_room = 1;
    EXPECT_FALSE(end.responder.progress());
    EXPECT_EQ(replies(take_packets(end)), (Replies{ack(103, 4)}));
}

TEST_F(responder, acknowledges_now_and_then_what_nobody_asks_about)
{
    constexpr uint32_t kMost = Responder::kMostUnasked;
    uint32_t psn = 100;
    const auto send = [&](bool asks) {
        end.post_receive(0);
        return answer(request(Operation::kSendOnly, psn++, {}, asks));
    };
    for (uint32_t i = 1; i < kMost; ++i)
        EXPECT_EQ(send(false), Replies{});
    EXPECT_EQ(send(false), (Replies{ack(99 + kMost, kMost)}));
    // One that was asked for counts as well.
    EXPECT_EQ(send(false), Replies{});
    EXPECT_EQ(send(true), (Replies{ack(101 + kMost, kMost + 2)}));
    for (uint32_t i = 1; i < kMost; ++i)
        EXPECT_EQ(send(false), Replies{});
    EXPECT_EQ(send(false).size(), 1u);
}

TEST_F(responder, asks_once_for_what_a_gap_lost)
{
    for (int i = 0; i < 9; ++i)
        end.post_receive(0);
    const auto send = [this](uint32_t psn) { return answer(request(Operation::kSendOnly, psn)); };
    EXPECT_EQ(send(102), (Replies{nak(100, NakCode::kPsnSequenceError)}));
    EXPECT_EQ(send(103), Replies{});
    EXPECT_EQ(send(100), (Replies{ack(100, 1)}));
    EXPECT_EQ(send(103), (Replies{nak(101, NakCode::kPsnSequenceError, 1)}));
    EXPECT_EQ(end.received.size(), 1u);
    // When the missing one only was overtaken nothing need be sent again.
    EXPECT_EQ(send(101), (Replies{ack(101, 2)}));
    receive(request(Operation::kSendOnly, 103));
    receive(request(Operation::kSendOnly, 102));
    EXPECT_EQ(progress(), (Replies{ack(102, 3)}));
}

TEST_F(responder, acknowledges_again_what_comes_again)
{
    end.post_receive(0);
    end.post_receive(0);
    receive(request(Operation::kSendOnly, 100));
    receive(request(Operation::kWriteOnly, 101, pattern(5)));
    progress();
    end.memory.bytes.assign(5, 0);
    EXPECT_EQ(answer(request(Operation::kSendOnly, 100)), (Replies{ack(101, 2)}));
    EXPECT_EQ(answer(request(Operation::kWriteOnly, 101, pattern(5))), (Replies{ack(101, 2)}));
    EXPECT_EQ(end.received.size(), 1u);
    EXPECT_EQ(end.memory.bytes, Bytes(5));
    // But not beyond a read, of which it cannot know whether its response arrived.
    receive(ranged(Operation::kReadRequest, 102, 0, 0));
    receive(request(Operation::kSendOnly, 103));
    progress();
    EXPECT_EQ(answer(request(Operation::kSendOnly, 100)), (Replies{ack(101, 4)}));
    EXPECT_EQ(answer(request(Operation::kSendOnly, 103)), (Replies{ack(103, 4)}));
}

TEST_F(responder, answers_reads_in_packets)
{
    using enum Operation;
    end.memory.bytes = pattern(5000);
    receive(ranged(kReadRequest, 100, 16, 3 * kMtu + 1));
    receive(ranged(kReadRequest, 104, 0, 0));
    receive(ranged(kReadRequest, 105, 1, kMtu));
    receive(request(kWriteOnly, 106, pattern(1)));
    const std::vector<Sent> packets = progress_responder(end);
    const uint8_t fine = wire::ack_syndrome(31);
    EXPECT_EQ(replies(packets), (Replies{{kReadResponseFirst, 100, fine, 4},
                                         {kReadResponseMiddle, 101, 0, 0},
                                         {kReadResponseMiddle, 102, 0, 0},
                                         {kReadResponseLast, 103, fine, 4},
                                         {kReadResponseOnly, 104, fine, 4},
                                         {kReadResponseOnly, 105, fine, 4},
                                         ack(106, 4)}));
    Bytes read;
    for (int i = 0; i < 4; ++i)
        read.insert(read.end(), packets[i].packet.payload.begin(), packets[i].packet.payload.end());
    EXPECT_EQ(read, part_of(pattern(5000), 16, 3 * kMtu + 1));
    EXPECT_EQ(packets[4].payload(), Bytes());
    EXPECT_EQ(packets[5].payload(), part_of(pattern(5000), 1, kMtu));
}

TEST_F(responder, answers_a_read_from_where_it_is_asked_again)
{
    using enum Operation;
    end.memory.bytes = pattern(5000);
    receive(ranged(kReadRequest, 100, 0, 5 * kMtu));
    progress();
    const uint8_t fine = wire::ack_syndrome(31);
    const wire::Packet again = ranged(kReadRequest, 102, 2 * kMtu, 3 * kMtu);
    receive(again);
    std::vector<Sent> packets = progress_responder(end);
    EXPECT_EQ(replies(packets), (Replies{{kReadResponseFirst, 102, fine, 1},
                                         {kReadResponseMiddle, 103, 0, 0},
                                         {kReadResponseLast, 104, fine, 1}}));
    EXPECT_EQ(packets[1].payload(), part_of(pattern(5000), 3 * kMtu, kMtu));
    receive(ranged(kReadRequest, 101, kMtu, kMtu + 1));
    packets = progress_responder(end);
    EXPECT_EQ(replies(packets),
              (Replies{{kReadResponseFirst, 101, fine, 1}, {kReadResponseLast, 102, fine, 1}}));
    EXPECT_EQ(packets[1].payload(), part_of(pattern(5000), 2 * kMtu, 1));

    // What was not asked for before is not answered.
    wire::Packet other = again;
    other.reth.address += 1;
    EXPECT_EQ(answer(other), Replies{});
    other = again;
    other.reth.length += 1;
    EXPECT_EQ(answer(other), Replies{});
    other = again;
    other.reth.rkey += 1;
    EXPECT_EQ(answer(other), Replies{});
    other = again;
    other.reth.length = 0;
    EXPECT_EQ(answer(other), Replies{});
    EXPECT_EQ(answer(ranged(kReadRequest, 99, 0, 5 * kMtu)), Replies{});
    EXPECT_EQ(answer(request(kFetchAdd, 102)), Replies{});
    EXPECT_FALSE(end.fault);
}

TEST_F(responder, starts_a_response_anew_while_it_sends_it)
{
    using enum Operation;
    receive(ranged(kReadRequest, 100, 0, 40 * kMtu));
    receive(ranged(kReadRequest, 140, 0, 2 * kMtu));
    EXPECT_TRUE(end.responder.progress());
    EXPECT_EQ(take_packets(end).size(), Responder::kBurst);
    receive(ranged(kReadRequest, 138, 38 * kMtu, 2 * kMtu));
    const uint8_t fine = wire::ack_syndrome(31);
    EXPECT_EQ(progress(), (Replies{{kReadResponseFirst, 138, fine, 2},
                                   {kReadResponseLast, 139, fine, 2},
                                   {kReadResponseFirst, 140, fine, 2},
                                   {kReadResponseLast, 141, fine, 2}}));
}

TEST_F(responder, sends_responses_in_bursts_and_when_there_is_room)
{
    receive(ranged(Operation::kReadRequest, 100, 0, 50 * kMtu));
    receive(request(Operation::kWriteOnly, 150, pattern(1)));
    EXPECT_TRUE(end.responder.progress());
    EXPECT_EQ(take_packets(end).size(), Responder::kBurst);
    end.link_room = 3;
    EXPECT_TRUE(end.responder.progress());
    EXPECT_EQ(take_packets(end).size(), 3u);
    end.link_room = SIZE_MAX;
    EXPECT_FALSE(end.responder.progress());
    const Replies rest = replies(take_packets(end));
    ASSERT_EQ(rest.size(), 16u);
    EXPECT_EQ(rest[0].psn, 135u);
    EXPECT_EQ(rest[15], ack(150, 2));
}

TEST_F(responder, executes_atomics_once)
{
    using enum Operation;
    const auto original = [this] {
        const std::vector<Sent> packets = progress_responder(end);
        EXPECT_EQ(packets.size(), 1u);
        EXPECT_EQ(packets.at(0).operation(), kAtomicAcknowledge);
        return packets.at(0).packet.atomic_ack.original;
    };
    for (uint32_t i = 0; i < 5; ++i) {
        receive(request(kFetchAdd, 100 + i));
        EXPECT_EQ(original(), i * 5);
    }
    wire::Packet swap = request(kCompareSwap, 105);
    swap.atomic.compare = 25;
    swap.atomic.swap_or_add = 7;
    receive(swap);
    EXPECT_EQ(original(), 25u);
    EXPECT_EQ(end.memory.number(0), 7u);
    swap.bth.psn = 106;
    receive(swap);  // does not compare equal
    EXPECT_EQ(original(), 7u);
    EXPECT_EQ(end.memory.number(0), 7u);

    EXPECT_EQ(end.atomics, 7u);
    receive(request(kFetchAdd, 104));
    EXPECT_EQ(original(), 20u);
    receive(request(kCompareSwap, 105));
    EXPECT_EQ(original(), 25u);
    EXPECT_EQ(answer(request(kFetchAdd, 105)), Replies{});  // it was another one
    EXPECT_EQ(answer(request(kFetchAdd, 102)), Replies{});  // only four are kept
    EXPECT_EQ(end.atomics, 7u);
    EXPECT_EQ(end.memory.number(0), 7u);
}

TEST_F(responder, answers_flush_and_atomic_write_with_reads_of_nothing)
{
    using enum Operation;
    const uint8_t fine = wire::ack_syndrome(31);
    wire::Packet write = request(kAtomicWrite, 100, pattern(8));
    write.reth.address += 8;
    EXPECT_EQ(answer(write), (Replies{{kReadResponseOnly, 100, fine, 1}}));
    EXPECT_EQ(part_of(end.memory.bytes, 8, 8), pattern(8));
    end.memory.bytes.assign(100, 0);
    EXPECT_EQ(answer(write), (Replies{{kReadResponseOnly, 100, fine, 1}}));
    EXPECT_EQ(end.memory.bytes, Bytes(100));
    EXPECT_EQ(answer(ranged(kFlush, 101, 0, 100)), (Replies{{kReadResponseOnly, 101, fine, 2}}));
    EXPECT_EQ(answer(ranged(kFlush, 101, 0, 100)), (Replies{{kReadResponseOnly, 101, fine, 2}}));
    EXPECT_EQ(end.flushes, 1u);
    wire::Packet region = ranged(kFlush, 102, 0, 0);
    region.feth = {.placement = wire::kPlacementPersistent, .selectivity = wire::kSelectRegion};
    EXPECT_EQ(answer(region), (Replies{{kReadResponseOnly, 102, fine, 3}}));
    EXPECT_EQ(end.flushes, 2u);
}

TEST_F(responder, refuses_messages_until_a_receive_is_posted)
{
    using enum Operation;
    EXPECT_EQ(answer(request(kSendFirst, 100, pattern(kMtu))), (Replies{rnr_nak(100)}));
    EXPECT_EQ(answer(request(kSendLast, 101, pattern(1))), Replies{});
    EXPECT_EQ(answer(request(kSendFirst, 100, pattern(kMtu))), (Replies{rnr_nak(100)}));
    end.post_receive(1000);
    EXPECT_EQ(answer(request(kSendFirst, 100, pattern(kMtu))), (Replies{ack(100, 0)}));
    EXPECT_EQ(answer(request(kSendLast, 101, pattern(1))), (Replies{ack(101, 1)}));
    EXPECT_EQ(end.received.size(), 1u);

    wire::Packet first = request(kWriteFirst, 102, pattern(kMtu));
    first.reth.length = kMtu + 3;
    EXPECT_EQ(answer(first), (Replies{ack(102, 1)}));
    EXPECT_EQ(answer(request(kWriteLastWithImmediate, 103, pattern(3))), (Replies{rnr_nak(103, 1)}));
    EXPECT_EQ(end.memory.bytes[kMtu], 0);
    end.post_receive(0);
    wire::Packet last = request(kWriteLastWithImmediate, 103, pattern(3));
    last.bth.solicited = true;
    EXPECT_EQ(answer(last), (Replies{ack(103, 2)}));
    EXPECT_EQ(part_of(end.memory.bytes, 0, kMtu), pattern(kMtu));
    EXPECT_EQ(part_of(end.memory.bytes, kMtu, 4), (Bytes{1, 8, 15, 0}));
    const Receipt &receipt = end.received.at(1).receipt;
    EXPECT_TRUE(receipt.is_write);
    EXPECT_TRUE(receipt.solicited);
    EXPECT_EQ(receipt.byte_count, kMtu + 3);
    EXPECT_EQ(receipt.extra_value, 0x77u);
}

TEST_F(responder, needs_no_key_for_nothing)
{
    wire::Packet write = request(Operation::kWriteOnly, 100);
    write.reth = {.address = 1, .rkey = 2, .length = 0};
    EXPECT_EQ(answer(write), (Replies{ack(100, 1)}));
    wire::Packet read = write;
    read.bth.opcode = wire::opcode_of(Transport::kRc, Operation::kReadRequest);
    read.bth.psn = 101;
    EXPECT_EQ(answer(read).size(), 1u);
    EXPECT_FALSE(end.fault);
}

TEST_F(responder, goes_on_beyond_the_last_psn)
{
    ResponderConfig config = Endpoint::kResponder;
    config.first_psn = 0xffffff;
    Endpoint one(Endpoint::kRequester, config);
    one.responder.receive(ranged(Operation::kReadRequest, 0xffffff, 0, 3 * kMtu));
    EXPECT_EQ(one.responder.expected_psn(), 2u);
    EXPECT_EQ(progress_responder(one).size(), 3u);
    one.responder.receive(ranged(Operation::kReadRequest, 0, kMtu, 2 * kMtu));
    const std::vector<Sent> packets = progress_responder(one);
    ASSERT_EQ(packets.size(), 2u);
    EXPECT_EQ(packets[0].psn(), 0u);
}

TEST_F(responder, takes_receives_of_the_shared_queue_that_a_packet_names)
{
    ResponderConfig config = Endpoint::kResponder;
    config.transport = Transport::kXrc;
    Endpoint one(Endpoint::kRequester, config);
    one.srqn = 7;
    one.post_receive(10);
    wire::Packet packet = packet_of(Operation::kSendOnly, 100, Transport::kXrc);
    packet.xrceth.srqn = 7;
    packet.bth.ack_request = true;
    one.responder.receive(packet);
    EXPECT_EQ(one.received.size(), 1u);
    const std::vector<Sent> packets = progress_responder(one);
    ASSERT_EQ(packets.size(), 1u);
    EXPECT_EQ(packets[0].packet.bth.opcode, wire::opcode_of(Transport::kXrc, Operation::kAcknowledge));
    packet.xrceth.srqn = 8;
    packet.bth.psn = 101;
    one.responder.receive(packet);
    EXPECT_EQ(one.fault, NakCode::kInvalidRequest);
}

TEST_F(responder, counts_what_comes_again_or_too_early)
{
    Endpoint one(Endpoint::kRequester, Endpoint::kResponder);
    const uint32_t psn = one.responder.expected_psn();
    one.responder.receive(packet_of(Operation::kSendOnly, psn));  // no receive
    EXPECT_EQ(one.counted(Counter::kSentRnrNak), 1u);
    one.responder.receive(packet_of(Operation::kSendOnly, psn - 5));
    EXPECT_EQ(one.counted(Counter::kDuplicateRequest), 1u);
    one.responder.receive(packet_of(Operation::kSendOnly, psn + 2));
    EXPECT_EQ(one.counted(Counter::kOutOfSequenceRequest), 1u);
    EXPECT_EQ(one.counted(Counter::kSentRnrNak), 1u);
}

TEST_F(responder, reads_what_belongs_to_the_shared_queue_that_a_request_named)
{
    ResponderConfig config = Endpoint::kResponder;
    config.transport = Transport::kXrc;
    Endpoint one(Endpoint::kRequester, config);
    for (const uint32_t queue : {7u, 9u}) {
        wire::Packet packet = ranged(Operation::kReadRequest, one.responder.expected_psn(), 0, 2 * kMtu);
        packet.bth.opcode = wire::opcode_of(Transport::kXrc, Operation::kReadRequest);
        packet.xrceth.srqn = queue;
        one.responder.receive(packet);
    }
    EXPECT_EQ(progress_responder(one).size(), 4u);
    EXPECT_EQ(one.read_queues, (std::vector<uint32_t>{7, 7, 9, 9}));
}

TEST_F(responder, touches_nothing_for_a_shared_queue_that_does_not_exist)
{
    ResponderConfig config = Endpoint::kResponder;
    config.transport = Transport::kXrc;
    for (const Operation operation : {Operation::kReadRequest, Operation::kFlush}) {
        Endpoint one(Endpoint::kRequester, config);
        one.srqn = 7;
        wire::Packet packet = ranged(operation, one.responder.expected_psn(), 0, kMtu);
        packet.bth.opcode = wire::opcode_of(Transport::kXrc, operation);
        packet.xrceth.srqn = 8;
        one.responder.receive(packet);
        EXPECT_EQ(one.fault, NakCode::kInvalidRequest);
        EXPECT_TRUE(one.read_queues.empty());
    }
}

}  // namespace

}  // namespace urxe::transport::test
