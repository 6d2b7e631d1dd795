// SPDX-License-Identifier: BSD-2-Clause
// What all open devices of a process have in common: the heap that its peers map, its tables of objects, its peers, and the
// thread that helps where no thread of the program is at hand.
#pragma once

#include <infiniband/verbs_provider.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "buffers.hh"
#include "common/lock.hh"
#include "link/link.hh"
#include "private_table.hh"
#include "raw/tap.hh"
#include "shared/heap.hh"
#include "shared/layout.hh"

namespace urxe {

struct Qp;
struct Cq;
struct CompChannel;
struct Srq;
struct Mw;
struct Xrcd;
class Process;

/// Slots of processes, as bits.
struct SlotSet {
    uint64_t bits[shared::kProcessSlots / 64];
};

/// Processes that datagrams to multicast groups may be for.
struct GroupSlots {
    SlotSet reached;  ///< that have attachments, and whose heap this process maps
    SlotSet others;   ///< that get packets past the network
};

/// What the owner knows of an attachment to a multicast group, beside GroupEntry.
struct GroupMember {
    std::atomic<uint32_t> qp_num;  ///< 0: there is none. Written with release, after all else
    uint32_t interface;            ///< index
    ibv_gid group;
};

/// A process whose objects this one works on: itself, or another of the same user on the same host.
struct Peer {
    Process *process;  ///< that knows it: this one
    shared::Heap heap;
    uint32_t pid;
    uint32_t slot;
    bool is_self;
    std::atomic<bool> is_dead;
    bool is_mourned;                   ///< its QPs know; the helper thread's
    std::atomic<bool> refuses_copies;  ///< process_vm_* is not allowed
    std::atomic<uint32_t> references;
    int pidfd;
    int lifeline;  ///< the end of a pipe whose other end it alone has; hangs up when it ends or calls exec
    PrivateTable<BufferMapping, 8, 8> buffers;  ///< of the peer, by their index there; made under lock
    common::Mutex lock;                         ///< of the members below
    struct OpenPipe {
        uint64_t inode;
        int file;
    };
    static constexpr uint32_t kPipes = 16;
    OpenPipe pipes[kPipes];  ///< of the peer, opened here too; those used last
    uint32_t next_pipe;
    Peer *next_retired;
};

/// A thread that works on a peer's objects, from construction to destruction. While it does, what the peer wants to take
/// away stays; unless it is stopped meanwhile: then the owner takes the access away from it before long.
class Access {
public:
    explicit Access(Peer &peer);
    Access(const Access &) = delete;
    Access &operator=(const Access &) = delete;
    ~Access();
    /// Whether there was room for it. Without, hands off.
    explicit operator bool() const { return slot_ != nullptr; }

    /// The slot of the calling thread's access to a peer.
    static shared::AccessSlot &slot_of(const Peer &peer);

private:
    const Peer &peer_;
    shared::AccessSlot *slot_;
    const Access *outer_;  ///< of this thread
};

/// While it lives, bytes that the calling thread writes to pipes of its own process are held back: whoever they wake would
/// find locks taken that this thread has, and give its turn on the processor away. One per thread at a time.
class HeldBytes {
public:
    explicit HeldBytes(Process &process);
    HeldBytes(const HeldBytes &) = delete;
    HeldBytes &operator=(const HeldBytes &) = delete;
    ~HeldBytes();
    /// False: there is no room for one more.
    bool add(const shared::PipeEnd &end);

private:
    static constexpr size_t kMost = 32;
    Process &process_;
    size_t count_;
    shared::PipeEnd ends_[kMost];
};

/// Queue pairs that got packets and have not answered. Each has one more user.
struct Touched {
    static constexpr size_t kMost = 64;
    Qp *qps[kMost];
    size_t count;
};

class Process {
public:
    /// The process's own, made by the first who asks; null with errno. Each acquire() needs one release().
    static Process *acquire();
    void release();

    Peer self;
    shared::Allocator allocator;  ///< guarded by lock
    common::Mutex lock;           ///< of making and unmaking objects

    // Own objects, by their index in the shared tables.
    IndexPool mr_indices, qp_indices, cq_indices, srq_indices, buffer_indices, count_indices, pd_indices;
    IndexPool foreign_mr_indices;  ///< from shared::kFirstForeignMr on
    BufferList buffers;
    /// What the owner goes by: regions in `self.heap` are for peers.
    PrivateTable<shared::MrEntry, 10, 14> regions;
    PointerTable<Qp, 6, 8> qps;
    PointerTable<Cq, 6, 10> cqs;
    PointerTable<Srq, 6, 10> srqs;
    Xrcd *xrcds;
    uint32_t last_xrcd;
    common::Mutex windows_lock;  ///< of binding memory windows; no other is taken under it
    Mw *windows;

    IndexPool group_indices;
    PrivateTable<GroupMember, 6, 6> group_members;  ///< by the same index as in the heap
    common::Mutex groups_lock;  ///< of what is known of the multicast groups of others: the members below
    GroupSlots group_slots;
    uint32_t groups_seen;   ///< 1 more than ProcessHeader::groups_changed was; 0: never looked
    CompChannel *channels;  ///< by CompChannel::next
    common::Mutex channels_lock;
    std::atomic<uint32_t> next_pd;       ///< tells protection domains of an index apart
    std::atomic<uint32_t> last_context;  ///< number of the last context that was made
    std::atomic<uint32_t> next_table;    ///< number of the last indirection table
    /// A memory key for an index: another than the last that it had, which keys of other processes do not tell.
    uint32_t make_key(uint32_t index);

    /// Its threads do not take part when a peer has the stores of all processors done (fence_others()).
    bool fences_by_itself;
    /// What this thread stored before is seen by what other threads and peers load from here on, and the other way round,
    /// without a fence of theirs.
    void fence_others();

    shared::ProcessHeader &header() { return self.heap.header(); }
    uint32_t qp_num(uint32_t index) const { return self.slot << shared::kQpIndexBits | index; }

    /// Makes the shared entry at an index be there. 0 or ENOMEM. Under `lock`.
    template <class Table>
    int make_entry(Table &table, uint32_t index)
    {
        using Entry = typename Table::Entry;
        std::atomic<void *> &own = own_chunk(table, index);
        if (own.load(std::memory_order_relaxed) != nullptr)
            return 0;
        constexpr size_t kSize = sizeof(Entry) * Table::kEntriesPerChunk;
        const shared::Offset made = allocator.allocate(kSize);
        if (made == 0)
            return ENOMEM;
        own.store(self.heap.at(made, kSize), std::memory_order_release);
        table.chunks[index >> Table::kChunkBits].store(made, std::memory_order_release);
        return 0;
    }
    /// The shared entry at an index that make_entry() made, whatever peers wrote to the table.
    template <class Table>
    typename Table::Entry *entry(const Table &table, uint32_t index)
    {
        return static_cast<typename Table::Entry *>(own_chunk(table, index).load(std::memory_order_acquire)) +
               (index & (Table::kEntriesPerChunk - 1));
    }

    /// Waits until everybody who works on this process's objects now has stopped. Call it after marking as gone what is to
    /// be taken away, and outside of any Access.
    void wait_for_accesses() { wait_for_accesses(header()); }
    /// The same for objects of a peer, of which this process takes one away.
    static void wait_for_accesses(shared::ProcessHeader &header);

    /// Waits until each thread of the program that looked up a QP or a region before has done with it. Not under `lock`, nor
    /// while this thread carries out a request.
    void wait_for_own_threads();

    /// Waits until no thread holds bytes back (HeldBytes) that it has had before.
    void wait_for_held_bytes();

    /// The peer that has the QP numbers of a slot, with one more reference; null where there is none on this host that this
    /// process can reach (release_peer() gives it back), with errno: ESRCH where nobody has them.
    Peer *find_peer(uint32_t slot);
    void release_peer(Peer *peer);

    /// Asks for a look at a QP or SRQ of a peer (an SRQ's index counts from QpTable::kCapacity).
    void call_attention(Peer &peer, uint32_t index);
    /// Looks at what peers and other threads asked for. Cheap when there is nothing.
    void attend()
    {
        if (header().has_attention.load(std::memory_order_acquire) != 0) [[unlikely]]
            attend_all();
    }

    /// Tells a peer that this process took the keys of regions away.
    void call_for_lost_regions(Peer &peer);

    /// Has the peer's helper thread look at its times again, if it sleeps.
    void call_helper(Peer &peer);

    /// Completion queues whose events wait for a time. The helper thread makes them.
    void add_moderated(Cq &cq);
    void remove_moderated(Cq &cq);

    /// Writes a byte to a pipe of the peer. False where it cannot be reached.
    bool write_byte(Peer &peer, const shared::PipeEnd &end);

    /// Takes away the objects of a context that is closed although they were not destroyed: nobody reaches them any more.
    void abandon(const ibv_context &context);

    /// Moves the QPs that are connected to a peer that died to the error state.
    void peer_died(Peer &peer);

    /// QPs with requests that wait for a time to come or for their peer. They are tried again by whoever polls a CQ, and by
    /// the helper thread.
    std::atomic<uint32_t> num_waiting;
    void add_waiting(Qp &qp);     ///< with the QP's send lock held
    void remove_waiting(Qp &qp);  ///< likewise
    void retry_waiting(bool is_helper);

    /// The way to other hosts, once open_link() has made it. Its packets are read by whoever polls a CQ, else by the helper.
    link::Link link;
    int open_link();
    /// The ways of raw QPs to network interfaces. The helper reads their frames.
    raw::Taps taps;
    /// Has the helper look at a socket for frames, or no more. 0 or a positive errno value.
    int watch_frames(int file, bool on);
    /// Gives how many packets there were; nothing: another thread takes them at this moment; the helper waits for it.
    std::optional<size_t> poll_link(bool is_helper, link::Link::Look look);
    /// Whether a thread of the program that looks for packets is to look at the time as well: each time costs too much.
    bool is_time_due() const { return looks_.load(std::memory_order_relaxed) % kLooksPerTime == 0; }
    /// The program is going to sleep until there is an event.
    void expects_events();

    /// Starts the helper thread if it does not run. 0 or a positive errno value.
    int start_helper();

private:
    friend HeldBytes;
    static int create(Process &process);
    static void before_fork();
    static void after_fork();
    static void in_child();
    int claim_slot();
    void become_inherited();
    void drop_callers();
    void destroy();
    void ask_to_attend(Peer &peer);
    void attend_all();
    void help();
    void stop_helper();
    void wake_helper();
    Peer *connect(uint32_t slot);
    void retire(Peer *peer);
    void disconnect_retired();
    void disconnect(Peer *peer);
    uint64_t next_deadline();
    uint64_t next_event();
    void watch_link(bool on);
    void looks_for_packets();
    bool drain_link(bool is_helper);
    bool take_turn(bool is_helper);

    /// Where a chunk of one of the tables in the heap is.
    template <class Table>
    std::atomic<void *> &own_chunk(const Table &table, uint32_t index)
    {
        const auto *first = reinterpret_cast<const std::atomic<shared::Offset> *>(&header().regions);
        return chunks_[&table.chunks[index >> Table::kChunkBits] - first];
    }
    static constexpr size_t kChunks =
        (sizeof(shared::ProcessHeader) - offsetof(shared::ProcessHeader, regions)) / sizeof(shared::Offset);

    static constexpr uint32_t kLooksPerTime = 4;

    std::atomic<void *> chunks_[kChunks];  ///< of the tables in the header, in their order
    std::atomic<uint32_t> next_key_;
    uint64_t key_secret_;
    uint32_t users_;
    int listener_;
    int wake_read_, wake_write_;
    int lifeline_;
    int epoll_;  ///< what the helper waits for; -1: it does not run
    common::Mutex helper_lock_;
    std::atomic<bool> helper_stops_;
    std::atomic<bool>
        helper_watches_;  ///< the sockets; else it looks now and then whether somebody else does
    common::Mutex watch_lock_;
    shared::Lock touched_lock_;
    std::atomic<uint32_t> holders_;   ///< threads that hold bytes back
    std::atomic<uint32_t> refusals_;  ///< of threads of the program that found it taken
    Touched touched_;
    std::atomic<uint32_t> looks_;            ///< for packets by threads of the program without a pause
    std::atomic<uint64_t> polled_at_;        ///< when a thread of the program last looked for packets
    std::atomic<uint64_t> helper_wakes_at_;  ///< by itself; 0: it is awake
    pthread_t helper_;
    std::atomic<Peer *> peers_[shared::kProcessSlots];
    common::Mutex peers_lock_;
    Peer *retired_;  ///< that nobody uses any more, and that the helper may still have an event of
    common::SpinLock waiting_lock_;
    Qp *waiting_;
    common::Mutex moderated_lock_;
    Cq *moderated_;
};

/// How peers find a pipe of this process by the number of one of its ends.
shared::PipeEnd pipe_end(int file);

/// The monotonic clock, in nanoseconds.
uint64_t now_ns();
/// A time that does not come.
constexpr uint64_t kNever = UINT64_MAX;

}  // namespace urxe
