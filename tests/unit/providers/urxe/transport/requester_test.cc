// SPDX-License-Identifier: BSD-2-Clause
// The requester, rule by rule: what it sends and completes.
#include "requester_fixture.hh"

namespace urxe::transport::test {

namespace {

TEST_F(requester, cuts_messages_into_packets_of_the_mtu)
{
    struct Case {
        Op op;
        uint32_t length;
        Extra extra;
        std::vector<Operation> expected;
    };
    using enum Operation;
    const Case cases[] = {
        {Op::kSend, 0, Extra::kNone, {kSendOnly}},
        {Op::kSend, kMtu, Extra::kImmediate, {kSendOnlyWithImmediate}},
        {Op::kSend, 3, Extra::kInvalidate, {kSendOnlyWithInvalidate}},
        {Op::kSend, kMtu + 1, Extra::kNone, {kSendFirst, kSendLast}},
        {Op::kSend, 3 * kMtu, Extra::kImmediate, {kSendFirst, kSendMiddle, kSendLastWithImmediate}},
        {Op::kSend, 2 * kMtu + 3, Extra::kInvalidate, {kSendFirst, kSendMiddle, kSendLastWithInvalidate}},
        {Op::kWrite, 0, Extra::kNone, {kWriteOnly}},
        {Op::kWrite, 5, Extra::kImmediate, {kWriteOnlyWithImmediate}},
        {Op::kWrite, 2 * kMtu, Extra::kNone, {kWriteFirst, kWriteLast}},
        {Op::kWrite, 3 * kMtu - 1, Extra::kImmediate, {kWriteFirst, kWriteMiddle, kWriteLastWithImmediate}},
    };
    uint32_t psn = kFirst;
    for (const Case &one : cases) {
        Request request = message(one.op, one.length, one.extra);
        request.solicited = true;
        const uint32_t index = end.post(request, pattern(one.length));
        const std::vector<Sent> packets = progress();
        ASSERT_EQ(operations(packets), one.expected);
        Bytes payload;
        for (size_t i = 0; i < packets.size(); ++i) {
            const wire::Packet &packet = packets[i].packet;
            const bool is_last = i + 1 == packets.size();
            EXPECT_EQ(packet.bth.psn, psn++);
            EXPECT_EQ(packet.bth.dest_qpn, Endpoint::kRequester.dest_qpn);
            EXPECT_EQ(packet.bth.pkey, Endpoint::kRequester.pkey);
            EXPECT_EQ(packet.bth.ack_request, is_last);
            EXPECT_EQ(packet.bth.solicited, is_last);
            EXPECT_EQ(packet.payload.size(), is_last ? one.length - i * kMtu : kMtu);
            payload.insert(payload.end(), packet.payload.begin(), packet.payload.end());
        }
        EXPECT_EQ(payload, end.posted[index].local);
        if (one.op == Op::kWrite) {
            EXPECT_EQ(packets[0].packet.reth.address, 0x1000u);
            EXPECT_EQ(packets[0].packet.reth.rkey, 0x55u);
            EXPECT_EQ(packets[0].packet.reth.length, one.length);
        }
        const wire::Packet &last = packets.back().packet;
        EXPECT_EQ(last.immediate.value, one.extra == Extra::kImmediate ? 0x99u : 0u);
        EXPECT_EQ(last.ieth.rkey, one.extra == Extra::kInvalidate ? 0x99u : 0u);
        receive(acknowledge_of(psn - 1));
        EXPECT_EQ(end.completions.back(), done(index, one.length));
    }
}

TEST_F(requester, asks_for_acknowledgements_where_a_completion_waits_for_one)
{
    Request quiet = message(Op::kSend, 8);
    quiet.quiet = true;
    end.post(quiet, pattern(8));
    end.post(quiet, pattern(8));
    end.post({.op = Op::kLocal});
    std::vector<Sent> packets = progress();
    ASSERT_EQ(psns(packets), (std::vector<uint32_t>{kFirst, kFirst + 1}));
    EXPECT_FALSE(packets[0].packet.bth.ack_request);
    EXPECT_FALSE(packets[1].packet.bth.ack_request);
    // Nothing follows that would ask: the last packet is sent once more, and does.
    const uint64_t at = end.requester.next_deadline();
    ASSERT_NE(at, kNever);
    EXPECT_LT(at, Endpoint::kRequester.timeout_ns);
    EXPECT_TRUE(progress(at - 1).empty());
    packets = progress(at);
    ASSERT_EQ(psns(packets), std::vector<uint32_t>{kFirst + 1});
    EXPECT_TRUE(packets[0].packet.bth.ack_request);
    EXPECT_EQ(packets[0].payload(), pattern(8));
    // Once: what is lost from here on is the timer's.
    EXPECT_EQ(end.requester.next_deadline(), Endpoint::kRequester.timeout_ns);
    EXPECT_EQ(end.completions, Completions());
    receive(acknowledge_of(kFirst + 1), at);
    EXPECT_EQ(end.completions, (Completions{done(0, 8), done(1, 8), done(2, 0)}));
    EXPECT_EQ(end.requester.next_deadline(), kNever);
}

TEST_F(requester, lets_a_later_request_ask_for_quiet_ones)
{
    Request quiet = message(Op::kWrite, 8);
    quiet.quiet = true;
    end.post(quiet, pattern(8));
    EXPECT_EQ(progress().size(), 1u);
    end.post(message(Op::kWrite, 8), pattern(8));
    const std::vector<Sent> packets = progress(10);
    ASSERT_EQ(packets.size(), 1u);
    EXPECT_TRUE(packets[0].packet.bth.ack_request);
    EXPECT_EQ(end.requester.next_deadline(), Endpoint::kRequester.timeout_ns);
    // A response acknowledges as well.
    end.post(quiet, pattern(8));
    end.post({.op = Op::kRead, .length = 8, .rkey = 1});
    EXPECT_EQ(progress(10).size(), 2u);
    EXPECT_EQ(end.requester.next_deadline(), Endpoint::kRequester.timeout_ns);
}

TEST_F(requester, asks_for_acknowledgements_of_a_quarter_of_the_window)
{
    Request quiet = message(Op::kSend, 8);
    quiet.quiet = true;
    const uint32_t quarter = Endpoint::kRequester.window / 4;
    for (uint32_t i = 0; i < 2 * quarter; ++i)
        end.post(quiet, pattern(8));
    const std::vector<Sent> packets = progress();
    ASSERT_EQ(packets.size(), 2 * quarter);
    for (uint32_t i = 0; i < packets.size(); ++i)
        EXPECT_EQ(packets[i].packet.bth.ack_request, i % quarter == quarter - 1) << i;
}

TEST_F(requester, asks_again_when_quiet_requests_are_sent_again)
{
    Request quiet = message(Op::kSend, 8);
    quiet.quiet = true;
    for (int i = 0; i < 3; ++i)
        end.post(quiet, pattern(8));
    EXPECT_EQ(progress().size(), 3u);
    const std::vector<Sent> packets = progress(Endpoint::kRequester.timeout_ns);
    ASSERT_EQ(psns(packets), (std::vector<uint32_t>{kFirst, kFirst + 1, kFirst + 2}));
    EXPECT_FALSE(packets[0].packet.bth.ack_request);
    EXPECT_FALSE(packets[1].packet.bth.ack_request);
    EXPECT_TRUE(packets[2].packet.bth.ack_request);
}

TEST_F(requester, puts_what_each_operation_needs_into_its_packet)
{
    end.post({.op = Op::kCompareSwap, .length = 8, .rkey = 1, .address = 2, .swap_or_add = 3, .compare = 4});
    end.post({.op = Op::kFetchAdd, .length = 8, .rkey = 5, .address = 6, .swap_or_add = 7});
    end.post({.op = Op::kAtomicWrite, .length = 8, .rkey = 8, .address = 16}, pattern(8));
    end.post({.op = Op::kFlush,
              .placement = wire::kPlacementPersistent,
              .selectivity = wire::kSelectRegion,
              .length = 99,
              .rkey = 9,
              .address = 10});
    const std::vector<Sent> packets = progress();
    using enum Operation;
    ASSERT_EQ(operations(packets), (std::vector{kCompareSwap, kFetchAdd, kAtomicWrite, kFlush}));
    EXPECT_EQ(psns(packets), (std::vector<uint32_t>{100, 101, 102, 103}));
    EXPECT_EQ(packets[0].packet.atomic.rkey, 1u);
    EXPECT_EQ(packets[0].packet.atomic.address, 2u);
    EXPECT_EQ(packets[0].packet.atomic.swap_or_add, 3u);
    EXPECT_EQ(packets[0].packet.atomic.compare, 4u);
    EXPECT_EQ(packets[1].packet.atomic.rkey, 5u);
    EXPECT_EQ(packets[1].packet.atomic.address, 6u);
    EXPECT_EQ(packets[1].packet.atomic.swap_or_add, 7u);
    EXPECT_EQ(packets[2].packet.reth.rkey, 8u);
    EXPECT_EQ(packets[2].packet.reth.address, 16u);
    EXPECT_EQ(packets[2].packet.reth.length, 8u);
    EXPECT_EQ(packets[2].payload(), pattern(8));
    EXPECT_EQ(packets[3].packet.feth.placement, wire::kPlacementPersistent);
    EXPECT_EQ(packets[3].packet.feth.selectivity, wire::kSelectRegion);
    EXPECT_EQ(packets[3].packet.reth.rkey, 9u);
    EXPECT_EQ(packets[3].packet.reth.address, 10u);
    EXPECT_EQ(packets[3].packet.reth.length, 99u);

    for (uint32_t i = 0; i < 2; ++i) {
        wire::Packet answer = packet_of(kAtomicAcknowledge, 100 + i);
        answer.aeth.syndrome = wire::ack_syndrome(31);
        answer.atomic_ack.original = 0x0102030405060708 + i;
        receive(answer);
        uint64_t original = 0;
        memcpy(&original, end.posted[i].local.data(), sizeof original);
        EXPECT_EQ(original, 0x0102030405060708 + i);
    }
    receive(data_of(kReadResponseOnly, 102));
    receive(data_of(kReadResponseOnly, 103));
    EXPECT_EQ(end.completions, (Completions{done(0, 8), done(1, 8), done(2, 8), done(3, 99)}));
}

TEST_F(requester, keeps_at_most_a_window_in_flight_and_asks_for_acknowledgements_within_it)
{
    post(Op::kSend, 300 * kMtu);
    std::vector<Sent> packets = progress();
    ASSERT_EQ(packets.size(), kMaxWindow);
    for (size_t i = 0; i < packets.size(); ++i)
        EXPECT_EQ(packets[i].packet.bth.ack_request, i % 32 == 31) << i;
    EXPECT_TRUE(progress().empty());
    packets = progress(1000);  // again
    ASSERT_EQ(packets.size(), kMaxWindow);
    for (size_t i = 0; i < packets.size(); ++i)
        EXPECT_EQ(packets[i].packet.bth.ack_request, i % 32 == 31) << i;
    receive(acknowledge_of(kFirst + 31));
    packets = progress();
    ASSERT_EQ(packets.size(), 32u);
    EXPECT_EQ(packets[0].psn(), kFirst + 128);
}

TEST_F(requester, reads_long_data_in_parts_and_no_more_at_once_than_it_may)
{
    post(Op::kRead, 200 * kMtu);
    post(Op::kSend, 1);
    std::vector<Sent> packets = progress();
    ASSERT_EQ(psns(packets), (std::vector<uint32_t>{100, 132, 164, 196}));
    for (uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(packets[i].packet.reth.address, 0x1000 + i * 32 * kMtu);
        EXPECT_EQ(packets[i].packet.reth.length, 32 * kMtu);
        EXPECT_FALSE(packets[i].packet.bth.ack_request);
    }
    const Bytes data = pattern(200 * kMtu, 3);
    uint32_t last_length = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        receive(data_of(Operation::kReadResponseMiddle, 100 + i, part_of(data, i * kMtu, kMtu)));
        packets = progress();
        // A part of the window is free again, and one read less is outstanding.
        std::vector<uint32_t> expected;
        if (i == 31)
            expected = {228};
        else if (i == 63)
            expected = {260};
        else if (i == 95)
            expected = {292, 300};
        ASSERT_EQ(psns(packets), expected) << i;
        if (i == 95)
            last_length = packets[0].packet.reth.length;
    }
    EXPECT_EQ(last_length, 8 * kMtu);
    EXPECT_EQ(end.posted[0].local, data);
    EXPECT_EQ(end.completions, (Completions{done(0, 200 * kMtu)}));
}

TEST_F(requester, limits_reads_and_atomics_in_flight)
{
    for (int i = 0; i < 6; ++i)
        post(Op::kRead, 10);
    EXPECT_EQ(progress().size(), 4u);
    const Bytes data = pattern(10);
    receive(data_of(Operation::kReadResponseOnly, 100, data));
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{104}));
    EXPECT_EQ(end.posted[0].local, data);
}

TEST_F(requester, waits_at_a_fence_for_reads_and_atomics)
{
    post(Op::kSend, 1);
    post(Op::kRead, 1);
    Request fenced = message(Op::kSend, 1);
    fenced.fence = true;
    end.post(fenced);
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{100, 101}));
    receive(acknowledge_of(100));
    EXPECT_TRUE(progress().empty());
    receive(data_of(Operation::kReadResponseOnly, 101, pattern(1)));
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{102}));
    end.post(fenced);  // only reads hold it back
    EXPECT_EQ(progress().size(), 1u);
}

TEST_F(requester, completes_all_that_an_acknowledgement_covers)
{
    post(Op::kSend, 2 * kMtu);
    post(Op::kWrite, 3);
    post(Op::kSend, 4);
    progress();
    receive(acknowledge_of(100));
    EXPECT_TRUE(end.completions.empty());
    receive(acknowledge_of(102));
    EXPECT_EQ(end.completions, (Completions{done(0, 512), done(1, 3)}));
    EXPECT_EQ(end.requester.oldest(), 2u);
    receive(acknowledge_of(103));
    EXPECT_EQ(end.completions.size(), 3u);
    EXPECT_EQ(end.requester.next_deadline(), kNever);
}

TEST_F(requester, takes_a_response_as_acknowledgement_of_what_came_before)
{
    post(Op::kSend, 1);
    post(Op::kRead, 1);
    progress();
    receive(data_of(Operation::kReadResponseOnly, 101, pattern(1)));
    EXPECT_EQ(end.completions, (Completions{done(0, 1), done(1, 1)}));
}

TEST_F(requester, goes_on_when_the_link_has_room_again)
{
    post(Op::kSend, 3 * kMtu);
    end.link_room = 2;
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{100, 101}));
    end.link_room = 0;
    EXPECT_TRUE(progress().empty());
    end.link_room = SIZE_MAX;
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{102}));
}

TEST_F(requester, fails_what_cannot_be_sent_after_all_before_it)
{
    post(Op::kSend, 1);
    post(Op::kSend, 2 * kMtu);
    post(Op::kSend, 1);
    end.posted[1].local_fails = true;
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{100}));
    EXPECT_FALSE(end.requester.failed());
    EXPECT_EQ(psns(progress(1000)), (std::vector<uint32_t>{100}));  // lost
    receive(acknowledge_of(100), 1100);
    EXPECT_EQ(end.completions, (Completions{done(0, 1), {1, IBV_WC_LOC_PROT_ERR, 0}}));
    EXPECT_TRUE(progress(1100).empty());
}

TEST(requester_check, refuses_what_the_transport_lacks)
{
    struct Case {
        Transport transport;
        Request request;
        ibv_wc_status status;
    };
    const Case cases[] = {
        {Transport::kUc, message(Op::kRead, 1), IBV_WC_LOC_QP_OP_ERR},
        {Transport::kUc, message(Op::kSend, 1, Extra::kInvalidate), IBV_WC_LOC_QP_OP_ERR},
        {Transport::kUc, message(Op::kFlush, 1), IBV_WC_LOC_QP_OP_ERR},
        {Transport::kUd, message(Op::kWrite, 1), IBV_WC_LOC_QP_OP_ERR},
        {Transport::kUd, message(Op::kSend, kMtu + 1), IBV_WC_LOC_LEN_ERR},
        {Transport::kRc, message(Op::kRead, 1), IBV_WC_LOC_QP_OP_ERR},
    };
    for (const Case &one : cases) {
        RequesterConfig config = Endpoint::kRequester;
        config.transport = one.transport;
        config.max_rd_atomic = 0;
        Endpoint end(config);
        end.post(one.request);
        EXPECT_TRUE(progress_requester(end).empty());
        EXPECT_EQ(end.completions, (std::vector<Completion>{{0, one.status, 0}}));
        EXPECT_EQ(end.violation, "");
    }
}

TEST_F(requester, does_local_work_in_its_turn)
{
    end.post({.op = Op::kLocal});
    post(Op::kRead, 1);
    end.post({.op = Op::kLocal});
    Request fenced{.op = Op::kLocal, .fence = true};
    end.post(fenced);
    post(Op::kSend, 1);
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{100}));
    EXPECT_EQ(end.executed, (std::vector<uint32_t>{0, 2}));
    EXPECT_EQ(end.completions, (Completions{done(0, 0)}));
    EXPECT_EQ(psns(progress(1000)), (std::vector<uint32_t>{100}));  // lost
    receive(data_of(Operation::kReadResponseOnly, 100, pattern(1)), 1001);
    EXPECT_EQ(end.completions, (Completions{done(0, 0), done(1, 1), done(2, 0)}));
    EXPECT_EQ(psns(progress(1001)), (std::vector<uint32_t>{101}));
    EXPECT_EQ(end.executed, (std::vector<uint32_t>{0, 2, 3}));
    EXPECT_EQ(end.completions.back(), done(3, 0));

    end.execute_status = IBV_WC_MW_BIND_ERR;
    end.post({.op = Op::kLocal});
    post(Op::kSend, 1);
    EXPECT_TRUE(progress(1002).empty());
    receive(acknowledge_of(101), 1003);
    EXPECT_EQ(end.completions.back(), (Completion{5, IBV_WC_MW_BIND_ERR, 0}));
}

TEST_F(requester, goes_on_beyond_the_last_psn)
{
    RequesterConfig config = Endpoint::kRequester;
    config.first_psn = 0xfffffe;
    Endpoint one(config);
    one.post({.op = Op::kSend, .length = 4 * kMtu});
    EXPECT_EQ(psns(progress_requester(one)), (std::vector<uint32_t>{0xfffffe, 0xffffff, 0, 1}));
    one.requester.receive(nak_of(0, NakCode::kPsnSequenceError), 0);
    EXPECT_EQ(psns(progress_requester(one)), (std::vector<uint32_t>{0, 1}));
    one.requester.receive(acknowledge_of(1), 0);
    EXPECT_EQ(one.completions, (Completions{done(0, 4 * kMtu)}));
}

TEST(requester_config, keeps_within_what_there_is_room_for)
{
    RequesterConfig config = Endpoint::kRequester;
    config.max_rd_atomic = 255;
    config.window = 255;
    Endpoint reads(config);
    for (size_t i = 0; i < 2 * kMaxRdAtomic; ++i)
        reads.post({.op = Op::kFetchAdd, .length = 8});
    EXPECT_EQ(progress_requester(reads).size(), kMaxRdAtomic);
    Endpoint sends(config);
    sends.post({.op = Op::kSend, .length = 300 * kMtu});
    EXPECT_EQ(progress_requester(sends).size(), kMaxWindow);
    config.window = 0;
    Endpoint one(config);
    one.post({.op = Op::kRead, .length = 2 * kMtu});
    EXPECT_EQ(progress_requester(one).size(), 1u);
}

TEST(requester_xrc, names_the_shared_receive_queue_in_each_packet)
{
    RequesterConfig config = Endpoint::kRequester;
    config.transport = Transport::kXrc;
    Endpoint end(config);
    end.post({.op = Op::kSend, .length = 2 * kMtu, .srqn = 0xabc});
    end.post({.op = Op::kRead, .length = 1, .srqn = 0xdef});
    const std::vector<Sent> packets = progress_requester(end);
    ASSERT_EQ(packets.size(), 3u);
    EXPECT_EQ(packets[0].packet.bth.opcode, wire::opcode_of(Transport::kXrc, Operation::kSendFirst));
    EXPECT_EQ(packets[0].packet.xrceth.srqn, 0xabcu);
    EXPECT_EQ(packets[1].packet.xrceth.srqn, 0xabcu);
    EXPECT_EQ(packets[2].packet.xrceth.srqn, 0xdefu);
    wire::Packet answer = acknowledge_of(101);
    answer.bth.opcode = wire::opcode_of(Transport::kXrc, Operation::kAcknowledge);
    end.requester.receive(answer, 0);
    EXPECT_EQ(end.completions.size(), 1u);
}

}  // namespace

}  // namespace urxe::transport::test
