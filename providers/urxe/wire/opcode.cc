// SPDX-License-Identifier: BSD-2-Clause
// The table of opcodes (IBTA 9.2.1, 9.4 and the annexes A14, A17, A19).
#include "wire/opcode.hh"

#include <array>

#include "wire/codes.hh"

namespace urxe::wire {

namespace {

constexpr unsigned headers_size(uint16_t headers)
{
    constexpr unsigned kSizes[] = {kDethSize, kXrcethSize,       kFethSize,      kRethSize, kAtomicEthSize,
                                   kAethSize, kAtomicAckEthSize, kImmediateSize, kIethSize};
    unsigned size = kBthSize;
    for (unsigned i = 0; i < std::size(kSizes); ++i) {
        if ((headers >> i & 1) != 0)
            size += kSizes[i];
    }
    return size;
}

using Table = std::array<OpcodeInfo, 256>;

struct Row {
    Operation operation;
    Kind kind;
    Position position;
    PayloadRule payload;
    uint16_t headers;
    bool response = false;
};

/// What UC, RC and XRC share.
constexpr Row kMessages[] = {
    {Operation::kSendFirst, Kind::kSend, Position::kFirst, PayloadRule::kFull, 0},
    {Operation::kSendMiddle, Kind::kSend, Position::kMiddle, PayloadRule::kFull, 0},
    {Operation::kSendLast, Kind::kSend, Position::kLast, PayloadRule::kNotEmpty, 0},
    {Operation::kSendLastWithImmediate, Kind::kSend, Position::kLast, PayloadRule::kNotEmpty, kHasImmediate},
    {Operation::kSendOnly, Kind::kSend, Position::kOnly, PayloadRule::kAny, 0},
    {Operation::kSendOnlyWithImmediate, Kind::kSend, Position::kOnly, PayloadRule::kAny, kHasImmediate},
    {Operation::kWriteFirst, Kind::kWrite, Position::kFirst, PayloadRule::kFull, kHasReth},
    {Operation::kWriteMiddle, Kind::kWrite, Position::kMiddle, PayloadRule::kFull, 0},
    {Operation::kWriteLast, Kind::kWrite, Position::kLast, PayloadRule::kNotEmpty, 0},
    {Operation::kWriteLastWithImmediate, Kind::kWrite, Position::kLast, PayloadRule::kNotEmpty,
     kHasImmediate},
    {Operation::kWriteOnly, Kind::kWrite, Position::kOnly, PayloadRule::kAny, kHasReth},
    {Operation::kWriteOnlyWithImmediate, Kind::kWrite, Position::kOnly, PayloadRule::kAny,
     kHasReth | kHasImmediate},
};

/// What RC and XRC have beyond that.
constexpr Row kReliable[] = {
    {Operation::kReadRequest, Kind::kReadRequest, Position::kOnly, PayloadRule::kNone, kHasReth},
    {Operation::kReadResponseFirst, Kind::kReadResponse, Position::kFirst, PayloadRule::kFull, kHasAeth,
     true},
    {Operation::kReadResponseMiddle, Kind::kReadResponse, Position::kMiddle, PayloadRule::kFull, 0, true},
    {Operation::kReadResponseLast, Kind::kReadResponse, Position::kLast, PayloadRule::kNotEmpty, kHasAeth,
     true},
    {Operation::kReadResponseOnly, Kind::kReadResponse, Position::kOnly, PayloadRule::kAny, kHasAeth, true},
    {Operation::kAcknowledge, Kind::kAcknowledge, Position::kOnly, PayloadRule::kNone, kHasAeth, true},
    {Operation::kAtomicAcknowledge, Kind::kAtomicAcknowledge, Position::kOnly, PayloadRule::kNone,
     kHasAeth | kHasAtomicAckEth, true},
    {Operation::kCompareSwap, Kind::kCompareSwap, Position::kOnly, PayloadRule::kNone, kHasAtomicEth},
    {Operation::kFetchAdd, Kind::kFetchAdd, Position::kOnly, PayloadRule::kNone, kHasAtomicEth},
    {Operation::kSendLastWithInvalidate, Kind::kSend, Position::kLast, PayloadRule::kNotEmpty, kHasIeth},
    {Operation::kSendOnlyWithInvalidate, Kind::kSend, Position::kOnly, PayloadRule::kAny, kHasIeth},
    {Operation::kFlush, Kind::kFlush, Position::kOnly, PayloadRule::kNone, kHasFeth | kHasReth},
    {Operation::kAtomicWrite, Kind::kAtomicWrite, Position::kOnly, PayloadRule::kEight, kHasReth},
};

constexpr Row kDatagrams[] = {
    {Operation::kSendOnly, Kind::kSend, Position::kOnly, PayloadRule::kAny, 0},
    {Operation::kSendOnlyWithImmediate, Kind::kSend, Position::kOnly, PayloadRule::kAny, kHasImmediate},
};

/// request_header is what every request of that transport carries, and no response.
template <size_t Count>
constexpr void add(Table &table, Transport transport, const Row (&rows)[Count], uint16_t request_header)
{
    for (const Row &row : rows) {
        auto headers = static_cast<uint16_t>(row.headers | (row.response ? 0 : request_header));
        table[opcode_of(transport, row.operation)] = {
            transport,   row.kind, row.position,
            row.payload, headers,  static_cast<uint8_t>(headers_size(headers)),
            row.response};
    }
}

constexpr Table make_table()
{
    Table table{};
    add(table, Transport::kRc, kMessages, 0);
    add(table, Transport::kRc, kReliable, 0);
    add(table, Transport::kUc, kMessages, 0);
    add(table, Transport::kUd, kDatagrams, kHasDeth);
    add(table, Transport::kXrc, kMessages, kHasXrceth);
    add(table, Transport::kXrc, kReliable, kHasXrceth);
    table[kCnpOpcode] = {Transport::kCongestion,
                         Kind::kCongestionNotification,
                         Position::kOnly,
                         PayloadRule::kSixteen,
                         0,
                         kBthSize,
                         false};
    return table;
}

constexpr Table kTable = make_table();

}  // namespace

const OpcodeInfo &opcode_info(uint8_t opcode)
{
    return kTable[opcode];
}

bool OpcodeInfo::allows_payload(size_t size) const
{
    switch (payload) {
        case PayloadRule::kNone:
            return size == 0;
        case PayloadRule::kFull:
            return mtu_code(size) != 0;
        case PayloadRule::kNotEmpty:
            return size != 0 && size <= kMaxMtu;
        case PayloadRule::kAny:
            return size <= kMaxMtu;
        case PayloadRule::kEight:
            return size == 8;
        case PayloadRule::kSixteen:
            return size == 16;
    }
    return false;
}

}  // namespace urxe::wire
