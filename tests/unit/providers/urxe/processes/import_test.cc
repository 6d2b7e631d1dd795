// SPDX-License-Identifier: BSD-2-Clause
// What an importer does with the regions of another process, itself and by way of others.
#include <cstring>
#include <vector>

#include "import.hh"

namespace processes {
namespace {

TEST(Import, SendsAndWritesTheExportersMemory)
{
    World::run(export_and_wait, [](Link &link) {
        Importer importer(link);
        importer.join();
        for (const uint32_t length : {8U, 150U, 9000U}) {
            std::memset(importer.own.data(), 0, kSize);
            post_receive(importer.qps[1], 1, importer.own_mr, 0, 10'000);
            REQUIRE(post(importer.qps[0], IBV_WR_SEND, 2, importer.mr, importer.offer.address, length) == 0);
            for (const ibv_wc &wc : poll(importer.cq, 2))
                REQUIRE(wc.status == IBV_WC_SUCCESS);
            REQUIRE(importer.has(0, length, 1));
            REQUIRE(importer.run(IBV_WR_RDMA_WRITE, importer.mr, importer.offer.address, length,
                                 importer.own_place(30'000)) == IBV_WC_SUCCESS);
            REQUIRE(importer.has(30'000, length, 1));
        }
        link.meet();
    });
}

TEST(Import, ReceivesAndReadsIntoTheExportersMemory)
{
    World::run(
        [](Link &link) {
            Exporter exporter;
            exporter.offer(link);
            link.meet();
            for (const uint64_t i : {0, 1, 2}) {
                const uint64_t lengths[] = {8, 150, 9000};
                REQUIRE(mismatch(exporter.memory.data() + i * 10'000, lengths[i], 10 + i) == lengths[i]);
                REQUIRE(exporter.memory[i * 10'000 + lengths[i]] == 0);
            }
            REQUIRE(mismatch(exporter.memory.data() + 30'000, 20'000, 20) == 20'000);
            uint64_t words[2];
            std::memcpy(words, exporter.memory.data() + 60'000, sizeof words);
            REQUIRE(words[0] == 5 && words[1] == 12);
        },
        [](Link &link) {
            Importer importer(link);
            importer.join();
            const uint32_t lengths[] = {8, 150, 9000};
            for (uint32_t i = 0; i < 3; ++i) {
                fill(importer.own.data(), lengths[i], 10 + i);
                post_receive(importer.qps[1], 1, importer.mr, importer.offer.address + i * 10'000, 10'000);
                REQUIRE(post(importer.qps[0], IBV_WR_SEND, 2, importer.own_mr, 0, lengths[i]) == 0);
                for (const ibv_wc &wc : poll(importer.cq, 2))
                    REQUIRE(wc.status == IBV_WC_SUCCESS);
            }
            fill(importer.own.data(), 20'000, 20);
            REQUIRE(importer.run(IBV_WR_RDMA_READ, importer.mr, importer.offer.address + 30'000, 20'000,
                                 importer.own_place(0)) == IBV_WC_SUCCESS);
            // What the word was comes to the exporter's memory too.
            const uint64_t five = 5;
            std::memcpy(importer.own.data(), &five, sizeof five);
            REQUIRE(importer.run(IBV_WR_ATOMIC_FETCH_AND_ADD, importer.mr, importer.offer.address + 60'000, 8,
                                 importer.own_place(0), 3) == IBV_WC_SUCCESS);
            // And words in it are added to by way of the importer's QP.
            REQUIRE(importer.run(IBV_WR_RDMA_WRITE, importer.own_mr, 0, 8, importer.place(60'008)) ==
                    IBV_WC_SUCCESS);
            REQUIRE(importer.run(IBV_WR_ATOMIC_FETCH_AND_ADD, importer.own_mr, 8, 8, importer.place(60'008),
                                 4) == IBV_WC_SUCCESS);
            link.meet();
        });
}

TEST(Import, CopiesWithinTheExportersMemory)
{
    World::run(
        [](Link &link) {
            Exporter exporter;
            fill(exporter.memory.data(), 20'001, 3);
            exporter.offer(link);
            link.meet();
            REQUIRE(mismatch(exporter.memory.data() + 21'000, 20'001, 3) == 20'001);
            REQUIRE(mismatch(exporter.memory.data() + 42'000, 20'001, 3) == 20'001);
        },
        [](Link &link) {
            Importer importer(link);
            importer.join();
            REQUIRE(importer.run(IBV_WR_RDMA_WRITE, importer.mr, importer.offer.address, 20'001,
                                 importer.place(21'000)) == IBV_WC_SUCCESS);
            REQUIRE(importer.run(IBV_WR_RDMA_READ, importer.mr, importer.offer.address + 42'000, 20'001,
                                 importer.place(21'000)) == IBV_WC_SUCCESS);
            link.meet();
        });
}

/// The exporter, an importer whose QP uses the exporter's region, and a third process that is connected to that QP.
void run_three(bool by_packets)
{
    World world;
    World::Pair first = world.pair(), second = world.pair();
    world.start([&] {
        Exporter exporter;
        exporter.offer(first.left);
        first.left.meet();
        REQUIRE(mismatch(exporter.memory.data(), 5000, 1) == 5000);
        REQUIRE(mismatch(exporter.memory.data() + 10'000, 100, 2) == 100);
        REQUIRE(mismatch(exporter.memory.data() + 20'000, 5000, 3) == 5000);
    });
    world.start([&] {
        Importer importer(first.right);
        importer.join();
        ibv_qp *qp = importer.make_qp(IBV_QPT_RC);
        Device::to_init(qp);
        post_receive(qp, 1, importer.mr, importer.offer.address + 10'000, 5000);
        post_receive(qp, 2, importer.mr, importer.offer.address + 20'000, 5000);
        second.left.send(importer.helper.address(qp));
        importer.helper.to_rtr(qp, second.left.receive<Address>());
        Device::to_rts(qp);
        second.left.meet();
        second.left.send(importer.place(0));
        for (uint64_t i = 1; i <= 2; ++i) {
            const ibv_wc wc = poll_one(importer.cq);
            REQUIRE(wc.wr_id == i && wc.byte_len == (i == 1 ? 100 : 5000));
        }
        second.left.meet();
        REQUIRE(ibv_destroy_qp(qp) == 0);
        first.right.meet();
    });
    world.start([&] {
        if (by_packets)
            refuse_copies();
        Device device;
        std::vector<uint8_t> memory(kSize);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        device.join(qp, second.right);
        const auto place = second.right.receive<Place>();
        fill(memory.data(), 5000, 1);
        fill(memory.data() + 5000, 100, 2);
        fill(memory.data() + 10'000, 5000, 3);
        REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 0, mr, 0, 5000, place) == 0);
        REQUIRE(post(qp, IBV_WR_SEND, 0, mr, 5000, 100) == 0);
        REQUIRE(post(qp, IBV_WR_SEND, 0, mr, 10'000, 5000) == 0);
        REQUIRE(post(qp, IBV_WR_RDMA_READ, 0, mr, 20'000, 5000, place) == 0);
        for (const ibv_wc &wc : poll(cq, 4))
            REQUIRE(wc.status == IBV_WC_SUCCESS);
        REQUIRE(mismatch(memory.data() + 20'000, 5000, 1) == 5000);
        second.right.meet();
    });
    world.wait_for_all();
}

TEST(Import, LetsThirdProcessesReachTheExportersMemory)
{
    run_three(false);
}

TEST(Import, LetsPacketsReachTheExportersMemory)
{
    run_three(true);
}

TEST(Import, KeepsTheRightsOfTheRegion)
{
    World::run(
        [](Link &link) {
            Exporter exporter(IBV_ACCESS_REMOTE_READ);
            exporter.offer(link);
            link.meet();
            REQUIRE(exporter.memory == std::vector<uint8_t>(kSize, 0));
        },
        [](Link &link) {
            Importer importer(link);
            importer.join();
            REQUIRE(importer.run(IBV_WR_RDMA_READ, importer.own_mr, 0, 8, importer.place(0)) ==
                    IBV_WC_SUCCESS);
            REQUIRE(importer.run(IBV_WR_RDMA_READ, importer.mr, importer.offer.address, 8,
                                 importer.own_place(0)) == IBV_WC_LOC_PROT_ERR);
            link.meet();
        });
}

/// That of another domain does not know the exporter's keys.
TEST(Import, IsOfItsDomain)
{
    World::run(export_and_wait, [](Link &link) {
        Importer importer(link);
        ibv_cq *cq = importer.helper.cq();
        ibv_qp *qps[] = {importer.helper.qp(cq), importer.helper.qp(cq)};
        for (int i = 0; i < 2; ++i)
            importer.helper.connect(qps[i], importer.helper.address(qps[1 - i]));
        REQUIRE(post(qps[0], IBV_WR_RDMA_WRITE, 0, importer.mr, importer.offer.address, 8,
                     importer.own_place(0)) == 0);
        REQUIRE(poll(cq, 1).front().status == IBV_WC_LOC_PROT_ERR);
        link.meet();
    });
}

/// A region of the importer's own never has a key that the exporter has in that domain.
TEST(Import, KeepsKeysApart)
{
    World::run(
        [](Link &link) {
            Exporter exporter;
            exporter.offer(link);
            for (int i = 0; i < 2000; ++i)
                REQUIRE(exporter.device.mr(exporter.memory.data(), 64)->lkey < 1U << 31);
            link.meet();
        },
        [](Link &link) {
            Importer importer(link);
            ibv_mr *mrs[2000];
            for (ibv_mr *&mr : mrs) {
                mr = ibv_reg_mr(importer.pd, importer.own.data(), 64, kAllAccess);
                REQUIRE(mr != nullptr && mr->lkey >= 1U << 31);
            }
            for (ibv_mr *mr : mrs)
                REQUIRE(ibv_dereg_mr(mr) == 0);
            link.meet();
        });
}

}  // namespace
}  // namespace processes
