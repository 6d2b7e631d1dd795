// SPDX-License-Identifier: BSD-2-Clause
// Requests, and responses written by hand.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "packets.hh"
#include "transport/requester.hh"

namespace urxe::transport::test {

using wire::NakCode;
using wire::Operation;
using wire::Transport;

constexpr uint32_t kMtu = 256;
constexpr uint32_t kFirst = 100;  // PSN

constexpr Completion done(uint32_t index, uint32_t byte_count)
{
    return {index, IBV_WC_SUCCESS, byte_count};
}

inline std::vector<Operation> operations(const std::vector<Sent> &packets)
{
    std::vector<Operation> all;
    for (const Sent &one : packets)
        all.push_back(one.operation());
    return all;
}

inline std::vector<uint32_t> psns(const std::vector<Sent> &packets)
{
    std::vector<uint32_t> all;
    for (const Sent &one : packets)
        all.push_back(one.psn());
    return all;
}

inline Request message(Op op, uint32_t length, Extra extra = Extra::kNone)
{
    return {.op = op, .extra = extra, .length = length, .rkey = 0x55, .address = 0x1000, .extra_value = 0x99};
}

class requester : public testing::Test {
protected:
    void TearDown() override { EXPECT_EQ(end.violation, ""); }

    uint32_t post(Op op, uint32_t length, Extra extra = Extra::kNone)
    {
        return end.post(message(op, length, extra), pattern(length));
    }
    void receive(const wire::Packet &packet, uint64_t now = 0) { end.requester.receive(packet, now); }
    std::vector<Sent> progress(uint64_t now = 0) { return progress_requester(end, now); }
    using Completions = std::vector<Completion>;

    Endpoint end;
};

}  // namespace urxe::transport::test
