// SPDX-License-Identifier: BSD-2-Clause
// Multicast groups whose members are in several processes of this host.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "world.hh"

namespace processes {
namespace {

using Memory = std::vector<uint8_t>;

/// Receives have that many places, of so many bytes, in a member's memory.
constexpr size_t kPlaces = 100, kPlace = 512;

uint64_t address_of(const void *memory)
{
    return reinterpret_cast<uintptr_t>(memory);
}

/// Groups reach all processes of the network namespace: other tests that run at the same time have others.
const pid_t kTestProcess = getpid();

ibv_gid group(uint8_t number)
{
    ibv_gid gid = {.raw = {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, number}};
    std::memcpy(&gid.raw[4], &kTestProcess, sizeof kTestProcess);
    return gid;
}

/// A datagram QP that can be attached and send to groups.
struct Member {
    Member()
    {
        qp = device.qp(device.cq(), {.type = IBV_QPT_UD});
        device.connect(qp, {});
        mr = device.mr(memory.data(), memory.size());
    }
    void attach(uint8_t number) const
    {
        const ibv_gid gid = group(number);
        REQUIRE(ibv_attach_mcast(qp, &gid, 0) == 0);
    }
    void detach(uint8_t number) const
    {
        const ibv_gid gid = group(number);
        REQUIRE(ibv_detach_mcast(qp, &gid, 0) == 0);
    }
    void send(uint8_t number, uint8_t value)
    {
        ibv_ah_attr path = device.path_to(group(number));
        ibv_ah *ah = ibv_create_ah(device.pd(), &path);
        REQUIRE(ah != nullptr);
        memory[kPlaces * kPlace] = value;
        ibv_sge sge = {.addr = address_of(&memory[kPlaces * kPlace]), .length = 300, .lkey = mr->lkey};
        ibv_send_wr wr{}, *bad = nullptr;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.wr.ud = {.ah = ah, .remote_qpn = 0xffffff, .remote_qkey = kQkey};
        REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
        poll_one(qp->send_cq);
        REQUIRE(ibv_destroy_ah(ah) == 0);
    }
    /// The first byte of the next datagram.
    uint8_t receive()
    {
        const ibv_wc wc = poll_one(qp->recv_cq);
        REQUIRE(wc.opcode == IBV_WC_RECV && wc.byte_len == 340 && (wc.wc_flags & IBV_WC_GRH) != 0);
        return memory[wc.wr_id * kPlace + sizeof(ibv_grh)];
    }
    void post_one(uint64_t place) const { post_receive(qp, place, mr, place * kPlace, 340); }
    bool has_more() const
    {
        ibv_wc wc;
        return ibv_poll_cq(qp->recv_cq, 1, &wc) != 0;
    }

    Device device;
    Memory memory = Memory((kPlaces + 1) * kPlace);
    ibv_qp *qp;
    ibv_mr *mr;
};

TEST(Multicast, ReachesWhoeverIsAttached)
{
    World world;
    World::Pair early = world.pair(), late = world.pair();
    world.start([&] {
        Member sender;
        sender.send(1, 99);  // Nobody has joined.
        early.left.meet();
        early.left.meet();  // It has now, and was there before this process had a look.
        sender.send(1, 1);
        early.left.meet();
        // A process that starts later is found too.
        late.left.meet();
        late.left.meet();
        sender.send(1, 2);
        sender.send(2, 3);  // another group
        early.left.meet();
        late.left.meet();
        // Who has left gets nothing; who stays does.
        late.left.meet();
        sender.send(1, 4);
        early.left.meet();
        late.left.meet();
    });
    world.start([&] {
        Member member;
        early.right.meet();
        member.attach(1);
        for (uint64_t place = 0; place < 4; ++place)
            member.post_one(place);
        early.right.meet();
        REQUIRE(member.receive() == 1);
        early.right.meet();
        REQUIRE(member.receive() == 2);
        early.right.meet();
        REQUIRE(member.receive() == 4);
        REQUIRE(!member.has_more());
        early.right.meet();
        REQUIRE(ibv_destroy_qp(member.qp) == EBUSY);
        member.detach(1);
    });
    world.start([&] {
        late.right.meet();
        Member member;
        member.attach(1);
        member.attach(2);
        for (uint64_t place = 0; place < 4; ++place)
            member.post_one(place);
        late.right.meet();
        REQUIRE(member.receive() == 2);
        REQUIRE(member.receive() == 3);
        late.right.meet();
        member.detach(1);
        late.right.meet();
        late.right.meet();
        REQUIRE(!member.has_more());
        member.detach(2);
    });
    world.wait_for_all();
}

constexpr uint8_t kEarly = 99, kCall = 98, kLast = 4;

/// A member of two groups gets what is sent to one, once each.
void hear(Link &link)
{
    link.meet();
    Member member;
    member.attach(1);
    member.attach(2);
    uint64_t place = 0;
    // Enough for all that comes, if the sender does not call too often.
    for (; place < kPlaces; ++place)
        member.post_one(place);
    link.meet();
    const auto next = [&] {
        const uint8_t value = member.receive();
        member.post_one(place++ % kPlaces);
        return value;
    };
    REQUIRE(next() == kCall);
    link.meet();
    uint8_t value = kCall;
    while (value == kCall)
        value = next();
    for (uint8_t expected = 0; expected < kLast; ++expected, value = next())
        REQUIRE(value == expected);
    REQUIRE(value == kLast);
    member.detach(1);
    member.detach(2);
}

void speak(Link &link)
{
    Member sender;
    sender.send(1, kEarly);  // so that it has looked for members before there are any
    link.meet();
    link.meet();
    // Its library may learn of the member a little later.
    for (const uint64_t begin = now_ms(); !link.has_more();) {
        sender.send(1, kCall);
        for (const uint64_t called = now_ms(); !link.has_more() && now_ms() < called + 20;)
            pause_since(begin);
    }
    link.meet();
    for (uint8_t value = 0; value <= kLast; ++value)
        sender.send(1, value);
}

TEST(Multicast, ReachesMembersPastTheNetworkWhereTheKernelRefusesCopies)
{
    World::run(
        [](Link &link) {
            refuse_copies();
            speak(link);
        },
        hear);
}

TEST(Multicast, KeepsWhatIsSentAtOncePastTheNetwork)
{
    constexpr uint8_t kMany = 90;
    static_assert(kMany < kPlaces && kMany < kCall);
    World::run(
        [](Link &link) {
            refuse_copies();
            link.meet();
            Member sender;
            for (uint8_t value = 0; value < kMany; ++value)
                sender.send(1, value);
            link.meet();
        },
        [](Link &link) {
            Member member;
            member.attach(1);
            for (uint64_t place = 0; place < kPlaces; ++place)
                member.post_one(place);
            link.meet();
            link.meet();
            for (uint8_t value = 0; value < kMany; ++value)
                REQUIRE(member.receive() == value);
            REQUIRE(!member.has_more());
            member.detach(1);
        });
}

/// Goes on in a new process of a PID namespace of its own. False: that is not allowed.
bool leave_processes(const std::function<void()> &body)
{
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return false;
    const pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        body();
        _exit(0);
    }
    int status = 0;
    REQUIRE(process > 0 && waitpid(process, &status, 0) == process && status == 0);
    return true;
}

TEST(Multicast, ReachesMembersInAnotherPidNamespace)
{
    World world;
    const pid_t probe = fork();
    if (probe == 0)
        _exit(leave_processes([] {}) ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(probe, &status, 0), probe);
    if (status != 0)
        GTEST_SKIP() << "PID namespaces are not allowed here";
    World::run(
        [](Link &link) { speak(link); },
        [](Link &link) {
            REQUIRE(leave_processes([&] { hear(link); }));
            _exit(
                0);  // What checks for leaks at the end would want a process here, where the first has ended.
        });
}

}  // namespace
}  // namespace processes
