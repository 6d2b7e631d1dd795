// SPDX-License-Identifier: BSD-2-Clause
// RoCEv2 packets: any bytes are refused, or give values that build the same bytes again, apart from reserved
// bits, pad and ICRC.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "wire/icrc.hh"
#include "wire/packet.hh"

namespace {

using namespace urxe::wire;

void require(bool condition)
{
    if (!condition)
        abort();
}

/// Sets what no value stands for to the zeroes that build() writes.
void clear_reserved(uint8_t *bytes, size_t size, const Packet &packet)
{
    const OpcodeInfo &info = opcode_info(bytes[0]);
    bytes[4] &= 0xc0;
    bytes[8] &= 0x80;
    uint8_t *at = bytes + kBthSize;
    if (info.has(kHasDeth))
        at[4] = 0;
    if (info.has(kHasXrceth)) {
        at[0] = 0;
        at += kXrcethSize;
    }
    if (info.has(kHasFeth)) {
        memset(at, 0, 3);
        at[3] &= 0x3f;
    }
    memset(bytes + size - kIcrcSize - packet.bth.pad, 0, kIcrcSize + packet.bth.pad);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    constexpr Flow kFlow = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1},
                            {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2},
                            0xc000,
                            kRoceUdpPort};
    icrc_check(kFlow, {data, size});
    Packet packet{};
    if (parse({data, size}, packet) != Reason::kNone)
        return 0;
    require(size <= kMaxPacketSize);
    require(packet.payload.data() >= data &&
            packet.payload.data() + packet.payload.size() + kIcrcSize <= data + size);

    uint8_t expected[kMaxPacketSize];
    memcpy(expected, data, size);
    clear_reserved(expected, size, packet);
    uint8_t built[kMaxPacketSize];
    require(build(packet, built) == size);
    require(memcmp(built, expected, size) == 0);
    require(build(packet, {built, size - 1}) == 0);

    icrc_seal(kFlow, {built, size});
    require(icrc_check(kFlow, {built, size}) == 0);
    return 0;
}
