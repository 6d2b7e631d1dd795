// SPDX-License-Identifier: BSD-2-Clause
// Opcodes of packets: what each is, which headers follow the BTH, and how long its payload may be.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urxe::wire {

/// The upper three bits of an opcode (IBTA 9.2.1; XRC: A14; congestion notification: A17).
enum class Transport : uint8_t { kRc = 0x00, kUc = 0x20, kUd = 0x60, kCongestion = 0x80, kXrc = 0xa0 };

/// The lower five bits of an opcode of RC, UC, UD and XRC (IBTA 9.2.1; FLUSH and ATOMIC WRITE: A19).
enum class Operation : uint8_t {
    kSendFirst = 0x00,
    kSendMiddle = 0x01,
    kSendLast = 0x02,
    kSendLastWithImmediate = 0x03,
    kSendOnly = 0x04,
    kSendOnlyWithImmediate = 0x05,
    kWriteFirst = 0x06,
    kWriteMiddle = 0x07,
    kWriteLast = 0x08,
    kWriteLastWithImmediate = 0x09,
    kWriteOnly = 0x0a,
    kWriteOnlyWithImmediate = 0x0b,
    kReadRequest = 0x0c,
    kReadResponseFirst = 0x0d,
    kReadResponseMiddle = 0x0e,
    kReadResponseLast = 0x0f,
    kReadResponseOnly = 0x10,
    kAcknowledge = 0x11,
    kAtomicAcknowledge = 0x12,
    kCompareSwap = 0x13,
    kFetchAdd = 0x14,
    kSendLastWithInvalidate = 0x16,
    kSendOnlyWithInvalidate = 0x17,
    kFlush = 0x1c,
    kAtomicWrite = 0x1d,
};

constexpr uint8_t opcode_of(Transport transport, Operation operation)
{
    return static_cast<uint8_t>(static_cast<unsigned>(transport) | static_cast<unsigned>(operation));
}

/// Congestion notification (CNP), the one opcode of its transport.
constexpr uint8_t kCnpOpcode = 0x81;

/// What a packet belongs to, whichever part of the message it carries.
enum class Kind : uint8_t {
    kSend,
    kWrite,
    kReadRequest,
    kReadResponse,
    kAcknowledge,
    kAtomicAcknowledge,
    kCompareSwap,
    kFetchAdd,
    kFlush,
    kAtomicWrite,
    kCongestionNotification,
};

/// The part of a message that a packet carries.
enum class Position : uint8_t { kFirst, kMiddle, kLast, kOnly };

/// Headers behind the BTH, as bits, in the order in which they follow one another.
enum Header : uint16_t {
    kHasDeth = 1 << 0,
    kHasXrceth = 1 << 1,
    kHasFeth = 1 << 2,
    kHasReth = 1 << 3,
    kHasAtomicEth = 1 << 4,
    kHasAeth = 1 << 5,
    kHasAtomicAckEth = 1 << 6,
    kHasImmediate = 1 << 7,
    kHasIeth = 1 << 8,
};

/// Sizes in bytes.
constexpr size_t kBthSize = 12;
constexpr size_t kDethSize = 8;
constexpr size_t kXrcethSize = 4;
constexpr size_t kFethSize = 4;
constexpr size_t kRethSize = 16;
constexpr size_t kAtomicEthSize = 28;
constexpr size_t kAethSize = 4;
constexpr size_t kAtomicAckEthSize = 8;
constexpr size_t kImmediateSize = 4;
constexpr size_t kIethSize = 4;
constexpr size_t kIcrcSize = 4;

/// How long a payload may be, pad not counted.
enum class PayloadRule : uint8_t {
    kNone,      // no byte
    kFull,      // exactly the path MTU
    kNotEmpty,  // one byte to the path MTU
    kAny,       // nothing to the path MTU
    kEight,     // ATOMIC WRITE
    kSixteen,   // the reserved bytes of a CNP
};

struct OpcodeInfo {
    Transport transport;
    Kind kind;
    Position position;
    PayloadRule payload;
    uint16_t headers;      // bits of Header
    uint8_t headers_size;  // bytes, the BTH among them; 0: there is no such opcode
    bool response;         // goes from responder to requester

    constexpr bool known() const { return headers_size != 0; }
    constexpr bool has(Header header) const { return (headers & header) != 0; }
    constexpr bool starts_message() const
    {
        return position == Position::kFirst || position == Position::kOnly;
    }
    constexpr bool ends_message() const { return position == Position::kLast || position == Position::kOnly; }
    /// Whether a payload of that many bytes can belong to such a packet on some path.
    bool allows_payload(size_t size) const;
};

/// What an opcode says; known() tells whether it exists.
const OpcodeInfo &opcode_info(uint8_t opcode);

}  // namespace urxe::wire
