// SPDX-License-Identifier: BSD-2-Clause
// The responder, rule by rule: what it says to requests that are wrong.
#include "responder_fixture.hh"

namespace urxe::transport::test {

namespace {

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
    wire::Packet longest = first;
    longest.reth.length = kMaxMessage;
    struct Case {
        wire::Packet packet;
        bool is_within;
    };
    const Case cases[] = {
        {first, true},
        {longest, false},
        {beyond, false},
        {ranged(kReadRequest, 100, 0, 16384), true},
        {ranged(kReadRequest, 100, 0, 16385), false},
        {ranged(kReadRequest, 100, 0, kMaxMessage), false},
        {ranged(kReadRequest, 100, 16384, 1), false},
        {ranged(kReadRequest, 100, UINT64_MAX - kAddress, 2), false},
        {ranged(kFlush, 100, 0, 8), true},
        {request(kWriteOnly, 100, pattern(3)), true},
        {request(kFetchAdd, 100), true},
        {request(kAtomicWrite, 100, pattern(8)), true},
    };
    for (const bool has_key : {true, false}) {
        for (const auto &[packet, is_within] : cases) {
            Endpoint one;
            if (!has_key)
                ++one.memory.rkey;
            one.responder.receive(packet);
            const Replies answers = replies(progress_responder(one));
            EXPECT_EQ(one.violation, "");
            if (has_key && is_within) {
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

    config.max_dest_rd_atomic = 255;
    Endpoint most(Endpoint::kRequester, config);
    for (uint32_t i = 0; i <= kMaxRdAtomic; ++i) {
        EXPECT_FALSE(most.fault);
        most.responder.receive(request(kFetchAdd, 100 + i));
    }
    EXPECT_EQ(most.fault, NakCode::kInvalidRequest);

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

    Endpoint other;
    bth.opcode = wire::opcode_of(Transport::kRc, Operation::kSendFirst);
    other.responder.receive_malformed(bth);
    EXPECT_EQ(other.fault, NakCode::kInvalidRequest);
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

}  // namespace

}  // namespace urxe::transport::test
