// SPDX-License-Identifier: BSD-2-Clause
// Peers that stop or die, in the middle of whatever they do.
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <set>

#include "world.hh"

namespace processes {
namespace {

constexpr uint32_t kReceives = 32, kSends = 16, kSlot = 512;
constexpr uint64_t kSendBit = uint64_t{1} << 32;
/// At the end of what peers may write to and read from: a word for atomics.
constexpr uint64_t kWords = 8192;

using Memory = std::vector<uint8_t>;

/// Requests without end to a peer that does the same.
class Stream {
public:
    /// `srq` (if any) is the survivor's, with its own receives.
    Stream(Device &device, ibv_cq *cq, ibv_srq *srq, uint64_t seed, std::optional<ibv_wr_opcode> only)
        : device_(device), cq_(cq), srq_(srq), random_(seed), only_(only)
    {
        qp_ = device.qp(cq, {.srq = srq, .depth = 64, .sges = 1});
        inbox_.resize(kReceives * kSlot);
        outbox_.resize(kWords + kSlot);
        exposed_.resize(kWords + 64);
        in_mr_ = device.mr(inbox_.data(), inbox_.size());
        out_mr_ = device.mr(outbox_.data(), outbox_.size());
        exposed_mr_ = device.mr(exposed_.data(), exposed_.size());
        Device::to_init(qp_);
        if (srq == nullptr)
            for (uint64_t i = 0; i < kReceives; ++i)
                receive(i);
    }
    ~Stream()
    {
        device_.destroy(qp_);
        for (ibv_mr *mr : {in_mr_, out_mr_, exposed_mr_})
            device_.deregister(mr);
    }

    void join(Link &link)
    {
        link.send(device_.address(qp_));
        link.send(Place{reinterpret_cast<uintptr_t>(exposed_.data()), exposed_mr_->rkey});
        device_.to_rtr(qp_, link.receive<Address>());
        place_ = link.receive<Place>();
        Device::to_rts(qp_);
    }

    /// One round of posting.
    void step()
    {
        for (uint64_t i = random_.below(4); i > 0 && sends_.size() < kSends; --i)
            post_something();
    }
    /// Does with a completion what must be done, if it is this QP's.
    bool take(const ibv_wc &wc)
    {
        if (wc.qp_num != qp_->qp_num)
            return false;
        if (wc.status != IBV_WC_SUCCESS)
            REQUIRE(wc.status == IBV_WC_RETRY_EXC_ERR || wc.status == IBV_WC_WR_FLUSH_ERR);
        if ((wc.wr_id & kSendBit) != 0) {
            // In order, and nothing succeeds after what failed.
            REQUIRE(!sends_.empty() && *sends_.begin() == wc.wr_id);
            sends_.erase(sends_.begin());
            REQUIRE(wc.status != IBV_WC_SUCCESS || !has_failed_);
            has_failed_ |= wc.status != IBV_WC_SUCCESS;
            return true;
        }
        if (srq_ == nullptr)
            REQUIRE(receives_.erase(wc.wr_id) == 1);
        has_failed_ |= wc.status != IBV_WC_SUCCESS;
        if (wc.status != IBV_WC_SUCCESS)
            return true;
        REQUIRE(wc.imm_data == next_in_++);
        if (srq_ == nullptr && wc.opcode == IBV_WC_RECV)
            REQUIRE(mismatch(inbox_.data() + wc.wr_id * kSlot, wc.byte_len, wc.imm_data) == wc.byte_len);
        if (srq_ == nullptr && !has_failed_)
            receive(wc.wr_id);
        return true;
    }
    bool has_failed() const { return has_failed_; }
    bool is_over() const { return sends_.empty() && receives_.empty(); }
    ibv_qp *qp() const { return qp_; }

private:
    void receive(uint64_t slot)
    {
        REQUIRE(receives_.insert(slot).second);
        post_receive(qp_, slot, in_mr_, slot * kSlot, kSlot);
    }
    void post_something()
    {
        constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
                                              IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
                                              IBV_WR_ATOMIC_FETCH_AND_ADD};
        const ibv_wr_opcode opcode = only_ ? *only_ : kOpcodes[random_.below(std::size(kOpcodes))];
        // All of them are sent from one place.
        if (opcode == IBV_WR_SEND_WITH_IMM && !sends_.empty())
            return;
        auto length =
            static_cast<uint32_t>(random_.below(2) == 0 ? random_.below(193) : random_.below(kSlot));
        uint64_t offset = 0;
        Place place = place_;
        if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            length = 8;
            offset = kSlot;
            place.address += kWords;
        } else if (opcode == IBV_WR_SEND_WITH_IMM) {
            fill(outbox_.data(), length, next_out_);
        } else {
            offset = kSlot;
            length = static_cast<uint32_t>(random_.below(kWords));
        }
        const bool has_imm = opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
        const uint64_t wr_id = kSendBit | next_send_++;
        sends_.insert(wr_id);
        REQUIRE(post(qp_, opcode, wr_id, out_mr_, offset, length, place, IBV_SEND_SIGNALED,
                     has_imm ? next_out_++ : 1) == 0);
    }

    Device &device_;
    ibv_cq *cq_;
    ibv_srq *srq_;
    Random random_;
    std::optional<ibv_wr_opcode> only_;
    ibv_qp *qp_;
    Memory inbox_, outbox_, exposed_;
    ibv_mr *in_mr_, *out_mr_, *exposed_mr_;
    Place place_{};
    std::set<uint64_t> sends_, receives_;
    uint64_t next_send_ = 0;
    uint32_t next_in_ = 0, next_out_ = 0;
    bool has_failed_ = false;
};

/// Lives until it is killed.
void be_victim(Link &link, Link &killer, uint64_t seed, std::optional<ibv_wr_opcode> only)
{
    Device device;
    ibv_cq *cq = device.cq(256);
    Stream stream(device, cq, nullptr, seed, only);
    stream.join(link);
    link.meet();
    killer.send('r');
    for (;;) {
        stream.step();
        ibv_wc wc[16];
        const int count = ibv_poll_cq(cq, 16, wc);
        for (int i = 0; i < count; ++i)
            REQUIRE(stream.take(wc[i]));
    }
}

/// Streams with each victim until that one is dead, and then looks whether all that was outstanding came back.
void survive(Link &link, uint32_t rounds, std::optional<ibv_wr_opcode> only)
{
    Device device;
    ibv_cq *cq = device.cq(256);
    for (uint32_t round = 0; round < rounds; ++round) {
        Stream stream(device, cq, nullptr, round * 2, only);
        stream.join(link);
        link.meet();
        for (const uint64_t begin = now_ms(); !stream.is_over();) {
            if (!stream.has_failed())
                stream.step();
            ibv_wc wc[16];
            const int count = ibv_poll_cq(cq, 16, wc);
            for (int i = 0; i < count; ++i)
                REQUIRE(stream.take(wc[i]));
            pause_since(begin);
        }
        ibv_qp_attr attr;
        ibv_qp_init_attr init;
        REQUIRE(ibv_query_qp(stream.qp(), &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR);
        ibv_wc none;
        REQUIRE(ibv_poll_cq(cq, 1, &none) == 0);
        link.send('d');
    }
}

/// One survivor, and one victim after the other at the other end of its link.
void kill_one_after_the_other(uint32_t rounds, std::optional<ibv_wr_opcode> only)
{
    World world;
    World::Pair pair = world.pair();
    const pid_t survivor = world.start([&] { survive(pair.left, rounds, only); });
    Random random(7);
    for (uint32_t round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
        World::Pair killer = world.pair();
        const pid_t victim = world.start([&] { be_victim(pair.right, killer.right, round * 2 + 1, only); });
        killer.left.receive<char>();
        usleep(static_cast<useconds_t>(random.below(3000)));
        kill(victim, SIGKILL);
        // Nobody has waited for it yet.
        REQUIRE(pair.right.receive<char>() == 'd');
        world.wait(victim, true);
    }
    world.wait(survivor);
}

TEST(Death, BringsBackEachRequestOnce)
{
    kill_one_after_the_other(150, std::nullopt);
}

TEST(Death, BringsBackEachRequestOnceWhateverItIs)
{
    for (const ibv_wr_opcode opcode : {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
                                       IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD})
        kill_one_after_the_other(40, opcode);
}

/// What dies takes nothing with it from a shared receive queue.
TEST(Death, LeavesASharedReceiveQueueToTheOthers)
{
    constexpr uint32_t kRounds = 150, kDepth = 16;
    World world;
    World::Pair pair = world.pair(), healthy = world.pair();
    const pid_t survivor = world.start([&] {
        Device device;
        ibv_cq *cq = device.cq(256);
        ibv_srq *srq = device.srq(kDepth);
        Memory memory(kDepth * kSlot);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        std::set<uint64_t> posted;
        const auto receive = [&](uint64_t slot) {
            REQUIRE(posted.insert(slot).second);
            post_receive(srq, slot, mr, slot * kSlot, kSlot);
        };
        for (uint64_t i = 0; i < kDepth; ++i)
            receive(i);
        ibv_qp *friendly = device.qp(cq, {.srq = srq});
        device.join(friendly, healthy.left);
        Link &link = pair.left;
        for (uint32_t round = 0; round < kRounds; ++round) {
            Stream stream(device, cq, srq, round * 2, IBV_WR_SEND_WITH_IMM);
            stream.join(link);
            link.meet();
            ibv_async_event event;
            for (const uint64_t begin = now_ms(); !stream.has_failed() || !stream.is_over();) {
                if (!stream.has_failed())
                    stream.step();
                ibv_wc wc;
                if (ibv_poll_cq(cq, 1, &wc) == 1) {
                    REQUIRE(stream.take(wc));
                    if ((wc.wr_id & kSendBit) == 0) {
                        REQUIRE(posted.erase(wc.wr_id) == 1);
                        receive(wc.wr_id);
                    }
                }
                pause_since(begin);
            }
            do {
                REQUIRE(ibv_get_async_event(device.context(), &event) == 0);
                ibv_ack_async_event(&event);
            } while (event.event_type != IBV_EVENT_QP_LAST_WQE_REACHED);
            // Nothing comes from it any more; each receive that was not given back takes a message.
            ibv_wc wc;
            while (ibv_poll_cq(cq, 1, &wc) == 1) {
                REQUIRE(stream.take(wc) && posted.erase(wc.wr_id) == 1);
                receive(wc.wr_id);
            }
            REQUIRE(posted.size() == kDepth);
            healthy.left.send(kDepth);
            for (const ibv_wc &message : poll(cq, kDepth)) {
                REQUIRE(message.status == IBV_WC_SUCCESS && message.qp_num == friendly->qp_num);
                REQUIRE(posted.erase(message.wr_id) == 1);
                receive(message.wr_id);
            }
            healthy.left.meet();
            link.send('d');
        }
        healthy.left.send(0U);
    });
    const pid_t other = world.start([&] {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        device.join(qp, healthy.right);
        while (const auto count = healthy.right.receive<uint32_t>()) {
            for (uint32_t i = 0; i < count; ++i) {
                REQUIRE(post(qp, IBV_WR_SEND, i, nullptr, 0, 0) == 0);
                poll_one(cq);
            }
            healthy.right.meet();
        }
    });
    Random random(9);
    for (uint32_t round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
        World::Pair killer = world.pair();
        const pid_t victim =
            world.start([&] { be_victim(pair.right, killer.right, round * 2 + 1, IBV_WR_SEND_WITH_IMM); });
        killer.left.receive<char>();
        usleep(static_cast<useconds_t>(random.below(2000)));
        kill(victim, SIGKILL);
        REQUIRE(pair.right.receive<char>() == 'd');
        world.wait(victim, true);
    }
    world.wait(survivor);
    world.wait(other);
}

/// A program that polls late finds its messages, and not that its peer has gone since, having said all it had to say.
TEST(Death, LeavesAloneWhoseQpWasDestroyedBefore)
{
    World world;
    World::Pair pair = world.pair();
    const pid_t survivor = world.start([&] {
        Device device;
        ibv_cq *cq = device.cq(), *other_cq = device.cq();
        ibv_qp *qps[] = {device.qp(cq), device.qp(other_cq)};
        Memory memory(64);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        for (ibv_qp *qp : qps)
            device.join(qp, pair.left);
        for (uint64_t id = 0; id < 4; ++id)
            post_receive(qps[0], id, mr, 0, 64);
        post_receive(qps[1], 9, mr, 0, 64);
        pair.left.meet();
        // Of the other, which was not destroyed, the end is told.
        const ibv_wc flushed = poll(other_cq, 1)[0];
        REQUIRE(flushed.wr_id == 9 && flushed.status == IBV_WC_WR_FLUSH_ERR);
        device.qp(cq);  // By now all QPs were looked at: it waits for who does that.
        ibv_wc completions[4];
        REQUIRE(ibv_poll_cq(cq, 4, completions) == 1);
        REQUIRE(completions[0].wr_id == 0 && completions[0].status == IBV_WC_SUCCESS);
        ibv_qp_attr attr;
        ibv_qp_init_attr init;
        REQUIRE(ibv_query_qp(qps[0], &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_RTS);
        // Who asks something of it is told.
        REQUIRE(post(qps[0], IBV_WR_SEND, 5, nullptr, 0, 0) == 0);
        REQUIRE(poll(cq, 1)[0].status == IBV_WC_RETRY_EXC_ERR);
    });
    const pid_t victim = world.start([&] {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qps[] = {device.qp(cq), device.qp(cq)};
        for (ibv_qp *qp : qps)
            device.join(qp, pair.right);
        pair.right.meet();
        REQUIRE(post(qps[0], IBV_WR_SEND, 1, nullptr, 0, 0) == 0);
        REQUIRE(poll_one(cq).status == IBV_WC_SUCCESS);
        device.destroy(qps[0]);
        raise(SIGKILL);
    });
    world.wait(victim, true);
    world.wait(survivor);
}

TEST(Stop, LeavesOneSidedOperationsAlone)
{
    World world;
    World::Pair pair = world.pair();
    const pid_t target = world.start([&] {
        Device device;
        Memory memory(1 << 20);
        alignas(8) uint64_t word = 5;
        ibv_mr *mr = device.mr(memory.data(), memory.size()), *word_mr = device.mr(&word, 8);
        fill(memory.data(), memory.size(), 3);
        ibv_qp *qp = device.qp(device.cq());
        device.join(qp, pair.left);
        pair.left.send(Place{reinterpret_cast<uintptr_t>(memory.data()), mr->rkey});
        pair.left.send(Place{reinterpret_cast<uintptr_t>(&word), word_mr->rkey});
        post_receive(qp, 1, mr, 0, 64);
        pair.left.meet();
        pair.left.meet();  // It is stopped in between.
        REQUIRE(mismatch(memory.data() + 64, memory.size() - 64, 4) == memory.size() - 64);
        REQUIRE(word == 6);
        REQUIRE(poll_one(qp->recv_cq).byte_len == 64);
        REQUIRE(mismatch(memory.data(), 64, 5) == 64);
        pair.left.meet();
    });
    Link &link = pair.right;
    const pid_t source = world.start([&] {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        device.join(qp, link);
        const auto place = link.receive<Place>(), word = link.receive<Place>();
        link.meet();
        kill(target, SIGSTOP);
        Memory memory(1 << 20);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        REQUIRE(post(qp, IBV_WR_RDMA_READ, 0, mr, 0, 1 << 20, place) == 0);
        REQUIRE(poll_one(cq).byte_len == 1 << 20);
        REQUIRE(mismatch(memory.data(), 1 << 20, 3) == 1 << 20);
        fill(memory.data(), memory.size(), 4);
        REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 0, mr, 0, (1 << 20) - 64, {place.address + 64, place.rkey}) == 0);
        poll_one(cq);
        REQUIRE(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, mr, 0, 8, word, IBV_SEND_SIGNALED, 1) == 0);
        poll_one(cq);
        // It has a receive, too.
        fill(memory.data(), memory.size(), 5);
        REQUIRE(post(qp, IBV_WR_SEND, 0, mr, 0, 64) == 0);
        poll_one(cq);
        kill(target, SIGCONT);
        link.meet();
        link.meet();
    });
    world.wait(source);
    world.wait(target);
}

}  // namespace
}  // namespace processes
