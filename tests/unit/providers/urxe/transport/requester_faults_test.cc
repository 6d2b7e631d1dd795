// SPDX-License-Identifier: BSD-2-Clause
// The requester, rule by rule: losses, refusals, and responses that are wrong.
#include "requester_fixture.hh"

namespace urxe::transport::test {

namespace {

TEST_F(requester, asks_for_the_rest_of_a_read_when_a_response_is_missing)
{
    post(Op::kRead, 5 * kMtu);
    post(Op::kSend, 1);
    progress();
    const Bytes data = pattern(5 * kMtu, 9);
    receive(data_of(Operation::kReadResponseFirst, 100, part_of(data, 0, kMtu)));
    receive(data_of(Operation::kReadResponseMiddle, 102, part_of(data, 2 * kMtu, kMtu)));
    // What is still on its way tells nothing new.
    receive(data_of(Operation::kReadResponseMiddle, 103, part_of(data, 3 * kMtu, kMtu)));
    receive(acknowledge_of(105));
    const std::vector<Sent> packets = progress();
    ASSERT_EQ(psns(packets), (std::vector<uint32_t>{101, 105}));
    EXPECT_EQ(packets[0].packet.reth.address, 0x1000 + kMtu);
    EXPECT_EQ(packets[0].packet.reth.length, 4 * kMtu);
    for (uint32_t i = 1; i < 5; ++i)
        receive(data_of(i == 4 ? Operation::kReadResponseLast : Operation::kReadResponseMiddle, 100 + i,
                        part_of(data, i * kMtu, kMtu)));
    EXPECT_TRUE(progress().empty());
    receive(acknowledge_of(105));
    EXPECT_EQ(end.posted[0].local, data);
    EXPECT_EQ(end.completions, (Completions{done(0, 5 * kMtu), done(1, 1)}));
}

TEST_F(requester, repeats_a_read_that_an_acknowledgement_passes_over)
{
    post(Op::kSend, 1);
    post(Op::kFetchAdd, 8);
    post(Op::kSend, 1);
    progress();
    receive(acknowledge_of(102));
    EXPECT_EQ(end.completions, (Completions{done(0, 1)}));
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{101, 102}));
}

TEST_F(requester, repeats_when_nothing_answers_until_it_gives_up)
{
    post(Op::kSend, 1);
    post(Op::kSend, 1);
    EXPECT_EQ(end.requester.next_deadline(), kNever);
    progress(50);
    // A retry has more time, up to four times as much.
    for (const uint64_t now : {1050, 3050, 7050}) {
        ASSERT_EQ(end.requester.next_deadline(), now);
        EXPECT_TRUE(progress(now - 1).empty());
        EXPECT_EQ(psns(progress(now)), (std::vector<uint32_t>{100, 101}));
    }
    EXPECT_TRUE(progress(11'049).empty());
    EXPECT_TRUE(end.completions.empty());
    EXPECT_TRUE(progress(11'050).empty());
    EXPECT_EQ(end.completions, (Completions{{0, IBV_WC_RETRY_EXC_ERR, 0}}));
    EXPECT_TRUE(end.requester.failed());
    EXPECT_EQ(end.requester.oldest(), 1u);
    EXPECT_EQ(end.requester.next_deadline(), kNever);
    receive(acknowledge_of(101), 11'060);
    EXPECT_TRUE(progress(100'000).empty());
    EXPECT_EQ(end.completions.size(), 1u);
}

TEST_F(requester, does_not_count_retries_whose_answer_may_have_found_no_room)
{
    post(Op::kSend, 1);
    progress(0);
    uint64_t now = 0;
    for (int i = 0; i < 7; ++i) {
        ++end.lost_packets;
        EXPECT_EQ(psns(progress(now += 1000)), (std::vector<uint32_t>{100}));
    }
    // The eighth counts, and so does where nothing was lost.
    ++end.lost_packets;
    EXPECT_EQ(psns(progress(now += 1000)), (std::vector<uint32_t>{100}));
    EXPECT_EQ(psns(progress(now += 2000)), (std::vector<uint32_t>{100}));
    EXPECT_EQ(psns(progress(now += 4000)), (std::vector<uint32_t>{100}));
    EXPECT_TRUE(end.completions.empty());
    // After one that counted others may be excused again.
    ++end.lost_packets;
    EXPECT_EQ(psns(progress(now += 4000)), (std::vector<uint32_t>{100}));
    EXPECT_TRUE(progress(now += 4000).empty());
    EXPECT_EQ(end.completions, (Completions{{0, IBV_WC_RETRY_EXC_ERR, 0}}));
}

TEST_F(requester, starts_timer_and_count_again_when_something_is_acknowledged)
{
    post(Op::kSend, 2 * kMtu);
    progress(0);
    for (const uint64_t now : {1000, 3000, 7000})
        progress(now);
    receive(acknowledge_of(100), 7500);
    EXPECT_EQ(end.requester.next_deadline(), 8500u);
    for (const uint64_t now : {8500, 10'500, 14'500})
        EXPECT_EQ(psns(progress(now)), (std::vector<uint32_t>{101}));
    progress(18'500);
    EXPECT_EQ(end.completions, (Completions{{0, IBV_WC_RETRY_EXC_ERR, 0}}));
}

TEST(requester_timer, never_ends_without_a_timeout)
{
    RequesterConfig config = Endpoint::kRequester;
    config.timeout_ns = 0;
    Endpoint end(config);
    end.post({.op = Op::kSend});
    EXPECT_EQ(progress_requester(end).size(), 1u);
    EXPECT_EQ(end.requester.next_deadline(), kNever);
    EXPECT_TRUE(progress_requester(end, uint64_t{1} << 60).empty());
}

TEST_F(requester, goes_back_to_where_a_nak_says)
{
    for (int i = 0; i < 4; ++i)
        post(Op::kSend, 1);
    progress();
    receive(nak_of(102, NakCode::kPsnSequenceError));
    EXPECT_EQ(end.completions.size(), 2u);
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{102, 103}));
    receive(nak_of(102, NakCode::kPsnSequenceError));  // a late copy
    EXPECT_TRUE(progress().empty());
    receive(nak_of(103, NakCode::kPsnSequenceError));  // another loss
    EXPECT_EQ(psns(progress()), (std::vector<uint32_t>{103}));
}

TEST(requester_retry, gives_up_at_the_first_nak_without_retries)
{
    RequesterConfig config = Endpoint::kRequester;
    config.retry_count = 0;
    Endpoint end(config);
    end.post({.op = Op::kSend});
    progress_requester(end);
    end.requester.receive(nak_of(100, NakCode::kPsnSequenceError), 0);
    EXPECT_EQ(end.completions, (std::vector<Completion>{{0, IBV_WC_RETRY_EXC_ERR, 0}}));
}

TEST_F(requester, pauses_when_no_receive_is_posted)
{
    post(Op::kSend, 1);
    post(Op::kSend, 1);
    post(Op::kSend, 1);
    progress();
    const wire::Packet not_ready = acknowledge_of(101, wire::rnr_nak_syndrome(2));  // 20 µs
    uint64_t now = 500;
    for (int i = 0; i < 2; ++i) {
        receive(not_ready, now);
        receive(not_ready, now + 1);
        EXPECT_EQ(end.completions, (Completions{done(0, 1)}));
        post(Op::kSend, 1);
        EXPECT_EQ(end.requester.next_deadline(), now + 20'000);
        EXPECT_TRUE(progress(now + 19'999).empty());
        now += 20'000;
        EXPECT_EQ(psns(progress(now))[0], 101u);
        EXPECT_EQ(end.requester.next_deadline(), now + 1000);
    }
    receive(not_ready, now);
    EXPECT_EQ(end.completions.back(), (Completion{1, IBV_WC_RNR_RETRY_EXC_ERR, 0}));
}

TEST_F(requester, counts_pauses_anew_for_each_message)
{
    uint64_t now = 0;
    for (uint32_t psn = 100; psn < 105; ++psn) {
        post(Op::kSend, 1);
        for (int pauses = 0; pauses < 2; ++pauses) {
            EXPECT_EQ(progress(now).size(), 1u);
            receive(acknowledge_of(psn, wire::rnr_nak_syndrome(1)), now);
            now += 10'000;
        }
        EXPECT_EQ(progress(now).size(), 1u);
        receive(acknowledge_of(psn), now);
    }
    EXPECT_EQ(end.completions.size(), 5u);
    EXPECT_FALSE(end.requester.failed());
}

TEST(requester_retry, waits_for_a_receive_for_ever)
{
    RequesterConfig config = Endpoint::kRequester;
    config.rnr_retry = kRnrRetryForEver;
    config.retry_count = 1;
    Endpoint end(config);
    end.post({.op = Op::kSend});
    progress_requester(end);
    uint64_t now = 0;
    for (int i = 0; i < 300; ++i) {
        // Losses in between do not add up.
        ASSERT_EQ(progress_requester(end, now += 1000).size(), 1u);
        end.requester.receive(acknowledge_of(100, wire::rnr_nak_syndrome(1)), now);
        ASSERT_EQ(progress_requester(end, now += 10'000).size(), 1u);
    }
    end.requester.receive(acknowledge_of(100), now);
    EXPECT_EQ(end.completions, (std::vector<Completion>{done(0, 0)}));
}

TEST_F(requester, fails_with_what_a_nak_says)
{
    const std::pair<NakCode, ibv_wc_status> cases[] = {
        {NakCode::kInvalidRequest, IBV_WC_REM_INV_REQ_ERR},
        {NakCode::kRemoteAccessError, IBV_WC_REM_ACCESS_ERR},
        {NakCode::kRemoteOperationalError, IBV_WC_REM_OP_ERR},
    };
    for (const auto &[code, status] : cases) {
        Endpoint one;
        for (int i = 0; i < 3; ++i)
            one.post({.op = Op::kSend});
        progress_requester(one);
        one.requester.receive(nak_of(101, code), 0);
        EXPECT_EQ(one.completions, (Completions{done(0, 0), {1, status, 0}}));
        EXPECT_TRUE(one.requester.failed());
        EXPECT_EQ(one.requester.oldest(), 2u);
        EXPECT_TRUE(progress_requester(one, 5000).empty());
        EXPECT_EQ(one.violation, "");
    }
    post(Op::kSend, 1);
    progress();
    receive(acknowledge_of(100, wire::make_syndrome(wire::AckType::kNak, 9)));
    receive(acknowledge_of(100, wire::make_syndrome(wire::AckType::kReserved, 0)));
    EXPECT_TRUE(end.completions.empty());
    EXPECT_FALSE(end.requester.failed());
}

TEST_F(requester, refuses_responses_that_do_not_fit_the_request)
{
    const Bytes data = pattern(kMtu);
    wire::Packet atomic = acknowledge_of(100);
    atomic.bth.opcode = wire::opcode_of(Transport::kRc, Operation::kAtomicAcknowledge);
    const std::pair<Op, wire::Packet> cases[] = {
        {Op::kSend, data_of(Operation::kReadResponseOnly, 100)},
        {Op::kSend, atomic},
        {Op::kRead, atomic},
        {Op::kRead, data_of(Operation::kReadResponseOnly, 100, part_of(data, 0, 7))},
        {Op::kRead, data_of(Operation::kReadResponseOnly, 100, part_of(data, 0, 9))},
        {Op::kFetchAdd, data_of(Operation::kReadResponseOnly, 100)},
        {Op::kFlush, data_of(Operation::kReadResponseOnly, 100, part_of(data, 0, 8))},
        {Op::kAtomicWrite, atomic},
    };
    for (const auto &[op, packet] : cases) {
        Endpoint one;
        one.post({.op = op, .length = 8});
        progress_requester(one);
        one.requester.receive(packet, 0);
        EXPECT_EQ(one.completions, (Completions{{0, IBV_WC_BAD_RESP_ERR, 0}}));
        EXPECT_EQ(one.violation, "");
    }
}

TEST_F(requester, ignores_responses_to_what_it_has_not_sent)
{
    post(Op::kSend, 1);
    post(Op::kSend, 1);
    progress();
    receive(acknowledge_of(100));
    for (const uint32_t psn : {0u, 99u, 100u, 102u, 103u, 0x700000u, 0xffffffu})
        for (const uint8_t syndrome :
             {wire::ack_syndrome(31), wire::rnr_nak_syndrome(1),
              wire::nak_syndrome(NakCode::kPsnSequenceError), wire::nak_syndrome(NakCode::kInvalidRequest)})
            receive(acknowledge_of(psn, syndrome));
    wire::Packet other = acknowledge_of(101);
    other.bth.opcode = wire::opcode_of(Transport::kXrc, Operation::kAcknowledge);
    receive(other);
    receive(packet_of(Operation::kSendOnly, 101));
    EXPECT_EQ(end.completions, (Completions{done(0, 1)}));
    EXPECT_TRUE(progress().empty());
    EXPECT_FALSE(end.requester.failed());
}

TEST_F(requester, does_not_send_again_what_is_acknowledged_meanwhile)
{
    for (int i = 0; i < 4; ++i)
        post(Op::kSend, 1);
    progress(0);
    end.link_room = 1;
    EXPECT_EQ(psns(progress(1000)), (std::vector<uint32_t>{100}));
    receive(acknowledge_of(102), 1001);  // of the first round
    EXPECT_EQ(end.completions.size(), 3u);
    EXPECT_EQ(psns(progress(1001)), (std::vector<uint32_t>{103}));
    receive(acknowledge_of(103), 1002);
    EXPECT_EQ(end.completions.size(), 4u);
    EXPECT_EQ(end.requester.next_deadline(), kNever);
}

TEST_F(requester, fails_when_results_cannot_be_stored)
{
    post(Op::kRead, 10);
    end.posted[0].local_fails = true;
    progress();
    receive(data_of(Operation::kReadResponseOnly, 100, pattern(10)));
    EXPECT_EQ(end.completions, (Completions{{0, IBV_WC_LOC_PROT_ERR, 0}}));
}

}  // namespace

}  // namespace urxe::transport::test
