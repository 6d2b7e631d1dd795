// SPDX-License-Identifier: BSD-2-Clause
// Neighbours that write over what is shared, and neighbours that share nothing.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "world.hh"

namespace processes {
namespace {

using Memory = std::vector<uint8_t>;

/// The shared memory of a process, mapped as its peers map it.
struct SharedMemory {
    volatile uint8_t *bytes;
    size_t size;
};

SharedMemory map_heap_of(pid_t process)
{
    const std::string path = "/proc/" + std::to_string(process) + "/fd";
    DIR *directory = opendir(path.c_str());
    REQUIRE(directory != nullptr);
    SharedMemory heap{};
    while (const dirent *entry = readdir(directory)) {
        char target[64] = {};
        const std::string name = path + "/" + entry->d_name;
        if (readlink(name.c_str(), target, sizeof target - 1) <= 0 ||
            std::strstr(target, "memfd:urxe (") == nullptr)
            continue;
        const int file = open(name.c_str(), O_RDWR);
        struct stat stat;
        REQUIRE(file >= 0 && fstat(file, &stat) == 0);
        heap.size = static_cast<size_t>(stat.st_size);
        void *memory = mmap(nullptr, heap.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        REQUIRE(memory != MAP_FAILED);
        heap.bytes = static_cast<volatile uint8_t *>(memory);
        close(file);
    }
    closedir(directory);
    REQUIRE(heap.bytes != nullptr);
    return heap;
}

/// One write of nonsense, often where it is worst: words that are in use, with values like those that are there.
void scribble(const SharedMemory &heap, Random &random, uint32_t living_thread)
{
    const size_t words = heap.size / 4;
    auto *all = reinterpret_cast<volatile uint32_t *>(heap.bytes);
    size_t word = random.below(words);
    for (int i = 0; i < 64 && all[word] == 0; ++i)
        word = random.below(words);
    // The first page is who the process is: peers find it no more, which is not what this is about.
    if (word < 16)
        return;
    switch (random.below(8)) {
        case 0:
            heap.bytes[word * 4 + random.below(4)] = static_cast<uint8_t>(random.next());
            break;
        case 1:
            all[word] = static_cast<uint32_t>(random.next());
            break;
        case 2:
            all[word] = UINT32_MAX;
            break;
        case 3:
            all[word] = all[word] + 1;
            break;
        case 4:
            all[word] = static_cast<uint32_t>(random.below(256));
            break;
        case 5:
            all[word] = all[random.below(words)];
            break;
        case 6:
            all[word] = 1U << random.below(32);
            break;
        default:
            // A lock that a thread holds which never had it.
            all[word] = random.below(64) == 0 ? living_thread : 0;
            break;
    }
}

/// Memory between pages that nobody may touch, in the middle of what must stay as it is.
class Guarded {
public:
    static constexpr size_t kPage = 4096;
    Guarded()
    {
        memory_ = static_cast<uint8_t *>(
            mmap(nullptr, 5 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(memory_ != MAP_FAILED);
        fill(memory_, 5 * kPage, 11);
        REQUIRE(mprotect(memory_, kPage, PROT_NONE) == 0);
        REQUIRE(mprotect(memory_ + 4 * kPage, kPage, PROT_NONE) == 0);
    }
    ~Guarded() { munmap(memory_, 5 * kPage); }
    /// The page in the middle.
    uint8_t *page() const { return memory_ + 2 * kPage; }
    bool is_intact() const
    {
        for (const size_t page : {1, 3})
            for (size_t i = 0; i < kPage; ++i)
                if (memory_[page * kPage + i] != pattern(11, page * kPage + i))
                    return false;
        return true;
    }

private:
    uint8_t *memory_;
};

/// Some operation on the tags of an SRQ, most of whose messages have a tag that begins with what is in the page.
void operate(ibv_srq *srq, Random &random, ibv_sge (&sges)[2])
{
    ibv_ops_wr wr{}, *bad;
    wr.wr_id = random.next();
    wr.opcode = static_cast<ibv_ops_wr_opcode>(random.below(8) == 0 ? IBV_WR_TAG_DEL + random.below(2)
                                                                    : uint64_t{IBV_WR_TAG_ADD});
    wr.flags = static_cast<int>(random.below(4));
    wr.tm.unexpected_cnt = static_cast<uint32_t>(random.below(64));
    wr.tm.handle = static_cast<uint32_t>(random.below(64) << 16 | random.below(32));
    wr.tm.add = {.recv_wr_id = random.next(),
                 .sg_list = sges,
                 .num_sge = 2,
                 .tag = 0,
                 .mask = random.below(2) == 0 ? 0 : uint64_t{1} << random.below(64)};
    (void)ibv_post_srq_ops(srq, &wr, &bad);
}

/// Does all sorts of things with one peer after the other, whatever comes of them, as long as `goes_on`.
template <class GoesOn>
void live(Device &device, Link &link, uint64_t seed, GoesOn goes_on)
{
    Random random(seed);
    Guarded guarded, own;
    const auto local = IBV_ACCESS_LOCAL_WRITE;
    ibv_mr *exposed = device.mr(guarded.page(), Guarded::kPage);
    ibv_mr *mr = device.mr(own.page(), Guarded::kPage, local);
    ibv_comp_channel *channel = device.channel();
    REQUIRE(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0);
    REQUIRE(fcntl(device.context()->async_fd, F_SETFL, O_NONBLOCK) == 0);
    ibv_cq *cq = device.cq(256, channel);
    ibv_srq *const srqs[] = {nullptr, device.srq(64),
                             device.tag_srq(cq, 64, {.max_num_tags = 32, .max_ops = 8})};
    while (goes_on()) {
        ibv_srq *srq = srqs[random.below(std::size(srqs))];
        ibv_qp *qp = device.qp(cq, {.srq = srq, .depth = 32, .sges = 2});
        link.send(device.address(qp));
        link.send(Place{reinterpret_cast<uintptr_t>(guarded.page()), exposed->rkey});
        const auto to = link.receive<Address>();
        const auto place = link.receive<Place>();
        Device::to_init(qp);
        device.to_rtr(qp, to);
        // It may have been called to the error state: then it takes nothing below.
        (void)Device::try_rts(qp, {.timeout = 10, .retry_cnt = 2, .rnr_retry = 2});
        // Where a message begins, it may be a tag's header.
        for (size_t at = 0; at < 2048; at += 8)
            own.page()[at] = static_cast<uint8_t>(random.below(5));
        for (int i = 0; i < 400; ++i) {
            ibv_sge sges[2];
            for (ibv_sge &sge : sges)
                sge = {.addr = reinterpret_cast<uintptr_t>(own.page()) + random.below(2048),
                       .length = static_cast<uint32_t>(random.below(1024)),
                       .lkey = mr->lkey};
            switch (random.below(6)) {
                case 0:
                case 1: {
                    ibv_recv_wr wr = {.wr_id = random.next(), .next = nullptr, .sg_list = sges, .num_sge = 2};
                    ibv_recv_wr *bad;
                    (void)(srq != nullptr ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad));
                    if (srq != nullptr && srq == srqs[2])
                        operate(srq, random, sges);
                    break;
                }
                case 2:
                case 3: {
                    constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND,       IBV_WR_SEND_WITH_IMM,
                                                          IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
                                                          IBV_WR_RDMA_READ,  IBV_WR_ATOMIC_FETCH_AND_ADD};
                    const ibv_wr_opcode opcode = kOpcodes[random.below(std::size(kOpcodes))];
                    (void)post(
                        qp, opcode, random.next(), mr, random.below(256) * 8,
                        opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : static_cast<uint32_t>(random.below(1024)),
                        {place.address + random.below(256) * 8, place.rkey});
                    break;
                }
                case 4: {
                    ibv_wc wcs[8];
                    const int count = ibv_poll_cq(cq, 8, wcs);
                    REQUIRE(count >= 0 && count <= 8);
                    for (int n = 0; n < count; ++n) {
                        REQUIRE(wcs[n].status <= IBV_WC_TM_RNDV_INCOMPLETE);
                        if (wcs[n].status == IBV_WC_SUCCESS &&
                            (wcs[n].opcode == IBV_WC_RECV || wcs[n].opcode == IBV_WC_TM_RECV))
                            REQUIRE(wcs[n].byte_len <= 2048);
                    }
                    break;
                }
                default: {
                    (void)ibv_req_notify_cq(cq, static_cast<int>(random.below(2)));
                    ibv_cq *of;
                    void *context;
                    if (ibv_get_cq_event(channel, &of, &context) == 0)
                        ibv_ack_cq_events(of, 1);
                    ibv_async_event event;
                    if (ibv_get_async_event(device.context(), &event) == 0)
                        ibv_ack_async_event(&event);
                    if (random.below(8) == 0)
                        (void)ibv_resize_cq(cq, static_cast<int>(256 + random.below(256)));
                    if (random.below(8) == 0) {
                        ibv_mr *brief = device.mr(own.page(), 512);
                        device.deregister(brief);
                    }
                    break;
                }
            }
        }
        ibv_async_event event;
        while (ibv_get_async_event(device.context(), &event) == 0)
            ibv_ack_async_event(&event);
        device.destroy(qp);
        REQUIRE(guarded.is_intact() && own.is_intact());
    }
}

enum class Whose { kTargets, kPosters, kBoth };

/// Two processes work with each other while a third writes nonsense to what one of them, or both, share.
void scribble_while_they_work(Whose whose, uint64_t seed)
{
    constexpr uint32_t kRounds = 12;
    World world;
    World::Pair pair = world.pair(), first = world.pair(), second = world.pair();
    const auto work = [&](Link &link, Link &control, uint64_t own_seed) {
        Device device;
        control.send(getpid());
        control.receive<char>();
        uint32_t rounds = kRounds;
        live(device, link, own_seed, [&] { return rounds-- > 0; });
        control.send('d');
        control.receive<char>();
    };
    const pid_t left = world.start([&] { work(pair.left, first.left, seed); });
    const pid_t right = world.start([&] { work(pair.right, second.left, seed + 1); });
    const pid_t scribbler = world.start([&] {
        std::vector<SharedMemory> heaps;
        const pid_t pids[2] = {first.right.receive<pid_t>(), second.right.receive<pid_t>()};
        if (whose != Whose::kPosters)
            heaps.push_back(map_heap_of(pids[0]));
        if (whose != Whose::kTargets)
            heaps.push_back(map_heap_of(pids[1]));
        Random random(seed + 2);
        first.right.send('g');
        second.right.send('g');
        for (int done = 0; done < 2;) {
            for (int i = 0; i < 64; ++i)
                scribble(heaps[random.below(heaps.size())], random, static_cast<uint32_t>(getpid()));
            usleep(static_cast<useconds_t>(random.below(50)));
            for (Link *control : {&first.right, &second.right})
                if (control->has_more()) {
                    control->receive<char>();
                    ++done;
                }
        }
        first.right.send('e');
        second.right.send('e');
    });
    for (const pid_t process : {left, right, scribbler})
        world.wait(process);
}

TEST(Scribbler, HurtsNobodyByWhatATargetShares)
{
    for (uint64_t seed = 1; seed <= 4; ++seed)
        scribble_while_they_work(Whose::kTargets, seed);
}

TEST(Scribbler, HurtsNobodyByWhatBothShare)
{
    for (uint64_t seed = 11; seed <= 14; ++seed)
        scribble_while_they_work(Whose::kBoth, seed);
}

/// A process of another user cannot even look for the memory, and connects to QPs all the same.
TEST(Stranger, ReachesNoSharedMemory)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can be two users";
    World world;
    World::Pair pair = world.pair();
    const auto side = [&](Link &link, bool is_stranger) {
        if (is_stranger)
            REQUIRE(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        link.send(getpid());
        const auto other = link.receive<pid_t>();
        device.join(qp, link, {.timeout = 12, .retry_cnt = 2});
        if (is_stranger) {
            // It may not even look for the memory.
            const std::string path = "/proc/" + std::to_string(other) + "/fd";
            REQUIRE(opendir(path.c_str()) == nullptr && errno == EACCES);
        }
        link.meet();
    };
    const pid_t left = world.start([&] { side(pair.left, false); });
    const pid_t right = world.start([&] { side(pair.right, true); });
    world.wait(left);
    world.wait(right);
}

}  // namespace
}  // namespace processes
