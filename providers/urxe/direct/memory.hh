// SPDX-License-Identifier: BSD-2-Clause
// Memory that a request names: what its keys permit, and moving bytes between two processes' memory.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "process.hh"

namespace urxe::direct {

/// How a piece of memory is reached.
enum class Way : uint8_t {
    kPointer,  ///< by its address in this process
    kOwn,      ///< in this process, but perhaps not there: through the kernel, which tells
    kPeer,     ///< by its address in the peer, through the kernel
    kNull,     ///< not at all: writes vanish and reads give zeroes
    kForeign,  ///< another process made the domain and the region: by `key`, looked up each time that it is touched
};

struct Piece {
    uint64_t address;
    uint64_t length;
    Way way;
    bool may_be_missing;  ///< whether it is there is known once it is touched: paged on demand, or foreign
    uint16_t slot;        ///< kForeign: of the process
    uint32_t key;         ///< kForeign
};
static_assert(sizeof(Piece) == 24);

constexpr uint32_t kMaxSegments = 32;

/// What a list of scatter/gather entries comes to.
struct Pieces {
    Piece piece[kMaxSegments];
    uint32_t count;
    uint64_t length;      ///< sum
    bool may_be_missing;  ///< one of them

    /// Makes it empty; it is not when it is made.
    void clear()
    {
        count = 0;
        length = 0;
        may_be_missing = false;
    }
};

/// The region behind a key of `peer`, if it permits a request of that kind: the key is valid, of that protection domain,
/// and covers the bytes with that access (IBV_ACCESS_REMOTE_* and others; 0: reading with a local key). A type 2 window
/// must be the QP's; no window is for local keys, which come with a QP number of 0. IBTA 10.6.3. Under an Access to `peer`,
/// for as long as the piece is used. If another process than `peer` made the domain, its regions are asked too.
bool find_memory(Peer &peer, uint32_t key, uint32_t pd, uint32_t qp_num, uint64_t address, uint64_t length,
                 uint32_t access, Piece &piece);

/// Whether the region or window has those bytes.
bool covers(const shared::MrEntry &entry, uint64_t address, uint64_t length);

/// Whether the key is one of a memory window of type 2 that the QP has bound, so that a request of that QP may invalidate
/// it. Under an Access to another process's `peer`, as is invalidate().
bool can_invalidate(Peer &peer, uint32_t key, uint32_t pd, uint32_t qp_num);

/// Takes the key away. False where can_invalidate() says so. IBTA 10.6.5.
bool invalidate(Peer &peer, uint32_t key, uint32_t pd, uint32_t qp_num);

/// Appends what the entries of a list give. False where one is not permitted, or there are too many.
bool find_pieces(Peer &peer, std::span<const shared::Segment> segments, uint32_t pd, uint32_t access,
                 Pieces &pieces);

enum class Copied : uint8_t {
    kAll,
    kFaultTo,    ///< memory that is written to is not there
    kFaultFrom,  ///< memory that is read is not there
    kGone,       ///< the peer does not live any more
    kRefused,    ///< the kernel does not let this process reach the peer's memory
};

/// Copies `length` bytes, of which both sides have enough, in ascending order of address: who sees the last byte sees all.
Copied copy(Peer &peer, std::span<const Piece> to, std::span<const Piece> from, uint64_t length);

/// The `length` bytes of a list from `offset` on, which it has.
void part_of(const Pieces &whole, uint64_t offset, uint64_t length, Pieces &part);

/// Copies from a buffer to memory.
Copied scatter(Peer &peer, std::span<const Piece> to, const uint8_t *from, uint64_t length);

/// Copies from memory to a buffer.
Copied gather(Peer &peer, uint8_t *to, std::span<const Piece> from, uint64_t length);

/// Compares and swaps, or adds, or writes 8 bytes as one, seen by all other atomics on the peer's memory as such
/// (IBV_ATOMIC_HCA); gives what was there.
Copied atomic(Peer &peer, const Piece &piece, ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap,
              uint64_t &original);

}  // namespace urxe::direct
