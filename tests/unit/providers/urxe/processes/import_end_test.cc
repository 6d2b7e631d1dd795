// SPDX-License-Identifier: BSD-2-Clause
// What becomes of imported objects when either process ends or takes them away; device memory; and what is not imported at all.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "import.hh"

namespace processes {
namespace {

TEST(Import, EndsWithTheRegion)
{
    World::run(
        [](Link &link) {
            Exporter exporter;
            exporter.offer(link);
            link.meet();
            exporter.device.deregister(exporter.mr);
            std::memset(exporter.memory.data(), 0x55, kSize);
            link.meet();
            link.meet();
            REQUIRE(exporter.memory == std::vector<uint8_t>(kSize, 0x55));
        },
        [](Link &link) {
            Importer importer(link);
            importer.join();
            link.meet();
            link.meet();
            REQUIRE(importer.run(IBV_WR_RDMA_READ, importer.mr, importer.offer.address, 8,
                                 importer.own_place(0)) == IBV_WC_LOC_PROT_ERR);
            errno = 0;
            REQUIRE(ibv_import_mr(importer.pd, importer.offer.mr) == nullptr && errno == ENOENT);
            REQUIRE(ibv_dereg_mr(importer.mr) == ENOENT);
            link.meet();
        });
}

/// Whatever is in flight.
TEST(Import, DoesNotTouchMemoryThatWasTakenAway)
{
    constexpr int kRounds = 20;
    World::run(
        [](Link &link) {
            Random random(1);
            for (int i = 0; i < kRounds; ++i) {
                Exporter exporter;
                exporter.offer(link);
                link.receive<char>();
                usleep(static_cast<useconds_t>(random.below(3000)));
                exporter.device.deregister(exporter.mr);
                std::memset(exporter.memory.data(), 0x55, kSize);
                link.receive<char>();
                REQUIRE(exporter.memory == std::vector<uint8_t>(kSize, 0x55));
            }
        },
        [](Link &link) {
            for (int i = 0; i < kRounds; ++i) {
                Importer importer(link);
                importer.join();
                link.send('g');
                ibv_wc_status status = IBV_WC_SUCCESS;
                for (uint64_t begin = now_ms(); status == IBV_WC_SUCCESS; pause_since(begin))
                    status = importer.run(IBV_WR_RDMA_READ, importer.mr, importer.offer.address, kSize,
                                          importer.own_place(0));
                REQUIRE(status == IBV_WC_LOC_PROT_ERR);
                link.send('d');
            }
        });
}

TEST(Import, MayTakeTheRegionAway)
{
    World::run(
        [](Link &link) {
            Exporter exporter;
            ibv_cq *cq = exporter.device.cq();
            ibv_qp *qps[] = {exporter.device.qp(cq), exporter.device.qp(cq)};
            for (int i = 0; i < 2; ++i)
                exporter.device.connect(qps[i], exporter.device.address(qps[1 - i]));
            ibv_mr *gone = ibv_reg_mr(exporter.device.pd(), exporter.memory.data(), kSize, kAllAccess);
            REQUIRE(gone != nullptr);
            const Place place = {reinterpret_cast<uintptr_t>(exporter.memory.data()), exporter.mr->rkey};
            REQUIRE(post(qps[0], IBV_WR_RDMA_WRITE, 0, gone, 0, 8, place) == 0);
            poll_one(cq);
            std::swap(gone, exporter.mr);
            exporter.offer(link);
            std::swap(gone, exporter.mr);
            link.meet();
            // Its own requests and events find that out by themselves.
            ibv_wc_status status = IBV_WC_SUCCESS;
            for (uint64_t begin = now_ms(); status == IBV_WC_SUCCESS; pause_since(begin)) {
                REQUIRE(post(qps[0], IBV_WR_RDMA_WRITE, 0, gone, 0, 8, place) == 0);
                status = poll(cq, 1).front().status;
            }
            REQUIRE(status == IBV_WC_LOC_PROT_ERR);
            REQUIRE(ibv_rereg_mr(gone, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0) ==
                    IBV_REREG_MR_ERR_CMD);
            REQUIRE(ibv_dereg_mr(gone) == ENOENT);
            ibv_unimport_mr(gone);
            ibv_unimport_mr(exporter.mr);  // does nothing to one that is there
        },
        [](Link &link) {
            Importer importer(link);
            REQUIRE(ibv_dereg_mr(std::exchange(importer.mr, nullptr)) == 0);
            link.meet();
        });
}

TEST(Import, EndsWithTheExporter)
{
    World world;
    World::Pair pair = world.pair();
    const pid_t exporter = world.start([&] { export_and_wait(pair.left); });
    world.start([&] {
        const int file = receive_file(pair.right);
        const int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
        Importer importer(file, pair.right);
        importer.join();
        REQUIRE(kill(exporter, SIGKILL) == 0);
        ibv_wc_status status = IBV_WC_SUCCESS;
        for (uint64_t begin = now_ms(); status == IBV_WC_SUCCESS; pause_since(begin))
            status = importer.run(IBV_WR_RDMA_WRITE, importer.mr, importer.offer.address, 5000,
                                  importer.own_place(0));
        REQUIRE(status == IBV_WC_LOC_PROT_ERR);
        for (uint64_t begin = now_ms(); ibv_pd *pd = ibv_import_pd(importer.context, importer.offer.pd);
             pause_since(begin))
            ibv_unimport_pd(pd);
        REQUIRE(errno == ESTALE);
        REQUIRE(ibv_import_dm(importer.context, importer.offer.dm) == nullptr && errno == ESTALE);
        REQUIRE(ibv_import_device(copy) == nullptr && errno == ESTALE);
        REQUIRE(ibv_dereg_mr(importer.mr) == ENOENT);
        close(copy);
    });
    world.wait(exporter, true);
    world.wait_for_all();
}

TEST(Import, IsNothingToTheExporterOnceTheImporterIsKilled)
{
    World world;
    World::Pair pair = world.pair();
    pid_t importer = 0;
    importer = world.start([&] {
        Importer at_work(pair.right);
        at_work.join();
        pair.right.send('g');
        for (;;)
            at_work.run(IBV_WR_RDMA_READ, at_work.mr, at_work.offer.address, kSize, at_work.own_place(0));
    });
    world.start([&] {
        Exporter exporter;
        exporter.offer(pair.left);
        pair.left.receive<char>();
        REQUIRE(kill(importer, SIGKILL) == 0);
        exporter.device.deregister(exporter.mr);
        std::memset(exporter.memory.data(), 0x55, kSize);
    });
    world.wait(importer, true);
    world.wait_for_all();
}

TEST(Import, OfWhatTheParentOfAForkHas)
{
    World world;
    World::Pair pair = world.pair();
    world.start([&] {
        Exporter exporter;
        const int file = dup(exporter.device.context()->cmd_fd);
        const pid_t child = fork();
        if (child == 0) {
            {
                Importer importer(file, pair.right);
                importer.join();
                fill(importer.own.data(), 5000, 4);
                REQUIRE(importer.run(IBV_WR_RDMA_READ, importer.mr, importer.offer.address, 5000,
                                     importer.own_place(0)) == IBV_WC_SUCCESS);
            }
            pair.right.send('d');
            _exit(0);
        }
        close(file);
        pair.left.send(Offer{exporter.device.pd()->handle, exporter.mr->handle, exporter.dm->handle,
                             exporter.mr->lkey, exporter.mr->rkey,
                             reinterpret_cast<uintptr_t>(exporter.memory.data())});
        pair.left.receive<char>();
        REQUIRE(mismatch(exporter.memory.data(), 5000, 4) == 5000);
    });
    world.wait_for_all();
}

TEST(Import, OfDeviceMemory)
{
    World::run(
        [](Link &link) {
            Exporter exporter;
            uint8_t bytes[5000];
            fill(bytes, sizeof bytes, 1);
            REQUIRE(ibv_memcpy_to_dm(exporter.dm, 100, bytes, sizeof bytes) == 0);
            exporter.offer(link);
            link.meet();
            REQUIRE(ibv_memcpy_from_dm(bytes, exporter.dm, 10'000, sizeof bytes) == 0);
            REQUIRE(mismatch(bytes, sizeof bytes, 2) == sizeof bytes);
            REQUIRE(ibv_memcpy_from_dm(bytes, exporter.dm, 20'000, sizeof bytes) == 0);
            REQUIRE(mismatch(bytes, sizeof bytes, 3) == sizeof bytes);
            REQUIRE(ibv_free_dm(std::exchange(exporter.dm, nullptr)) == 0);
            link.meet();
            link.meet();
        },
        [](Link &link) {
            Importer importer(link);
            importer.join();
            ibv_dm *dm = ibv_import_dm(importer.context, importer.offer.dm);
            REQUIRE(dm != nullptr && dm->context == importer.context && dm->handle == importer.offer.dm);
            uint8_t bytes[5000];
            REQUIRE(ibv_memcpy_from_dm(bytes, dm, 100, sizeof bytes) == 0);
            REQUIRE(mismatch(bytes, sizeof bytes, 1) == sizeof bytes);
            fill(bytes, sizeof bytes, 2);
            REQUIRE(ibv_memcpy_to_dm(dm, 10'000, bytes, sizeof bytes) == 0);
            REQUIRE(ibv_memcpy_to_dm(dm, kSize - 1, bytes, 2) == EINVAL);
            ibv_mr *mr = ibv_reg_dm_mr(importer.pd, dm, 20'000, 5000, kAllAccess | IBV_ACCESS_ZERO_BASED);
            REQUIRE(mr != nullptr);
            fill(importer.own.data(), 5000, 3);
            REQUIRE(importer.run(IBV_WR_RDMA_WRITE, importer.own_mr, 0, 5000, {0, mr->rkey}) ==
                    IBV_WC_SUCCESS);
            REQUIRE(ibv_free_dm(dm) == EOPNOTSUPP);
            link.meet();
            link.meet();
            REQUIRE(ibv_memcpy_from_dm(bytes, dm, 100, sizeof bytes) == EINVAL);
            ibv_unimport_dm(dm);
            // The region still has memory, which is nobody's any more.
            REQUIRE(importer.run(IBV_WR_RDMA_WRITE, importer.own_mr, 0, 5000, {0, mr->rkey}) ==
                    IBV_WC_SUCCESS);
            REQUIRE(ibv_dereg_mr(mr) == 0);
            REQUIRE(ibv_import_dm(importer.context, importer.offer.dm) == nullptr && errno == ENOENT);
            link.meet();
        });
}

TEST(Import, TakesHandlesOfTheirKind)
{
    World::run(
        [](Link &link) {
            Exporter exporter;
            Device other;  // whose objects are of another context
            exporter.offer(link);
            link.send(other.pd()->handle);
            link.meet();
        },
        [](Link &link) {
            Importer importer(link);
            const Offer &offer = importer.offer;
            const auto other = link.receive<uint32_t>();
            const auto import = [&](char what, uint32_t handle) {
                errno = 0;
                const bool done = what == 'p'   ? ibv_import_pd(importer.context, handle) != nullptr
                                  : what == 'm' ? ibv_import_mr(importer.pd, handle) != nullptr
                                                : ibv_import_dm(importer.context, handle) != nullptr;
                return done ? 0 : errno;
            };
            for (const uint32_t handle : {0U, 1U << 30, 1U << 31, 0x7fffffffU, UINT32_MAX, offer.pd + 1,
                                          offer.mr + 1, offer.dm + 1, other})
                for (const char what : {'p', 'm', 'd'})
                    REQUIRE(import(what, handle) == ENOENT);
            for (const uint32_t handle : {offer.mr, offer.dm})
                REQUIRE(import('p', handle) == EINVAL);
            for (const uint32_t handle : {offer.pd, offer.dm})
                REQUIRE(import('m', handle) == EINVAL);
            for (const uint32_t handle : {offer.pd, offer.mr})
                REQUIRE(import('d', handle) == EINVAL);
            link.meet();
        });
}

int import_error(int file)
{
    errno = 0;
    ibv_context *context = ibv_import_device(file);
    if (context == nullptr)
        return errno;
    REQUIRE(ibv_close_device(context) == 0);
    return 0;
}

/// The words of a device's file, which a forger changes.
using Words = uint32_t[10];

int make_file(const void *content, size_t size, int seals)
{
    const int file = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(file >= 0 && write(file, content, size) == static_cast<ssize_t>(size));
    REQUIRE(fcntl(file, F_ADD_SEALS, seals) == 0);
    return file;
}

TEST(Import, RefusesOtherFiles)
{
    World::run(
        [](Link &link) {
            Device device;
            constexpr int kAll = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
            Words words;
            REQUIRE(pread(device.context()->cmd_fd, words, sizeof words, 0) == sizeof words);
            REQUIRE(pwrite(device.context()->cmd_fd, words, sizeof words, 0) < 0);
            const auto import = [](const Words &content, size_t size, int seals) {
                const int file = make_file(content, size, seals);
                const int error = import_error(file);
                if (error != 0)
                    REQUIRE(close(file) == 0);  // It stayed the caller's.
                return error;
            };
            REQUIRE(import(words, sizeof words - 4, kAll) == EINVAL);
            REQUIRE(import(words, sizeof words, kAll & ~F_SEAL_WRITE) == EINVAL);
            for (size_t i = 0; i < std::size(words); ++i) {
                Words forged;
                std::memcpy(forged, words, sizeof forged);
                forged[i] = ~forged[i];
                const int error = import(forged, sizeof forged, kAll);
                // Magic, instance, slot, context, and the interface's name.
                REQUIRE(error == (i < 2 || i == 6 || i == 9 ? EINVAL : i < 5 ? ESTALE : i == 5 ? 0 : error));
            }
            link.meet();
        },
        [](Link &link) { link.meet(); });
}

TEST(Import, NeedsTheRightToReachTheExporter)
{
    World::run(
        [](Link &link) {
            Exporter exporter;
            REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
            exporter.offer(link);
            link.meet();
        },
        [](Link &link) {
            const Device own;
            const int file = receive_file(link);
            static_cast<void>(link.receive<Offer>());
            if (geteuid() != 0)
                REQUIRE(import_error(file) == EACCES);
            link.meet();
        });
    World::run(export_and_wait, [](Link &link) {
        refuse_copies();
        const Device own;
        const int file = receive_file(link);
        const auto offer = link.receive<Offer>();
        ibv_context *context = ibv_import_device(file);
        REQUIRE(context != nullptr);
        ibv_pd *pd = ibv_import_pd(context, offer.pd);
        REQUIRE(pd != nullptr);
        errno = 0;
        REQUIRE(ibv_import_mr(pd, offer.mr) == nullptr && errno == EPERM);
        // Device memory needs no copies.
        ibv_dm *dm = ibv_import_dm(context, offer.dm);
        REQUIRE(dm != nullptr);
        ibv_unimport_dm(dm);
        ibv_unimport_pd(pd);
        REQUIRE(ibv_close_device(context) == 0);
        link.meet();
    });
}

}  // namespace
}  // namespace processes
