// SPDX-License-Identifier: BSD-2-Clause
// What processes on one host share: the part of a process's objects that its peers read and write by themselves.
//
// Each process that has a device open owns one heap (heap.hh) that other processes of the same user map. A request is
// carried out by whoever posts it: the poster takes a receive from the target's queue, copies the data into the target's
// memory, and puts the completion into the target's queue. The target need not run for that.
//
// Whoever maps a heap can write to it, so nothing in it is trusted: the owner keeps its own copy of whatever decides about
// memory or about what the program sees (requests and their wr_id, sizes, which receives are outstanding), and checks what
// it finds here against it; a peer checks every offset and index before it follows it.
//
// There are no pointers in here: objects are known by their index in a table, blocks by their offset in the heap. All
// sizes and offsets are in bytes.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/lock.hh"

namespace urxe::shared {

constexpr size_t kCacheLine = 64;

/// A place in a heap; 0 is the header, and means "none" for every other block.
using Offset = uint64_t;

/// A table that grows by chunks, which never move or go away while the heap exists. Index 0 is not used.
template <class T, uint32_t ChunkBits, uint32_t DirectoryBits>
struct Table {
    using Entry = T;
    static constexpr uint32_t kChunkBits = ChunkBits;
    static constexpr uint32_t kEntriesPerChunk = 1U << ChunkBits;
    static constexpr uint32_t kChunks = 1U << DirectoryBits;
    static constexpr uint32_t kCapacity = kEntriesPerChunk * kChunks;

    std::atomic<Offset> chunks[kChunks];
};

/// What a memory key stands for.
enum class MrKind : uint32_t {
    kMemory,   ///< memory of the owner; a peer reaches it with process_vm_*, or maps the buffer that it is in
    kNull,     ///< writes vanish and reads give zeroes
    kWindow1,  ///< a memory window of type 1, within the region that `region` names
    kWindow2,  ///< one of type 2, for requests of the QP `qp_num`
};

constexpr bool is_window(MrKind kind)
{
    return kind == MrKind::kWindow1 || kind == MrKind::kWindow2;
}

/// A memory region or a bound memory window, by its key: bits 31 to 8 are the index in the table, bits 7 to 0 the rest.
struct alignas(kCacheLine) MrEntry {
    /// The key under which it can be reached now; 0: it cannot. Written by the owner, with release, after all else; a peer
    /// only ever takes it away from a window of type 2, which it invalidates.
    std::atomic<uint32_t> key;
    MrKind kind;
    uint32_t pd;
    uint32_t access;  ///< ibv_access_flags
    uint64_t iova;    ///< where requests see its first byte
    uint64_t length;
    uint64_t address;             ///< where the owner has its first byte
    uint32_t buffer;              ///< that it is in: index in the owner's table of buffers; 0: it is in none
    uint32_t region;              ///< of a window: key of the region
    uint32_t qp_num;              ///< kWindow2: whose requests it is for
    uint32_t is_paged_on_demand;  ///< its pages may be missing: never touched but through the kernel
    uint32_t context;             ///< of a region: number of the context that it was made in
    /// The key under which somebody who imported it has deregistered it, after taking the key away; 0: nobody.
    std::atomic<uint32_t> lost_key;
};
static_assert(sizeof(MrEntry) == 64);

/// Memory in a file of its own that peers map.
struct BufferEntry {
    std::atomic<uint32_t> generation;  ///< differs with each buffer; 0: there is none now
    uint32_t file;                     ///< the file's number in the owner
    uint64_t inode;
    uint64_t address;  ///< where the owner has it
    /// Of device memory: its bytes, written last, with release; 0: it is none.
    std::atomic<uint64_t> dm_length;
    uint32_t dm_context;  ///< number of the context that it was made in
    uint32_t unused;
};
static_assert(sizeof(BufferEntry) == 40);

/// A protection domain, for those who import it.
struct PdEntry {
    std::atomic<uint32_t> number;  ///< 0: there is none. Written with release, after `context`
    uint32_t context;              ///< number of the context that it was made in
};
static_assert(sizeof(PdEntry) == 8);

/// A scatter entry of a posted receive.
struct Segment {
    uint64_t address;
    uint32_t length;
    uint32_t lkey;
};
static_assert(sizeof(Segment) == sizeof(ibv_sge));

/// A posted receive; `segments` follow it.
struct Receive {
    uint32_t num_segments;
    uint32_t length;  ///< sum of the segments'
    /// Of an SRQ: index and (from bit 32) generation of the QP that it was last about to be taken for; and kIsUnexpected.
    std::atomic<uint64_t> taker;
    Segment segments[];
};
static_assert(sizeof(Receive) == 16);
/// A bit of Receive::taker: TagList::unexpected counts it.
constexpr uint64_t kIsUnexpected = 1U << 31;

/// What Receive::taker says of a QP.
constexpr uint64_t taker_of(uint32_t qp, uint32_t generation)
{
    return uint64_t{generation} << 32 | qp;
}

/// A buffer that is posted with a tag; `segments` follow it.
struct TagEntry {
    uint64_t tag;
    uint64_t mask;                ///< the bits of a message's tag that are compared
    std::atomic<uint32_t> state;  ///< TagState
    uint32_t next;                ///< slot of the one that was posted after it; no slot: it is the last
    uint32_t number;              ///< grows with each that is posted
    uint32_t num_segments;
    std::atomic<uint64_t> taker;  ///< as Receive has it
    uint32_t length;              ///< sum of the segments'
    uint32_t unused;
    Segment segments[];
};
static_assert(sizeof(TagEntry) == 48);

enum TagState : uint32_t {
    kTagUnlinked,  ///< it is not in the list
    kTagListed,    ///< messages are compared with it
    kTagTaken,     ///< it is taken, or its owner has deleted it, but may be in the list
};

/// The tags of a tag-matching SRQ, in the order in which they were posted. Whoever follows the list takes those out that are
/// taken, but never the last: the owner appends to it. Under the lock of the SRQ's receives.
struct alignas(kCacheLine) TagList {
    Offset entries;  ///< slots, `stride` bytes each
    uint32_t slots;  ///< 0: the SRQ matches no tags
    uint32_t stride;
    uint32_t first;        ///< slot
    uint32_t next_number;  ///< that the next that is posted will have
    /// Tags of that number and above wait: there are unexpected messages that the program may match with them by itself.
    uint32_t active_end;
    uint32_t unexpected;  ///< messages so far
    uint32_t handled;     ///< how many of them the program has said that it has seen
    uint32_t unused[7];

    /// When program and queue know of the same messages, all tags take part.
    void settle()
    {
        if (handled == unexpected)
            active_end = next_number;
    }
};
static_assert(sizeof(TagList) == 64);

/// Posted receives of a QP or an SRQ. A receive is put into a slot; slots are taken in the order in which they were posted.
struct alignas(kCacheLine) ReceiveQueue {
    Offset receives;  ///< slots, `stride` bytes each
    Offset
        order;  ///< of an SRQ: ring of the numbers of posted slots, uint32_t each. 0: slot n is at n & mask
    uint32_t mask;  ///< slots - 1, a power of two less one
    uint32_t stride;
    uint32_t max_segments;
    uint32_t pd;
    std::atomic<uint32_t> limit;  ///< of an SRQ: attention is wanted once fewer are left; 0: not wanted

    alignas(
        kCacheLine) std::atomic<uint32_t> posted;  ///< receives so far; written by the owner, with release
    alignas(kCacheLine) Lock lock;                 ///< of those who take receives
    std::atomic<uint32_t> taken;                   ///< receives so far
    uint32_t posted_before;                        ///< as far as those who take receives last looked
};
static_assert(sizeof(ReceiveQueue) == 192);

/// A completion counter. Whoever carries a request out counts it, so that a peer can count what it likes.
struct alignas(kCacheLine) CountEntry {
    uint32_t counts_bytes;  ///< of successes; else requests
    uint32_t unused;
    std::atomic<uint64_t> successes, failures;

    void add(bool is_success, uint64_t bytes)
    {
        if (is_success)
            successes.fetch_add(counts_bytes != 0 ? bytes : 1, std::memory_order_relaxed);
        else
            failures.fetch_add(1, std::memory_order_relaxed);
    }
};
static_assert(sizeof(CountEntry) == 64);

/// What is counted at a QP of what others ask of it.
enum class Counted : uint32_t { kReceives, kReads, kWrites, kKinds };

/// How far a QP is, as ibv_qp_state; with what its peers must know.
struct alignas(kCacheLine) QpEntry {
    std::atomic<uint32_t> qp_num;      ///< 0: there is none
    std::atomic<uint32_t> generation;  ///< grows with each QP that has this number
    std::atomic<uint32_t> state;       ///< ibv_qp_state; a peer only ever sets IBV_QPS_ERR
    uint32_t type;                     ///< ibv_qp_type
    uint32_t access;                   ///< ibv_access_flags that requests of the peer may use
    uint32_t pd;
    uint32_t dest_qp_num;
    uint32_t qkey;
    uint32_t recv_cq;
    uint32_t srq;  ///< 0: receives are in `receives`
    uint32_t xrcd;
    uint32_t mtu;            ///< bytes; a datagram is no longer
    uint32_t min_rnr_timer;  ///< its code
    /// What the owner must look at, bits of Attention; a peer sets bits and then the QP's in ProcessHeader::attention.
    std::atomic<uint32_t> attention;
    uint64_t unused;
    ibv_gid local_gid;  ///< of the connection
    ibv_gid remote_gid;
    std::atomic<uint32_t> is_established;  ///< a request has arrived since it went to RTR
    uint32_t counters[static_cast<uint32_t>(Counted::kKinds)];  ///< by Counted; 0: none
    uint32_t unused_too[4];
    ReceiveQueue receives;
};
static_assert(sizeof(QpEntry) == 320);

/// Why the owner of a QP or SRQ must look at it.
enum Attention : uint32_t {
    kAttentionError = 1,         ///< a responder put it in the error state: flush, and tell
    kAttentionAccessError = 2,   ///< because of a violation of access rights (IBV_EVENT_QP_ACCESS_ERR)
    kAttentionRequestError = 4,  ///< because of an invalid request (IBV_EVENT_QP_REQ_ERR)
    kAttentionFatal = 8,         ///< because its completion queue is full (IBV_EVENT_QP_FATAL)
    kAttentionEstablished = 16,  ///< the first request arrived in RTR (IBV_EVENT_COMM_EST)
    kAttentionPackets = 64,      ///< the peer cannot reach this process's memory: packets go both ways
    kAttentionLimit = 32,        ///< of an SRQ: fewer receives than the limit are left
};

struct alignas(kCacheLine) SrqEntry {
    std::atomic<uint32_t> generation;  ///< odd: there is one now
    std::atomic<uint32_t> attention;
    uint32_t xrcd, cq;  ///< of an XRC SRQ
    uint32_t unused[12];
    TagList tags;
    ReceiveQueue receives;
};
static_assert(sizeof(SrqEntry) == 320);

/// The most bytes that travel in a completion, and are put into the receive's memory when the owner polls it.
constexpr uint32_t kMaxInline = 192;

/// A completion in its ring.
struct alignas(kCacheLine) Completion {
    /// The number of the completion in its queue, from 1; written last, with release. Anything else: not yet there.
    std::atomic<uint32_t> sequence;
    uint32_t qp;  ///< index in the table of QPs
    uint32_t qp_generation;
    uint32_t request;  ///< of a send: its number in the send queue. Of all else: its slot
    uint32_t
        srq;  ///< of a receive: 0, or whose slot it is. Of a tag, or what was asked of the list of tags: whose
    uint32_t byte_len;
    uint32_t imm_data;  ///< in network order; or the invalidated key
    uint32_t src_qp;
    uint64_t timestamp;  ///< of CLOCK_MONOTONIC, nanoseconds; 0: nobody asked
    uint8_t wc_flags;    ///< ibv_wc_flags
    uint8_t status;      ///< ibv_wc_status
    uint8_t opcode;      ///< of a receive: IBV_WC_RECV, _RDMA_WITH_IMM or _TM_NO_TAG less IBV_WC_RECV
    uint8_t kind;        ///< CompletionKind
    uint8_t inline_len;  ///< bytes of `data` that are still to be copied into the receive's memory
    uint8_t sl;
    uint8_t unused[2];
    uint32_t srq_generation;
    uint32_t app_ctx;  ///< of the message's tag-matching header; in host order, as is the tag
    uint64_t tag;
    alignas(kCacheLine) uint8_t data[kMaxInline];
};
static_assert(sizeof(Completion) == 256);

enum CompletionKind : uint8_t {
    kSendCompletion,
    kReceiveCompletion,
    kTagCompletion,  ///< a message was matched with a tag, or its data is there; `request` is the tag's slot
    kRendezvousCompletion,  ///< a rendezvous request was matched with a tag; `data` is its header
    kTagOpCompletion,       ///< of what the owner asked of the list of tags
};

/// Whether a completion is the last of a tag where the QP has failed.
inline bool ends_tag(const Completion &completion)
{
    return completion.kind == kRendezvousCompletion ||
           (completion.kind == kTagCompletion &&
            (completion.status != IBV_WC_SUCCESS || (completion.wc_flags & IBV_WC_TM_DATA_VALID) != 0));
}

/// A QP's attachment to a multicast group.
struct alignas(kCacheLine) GroupEntry {
    std::atomic<uint32_t> qp_num;  ///< 0: there is none. Written with release, after all else
    uint32_t unused[3];
    ibv_gid group;
    char interface[16];  ///< name of the network interface, zero-terminated
};
static_assert(sizeof(GroupEntry) == 64);

/// An end of a pipe of the owner that its peers write to.
struct PipeEnd {
    uint64_t inode;   ///< 0: there is no pipe
    uint32_t number;  ///< in the owner
    uint32_t unused;
};
static_assert(sizeof(PipeEnd) == 16);

/// What a completion queue waits for before it makes an event.
enum class Armed : uint32_t { kNo, kSolicited, kAny };

/// Who puts a completion in and then looks whether the queue is armed needs a fence in between, so that whoever arms it and
/// then looks for completions misses none. It is spared where no queue was ever armed: the first time, the owner has all
/// processors fence instead (Process::fence_others()).
enum class Fences : uint32_t {
    kSpared,
    kBegun,  ///< there may still be some who saw kSpared
    kEach    ///< whoever puts completions in fences
};

struct alignas(kCacheLine) CqEntry {
    std::atomic<uint32_t> generation;  ///< odd: there is one now
    uint32_t mask;                     ///< slots of the ring - 1, a power of two less one
    uint32_t limit;                    ///< completions that it may hold
    uint32_t wants_timestamps;
    Offset ring;
    PipeEnd channel;  ///< gets a byte per event
    /// An event that any completion makes comes with the `event_count`th after it was asked for (0: however many there are),
    /// or `event_period` microseconds after the first (0: whenever that is); 0 and 0: with the first.
    uint32_t event_count, event_period;
    std::atomic<Fences> fences;
    uint32_t unused[3];

    alignas(kCacheLine) Lock lock;  ///< of those who put completions in
    std::atomic<uint32_t> produced;
    uint32_t claimed;               ///< `produced` once the completion at hand is there
    std::atomic<uint32_t> overrun;  ///< not 0: it has lost a completion
    uint32_t consumed_before;       ///< as far as those who put completions in last looked

    alignas(kCacheLine) std::atomic<uint32_t> consumed;  ///< written by the owner

    alignas(kCacheLine) std::atomic<Armed> armed;
    std::atomic<uint32_t> events;  ///< that were made and not yet taken
    uint32_t untold;               ///< completions since an event was asked for; under `lock`
    /// When the owner is to make the event that they have not made, in nanoseconds of CLOCK_MONOTONIC; 0: there is no such time.
    std::atomic<uint64_t> event_due;
};
static_assert(sizeof(CqEntry) == 256);

/// Somebody who works on this process's objects right now. What the owner takes away (a region, a QP's connection), it
/// first marks as gone and then waits until each slot has been free or taken anew.
struct alignas(kCacheLine) AccessSlot {
    std::atomic<uint32_t> thread;  ///< its thread id; 0: free
    std::atomic<uint32_t> round;   ///< grows with each time that the slot is given back
    /// The memory of the owner that it lets the kernel copy. It is here, where the kernel reads it as the copy begins, so that
    /// the owner can make it nothing: once kRevoked is set in `thread` and the length is zero, no copy begins any more.
    std::atomic<uint64_t> address, length;
    uint32_t unused[10];
};
/// A bit of AccessSlot::thread: the owner has taken the access away.
constexpr uint32_t kRevoked = 1U << 31;
constexpr uint32_t kAccessSlots = 64;

constexpr uint64_t kMagic = 0x3130'6578'7275'000a;  ///< changes with each change of this file

/// The least significant bits of a QP number that are the QP's index in its process; those above are the process's slot.
constexpr uint32_t kQpIndexBits = 14;
constexpr uint32_t kProcessSlots = 1U << (24 - kQpIndexBits);

constexpr uint32_t slot_of_qp(uint32_t qp_num)
{
    return qp_num >> kQpIndexBits;
}

constexpr uint32_t index_of_qp(uint32_t qp_num)
{
    return qp_num & ((1U << kQpIndexBits) - 1);
}

using MrTable = Table<MrEntry, 10, 14>;
using PdTable = Table<PdEntry, 8, 6>;
using QpTable = Table<QpEntry, 6, 8>;
using CqTable = Table<CqEntry, 6, 10>;
using SrqTable = Table<SrqEntry, 6, 10>;
using GroupTable = Table<GroupEntry, 6, 6>;
using BufferTable = Table<BufferEntry, 8, 8>;
using CountTable = Table<CountEntry, 6, 6>;
static_assert(MrTable::kCapacity == 1U << 24 && QpTable::kCapacity == 1U << kQpIndexBits);

/// Indices of regions and windows from here on are those of domains that another process made. So no two processes have the
/// same key in one domain, if its maker is one of them.
constexpr uint32_t kFirstForeignMr = MrTable::kCapacity / 2;

// Handles that other processes can import, each with its kind in the upper bits. That of a region is its index.

/// Of device memory; the rest is the index of its buffer.
constexpr uint32_t kDmHandle = 1U << 30;
/// Of a protection domain, which is also the number that its objects have in common: then, from above, the slot of the
/// process that made it, a few bits that differ with each use of the index, and the index.
constexpr uint32_t kPdHandle = 1U << 31;
constexpr uint32_t kPdIndexBits = 14;
constexpr uint32_t kPdVariantBits = 7;
static_assert(PdTable::kCapacity == 1U << kPdIndexBits &&
              kPdIndexBits + kPdVariantBits + 24 - kQpIndexBits == 31);

constexpr uint32_t pd_number(uint32_t slot, uint32_t variant, uint32_t index)
{
    return kPdHandle | slot << (kPdIndexBits + kPdVariantBits) |
           (variant & ((1U << kPdVariantBits) - 1)) << kPdIndexBits | index;
}

constexpr uint32_t slot_of_pd(uint32_t number)
{
    return (number & ~kPdHandle) >> (kPdIndexBits + kPdVariantBits);
}

constexpr uint32_t index_of_pd(uint32_t number)
{
    return number & ((1U << kPdIndexBits) - 1);
}

/// The first block of a heap.
struct alignas(kCacheLine) ProcessHeader {
    uint64_t magic;
    uint32_t pid;                     ///< in its PID namespace
    uint32_t slot;                    ///< of its QP numbers
    uint64_t pid_namespace;           ///< inode number
    std::atomic<uint32_t> is_closed;  ///< the process uses no device any more
    uint32_t user;                    ///< effective user id
    PipeEnd wake;                     ///< wakes the helper thread
    PipeEnd lifeline;                 ///< nobody else writes to it: it ends with the program
    uint64_t instance;                ///< a random number, which no other process that had the slot has
    uint64_t probe;                   ///< address, in the owner, of a uint64_t that is kMagic

    alignas(kCacheLine) Lock atomics;  ///< held across an atomic operation on the owner's memory
    alignas(kCacheLine) std::atomic<uint32_t> has_attention;  ///< not 0: bits are set in `attention`
    std::atomic<uint32_t> helper_sleeps;  ///< 0: it looks by itself, and need not be woken
    /// Not 0: others have deregistered regions, whose keys they took away.
    std::atomic<uint32_t> has_lost_regions;
    /// QPs, and behind them SRQs, by index: those whose `attention` is not 0.
    alignas(kCacheLine) std::atomic<uint64_t> attention[(QpTable::kCapacity + SrqTable::kCapacity) / 64];

    AccessSlot access[kAccessSlots];

    MrTable regions;
    QpTable qps;
    CqTable cqs;
    SrqTable srqs;
    BufferTable buffers;
    CountTable counts;
    PdTable pds;

    GroupTable groups;
    std::atomic<uint32_t> num_attachments;
    /// Grows when a peer gets its first attachment, so that senders look for it.
    std::atomic<uint32_t> groups_changed;
};

}  // namespace urxe::shared
