// SPDX-License-Identifier: BSD-2-Clause
// Keys, and copies between processes.
#include "direct/memory.hh"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace urxe::direct {
namespace {

using shared::MrEntry;
using shared::MrKind;

MrEntry *shared_entry_of(Peer &peer, uint32_t key)
{
    MrEntry *entry = peer.heap.entry(peer.heap.header().regions, key >> 8);
    return entry != nullptr && entry->key.load(std::memory_order_acquire) == key ? entry : nullptr;
}

MrEntry *entry_of(Peer &peer, uint32_t key)
{
    if (key >> 8 == 0)
        return nullptr;
    if (!peer.is_self)
        return shared_entry_of(peer, key);
    MrEntry *entry = peer.process->regions.find(key >> 8);
    if (entry == nullptr || entry->key.load(std::memory_order_acquire) != key)
        return nullptr;
    // A peer that invalidates a window takes its key away where peers look.
    return shared::is_window(entry->kind) && shared_entry_of(peer, key) == nullptr ? nullptr : entry;
}

/// Own memory through the kernel, one piece on each side.
ssize_t copy_once(pid_t pid, bool to_remote, uint64_t local, uint64_t remote, uint64_t length)
{
    const iovec near = {reinterpret_cast<void *>(local), length};
    const iovec far = {reinterpret_cast<void *>(remote), length};
    return to_remote ? process_vm_writev(pid, &near, 1, &far, 1, 0)
                     : process_vm_readv(pid, &near, 1, &far, 1, 0);
}

/// As copy_once(), but with another process. That one may take the access away: then it is as if it were gone.
ssize_t copy_with(Peer &peer, bool to_remote, uint64_t local, uint64_t remote, uint64_t length)
{
    static_assert(offsetof(shared::AccessSlot, length) - offsetof(shared::AccessSlot, address) ==
                  offsetof(iovec, iov_len));
    shared::AccessSlot &slot = Access::slot_of(peer);
    const auto pid = static_cast<pid_t>(peer.pid);
    const iovec near = {reinterpret_cast<void *>(local), length};
    slot.address.store(remote, std::memory_order_relaxed);
    slot.length.store(length, std::memory_order_seq_cst);
    if ((slot.thread.load(std::memory_order_seq_cst) & shared::kRevoked) != 0) {
        errno = ESRCH;
        return -1;
    }
    const auto *far = reinterpret_cast<const iovec *>(&slot.address);
    const ssize_t copied =
        to_remote ? process_vm_writev(pid, &near, 1, far, 1, 0) : process_vm_readv(pid, &near, 1, far, 1, 0);
    if (copied == 0)
        errno = ESRCH;
    return copied;
}

/// Whether a byte of this process's memory can be read.
bool is_there(uint64_t address)
{
    char byte;
    return copy_once(getpid(), false, reinterpret_cast<uintptr_t>(&byte), address, 1) == 1;
}

Copied copy_through_kernel(Peer &peer, const Piece &to, const Piece &from, uint64_t length)
{
    const bool has_peer = to.way == Way::kPeer || from.way == Way::kPeer;
    const bool to_remote = from.way != Way::kPeer;
    for (uint64_t done = 0; done < length;) {
        const uint64_t local = (to_remote ? from.address : to.address) + done;
        const uint64_t remote = (to_remote ? to.address : from.address) + done;
        const ssize_t copied = has_peer ? copy_with(peer, to_remote, local, remote, length - done)
                                        : copy_once(getpid(), to_remote, local, remote, length - done);
        if (copied > 0) {
            done += static_cast<uint64_t>(copied);
            continue;
        }
        switch (errno) {
            case ESRCH:
                return Copied::kGone;
            case EPERM:
            case ENOSYS:
                return Copied::kRefused;
            default:
                break;
        }
        // Which of the two sides is not there, the kernel does not say.
        const bool local_is_there = is_there(local);
        return to_remote == local_is_there ? Copied::kFaultTo : Copied::kFaultFrom;
    }
    return Copied::kAll;
}

/// In ascending order: memcpy() may begin at the end, and a program that watches the last byte would be misled.
void copy_in_order(uint64_t to_address, uint64_t from_address, uint64_t length)
{
    auto *to = reinterpret_cast<char *>(to_address);
    const auto *from = reinterpret_cast<const char *>(from_address);
    if (length > 8) {
        std::memmove(to, from, length - 8);
        std::atomic_thread_fence(std::memory_order_release);
        std::memmove(to + length - 8, from + length - 8, 8);
    } else {
        std::memmove(to, from, length);
    }
}

constexpr char kZeroes[4096] = {};

/// Where the bytes of a region or window of `peer` are, which has them. False: not in memory that is still a region.
bool locate(Peer &peer, const MrEntry *entry, uint64_t address, uint64_t length, Piece &piece)
{
    uint64_t offset = address - entry->iova;
    if (shared::is_window(entry->kind)) {
        // `address` of a window is where it begins, as the region has it.
        const MrEntry *region = entry_of(peer, entry->region);
        const uint64_t start = entry->address + offset;
        if (region == nullptr || shared::is_window(region->kind) || !covers(*region, start, length))
            return false;
        entry = region;
        offset = start - region->iova;
    }
    piece.length = length;
    piece.address = entry->address + offset;
    piece.may_be_missing = entry->is_paged_on_demand != 0;
    switch (entry->kind) {
        case MrKind::kMemory:
            if (peer.is_self) {
                piece.way = piece.may_be_missing ? Way::kOwn : Way::kPointer;
                return true;
            }
            piece.way = Way::kPeer;
            if (const uint32_t buffer = entry->buffer; buffer != 0)
                if (const char *here = find_in_buffer(peer, buffer, piece.address, length); here != nullptr) {
                    piece.address = reinterpret_cast<uintptr_t>(here);
                    piece.way = Way::kPointer;
                    piece.may_be_missing = false;
                }
            return true;
        case MrKind::kNull:
            piece.way = Way::kNull;
            return true;
        default:
            return false;
    }
}

/// Another process that made a domain of `peer`'s, while its regions are used.
class Maker {
public:
    Maker(Peer &peer, uint32_t slot)
        : process_(*peer.process), error_(errno), maker_(process_.find_peer(slot))
    {
        if (maker_ != nullptr && !maker_->is_dead.load(std::memory_order_relaxed))
            access_.emplace(*maker_);
    }
    Maker(const Maker &) = delete;
    Maker &operator=(const Maker &) = delete;
    ~Maker()
    {
        access_.reset();
        if (maker_ != nullptr)
            process_.release_peer(maker_);
        errno = error_;
    }
    explicit operator bool() const { return access_.has_value() && *access_; }
    Peer &peer() const { return *maker_; }

    /// Where the bytes of a foreign piece are. False: not there any more.
    bool locate(const Piece &foreign, Piece &piece) const
    {
        if (!*this)
            return false;
        const MrEntry *entry = entry_of(*maker_, foreign.key);
        return entry != nullptr && covers(*entry, foreign.address, foreign.length) &&
               direct::locate(*maker_, entry, foreign.address, foreign.length, piece);
    }

private:
    Process &process_;
    int error_;
    Peer *maker_;
    std::optional<Access> access_;
};

[[gnu::noinline, gnu::cold]] bool find_foreign(Peer &peer, uint32_t key, uint32_t pd, uint32_t qp_num,
                                               uint64_t address, uint64_t length, uint32_t access,
                                               Piece &piece)
{
    const uint32_t slot = shared::slot_of_pd(pd);
    if ((pd & shared::kPdHandle) == 0 || slot == peer.slot)
        return false;
    const Maker maker(peer, slot);
    if (!maker || !find_memory(maker.peer(), key, pd, qp_num, address, length, access, piece))
        return false;
    if (piece.way != Way::kNull)
        piece = {address, length, Way::kForeign, true, static_cast<uint16_t>(slot), key};
    return true;
}

Copied copy_piece(Peer &peer, const Piece &to, const Piece &from, uint64_t length);

/// Copies where a side is foreign.
[[gnu::noinline, gnu::cold]] Copied copy_foreign(Peer &peer, const Piece &to, const Piece &from,
                                                 uint64_t length)
{
    const bool reads = from.way == Way::kForeign;
    const Copied fault = reads ? Copied::kFaultFrom : Copied::kFaultTo;
    const Piece &other = reads ? to : from;
    Piece foreign = reads ? from : to, found;
    foreign.length = length;
    const Maker maker(peer, foreign.slot);
    if (!maker.locate(foreign, found))
        return fault;
    if (found.way != Way::kPeer)
        return reads ? copy_piece(peer, to, found, length) : copy_piece(peer, found, from, length);
    const auto copy_found = [&](const Piece &near, uint64_t part) {
        const Copied copied =
            reads ? copy_piece(maker.peer(), near, found, part) : copy_piece(maker.peer(), found, near, part);
        // That its process is gone, or out of reach, is no matter of the connection.
        return copied == Copied::kGone || copied == Copied::kRefused ? fault : copied;
    };
    if (other.way != Way::kPeer && other.way != Way::kForeign)
        return copy_found(other, length);
    // The kernel copies between this process and one other.
    char bytes[8192];
    Piece far = other;
    for (uint64_t done = 0; done < length;) {
        const uint64_t part = std::min<uint64_t>(length - done, sizeof bytes);
        const Piece near = {
            .address = reinterpret_cast<uintptr_t>(bytes), .length = part, .way = Way::kPointer};
        far.length = part;
        const Copied first = reads ? copy_found(near, part) : copy_piece(peer, near, far, part);
        if (first != Copied::kAll)
            return first;
        const Copied second = reads ? copy_piece(peer, far, near, part) : copy_found(near, part);
        if (second != Copied::kAll)
            return second;
        found.address += part;
        far.address += part;
        done += part;
    }
    return Copied::kAll;
}

Copied copy_piece(Peer &peer, const Piece &to, const Piece &from, uint64_t length)
{
    if (to.way == Way::kNull)
        return Copied::kAll;
    if (from.way == Way::kNull) {
        for (uint64_t done = 0; done < length; done += sizeof kZeroes) {
            Piece part = to;
            part.address += done;
            const Piece zeroes = {reinterpret_cast<uintptr_t>(kZeroes), sizeof kZeroes, Way::kPointer};
            const Copied copied =
                copy_piece(peer, part, zeroes, std::min<uint64_t>(length - done, sizeof kZeroes));
            if (copied != Copied::kAll)
                return copied;
        }
        return Copied::kAll;
    }
    if (to.way == Way::kPointer && from.way == Way::kPointer) {
        copy_in_order(to.address, from.address, length);
        return Copied::kAll;
    }
    if (to.way == Way::kForeign || from.way == Way::kForeign) [[unlikely]]
        return copy_foreign(peer, to, from, length);
    return copy_through_kernel(peer, to, from, length);
}

}  // namespace

bool covers(const MrEntry &entry, uint64_t address, uint64_t length)
{
    const uint64_t offset = address - entry.iova;
    return offset <= entry.length && length <= entry.length - offset;
}

bool can_invalidate(Peer &peer, uint32_t key, uint32_t pd, uint32_t qp_num)
{
    const MrEntry *entry = entry_of(peer, key);
    return entry != nullptr && entry->kind == MrKind::kWindow2 && entry->pd == pd && entry->qp_num == qp_num;
}

bool invalidate(Peer &peer, uint32_t key, uint32_t pd, uint32_t qp_num)
{
    if (!can_invalidate(peer, key, pd, qp_num))
        return false;
    // Where a key is bound anew meanwhile, it is another one.
    uint32_t expected = key;
    if (MrEntry *seen = peer.heap.entry(peer.heap.header().regions, key >> 8); seen != nullptr)
        seen->key.compare_exchange_strong(expected, 0);
    expected = key;
    if (peer.is_self)
        peer.process->regions.find(key >> 8)->key.compare_exchange_strong(expected, 0);
    return true;
}

bool find_memory(Peer &peer, uint32_t key, uint32_t pd, uint32_t qp_num, uint64_t address, uint64_t length,
                 uint32_t access, Piece &piece)
{
    const MrEntry *entry = entry_of(peer, key);
    if (entry == nullptr || entry->pd != pd) [[unlikely]]
        return find_foreign(peer, key, pd, qp_num, address, length, access, piece);
    if ((entry->access & access) != access || !covers(*entry, address, length) ||
        (shared::is_window(entry->kind) &&
         (qp_num == 0 || (entry->kind == MrKind::kWindow2 && entry->qp_num != qp_num))))
        return false;
    return locate(peer, entry, address, length, piece);
}

bool find_pieces(Peer &peer, std::span<const shared::Segment> segments, uint32_t pd, uint32_t access,
                 Pieces &pieces)
{
    for (const shared::Segment &segment : segments) {
        if (segment.length == 0)
            continue;
        if (pieces.count == kMaxSegments || !find_memory(peer, segment.lkey, pd, 0, segment.address,
                                                         segment.length, access, pieces.piece[pieces.count]))
            return false;
        pieces.may_be_missing |= pieces.piece[pieces.count].may_be_missing;
        ++pieces.count;
        pieces.length += segment.length;
    }
    return true;
}

Copied copy(Peer &peer, std::span<const Piece> to, std::span<const Piece> from, uint64_t length)
{
    Piece target = {}, source = {};
    for (size_t i = 0, j = 0; length > 0;) {
        if (target.length == 0) {
            target = to[i++];
            continue;
        }
        if (source.length == 0) {
            source = from[j++];
            continue;
        }
        const uint64_t part = std::min({target.length, source.length, length});
        const Copied copied = copy_piece(peer, target, source, part);
        if (copied != Copied::kAll)
            return copied;
        target.address += part;
        target.length -= part;
        source.address += part;
        source.length -= part;
        length -= part;
    }
    return Copied::kAll;
}

void part_of(const Pieces &whole, uint64_t offset, uint64_t length, Pieces &part)
{
    part.clear();
    part.length = length;
    for (uint32_t i = 0; i < whole.count && length > 0; ++i) {
        Piece piece = whole.piece[i];
        if (offset >= piece.length) {
            offset -= piece.length;
            continue;
        }
        piece.address += offset;
        piece.length = std::min(piece.length - offset, length);
        offset = 0;
        length -= piece.length;
        part.piece[part.count++] = piece;
    }
}

Copied gather(Peer &peer, uint8_t *to, std::span<const Piece> from, uint64_t length)
{
    if (from.size() == 1 && from[0].way == Way::kPointer) [[likely]] {
        std::memcpy(to, reinterpret_cast<const void *>(from[0].address), length);
        return Copied::kAll;
    }
    const Piece target = {reinterpret_cast<uintptr_t>(to), length, Way::kPointer};
    return copy(peer, {&target, 1}, from, length);
}

Copied scatter(Peer &peer, std::span<const Piece> to, const uint8_t *from, uint64_t length)
{
    const Piece source = {reinterpret_cast<uintptr_t>(from), length, Way::kPointer};
    return copy(peer, to, {&source, 1}, length);
}

Copied atomic(Peer &peer, const Piece &piece, ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap,
              uint64_t &original)
{
    if (piece.way == Way::kForeign) [[unlikely]] {
        const Maker maker(peer, piece.slot);
        Piece found;
        return maker.locate(piece, found) &&
                       atomic(maker.peer(), found, opcode, compare_add, swap, original) == Copied::kAll
                   ? Copied::kAll
                   : Copied::kFaultTo;
    }
    // Others do the same with two calls to the kernel, so the lock is needed for a pointer too.
    const shared::SharedLocked locked(peer.heap.header().atomics);
    if (!locked.is_whole())
        return Copied::kGone;
    if (piece.way == Way::kPointer && piece.address % sizeof original == 0) {
        auto &value = *reinterpret_cast<std::atomic<uint64_t> *>(piece.address);
        original = compare_add;
        if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
            original = value.fetch_add(compare_add);
        else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
            value.compare_exchange_strong(original, swap);
        else
            original = value.exchange(swap);
        return Copied::kAll;
    }
    const Piece value = {reinterpret_cast<uintptr_t>(&original), sizeof original, Way::kPointer};
    Copied copied = copy_piece(peer, value, piece, sizeof original);
    if (copied != Copied::kAll)
        return copied;
    uint64_t next = swap;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        next = original + compare_add;
    else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP && original != compare_add)
        return Copied::kAll;
    const Piece source = {reinterpret_cast<uintptr_t>(&next), sizeof next, Way::kPointer};
    return copy_piece(peer, piece, source, sizeof next);
}

}  // namespace urxe::direct
