// SPDX-License-Identifier: BSD-2-Clause
// Memory that peers map, between processes: what arrives in it, and what becomes of it when it or its owner goes.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "world.hh"

namespace processes {
namespace {

constexpr uint32_t kSize = 1U << 20;

/// Memory of one kind with a region of all of it.
struct Memory {
    uint8_t *bytes;
    ibv_mr *mr;
    ibv_buf *buf;
    Place place() const { return {reinterpret_cast<uintptr_t>(bytes), mr->rkey}; }
};

Memory make_buffer(Device &device, size_t size = kSize)
{
    Memory made{};
    made.bytes = static_cast<uint8_t *>(ibv_alloc_buf(device.pd(), size, &made.buf));
    REQUIRE(made.bytes != nullptr);
    made.mr = ibv_reg_mr(device.pd(), made.bytes, size, kAllAccess);
    REQUIRE(made.mr != nullptr);
    return made;
}

void destroy(const Memory &memory)
{
    REQUIRE(ibv_dereg_mr(memory.mr) == 0);
    ibv_free_buf(memory.buf);
}

/// Mappings of this process of buffers, its own among them.
int count_mappings()
{
    std::FILE *maps = std::fopen("/proc/self/maps", "re");
    REQUIRE(maps != nullptr);
    char line[512];
    int count = 0;
    while (std::fgets(line, sizeof line, maps) != nullptr)
        count += std::strstr(line, "memfd:urxe-buffer") != nullptr ? 1 : 0;
    std::fclose(maps);
    return count;
}

/// A word at `place` gets 2 more and then a new value, if it has the one it should have.
void work_on_word(ibv_qp *qp, const Memory &own, const Place &place)
{
    uint64_t result;
    REQUIRE(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, own.mr, 8, 8, place, IBV_SEND_SIGNALED, 2) == 0);
    poll_one(qp->send_cq);
    std::memcpy(&result, own.bytes + 8, sizeof result);
    REQUIRE(result == 40);
    for (const uint32_t guess : {41U, 42U}) {
        REQUIRE(post(qp, IBV_WR_ATOMIC_CMP_AND_SWP, 1, own.mr, 8, 8, place, IBV_SEND_SIGNALED, guess) == 0);
        poll_one(qp->send_cq);
        std::memcpy(&result, own.bytes + 8, sizeof result);
        REQUIRE(result == 42);
    }
}

TEST(Buffer, IsWrittenReadAndSentToByAPeer)
{
    World::run(
        [](Link &link) {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            const Memory memory = make_buffer(device);
            fill(memory.bytes, kSize, 1);
            link.send(memory.place());
            post_receive(qp, 1, memory.mr, 100, kSize - 100);
            link.meet();
            link.meet();
            REQUIRE(mismatch(memory.bytes, 64, 1) == 64);
            REQUIRE(mismatch(memory.bytes + 64, 36, 2) == 36);
            REQUIRE(poll_one(qp->recv_cq).byte_len == 50000);
            REQUIRE(mismatch(memory.bytes + 100, 50000, 3) == 50000);
            // The last page, which the region need not fill.
            REQUIRE(mismatch(memory.bytes + kSize - 8, 8, 4) == 8);
            const uint64_t word = 40;
            std::memcpy(memory.bytes, &word, sizeof word);
            link.meet();
            link.meet();
            uint64_t result;
            std::memcpy(&result, memory.bytes, sizeof result);
            REQUIRE(result == 43);
            destroy(memory);
            link.meet();
        },
        [](Link &link) {
            Device device;
            ibv_cq *cq = device.cq();
            ibv_qp *qp = device.qp(cq);
            device.join(qp, link);
            const auto place = link.receive<Place>();
            const Memory own = make_buffer(device);
            REQUIRE(count_mappings() == 1);
            link.meet();
            REQUIRE(post(qp, IBV_WR_RDMA_READ, 1, own.mr, 0, kSize, place) == 0);
            poll_one(cq);
            REQUIRE(mismatch(own.bytes, kSize, 1) == kSize);
            REQUIRE(count_mappings() == 2);
            fill(own.bytes, 100, 2);
            REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 1, own.mr, 0, 36, {place.address + 64, place.rkey}) == 0);
            poll_one(cq);
            fill(own.bytes, 50000, 3);
            REQUIRE(post(qp, IBV_WR_SEND, 1, own.mr, 0, 50000) == 0);
            poll_one(cq);
            fill(own.bytes, 8, 4);
            REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 1, own.mr, 0, 8, {place.address + kSize - 8, place.rkey}) ==
                    0);
            poll_one(cq);
            link.meet();
            link.meet();
            work_on_word(qp, own, place);
            link.meet();
            link.meet();
            destroy(own);
        });
}

TEST(Buffer, OfDeviceMemoryIsReachedByAPeer)
{
    World::run(
        [](Link &link) {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            ibv_alloc_dm_attr attr = {.length = 8192, .log_align_req = 0, .comp_mask = 0};
            ibv_dm *dm = ibv_alloc_dm(device.context(), &attr);
            REQUIRE(dm != nullptr);
            ibv_mr *mr = ibv_reg_dm_mr(device.pd(), dm, 4096, 4096,
                                       static_cast<unsigned>(kAllAccess) | IBV_ACCESS_ZERO_BASED);
            REQUIRE(mr != nullptr);
            uint64_t word = 40;
            REQUIRE(ibv_memcpy_to_dm(dm, 4096 + 16, &word, sizeof word) == 0);
            link.send(Place{16, mr->rkey});
            link.meet();
            REQUIRE(ibv_memcpy_from_dm(&word, dm, 4096 + 16, sizeof word) == 0 && word == 43);
            REQUIRE(ibv_free_dm(dm) == EBUSY);
            REQUIRE(ibv_dereg_mr(mr) == 0 && ibv_free_dm(dm) == 0);
            link.meet();
            link.meet();
        },
        [](Link &link) {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            const auto place = link.receive<Place>();
            const Memory own = make_buffer(device);
            work_on_word(qp, own, place);
            link.meet();
            link.meet();
            REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 1, own.mr, 0, 8, place) == 0);
            REQUIRE(poll(qp->send_cq, 1)[0].status == IBV_WC_REM_ACCESS_ERR);
            link.meet();
            destroy(own);
        });
}

/// Whatever the kind of region through which they reach it.
TEST(Buffer, TakesAtomicsOfItsOwnerAndOfPeersAsSuch)
{
    constexpr uint64_t kAdds = 20000;
    const auto add = [](ibv_qp *qp, const Memory &own, const Place &place) {
        for (uint64_t i = 0; i < kAdds; ++i) {
            REQUIRE(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, i, own.mr, 64, 8, place, IBV_SEND_SIGNALED, 1) ==
                    0);
            poll_one(qp->send_cq);
        }
    };
    World::run(
        [&](Link &link) {
            Device device;
            ibv_cq *cq = device.cq();
            ibv_qp *qp = device.qp(cq), *own[2] = {device.qp(cq), device.qp(cq)};
            device.join(qp, link);
            for (int i : {0, 1})
                device.connect(own[i], device.address(own[1 - i]));
            const Memory memory = make_buffer(device, 4096);
            ibv_mr *whole = ibv_reg_mr(device.pd(), nullptr, SIZE_MAX, kAllAccess | IBV_ACCESS_ON_DEMAND);
            REQUIRE(whole != nullptr);
            link.send(memory.place());
            link.meet();
            add(own[0], memory, {reinterpret_cast<uintptr_t>(memory.bytes), whole->rkey});
            // The program's processor is one more that adds.
            auto &word = *reinterpret_cast<std::atomic<uint64_t> *>(memory.bytes);
            link.meet();
            REQUIRE(word.load() == 2 * kAdds);
            link.meet();
            for (uint64_t i = 0; i < kAdds; ++i)
                word.fetch_add(1);
            link.meet();
            REQUIRE(word.load() == 4 * kAdds);
            REQUIRE(ibv_dereg_mr(whole) == 0);
            destroy(memory);
        },
        [&](Link &link) {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            const auto place = link.receive<Place>();
            const Memory own = make_buffer(device, 4096);
            link.meet();
            add(qp, own, place);
            link.meet();
            link.meet();
            add(qp, own, place);
            link.meet();
            destroy(own);
        });
}

/// An index that is used again stands for other memory.
TEST(Buffer, IsMappedAnewAfterItWasFreed)
{
    constexpr uint64_t kRounds = 200;
    World::run(
        [](Link &link) {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            for (uint64_t round = 0; round < kRounds; ++round) {
                const size_t size = 4096 * (1 + round % 5);
                const Memory memory = make_buffer(device, size);
                link.send(Place{memory.place().address + size - 8, memory.mr->rkey});
                link.meet();
                uint64_t value;
                std::memcpy(&value, memory.bytes + size - 8, sizeof value);
                REQUIRE(value == round);
                destroy(memory);
                link.send(round);
            }
            link.meet();
        },
        [](Link &link) {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            const Memory own = make_buffer(device, 4096);
            for (uint64_t round = 0; round < kRounds; ++round) {
                const auto place = link.receive<Place>();
                std::memcpy(own.bytes, &round, sizeof round);
                REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 1, own.mr, 0, 8, place) == 0);
                poll_one(qp->send_cq);
                link.meet();
                link.receive<uint64_t>();
            }
            // Those that were freed are forgotten with time.
            REQUIRE(count_mappings() < 50);
            link.meet();
            destroy(own);
        });
}

/// Who cannot map it has the kernel copy.
TEST(Buffer, IsReachedByAPeerWithoutFiles)
{
    World::run(
        [](Link &link) {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            const Memory memory = make_buffer(device);
            link.send(memory.place());
            link.meet();
            REQUIRE(mismatch(memory.bytes, kSize, 7) == kSize);
            destroy(memory);
        },
        [](Link &link) {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            const auto place = link.receive<Place>();
            const Memory own = make_buffer(device);
            fill(own.bytes, kSize, 7);
            rlimit limit;
            REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
            const rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
            REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
            REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 1, own.mr, 0, kSize, place) == 0);
            poll_one(qp->send_cq);
            REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
            REQUIRE(count_mappings() == 1);
            link.meet();
            destroy(own);
        });
}

TEST(Buffer, IsLeftAloneOnceItsRegionIsGone)
{
    constexpr int kRounds = 300;
    World::run(
        [](Link &link) {
            Device device;
            const Memory memory = make_buffer(device, 4096);
            for (int round = 0; round < kRounds; ++round) {
                ibv_qp *qp = device.qp(device.cq());
                device.join(qp, link);
                ibv_mr *mr = ibv_reg_mr(device.pd(), memory.bytes, 4096, kAllAccess);
                REQUIRE(mr != nullptr);
                link.send(Place{memory.place().address, mr->rkey});
                link.meet();
                usleep(static_cast<useconds_t>(round % 7 * 20));
                REQUIRE(ibv_dereg_mr(mr) == 0);
                std::memset(memory.bytes, 0xee, 4096);
                link.meet();
                for (size_t i = 0; i < 4096; ++i)
                    REQUIRE(memory.bytes[i] == 0xee);
                device.destroy(qp);
            }
            destroy(memory);
        },
        [](Link &link) {
            Device device;
            const Memory own = make_buffer(device, 4096);
            for (int round = 0; round < kRounds; ++round) {
                ibv_qp *qp = device.qp(device.cq());
                device.join(qp, link);
                const auto place = link.receive<Place>();
                link.meet();
                for (ibv_wc_status status = IBV_WC_SUCCESS; status == IBV_WC_SUCCESS;) {
                    REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 1, own.mr, 0, 4096, place) == 0);
                    status = poll(qp->send_cq, 1)[0].status;
                    REQUIRE(status == IBV_WC_SUCCESS || status == IBV_WC_REM_ACCESS_ERR);
                }
                link.meet();
                device.destroy(qp);
            }
            destroy(own);
        });
}

TEST(Buffer, OfADeadProcessHurtsNobody)
{
    constexpr int kRounds = 30;
    World world;
    World::Pair pair = world.pair();
    const pid_t survivor = world.start([&] {
        Device device;
        const Memory own = make_buffer(device);
        for (int round = 0; round < kRounds; ++round) {
            ibv_cq *cq = device.cq();
            ibv_qp *qp = device.qp(cq);
            device.join(qp, pair.left);
            const auto place = pair.left.receive<Place>();
            pair.left.meet();
            for (ibv_wc_status status = IBV_WC_SUCCESS; status == IBV_WC_SUCCESS;) {
                REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 1, own.mr, 0, kSize, place) == 0);
                status = poll(cq, 1)[0].status;
                REQUIRE(status == IBV_WC_SUCCESS || status == IBV_WC_RETRY_EXC_ERR ||
                        status == IBV_WC_WR_FLUSH_ERR);
            }
            device.destroy(qp);
            pair.left.send(round);
        }
        destroy(own);
    });
    for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
        World::Pair killer = world.pair();
        const pid_t victim = world.start([&] {
            Device device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, pair.right);
            const Memory memory = make_buffer(device);
            pair.right.send(memory.place());
            pair.right.meet();
            killer.right.send('r');
            pause();
        });
        killer.left.receive<char>();
        usleep(static_cast<useconds_t>(round * 100));
        kill(victim, SIGKILL);
        REQUIRE(pair.right.receive<int>() == round);
        world.wait(victim, true);
    }
    world.wait(survivor);
}

TEST(Buffer, OfAParentIsACopyInItsChild)
{
    World world;
    World::Pair pair = world.pair();
    const pid_t parent = world.start([&] {
        Device device;
        ibv_qp *qp = device.qp(device.cq());
        device.join(qp, pair.left);
        const Memory memory = make_buffer(device, 4096);
        fill(memory.bytes, 4096, 1);
        World nested;
        const pid_t child = nested.start([&] {
            REQUIRE(mismatch(memory.bytes, 4096, 1) == 4096);
            std::memset(memory.bytes, 0, 4096);
            destroy(memory);
        });
        nested.wait(child);
        REQUIRE(mismatch(memory.bytes, 4096, 1) == 4096);
        pair.left.send(memory.place());
        pair.left.meet();
        REQUIRE(mismatch(memory.bytes, 4096, 2) == 4096);
        destroy(memory);
    });
    const pid_t peer = world.start([&] {
        Device device;
        ibv_qp *qp = device.qp(device.cq());
        device.join(qp, pair.right);
        const auto place = pair.right.receive<Place>();
        const Memory own = make_buffer(device, 4096);
        fill(own.bytes, 4096, 2);
        REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 1, own.mr, 0, 4096, place) == 0);
        poll_one(qp->send_cq);
        pair.right.meet();
        destroy(own);
    });
    world.wait(peer);
    world.wait(parent);
}

}  // namespace
}  // namespace processes
