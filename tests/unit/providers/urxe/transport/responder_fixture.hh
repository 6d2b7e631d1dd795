// SPDX-License-Identifier: BSD-2-Clause
// Requests written by hand, and what a responder has to say to them.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "packets.hh"
#include "transport/responder.hh"

namespace urxe::transport::test {

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

inline Reply ack(uint32_t psn, uint32_t msn)
{
    return {Operation::kAcknowledge, psn, wire::ack_syndrome(31), msn};
}

inline Reply nak(uint32_t psn, NakCode code, uint32_t msn = 0)
{
    return {Operation::kAcknowledge, psn, wire::nak_syndrome(code), msn};
}

inline Reply rnr_nak(uint32_t psn, uint32_t msn = 0)
{
    return {Operation::kAcknowledge, psn, wire::rnr_nak_syndrome(Endpoint::kResponder.min_rnr_timer), msn};
}

inline std::vector<Reply> replies(const std::vector<Sent> &packets)
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

}  // namespace urxe::transport::test
