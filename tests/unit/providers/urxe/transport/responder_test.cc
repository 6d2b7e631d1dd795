// SPDX-License-Identifier: BSD-2-Clause
// The responder, rule by rule, with requests written by hand.
#include "transport/responder.hh"

#include <gtest/gtest.h>

#include "packets.hh"

namespace urxe::transport::test {

namespace {

using wire::AckType;
using wire::NakCode;
using wire::Operation;
using wire::Transport;

constexpr uint32_t kMtu = 256;
constexpr uint64_t kAddress = 0x7000'0000'1000;
constexpr uint32_t kRkey = 0x1234;

struct Reply {
    Operation operation;
    uint32_t psn;
    uint8_t syndrome;
    uint32_t msn;

    bool operator==(const Reply &) const = default;
};

Reply ack(uint32_t psn, uint32_t msn)
{
    return {Operation::kAcknowledge, psn, wire::ack_syndrome(31), msn};
}

Reply nak(uint32_t psn, NakCode code, uint32_t msn = 0)
{
    return {Operation::kAcknowledge, psn, wire::nak_syndrome(code), msn};
}

Reply rnr_nak(uint32_t psn, uint32_t msn = 0)
{
    return {Operation::kAcknowledge, psn, wire::rnr_nak_syndrome(Endpoint::kResponder.min_rnr_timer), msn};
}

std::vector<Reply> replies(const std::vector<Sent> &packets)
{
    std::vector<Reply> all;
    for (const Sent &one : packets) {
        const bool has_aeth = wire::opcode_info(one.packet.bth.opcode).has(wire::kHasAeth);
        all.push_back({one.operation(), one.psn(), has_aeth ? one.packet.aeth.syndrome : uint8_t{0},
                       has_aeth ? one.packet.aeth.msn : 0});
    }
    return all;
}

using Replies = std::vector<Reply>;

class responder : public testing::Test {
protected:
    void TearDown() override { EXPECT_EQ(end.violation, ""); }

    void receive(const wire::Packet &packet) { end.responder.receive(packet); }
    Replies progress() { return replies(progress_responder(end)); }
    Replies answer(const wire::Packet &packet)
    {
        receive(packet);
        return progress();
    }

    /// A request of that payload; its address is that of the memory at offset.
    wire::Packet request(Operation operation, uint32_t psn, const Bytes &payload = {},
                         bool ack_request = true)
    {
        kept.push_back(payload);
        wire::Packet packet = packet_of(operation, psn);
        packet.payload = kept.back();
        packet.bth.ack_request = ack_request;
        packet.reth = {.address = kAddress, .rkey = kRkey, .length = static_cast<uint32_t>(payload.size())};
        packet.atomic = {.address = kAddress, .rkey = kRkey, .swap_or_add = 5, .compare = 0};
        packet.feth = {.placement = wire::kPlacementGlobal, .selectivity = wire::kSelectRange};
        packet.immediate = {.value = 0x77};
        packet.ieth = {.rkey = 0x88};
        return packet;
    }

    wire::Packet ranged(Operation operation, uint32_t psn, uint64_t offset, uint32_t length)
    {
        wire::Packet packet = request(operation, psn);
        packet.reth.address += offset;
        packet.reth.length = length;
        packet.bth.ack_request = false;
        return packet;
    }

    void expect_fault(NakCode code, bool told = false)
    {
        EXPECT_EQ(end.fault, code);
        EXPECT_EQ(end.fault_told, told);
        // Nothing is done from then on.
        end.post_receive(1000);
        const size_t received = end.received.size();
        EXPECT_EQ(answer(request(Operation::kSendOnly, end.responder.expected_psn())), Replies{});
        EXPECT_EQ(end.received.size(), received);
    }

    Endpoint end;
    std::deque<Bytes> kept;
};

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

TEST_F(responder, acknowledges_many_at_once_and_only_when_asked)
{
    for (uint32_t i = 0; i < 3; ++i) {
        end.post_receive(0);
        receive(request(Operation::kSendOnly, 100 + i, {}, i != 2));
    }
    EXPECT_EQ(progress(), (Replies{ack(101, 3)}));
    EXPECT_EQ(progress(), Replies{});
    end.link_room = 0;
    end.post_receive(0);
    receive(request(Operation::kSendOnly, 103));
    EXPECT_TRUE(end.responder.progress());
    end.link_room = 1;
    EXPECT_FALSE(end.responder.progress());
    EXPECT_EQ(replies(take_packets(end)), (Replies{ack(103, 4)}));
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

TEST_F(responder, finds_requests_invalid)
{
    using enum Operation;
    const auto with_length = [](wire::Packet packet, uint32_t length) {
        packet.reth.length = length;
        return packet;
    };
    const auto at_address = [](wire::Packet packet, uint64_t address) {
        packet.reth.address = packet.atomic.address = address;
        return packet;
    };
    const Bytes full = pattern(kMtu);
    wire::Packet no_placement = ranged(kFlush, 100, 0, 8);
    no_placement.feth.placement = 0;
    wire::Packet odd_selectivity = ranged(kFlush, 100, 0, 8);
    odd_selectivity.feth.selectivity = 2;
    const wire::Packet write_first = with_length(request(kWriteFirst, 100, full), 2 * kMtu + 1);
    const std::vector<wire::Packet> cases[] = {
        // opcodes out of order
        {request(kSendMiddle, 100, full)},
        {request(kSendLast, 100, full)},
        {request(kWriteLast, 100, full)},
        {request(kSendFirst, 100, full), request(kSendFirst, 101, full)},
        {request(kSendFirst, 100, full), request(kSendOnly, 101, full)},
        {request(kSendFirst, 100, full), request(kWriteMiddle, 101, full)},
        {request(kSendFirst, 100, full), ranged(kReadRequest, 101, 0, 1)},
        {request(kSendFirst, 100, full), request(kFetchAdd, 101)},
        {write_first, request(kSendLast, 101, full)},
        {write_first, write_first, request(kSendLast, 101, full)},
        // payloads of another path MTU
        {request(kSendFirst, 100, pattern(512))},
        {request(kSendOnly, 100, pattern(kMtu + 1))},
        {request(kSendFirst, 100, full), request(kSendMiddle, 101, pattern(512))},
        // lengths that the payloads do not keep
        {with_length(request(kWriteOnly, 100, full), kMtu - 1)},
        {with_length(request(kWriteOnly, 100, full), kMtu + 1)},
        {with_length(request(kWriteOnly, 100), 1)},
        {with_length(request(kWriteFirst, 100, full), kMtu)},
        {with_length(request(kWriteFirst, 100, full), 5)},
        {with_length(request(kWriteFirst, 100, full), kMaxMessage + 1)},
        {write_first, request(kWriteLast, 101, full)},
        {write_first, request(kWriteMiddle, 101, full), request(kWriteLast, 102, pattern(2))},
        {write_first, request(kWriteMiddle, 101, full), request(kWriteMiddle, 102, full)},
        {ranged(kReadRequest, 100, 0, kMaxMessage + 1)},
        {with_length(request(kAtomicWrite, 100, pattern(8)), 9)},
        // alignment
        {at_address(request(kFetchAdd, 100), kAddress + 4)},
        {at_address(request(kCompareSwap, 100), kAddress + 1)},
        {at_address(request(kAtomicWrite, 100, pattern(8)), kAddress + 4)},
        {no_placement},
        {odd_selectivity},
    };
    int number = 0;
    for (const std::vector<wire::Packet> &packets : cases) {
        SCOPED_TRACE(number++);
        Endpoint one;
        one.post_receive(1000);
        for (size_t i = 0; i + 1 < packets.size(); ++i)
            one.responder.receive(packets[i]);
        EXPECT_FALSE(one.fault);
        progress_responder(one);
        one.responder.receive(packets.back());
        EXPECT_EQ(replies(progress_responder(one)),
                  (Replies{nak(packets.back().bth.psn, NakCode::kInvalidRequest)}));
        EXPECT_EQ(one.fault, NakCode::kInvalidRequest);
        EXPECT_FALSE(one.fault_told);
        for (const Received &received : one.received)
            EXPECT_EQ(received.receipt.status, IBV_WC_WR_FLUSH_ERR);
        EXPECT_FALSE(one.receive);
        EXPECT_EQ(one.violation, "");
    }
}

TEST_F(responder, finds_requests_invalid_that_the_queue_pair_does_not_permit)
{
    using enum Operation;
    const std::pair<wire::Packet, int> cases[] = {
        {request(kWriteOnly, 100, pattern(1)), IBV_ACCESS_REMOTE_WRITE},
        {ranged(kReadRequest, 100, 0, 1), IBV_ACCESS_REMOTE_READ},
        {request(kFetchAdd, 100), IBV_ACCESS_REMOTE_ATOMIC},
        {request(kAtomicWrite, 100, pattern(8)), IBV_ACCESS_REMOTE_WRITE},
        {ranged(kFlush, 100, 0, 8), IBV_ACCESS_FLUSH_GLOBAL},
    };
    for (const auto &[packet, access] : cases) {
        for (const bool is_permitted : {false, true}) {
            Endpoint one;
            one.responder.set_access(is_permitted ? access : ~access);
            one.responder.receive(packet);
            EXPECT_EQ(one.fault.has_value(), !is_permitted);
        }
    }
}

TEST_F(responder, finds_that_rights_are_missing)
{
    using enum Operation;
    wire::Packet first = request(kWriteFirst, 100, pattern(kMtu));
    first.reth.length = 16384;
    wire::Packet beyond = first;
    ++beyond.reth.length;
    const wire::Packet cases[] = {
        beyond,
        ranged(kReadRequest, 100, 0, 16385),
        ranged(kReadRequest, 100, 16384, 1),
        ranged(kReadRequest, 100, UINT64_MAX - kAddress, 2),
        ranged(kFlush, 100, 0, 8),
        request(kWriteOnly, 100, pattern(3)),
        request(kFetchAdd, 100),
        request(kAtomicWrite, 100, pattern(8)),
    };
    for (const bool has_key : {true, false}) {
        for (wire::Packet packet : cases) {
            Endpoint one;
            if (!has_key)
                ++one.memory.rkey;
            one.responder.receive(packet);
            const bool is_beyond = packet.reth.length > 16384 || packet.reth.address != kAddress;
            const Replies answers = replies(progress_responder(one));
            if (has_key && !is_beyond) {
                EXPECT_FALSE(one.fault);
                continue;
            }
            EXPECT_EQ(answers, (Replies{nak(100, NakCode::kRemoteAccessError)}));
            EXPECT_EQ(one.fault, NakCode::kRemoteAccessError);
            EXPECT_EQ(one.memory.bytes, Bytes(16384));
        }
    }
}

TEST_F(responder, ends_when_memory_goes_away)
{
    using enum Operation;
    receive(ranged(kReadRequest, 100, 0, 40 * kMtu));
    receive(ranged(kReadRequest, 140, 0, 1));
    receive(request(kWriteOnly, 141, pattern(1)));
    EXPECT_TRUE(end.responder.progress());
    take_packets(end);
    ++end.memory.rkey;
    EXPECT_EQ(progress(), (Replies{nak(132, NakCode::kRemoteAccessError, 3)}));
    expect_fault(NakCode::kRemoteAccessError);
}

TEST_F(responder, answers_what_came_before_a_fault)
{
    using enum Operation;
    receive(ranged(kReadRequest, 100, 0, 1));
    receive(request(kWriteOnly, 101, pattern(1)));
    receive(request(kSendLast, 102, pattern(1)));
    const Replies answers = progress();
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].operation, kReadResponseOnly);
    EXPECT_EQ(answers[1], nak(102, NakCode::kInvalidRequest, 2));
    expect_fault(NakCode::kInvalidRequest);
}

TEST_F(responder, lets_no_one_have_more_outstanding_than_agreed)
{
    using enum Operation;
    for (uint32_t i = 0; i < 4; ++i)
        receive(ranged(kReadRequest, 100 + i, 0, 1));
    receive(request(kFetchAdd, 104));
    EXPECT_EQ(progress().back(), nak(104, NakCode::kInvalidRequest, 4));
    expect_fault(NakCode::kInvalidRequest);

    ResponderConfig config = Endpoint::kResponder;
    config.max_dest_rd_atomic = 0;
    Endpoint none(Endpoint::kRequester, config);
    none.responder.receive(ranged(kReadRequest, 100, 0, 1));
    EXPECT_EQ(none.fault, NakCode::kInvalidRequest);

    // A repeated response that waits is no reason.
    Endpoint again;
    for (uint32_t i = 0; i < 4; ++i)
        again.responder.receive(ranged(kReadRequest, 100 + i, 0, 1));
    progress_responder(again);
    again.responder.receive(ranged(kReadRequest, 100, 0, 1));
    again.responder.receive(ranged(kReadRequest, 104, 0, 1));
    EXPECT_FALSE(again.fault);
    EXPECT_EQ(progress_responder(again).size(), 1u);
}

TEST_F(responder, finishes_receives_that_do_not_fit)
{
    end.post_receive(kMtu + 2);
    receive(request(Operation::kSendFirst, 100, pattern(kMtu)));
    EXPECT_EQ(answer(request(Operation::kSendLast, 101, pattern(3))),
              (Replies{nak(101, NakCode::kInvalidRequest)}));
    ASSERT_EQ(end.received.size(), 1u);
    EXPECT_EQ(end.received[0].receipt.status, IBV_WC_LOC_LEN_ERR);
    expect_fault(NakCode::kInvalidRequest, true);
}

TEST_F(responder, finishes_receives_that_may_not_be_written)
{
    end.post_receive(10);
    end.fill_status = IBV_WC_LOC_PROT_ERR;
    EXPECT_EQ(answer(request(Operation::kSendOnly, 100, pattern(3))),
              (Replies{nak(100, NakCode::kRemoteOperationalError)}));
    ASSERT_EQ(end.received.size(), 1u);
    EXPECT_EQ(end.received[0].receipt.status, IBV_WC_LOC_PROT_ERR);
    expect_fault(NakCode::kRemoteOperationalError, true);
}

TEST_F(responder, refuses_to_invalidate_what_it_must_not)
{
    end.post_receive(10);
    end.not_invalidated = 0x88;
    EXPECT_EQ(answer(request(Operation::kSendOnlyWithInvalidate, 100, pattern(3))),
              (Replies{nak(100, NakCode::kRemoteAccessError)}));
    ASSERT_EQ(end.received.size(), 1u);
    EXPECT_EQ(end.received[0].receipt.status, IBV_WC_WR_FLUSH_ERR);
    expect_fault(NakCode::kRemoteAccessError);
}

TEST_F(responder, answers_malformed_requests_in_their_turn)
{
    wire::Bth bth{};
    const auto ignored = [&](uint8_t opcode, uint32_t psn) {
        bth.opcode = opcode;
        bth.psn = psn;
        end.responder.receive_malformed(bth);
        return !end.fault && progress().empty();
    };
    EXPECT_TRUE(ignored(0x18, 101));
    EXPECT_TRUE(ignored(0x18, 99));
    EXPECT_TRUE(ignored(0x38, 100));
    EXPECT_TRUE(ignored(0xff, 100));
    EXPECT_TRUE(ignored(wire::opcode_of(Transport::kRc, Operation::kAcknowledge), 100));
    bth.opcode = 0x18;
    end.responder.receive_malformed(bth);
    EXPECT_EQ(progress(), (Replies{nak(100, NakCode::kInvalidRequest)}));
    expect_fault(NakCode::kInvalidRequest);
}

TEST_F(responder, ignores_other_transports_and_responses)
{
    end.post_receive(10);
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
        const wire::OpcodeInfo &info = wire::opcode_info(static_cast<uint8_t>(opcode));
        if (info.known() && info.transport == Transport::kRc && !info.response)
            continue;
        wire::Packet packet = request(Operation::kSendOnly, 100);
        packet.bth.opcode = static_cast<uint8_t>(opcode);
        EXPECT_EQ(answer(packet), Replies{}) << opcode;
    }
    EXPECT_FALSE(end.fault);
    EXPECT_EQ(end.responder.expected_psn(), 100u);
}

TEST_F(responder, stops)
{
    end.post_receive(1000);
    receive(request(Operation::kSendFirst, 100, pattern(kMtu)));
    progress();
    end.responder.stop();
    end.responder.stop();
    ASSERT_EQ(end.received.size(), 1u);
    EXPECT_EQ(end.received[0].receipt.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(answer(request(Operation::kSendLast, 101, pattern(1))), Replies{});
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

}  // namespace

}  // namespace urxe::transport::test
