// SPDX-License-Identifier: BSD-2-Clause
// Reads the packets in the folder golden.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/icrc.hh"
#include "wire/packet.hh"

namespace urxe::wire::test {

using Bytes = std::vector<uint8_t>;

/// A packet put together by hand; its ICRC is zeroes.
struct Golden {
    std::string transport;
    std::string operation;
    std::string place;
    std::string direction;
    std::string length;
    Bytes bytes;
    size_t headers_size;
    size_t payload_size;
};

/// One for each opcode that exists.
const std::vector<Golden> &golden_packets();

/// A packet that the kernel sent.
struct Recorded {
    std::string line;
    Flow flow;
    uint16_t identification;
    Bytes bytes;
};

std::vector<Recorded> recorded_packets();

}  // namespace urxe::wire::test
