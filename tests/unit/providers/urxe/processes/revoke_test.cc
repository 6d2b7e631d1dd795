// SPDX-License-Identifier: BSD-2-Clause
// Memory that is taken away while peers write to it, read it and do atomics on it: once ibv_dereg_mr() has returned, none
// of them touches it, even one that was stopped or killed in the middle.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

#include "world.hh"

namespace processes {
namespace {

constexpr size_t kMost = 256 << 10;
constexpr uint32_t kAtOnce = 4, kReceives = 64;
/// What memory is full of before it is registered, what peers write, and what it is full of once it was taken away.
constexpr uint8_t kBefore = 0x11, kWritten = 0x22, kAfter = 0x33;

/// Memory that peers may use.
class Region {
public:
    Region(Device &device, size_t size) : device_(device), size_(size)
    {
        memory_ = static_cast<uint8_t *>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(memory_ != MAP_FAILED);
        std::memset(memory_, kBefore, size_);
        mr_ = device_.mr(memory_, size_);
    }
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;
    ~Region() { munmap(memory_, size_); }

    Place place() const { return {reinterpret_cast<uintptr_t>(memory_), mr_->rkey}; }
    /// Takes it away, and uses the memory, or the addresses, for something else.
    void take_away(bool maps_anew)
    {
        device_.deregister(mr_);
        if (maps_anew)
            REQUIRE(mmap(memory_, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                         0) == memory_);
        std::memset(memory_, kAfter, size_);
    }
    bool is_untouched() const
    {
        return std::all_of(memory_, memory_ + size_, [](uint8_t byte) { return byte == kAfter; });
    }

private:
    Device &device_;
    const size_t size_;
    uint8_t *memory_;
    ibv_mr *mr_;
};

/// What the owner tells of a region.
struct Offer {
    Place place;
    size_t size;
};

/// A peer: requests to a region until one fails.
class Peer {
public:
    explicit Peer(uint64_t seed) : random_(seed), own_(2 * kMost)
    {
        mr_ = device_.mr(own_.data(), own_.size());
        std::memset(own_.data(), kWritten, kMost);
    }

    /// Gives the status of the first that failed.
    ibv_wc_status use(Link &link)
    {
        ibv_qp *qp = device_.qp(cq_, {.depth = kAtOnce});
        device_.join(qp, link, {.timeout = 14});
        const auto offer = link.receive<Offer>();
        link.send('o');  // Nothing is left in the link for another.
        sends_ = 0;
        ibv_wc_status status = IBV_WC_SUCCESS;
        while (status == IBV_WC_SUCCESS) {
            for (uint32_t i = 0; i < kAtOnce; ++i)
                post_something(qp, offer);
            for (const ibv_wc &wc : poll(cq_, kAtOnce))
                if (status == IBV_WC_SUCCESS)
                    status = wc.status;
            // What was taken away is not read either.
            REQUIRE(std::find(own_.begin() + kMost, own_.end(), kAfter) == own_.end());
        }
        device_.destroy(qp);
        return status;
    }

private:
    void post_something(ibv_qp *qp, const Offer &offer)
    {
        const uint64_t length = 1 + random_.below(offer.size);
        const uint64_t offset = random_.below(offer.size - length + 1);
        const Place place = {offer.place.address + offset, offer.place.rkey};
        switch (random_.below(4)) {
            case 0:
                REQUIRE(post(qp, IBV_WR_RDMA_READ, 0, mr_, kMost, static_cast<uint32_t>(length), place) == 0);
                return;
            case 1:
                REQUIRE(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, mr_, 0, 8,
                             {offer.place.address + offset / 8 * 8 % offer.size, offer.place.rkey},
                             IBV_SEND_SIGNALED, 0) == 0);
                return;
            case 2:
                if (sends_++ < kReceives) {
                    REQUIRE(post(qp, IBV_WR_SEND, 0, mr_, 0, 8) == 0);
                    return;
                }
                [[fallthrough]];
            default:
                REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 0, mr_, 0, static_cast<uint32_t>(length), place) == 0);
        }
    }

    Random random_;
    Device device_;
    ibv_cq *cq_ = device_.cq();
    std::vector<uint8_t> own_;
    ibv_mr *mr_;
    uint32_t sends_ = 0;
};

/// The owner: a region and a QP for each round.
class Owner {
public:
    explicit Owner(uint64_t seed) : random_(seed) { inbox_mr_ = device_.mr(&inbox_, sizeof inbox_); }

    /// One round: once the peer is at work, calls interrupt(), and takes the region away.
    template <class Interrupt>
    void offer(Link &link, Interrupt interrupt)
    {
        const size_t size = size_t{4096} << random_.below(7);
        region_.emplace(device_, size);
        qp_ = device_.qp(cq_);
        Device::to_init(qp_);
        for (uint32_t i = 0; i < kReceives; ++i)
            post_receive(qp_, 0, inbox_mr_, 0, 8);
        link.send(device_.address(qp_));
        device_.to_rtr(qp_, link.receive<Address>());
        Device::to_rts(qp_);
        link.meet();
        link.send(Offer{region_->place(), size});
        link.receive<char>();
        usleep(static_cast<useconds_t>(random_.below(800)));
        interrupt();
        region_->take_away(random_.below(2) == 0);
    }
    void disconnect()
    {
        device_.destroy(qp_);
        ibv_wc wc;
        while (ibv_poll_cq(cq_, 1, &wc) != 0) {
        }
    }
    bool is_untouched() const { return region_->is_untouched(); }
    Random &random() { return random_; }

private:
    Random random_;
    Device device_;
    ibv_cq *cq_ = device_.cq();
    uint64_t inbox_ = 0;
    ibv_mr *inbox_mr_;
    std::optional<Region> region_;
    ibv_qp *qp_ = nullptr;
};

void own(Link &link, uint64_t seed, int rounds, bool is_lossy = false)
{
    Owner owner(seed);
    for (int round = 0; round < rounds; ++round) {
        owner.offer(link, [] {});
        const auto status = link.receive<ibv_wc_status>();
        owner.disconnect();
        // A packet that says so may get lost, and is not sent again.
        REQUIRE(status == IBV_WC_REM_ACCESS_ERR || (is_lossy && status == IBV_WC_RETRY_EXC_ERR));
        REQUIRE(owner.is_untouched());
    }
}

void use(Link &link, uint64_t seed, int rounds)
{
    Peer peer(seed);
    for (int round = 0; round < rounds; ++round)
        link.send(peer.use(link));
}

TEST(Revoke, LeavesMemoryToItsOwnerAmongThreads)
{
    constexpr int kRounds = 600;
    World world;
    World::Pair pair = world.pair();
    world.start([&] {
        std::thread peer([&] { use(pair.right, 1, kRounds); });
        own(pair.left, 2, kRounds);
        peer.join();
    });
    world.wait_for_all();
}

TEST(Revoke, LeavesMemoryToItsOwnerAmongProcesses)
{
    constexpr int kRounds = 600;
    World::run([](Link &link) { own(link, 3, kRounds); }, [](Link &link) { use(link, 4, kRounds); });
}

TEST(Revoke, LeavesMemoryToItsOwnerWherePacketsArrive)
{
    constexpr int kRounds = 200;
    World::run(
        [](Link &link) {
            REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
            own(link, 5, kRounds, true);
        },
        [](Link &link) { use(link, 6, kRounds); });
}

bool is_stopped(pid_t process)
{
    char path[64], text[512] = "";
    std::snprintf(path, sizeof path, "/proc/%d/stat", process);
    std::FILE *file = std::fopen(path, "re");
    REQUIRE(file != nullptr);
    const size_t length = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    text[length] = '\0';
    const char *name_end = std::strrchr(text, ')');
    return name_end != nullptr && name_end[2] == 'T';
}

TEST(Revoke, DoesNotWaitForAPeerThatIsStopped)
{
    constexpr int kRounds = 30;
    World world;
    World::Pair pair = world.pair();
    const pid_t peer = world.start([&] {
        Peer self(7);
        for (int round = 0; round < kRounds; ++round)
            pair.right.send(self.use(pair.right));
    });
    const pid_t owner = world.start([&] {
        Owner self(8);
        for (int round = 0; round < kRounds; ++round) {
            // It stops at the end of what the kernel is at, which is in the middle of a request as a rule.
            self.offer(pair.left, [&] {
                REQUIRE(kill(peer, SIGSTOP) == 0);
                for (const uint64_t begin = now_ms(); !is_stopped(peer);)
                    pause_since(begin);
            });
            self.disconnect();
            REQUIRE(self.is_untouched());
            REQUIRE(kill(peer, SIGCONT) == 0);
            const auto status = pair.left.receive<ibv_wc_status>();
            REQUIRE(status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_RETRY_EXC_ERR);
            REQUIRE(self.is_untouched());
        }
    });
    world.wait(owner);
    world.wait(peer);
}

TEST(Revoke, DoesNotWaitForAPeerThatIsKilled)
{
    constexpr uint64_t kRounds = 100;
    World world;
    World::Pair pair = world.pair();
    const pid_t owner = world.start([&] {
        Owner self(9);
        for (uint64_t round = 0; round < kRounds; ++round) {
            const auto peer = pair.left.receive<pid_t>();
            self.offer(pair.left, [&] { REQUIRE(kill(peer, SIGKILL) == 0); });
            self.disconnect();
            REQUIRE(self.is_untouched());
        }
    });
    for (uint64_t round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
        const pid_t peer = world.start([&] {
            pair.right.send(getpid());
            Peer(10 + round).use(pair.right);
            REQUIRE(false);
        });
        world.wait(peer, true);
    }
    world.wait(owner);
}

TEST(Keys, OfOneProcessDoNotTellThoseOfAnother)
{
    constexpr size_t kKeys = 64;
    struct Keys {
        uint32_t key[kKeys];
    };
    const auto side = [](Link &link) {
        Device device;
        uint64_t word = 0;
        Keys own{};
        for (uint32_t &key : own.key)
            key = device.mr(&word, sizeof word)->rkey;
        link.send(own);
        const auto other = link.receive<Keys>();
        REQUIRE(!std::equal(own.key, own.key + kKeys, other.key));
        // A region that comes in the place of another has another key.
        ibv_mr *mr = device.mr(&word, sizeof word);
        for (int i = 0; i < 1000; ++i) {
            const uint32_t before = mr->rkey;
            device.deregister(mr);
            mr = device.mr(&word, sizeof word);
            REQUIRE(mr->rkey != before);
        }
    };
    World::run(side, side);
}

}  // namespace
}  // namespace processes
