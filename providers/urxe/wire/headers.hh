// SPDX-License-Identifier: BSD-2-Clause
// The transport headers: values in host order, and the bytes that they have on the wire.
//
// decode() reads, and encode() writes, exactly the header's size at the pointer. Reserved bits are written as
// zero and not read; numbers that are narrower on the wire than here lose their upper bits.
#pragma once

#include <cstdint>

#include "wire/bytes.hh"
#include "wire/opcode.hh"

namespace urxe::wire {

/// Base transport header (IBTA 9.2). The transport version is always 0 and has no member.
struct Bth {
    uint8_t opcode;
    bool solicited;
    bool migrated;
    uint8_t pad;  // bytes between payload and ICRC, 0 to 3
    uint16_t pkey;
    bool fecn;
    bool becn;
    uint32_t dest_qpn;  // 24 bits
    bool ack_request;
    uint32_t psn;  // 24 bits
};

constexpr unsigned bth_version(const uint8_t *from)
{
    return from[1] & 0x0fu;
}

constexpr void decode(const uint8_t *from, Bth &bth)
{
    bth.opcode = from[0];
    bth.solicited = (from[1] & 0x80) != 0;
    bth.migrated = (from[1] & 0x40) != 0;
    bth.pad = from[1] >> 4 & 3;
    bth.pkey = load16(from + 2);
    bth.fecn = (from[4] & 0x80) != 0;
    bth.becn = (from[4] & 0x40) != 0;
    bth.dest_qpn = load24(from + 5);
    bth.ack_request = (from[8] & 0x80) != 0;
    bth.psn = load24(from + 9);
}

constexpr void encode(uint8_t *to, const Bth &bth)
{
    to[0] = bth.opcode;
    to[1] = static_cast<uint8_t>((bth.solicited ? 0x80 : 0) | (bth.migrated ? 0x40 : 0) | (bth.pad & 3) << 4);
    store_big<2>(to + 2, bth.pkey);
    to[4] = static_cast<uint8_t>((bth.fecn ? 0x80 : 0) | (bth.becn ? 0x40 : 0));
    store_big<3>(to + 5, bth.dest_qpn);
    to[8] = bth.ack_request ? 0x80 : 0;
    store_big<3>(to + 9, bth.psn);
}

/// Datagram extended transport header (IBTA 9.3.2).
struct Deth {
    uint32_t qkey;
    uint32_t source_qpn;  // 24 bits
};

constexpr void decode(const uint8_t *from, Deth &deth)
{
    deth.qkey = load32(from);
    deth.source_qpn = load24(from + 5);
}

constexpr void encode(uint8_t *to, const Deth &deth)
{
    store_big<4>(to, deth.qkey);
    to[4] = 0;
    store_big<3>(to + 5, deth.source_qpn);
}

/// XRC extended transport header (IBTA A14).
struct Xrceth {
    uint32_t srqn;  // 24 bits
};

constexpr void decode(const uint8_t *from, Xrceth &xrceth)
{
    xrceth.srqn = load24(from + 1);
}

constexpr void encode(uint8_t *to, const Xrceth &xrceth)
{
    to[0] = 0;
    store_big<3>(to + 1, xrceth.srqn);
}

/// What a FLUSH makes sure of, as bits of Feth::placement (IBTA A19).
constexpr uint8_t kPlacementGlobal = 1;
constexpr uint8_t kPlacementPersistent = 2;

/// What a FLUSH covers, as Feth::selectivity: the range that the RETH gives, or the whole memory region (IBTA
/// A19).
constexpr uint8_t kSelectRange = 0;
constexpr uint8_t kSelectRegion = 1;

/// FLUSH extended transport header (IBTA A19).
struct Feth {
    uint8_t placement;    // 4 bits
    uint8_t selectivity;  // 2 bits
};

constexpr void decode(const uint8_t *from, Feth &feth)
{
    feth.placement = from[3] & 0x0f;
    feth.selectivity = from[3] >> 4 & 3;
}

constexpr void encode(uint8_t *to, const Feth &feth)
{
    store_big<4>(to, (feth.selectivity & 3u) << 4 | (feth.placement & 0x0fu));
}

/// RDMA extended transport header (IBTA 9.3.3).
struct Reth {
    uint64_t address;
    uint32_t rkey;
    uint32_t length;
};

constexpr void decode(const uint8_t *from, Reth &reth)
{
    reth.address = load64(from);
    reth.rkey = load32(from + 8);
    reth.length = load32(from + 12);
}

constexpr void encode(uint8_t *to, const Reth &reth)
{
    store_big<8>(to, reth.address);
    store_big<4>(to + 8, reth.rkey);
    store_big<4>(to + 12, reth.length);
}

/// Atomic extended transport header (IBTA 9.3.4).
struct AtomicEth {
    uint64_t address;
    uint32_t rkey;
    uint64_t swap_or_add;
    uint64_t compare;
};

constexpr void decode(const uint8_t *from, AtomicEth &atomic)
{
    atomic.address = load64(from);
    atomic.rkey = load32(from + 8);
    atomic.swap_or_add = load64(from + 12);
    atomic.compare = load64(from + 20);
}

constexpr void encode(uint8_t *to, const AtomicEth &atomic)
{
    store_big<8>(to, atomic.address);
    store_big<4>(to + 8, atomic.rkey);
    store_big<8>(to + 12, atomic.swap_or_add);
    store_big<8>(to + 20, atomic.compare);
}

/// ACK extended transport header (IBTA 9.3.5). codes.hh takes the syndrome apart.
struct Aeth {
    uint8_t syndrome;
    uint32_t msn;  // 24 bits
};

constexpr void decode(const uint8_t *from, Aeth &aeth)
{
    aeth.syndrome = from[0];
    aeth.msn = load24(from + 1);
}

constexpr void encode(uint8_t *to, const Aeth &aeth)
{
    to[0] = aeth.syndrome;
    store_big<3>(to + 1, aeth.msn);
}

/// Atomic ACK extended transport header: what was there before (IBTA 9.5.3).
struct AtomicAckEth {
    uint64_t original;
};

constexpr void decode(const uint8_t *from, AtomicAckEth &atomic_ack)
{
    atomic_ack.original = load64(from);
}

constexpr void encode(uint8_t *to, const AtomicAckEth &atomic_ack)
{
    store_big<8>(to, atomic_ack.original);
}

/// Immediate data (IBTA 9.3.6), as a number: the verbs have it in network order.
struct ImmDt {
    uint32_t value;
};

constexpr void decode(const uint8_t *from, ImmDt &immediate)
{
    immediate.value = load32(from);
}

constexpr void encode(uint8_t *to, const ImmDt &immediate)
{
    store_big<4>(to, immediate.value);
}

/// Invalidate extended transport header (IBTA 9.3.7).
struct Ieth {
    uint32_t rkey;
};

constexpr void decode(const uint8_t *from, Ieth &ieth)
{
    ieth.rkey = load32(from);
}

constexpr void encode(uint8_t *to, const Ieth &ieth)
{
    store_big<4>(to, ieth.rkey);
}

}  // namespace urxe::wire
