// SPDX-License-Identifier: BSD-2-Clause
// What arrives between two processes: every byte of each operation, sizes around those that travel in a completion.
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "world.hh"

namespace processes {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr uint32_t kMost =
    1U << 16;  // Each byte is written and looked at several times, which costs most there.
#else
constexpr uint32_t kMost = 1U << 20;
#endif
constexpr uint32_t kSizes[] = {0, 1, 8, 191, 192, 193, 4096, kMost};
constexpr uint32_t kGuard = 64;

using Memory = std::vector<uint8_t>;

/// One operation, as its initiator announces it.
struct Step {
    ibv_wr_opcode opcode;
    uint32_t length;  ///< UINT32_MAX: there are no more
    uint64_t seed;
};

bool is_send(ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

bool has_imm(ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

void initiate(Device &device, ibv_qp *qp, Link &link)
{
    Memory memory(kMost + kGuard);
    ibv_mr *mr = device.mr(memory.data(), memory.size());
    const auto place = link.receive<Place>();
    uint64_t seed = 1;
    for (const uint32_t length : kSizes)
        for (const unsigned inline_flag : {0U, unsigned{IBV_SEND_INLINE}})
            for (const ibv_wr_opcode opcode : {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
                                               IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ}) {
                if (inline_flag != 0 && (length > 256 || opcode == IBV_WR_RDMA_READ))
                    continue;
                link.send(Step{opcode, length, ++seed});
                const bool reads = opcode == IBV_WR_RDMA_READ;
                fill(memory.data(), memory.size(), reads ? 0 : seed);
                link.meet();
                REQUIRE(post(qp, opcode, seed, length == 0 ? nullptr : mr, 0, length, place,
                             IBV_SEND_SIGNALED | inline_flag, static_cast<uint32_t>(seed)) == 0);
                if (inline_flag != 0)
                    fill(memory.data(), memory.size(), 0);  // It was taken already.
                const ibv_wc wc = poll_one(qp->send_cq);
                REQUIRE(wc.wr_id == seed && wc.qp_num == qp->qp_num);
                if (reads) {
                    REQUIRE(wc.opcode == IBV_WC_RDMA_READ && wc.byte_len == length);
                    REQUIRE(mismatch(memory.data(), length, seed) == length);
                    for (size_t i = length; i < memory.size(); ++i)
                        REQUIRE(memory[i] == pattern(0, i));
                }
                link.meet();
            }
    link.send(Step{IBV_WR_SEND, UINT32_MAX, 0});
    device.deregister(mr);
}

void serve(Device &device, ibv_qp *qp, Link &link)
{
    Memory memory(kMost + kGuard), before;
    ibv_mr *mr = device.mr(memory.data(), memory.size());
    link.send(Place{reinterpret_cast<uintptr_t>(memory.data()), mr->rkey});
    for (uint64_t wr_id = 1;; ++wr_id) {
        const auto step = link.receive<Step>();
        if (step.length == UINT32_MAX)
            return device.deregister(mr);  // A READ that was asked for twice may still be answered.
        const bool reads = step.opcode == IBV_WR_RDMA_READ;
        fill(memory.data(), memory.size(), reads ? step.seed : 0);
        before = memory;
        const bool takes_receive = is_send(step.opcode) || has_imm(step.opcode);
        if (takes_receive)
            post_receive(qp, wr_id, mr, 0, kMost);
        link.meet();
        if (takes_receive) {
            const ibv_wc wc = poll_one(qp->recv_cq);
            REQUIRE(wc.wr_id == wr_id && wc.byte_len == step.length && wc.qp_num == qp->qp_num);
            REQUIRE(wc.opcode == (is_send(step.opcode) ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM));
            REQUIRE(((wc.wc_flags & IBV_WC_WITH_IMM) != 0) == has_imm(step.opcode));
            REQUIRE(!has_imm(step.opcode) || wc.imm_data == step.seed);
        }
        link.meet();
        const uint32_t written = reads ? 0 : step.length;
        REQUIRE(mismatch(memory.data(), written, step.seed) == written);
        REQUIRE(std::memcmp(memory.data() + written, before.data() + written, memory.size() - written) == 0);
        ibv_wc none;
        REQUIRE(ibv_poll_cq(qp->recv_cq, 1, &none) == 0);
    }
}

void each_operation(Link &link, bool is_first, ibv_qp_type type)
{
    Device device;
    ibv_qp *qp = device.qp(device.cq(), {.type = type, .inline_data = 256});
    device.join(qp, link);
    for (const bool initiates : {is_first, !is_first})
        if (initiates)
            initiate(device, qp, link);
        else
            serve(device, qp, link);
    link.meet();
}

TEST(Data, ArrivesWholeByEachOperation)
{
    World::run([](Link &link) { each_operation(link, true, IBV_QPT_RC); },
               [](Link &link) { each_operation(link, false, IBV_QPT_RC); });
}

TEST(Data, ArrivesWholeWhereTheKernelRefusesCopiesToTheInitiator)
{
    World::run(
        [](Link &link) {
            refuse_copies();
            each_operation(link, true, IBV_QPT_RC);
        },
        [](Link &link) { each_operation(link, false, IBV_QPT_RC); });
}

TEST(Data, ArrivesWholeWhereTheKernelRefusesCopiesToTheTarget)
{
    World::run([](Link &link) { each_operation(link, true, IBV_QPT_RC); },
               [](Link &link) {
                   refuse_copies();
                   each_operation(link, false, IBV_QPT_RC);
               });
}

TEST(Data, ArrivesWholeWhereAProcessKeepsOthersOut)
{
    World::run([](Link &link) { each_operation(link, true, IBV_QPT_RC); },
               [](Link &link) {
                   REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
                   each_operation(link, false, IBV_QPT_RC);
               });
}

TEST(Data, AtomicsOfManyProcessesAddUp)
{
    constexpr uint32_t kAdders = 3;
    constexpr uint64_t kAdds = 3000;
    World world;
    std::vector<World::Pair> pairs;
    for (uint32_t i = 0; i < kAdders; ++i)
        pairs.push_back(world.pair());
    world.start([&] {
        Device device;
        alignas(8) uint64_t words[2] = {5, 0};
        ibv_mr *mr = device.mr(words, sizeof words);
        ibv_cq *cq = device.cq();
        ibv_qp *own[2] = {device.qp(cq), device.qp(cq)};
        for (int i : {0, 1})
            device.connect(own[i], device.address(own[1 - i]));
        for (World::Pair &pair : pairs) {
            ibv_qp *qp = device.qp(cq);
            device.join(qp, pair.left);
            pair.left.send(Place{reinterpret_cast<uintptr_t>(words), mr->rkey});
        }
        // The owner's process adds too.
        uint64_t result;
        ibv_mr *results = device.mr(&result, sizeof result);
        for (uint64_t i = 0; i < kAdds; ++i) {
            REQUIRE(post(own[0], IBV_WR_ATOMIC_FETCH_AND_ADD, i, results, 0, 8,
                         {reinterpret_cast<uintptr_t>(words), mr->rkey}, IBV_SEND_SIGNALED, 3) == 0);
            poll_one(cq);
        }
        for (World::Pair &pair : pairs)
            pair.left.meet();
        REQUIRE(words[0] == 5 + 3 * kAdds * (kAdders + 1));
        REQUIRE(words[1] == kAdders);
    });
    for (World::Pair &pair : pairs)
        world.start([&] {
            Device device;
            ibv_cq *cq = device.cq();
            ibv_qp *qp = device.qp(cq);
            device.join(qp, pair.right);
            const auto place = pair.right.receive<Place>();
            uint64_t result = 0;
            ibv_mr *mr = device.mr(&result, sizeof result);
            uint64_t last = 0;
            for (uint64_t i = 0; i < kAdds; ++i) {
                REQUIRE(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, i, mr, 0, 8, place, IBV_SEND_SIGNALED, 3) == 0);
                const ibv_wc wc = poll_one(cq);
                REQUIRE(wc.opcode == IBV_WC_FETCH_ADD && wc.byte_len == 8);
                REQUIRE(result % 3 == 2 && (i == 0 || result > last));
                last = result;
            }
            // Compare-and-swap to the value one above, until it is this process's turn that worked.
            for (uint32_t guess = 0;; guess = static_cast<uint32_t>(result)) {
                const Place second = {place.address + 8, place.rkey};
                REQUIRE(post(qp, IBV_WR_ATOMIC_CMP_AND_SWP, 0, mr, 0, 8, second, IBV_SEND_SIGNALED, guess) ==
                        0);
                REQUIRE(poll_one(cq).opcode == IBV_WC_COMP_SWAP);
                if (result == guess)
                    break;
            }
            pair.right.meet();
        });
    world.wait_for_all();
}

TEST(Data, IsGatheredAndScattered)
{
    constexpr uint32_t kCuts[][4] = {{1, 100, 50, 0}, {0, 64, 129, 0}, {4096, 3, 0, 70000}, {7, 7, 7, 7}};
    const auto send = [&](Link &link) {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        device.join(qp, link);
        Memory memory(100'000);
        fill(memory.data(), memory.size(), 1);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        for (const auto &cuts : kCuts) {
            ibv_sge sges[4];
            uint64_t offset = 0;
            for (int i = 0; i < 4; ++i) {
                sges[i] = {.addr = reinterpret_cast<uintptr_t>(memory.data()) + offset,
                           .length = cuts[i],
                           .lkey = mr->lkey};
                offset += cuts[i];
            }
            ibv_send_wr wr{};
            wr.sg_list = sges;
            wr.num_sge = 4;
            wr.opcode = IBV_WR_SEND;
            ibv_send_wr *bad;
            link.meet();
            REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
            poll_one(cq);
        }
        link.meet();
    };
    const auto receive = [&](Link &link) {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        device.join(qp, link);
        Memory memory(400'000);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        for (const auto &cuts : kCuts) {
            std::memset(memory.data(), 0, memory.size());
            // Other cuts than the sender's, with gaps, in another order in memory.
            const uint32_t lengths[4] = {33, 0, 100, 80'000};
            const uint32_t offsets[4] = {300'000, 5, 200'001, 100'003};
            ibv_sge sges[4];
            for (int i = 0; i < 4; ++i)
                sges[i] = {.addr = reinterpret_cast<uintptr_t>(memory.data()) + offsets[i],
                           .length = lengths[i],
                           .lkey = mr->lkey};
            ibv_recv_wr wr = {.wr_id = 1, .next = nullptr, .sg_list = sges, .num_sge = 4};
            ibv_recv_wr *bad;
            REQUIRE(ibv_post_recv(qp, &wr, &bad) == 0);
            link.meet();
            const uint32_t total = cuts[0] + cuts[1] + cuts[2] + cuts[3];
            REQUIRE(poll_one(cq).byte_len == total);
            Memory expected(memory.size());
            uint32_t position = 0;
            for (int i = 0; i < 4; ++i)
                for (uint32_t j = 0; j < lengths[i] && position < total; ++j)
                    expected[offsets[i] + j] = pattern(1, position++);
            REQUIRE(memory == expected);
        }
        link.meet();
    };
    World::run(send, receive);
}

TEST(Data, OfTwoSendersComesThroughOneSharedReceiveQueue)
{
    constexpr uint32_t kMessages = 4000, kDepth = 32, kSlot = 512;
    World world;
    World::Pair pairs[2] = {world.pair(), world.pair()};
    world.start([&] {
        Device device;
        ibv_cq *cq = device.cq(1024);
        ibv_srq *srq = device.srq(kDepth);
        Memory memory(kDepth * kSlot);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        for (uint32_t i = 0; i < kDepth; ++i)
            post_receive(srq, i, mr, i * kSlot, kSlot);
        ibv_qp *qps[2];
        for (int i : {0, 1}) {
            qps[i] = device.qp(cq, {.srq = srq});
            device.join(qps[i], pairs[i].left);
        }
        uint32_t next[2] = {};
        for (uint32_t i = 0; i < 2 * kMessages; ++i) {
            const ibv_wc wc = poll_one(cq);
            const int who = wc.qp_num == qps[0]->qp_num ? 0 : 1;
            REQUIRE(wc.qp_num == qps[who]->qp_num && wc.wr_id < kDepth);
            // In order, exactly once, whole.
            REQUIRE(wc.imm_data == next[who]++);
            const uint32_t length = wc.imm_data * 7 % kSlot;
            REQUIRE(wc.byte_len == length);
            const uint64_t seed = wc.imm_data * 2 + static_cast<uint32_t>(who);
            REQUIRE(mismatch(memory.data() + wc.wr_id * kSlot, length, seed) == length);
            post_receive(srq, wc.wr_id, mr, wc.wr_id * kSlot, kSlot);
        }
        for (World::Pair &pair : pairs)
            pair.left.meet();
    });
    for (uint32_t who : {0U, 1U})
        world.start([&, who] {
            Link &link = pairs[who].right;
            Device device;
            ibv_cq *cq = device.cq();
            ibv_qp *qp = device.qp(cq);
            device.join(qp, link);
            Memory memory(kSlot);
            ibv_mr *mr = device.mr(memory.data(), memory.size());
            for (uint32_t i = 0; i < kMessages; ++i) {
                fill(memory.data(), kSlot, i * 2 + who);
                REQUIRE(post(qp, IBV_WR_SEND_WITH_IMM, i, mr, 0, i * 7 % kSlot, {}, IBV_SEND_SIGNALED, i) ==
                        0);
                REQUIRE(poll_one(cq).wr_id == i);
            }
            link.meet();
        });
    world.wait_for_all();
}

TEST(Data, OfDatagramsComesBehindTheHeaderOfItsPacket)
{
    constexpr uint32_t kGrh = 40;
    constexpr uint32_t kLengths[] = {0, 1, 151, 152, 153, 4096};
    const auto send = [&](Link &link) {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq, {.type = IBV_QPT_UD});
        const Address to = device.join(qp, link);
        ibv_ah_attr attr = device.path_to(to.gid);
        attr.grh.traffic_class = 0x20;
        attr.grh.hop_limit = 9;
        attr.sl = 3;
        ibv_ah *ah = ibv_create_ah(device.pd(), &attr);
        REQUIRE(ah != nullptr);
        Memory memory(4096);
        fill(memory.data(), memory.size(), 1);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        for (const uint32_t length : kLengths) {
            ibv_sge sge = {
                .addr = reinterpret_cast<uintptr_t>(memory.data()), .length = length, .lkey = mr->lkey};
            ibv_send_wr wr{};
            wr.sg_list = &sge;
            wr.num_sge = length == 0 ? 0 : 1;
            wr.opcode = IBV_WR_SEND_WITH_IMM;
            wr.imm_data = length;
            wr.wr.ud = {.ah = ah, .remote_qpn = to.qp_num, .remote_qkey = kQkey + 1};
            ibv_send_wr *bad;
            link.meet();
            // With a wrong key it is lost.
            REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
            poll_one(cq);
            wr.wr.ud.remote_qkey = kQkey;
            REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
            poll_one(cq);
        }
        link.meet();
        REQUIRE(ibv_destroy_ah(ah) == 0);
    };
    const auto receive = [&](Link &link) {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq, {.type = IBV_QPT_UD});
        const Address from = device.join(qp, link);
        Memory memory(5000);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        for (const uint32_t length : kLengths) {
            std::memset(memory.data(), 0xee, memory.size());
            post_receive(qp, length, mr, 0, kGrh + 4096);
            link.meet();
            const ibv_wc wc = poll_one(cq);
            REQUIRE(wc.wr_id == length && wc.byte_len == kGrh + length && wc.src_qp == from.qp_num);
            REQUIRE((wc.wc_flags & IBV_WC_GRH) != 0 && (wc.wc_flags & IBV_WC_WITH_IMM) != 0);
            REQUIRE(wc.imm_data == length && wc.sl == 3);
            REQUIRE(mismatch(memory.data() + kGrh, length, 1) == length);
            for (size_t i = kGrh + length; i < memory.size(); ++i)
                REQUIRE(memory[i] == 0xee);
            // UDP, BTH, DETH, ImmDt, padded payload, ICRC.
            const uint32_t behind = 8 + 12 + 8 + 4 + (length + 3) / 4 * 4 + 4;
            const bool is_ipv4 = device.gid().raw[10] == 0xff && device.gid().raw[11] == 0xff;
            if (is_ipv4) {
                iphdr header;
                std::memcpy(&header, memory.data() + 20, sizeof header);
                REQUIRE(header.version == 4 && header.ihl == 5 && header.ttl == 9 && header.tos == 0x20);
                REQUIRE(header.protocol == 17 && ntohs(header.tot_len) == 20 + behind);
                REQUIRE(std::memcmp(&header.saddr, from.gid.raw + 12, 4) == 0);
                REQUIRE(std::memcmp(&header.daddr, device.gid().raw + 12, 4) == 0);
            } else {
                ibv_grh header;
                std::memcpy(&header, memory.data(), sizeof header);
                REQUIRE(ntohl(header.version_tclass_flow) == (6U << 28 | 0x20U << 20));
                REQUIRE(header.next_hdr == 17 && header.hop_limit == 9 && ntohs(header.paylen) == behind);
                REQUIRE(std::memcmp(&header.sgid, &from.gid, 16) == 0);
                REQUIRE(std::memcmp(&header.dgid, &device.gid(), 16) == 0);
            }
        }
        link.meet();
    };
    World::run(send, receive);
}

TEST(Data, OfManyQueuePairsStaysApart)
{
    constexpr uint32_t kQps = 300, kRounds = 5;
    const auto side = [&](Link &link) {
        Device device;
        ibv_cq *cq = device.cq(4 * kQps);
        std::vector<ibv_qp *> qps(kQps);
        for (ibv_qp *&qp : qps) {
            qp = device.qp(cq, {.depth = 8, .sges = 1});
            device.join(qp, link);
        }
        std::vector<uint64_t> in(kQps), out(kQps);
        ibv_mr *in_mr = device.mr(in.data(), kQps * 8), *out_mr = device.mr(out.data(), kQps * 8);
        for (uint32_t round = 0; round < kRounds; ++round) {
            for (uint32_t i = 0; i < kQps; ++i)
                post_receive(qps[i], i, in_mr, i * 8, 8);
            link.meet();
            for (uint32_t i = 0; i < kQps; ++i) {
                out[i] = round * 1000 + i;
                REQUIRE(post(qps[i], IBV_WR_SEND, kQps + i, out_mr, i * 8, 8) == 0);
            }
            std::vector<int> seen(2 * kQps);
            for (const ibv_wc &wc : poll(cq, 2 * kQps)) {
                REQUIRE(wc.status == IBV_WC_SUCCESS && wc.wr_id < 2 * kQps);
                REQUIRE(wc.qp_num == qps[wc.wr_id % kQps]->qp_num);
                REQUIRE(++seen[wc.wr_id] == 1);
            }
            for (uint32_t i = 0; i < kQps; ++i)
                REQUIRE(in[i] == round * 1000 + i);
        }
        link.meet();
    };
    World::run(side, side);
}

}  // namespace
}  // namespace processes
