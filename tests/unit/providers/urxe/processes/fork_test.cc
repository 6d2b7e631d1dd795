// SPDX-License-Identifier: BSD-2-Clause
// Programs that fork or exec with open devices, and what is left when they close them.
#include <dirent.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "world.hh"

namespace processes {
namespace {

size_t count_entries(const char *path)
{
    DIR *directory = opendir(path);
    REQUIRE(directory != nullptr);
    size_t count = 0;
    while (readdir(directory) != nullptr)
        ++count;
    closedir(directory);
    return count;
}

size_t count_files()
{
    return count_entries("/proc/self/fd");
}

size_t count_threads()
{
    return count_entries("/proc/self/task") - 2;
}

/// Sends `count` messages one after the other.
void send_some(ibv_qp *qp, const ibv_mr *mr, uint64_t first, int count)
{
    for (int i = 0; i < count; ++i) {
        *static_cast<uint64_t *>(mr->addr) = first + static_cast<uint64_t>(i);
        REQUIRE(post(qp, IBV_WR_SEND, 0, mr, 0, 8) == 0);
        poll_one(qp->send_cq);
    }
}

void receive_some(ibv_qp *qp, const ibv_mr *mr, uint64_t first, int count)
{
    for (int i = 0; i < count; ++i) {
        poll_one(qp->recv_cq);
        REQUIRE(*static_cast<uint64_t *>(mr->addr) == first + static_cast<uint64_t>(i));
        post_receive(qp, 0, mr, 0, 8);
    }
}

/// A QP that is joined to one of another process, with a receive posted.
struct Joined {
    Device device;
    ibv_cq *cq = device.cq();
    ibv_qp *qp = device.qp(cq);
    uint64_t word = 0, out = 0;
    ibv_mr *mr = device.mr(&word, sizeof word), *out_mr = device.mr(&out, sizeof out);

    explicit Joined(Link &link)
    {
        Device::to_init(qp);
        post_receive(qp, 0, mr, 0, 8);
        link.send(device.address(qp));
        device.to_rtr(qp, link.receive<Address>());
        Device::to_rts(qp);
        link.meet();
    }
};

enum class Child { kLeavesAtOnce, kExits, kCloses, kOpensItsOwn };

/// What a child of a process with an open device does. It never fails the parent's.
void be_child(Child what, std::unique_ptr<Joined> &inherited, const Address &parent_qp)
{
    if (what == Child::kLeavesAtOnce)
        _exit(0);
    if (what == Child::kOpensItsOwn) {
        Device own;
        ibv_cq *cq = own.cq();
        ibv_qp *qp = own.qp(cq);
        REQUIRE(qp->qp_num != parent_qp.qp_num);
        // To itself.
        own.connect(qp, own.address(qp));
        uint64_t word = 1, copy = 0;
        ibv_mr *from = own.mr(&word, 8), *to = own.mr(&copy, 8);
        REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 0, from, 0, 8, {reinterpret_cast<uintptr_t>(&copy), to->rkey}) ==
                0);
        poll_one(cq);
        REQUIRE(copy == 1);
    }
    if (what == Child::kCloses || what == Child::kOpensItsOwn)
        inherited.reset();
    std::exit(0);
}

TEST(Fork, ChildrenLeaveWhatTheirParentHasOpenAlone)
{
    const auto parent = [](Link &link) {
        auto joined = std::make_unique<Joined>(link);
        uint64_t next = 1;
        for (const Child what : {Child::kLeavesAtOnce, Child::kExits, Child::kCloses, Child::kOpensItsOwn}) {
            const pid_t child = fork();
            REQUIRE(child >= 0);
            if (child == 0)
                be_child(what, joined, joined->device.address(joined->qp));
            int status = 0;
            REQUIRE(waitpid(child, &status, 0) == child);
            REQUIRE(status == 0);
            send_some(joined->qp, joined->out_mr, next, 10);
            link.meet();
            receive_some(joined->qp, joined->mr, next, 10);
            link.meet();
            next += 10;
            // Others find it still.
            ibv_qp *more = joined->device.qp(joined->cq);
            joined->device.join(more, link);
            REQUIRE(post(more, IBV_WR_SEND, 0, nullptr, 0, 0) == 0);
            poll_one(joined->cq);
        }
        link.meet();
    };
    const auto peer = [](Link &link) {
        Joined joined(link);
        uint64_t next = 1;
        for (int i = 0; i < 4; ++i) {
            receive_some(joined.qp, joined.mr, next, 10);
            link.meet();
            send_some(joined.qp, joined.out_mr, next, 10);
            link.meet();
            next += 10;
            ibv_qp *more = joined.device.qp(joined.cq);
            Device::to_init(more);
            post_receive(more, 5, nullptr, 0, 0);
            link.send(joined.device.address(more));
            joined.device.to_rtr(more, link.receive<Address>());
            Device::to_rts(more);
            link.meet();
            REQUIRE(poll_one(joined.cq).wr_id == 5);
        }
        link.meet();
    };
    World::run(parent, peer);
}

TEST(Fork, AChildTalksToItsParentThroughADeviceOfItsOwn)
{
    World world;
    World::Pair pair = world.pair();
    world.start([&] {
        Device before;
        ibv_cq *cq = before.cq();
        ibv_qp *qp = before.qp(cq);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            {
                Joined joined(pair.right);
                receive_some(joined.qp, joined.mr, 1, 20);
                pair.right.meet();
                send_some(joined.qp, joined.out_mr, 1, 20);
                pair.right.meet();
            }
            _exit(0);
        }
        {
            Joined joined(pair.left);
            send_some(joined.qp, joined.out_mr, 1, 20);
            pair.left.meet();
            receive_some(joined.qp, joined.mr, 1, 20);
            pair.left.meet();
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        before.connect(qp, before.address(qp));
    });
    world.wait_for_all();
}

TEST(Fork, ChildrenCloseWhatOtherThreadsWorkedWith)
{
    constexpr int kChildren = 150;
    constexpr size_t kSize = 65536;
    World world;
    world.start([] {
        std::vector<uint8_t> memory(2 * kSize);
        auto device = std::make_unique<Device>();
        ibv_cq *cq = device->cq();
        ibv_srq *srq = device->srq();
        ibv_qp *qp = device->qp(cq, {.srq = srq});
        ibv_mr *mr = device->mr(memory.data(), memory.size());
        device->connect(qp, device->address(qp));
        std::atomic<bool> stops{false};
        // To itself, so that it holds every lock now and then.
        std::thread worker([&] {
            const Place to = {reinterpret_cast<uintptr_t>(memory.data() + kSize), mr->rkey};
            while (!stops) {
                post_receive(srq, 1, mr, kSize, 64);
                REQUIRE(post(qp, IBV_WR_SEND, 2, mr, 0, 64) == 0);
                REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 3, mr, 0, kSize, to) == 0);
                REQUIRE(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 4, mr, 0, 8, to) == 0);
                poll(cq, 4);
            }
        });
        for (int i = 0; i < kChildren; ++i) {
            const pid_t child = fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                device.reset();
                _exit(0);
            }
            int status = 0;
            REQUIRE(waitpid(child, &status, 0) == child);
            REQUIRE(status == 0);
        }
        stops = true;
        worker.join();
        device.reset();
    });
    world.wait_for_all();
}

TEST(Fork, ChildrenLeaveEventsToTheirParent)
{
    World world;
    world.start([] {
        auto device = std::make_unique<Device>();
        ibv_comp_channel *channel = device->channel();
        ibv_cq *cq = device->cq(16, channel);
        ibv_srq *srq = device->srq(4);
        ibv_qp *qp = device->qp(cq, {.srq = srq}), *loop = device->qp(cq);
        device->connect(qp, device->address(loop));
        device->connect(loop, device->address(qp));
        uint64_t word = 0;
        post_receive(srq, 1, device->mr(&word, sizeof word), 0, 8);
        ibv_srq_attr limit = {.max_wr = 0, .max_sge = 0, .srq_limit = 1};
        REQUIRE(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0);
        REQUIRE(ibv_req_notify_cq(cq, 0) == 0);
        REQUIRE(post(loop, IBV_WR_SEND, 2, nullptr, 0, 0) == 0);
        poll(cq, 2);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            device.reset();
            std::exit(0);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        for (const int file : {channel->fd, device->context()->async_fd}) {
            pollfd event = {.fd = file, .events = POLLIN, .revents = 0};
            REQUIRE(::poll(&event, 1, 0) == 1);
        }
        ibv_cq *of = nullptr;
        void *context = nullptr;
        REQUIRE(ibv_get_cq_event(channel, &of, &context) == 0 && of == cq);
        ibv_ack_cq_events(cq, 1);
        ibv_async_event event;
        REQUIRE(ibv_get_async_event(device->context(), &event) == 0);
        REQUIRE(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == srq);
        ibv_ack_async_event(&event);
    });
    world.wait_for_all();
}

TEST(Exec, ShowsToPeersAsDeath)
{
    const auto caller = [](Link &link) {
        auto *joined = new Joined(link);  // Nobody has the time to close it.
        link.send(Place{reinterpret_cast<uintptr_t>(&joined->word), joined->mr->rkey});
        link.meet();
        const std::string file = std::to_string(link.file());
        // Tells, and waits for the other to have had enough.
        execl("/bin/sh", "sh", "-c", ("printf e >&" + file + "; read line <&" + file).c_str(), nullptr);
        REQUIRE(false);
    };
    const auto peer = [](Link &link) {
        Joined joined(link);
        const auto place = link.receive<Place>();
        link.meet();
        REQUIRE(link.receive<char>() == 'e');
        const std::vector<ibv_wc> wcs = poll(joined.cq, 1);
        REQUIRE(wcs[0].status == IBV_WC_WR_FLUSH_ERR);
        REQUIRE(post(joined.qp, IBV_WR_RDMA_WRITE, 1, joined.out_mr, 0, 8, place) == 0);
        REQUIRE(poll(joined.cq, 1)[0].status == IBV_WC_WR_FLUSH_ERR);
        link.send('\n');
    };
    World::run(caller, peer);
}

TEST(Close, LeavesNoFileAndNoThread)
{
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer has threads of its own, which come and go";
#endif
    const auto side = [](Link &link) {
        free(std::malloc(1));
        {
            Device warm_up;  // What stays loaded stays open.
        }
        const size_t files = count_files(), threads = count_threads();
        REQUIRE(threads == 1);
        for (int round = 0; round < 3; ++round) {
            {
                Device device;
                ibv_cq *cq = device.cq(16, device.channel());
                ibv_qp *loop = device.qp(cq);
                device.connect(loop, device.address(loop));
                post_receive(loop, 1, nullptr, 0, 0);
                REQUIRE(post(loop, IBV_WR_SEND, 2, nullptr, 0, 0) == 0);
                poll(cq, 2);
                // Nobody else to talk to, no thread.
                REQUIRE(count_threads() == 1);
                ibv_qp *qp = device.qp(cq);
                device.join(qp, link);
                REQUIRE(count_threads() == 2);
                link.meet();
            }
            REQUIRE(count_files() == files);
            // A thread that was joined may be listed for a moment.
            for (const uint64_t begin = now_ms(); count_threads() != threads;)
                pause_since(begin);
            link.meet();
        }
    };
    World::run(side, side);
}

TEST(Close, TakesAwayWhatTheProgramForgot)
{
    const auto target = [](Link &link) {
        uint64_t word = 7;
        ibv_context *context = open_loopback();
        REQUIRE(context != nullptr);
        {
            // Its objects are never destroyed; the device is closed all the same.
            Device &device = *new Device;
            ibv_qp *qp = device.qp(device.cq());
            device.join(qp, link);
            link.send(Place{reinterpret_cast<uintptr_t>(&word), device.mr(&word, sizeof word)->rkey});
            link.meet();
            REQUIRE(ibv_close_device(device.context()) == 0);
        }
        link.meet();
        link.meet();
        REQUIRE(word == 7);
        REQUIRE(ibv_close_device(context) == 0);
        link.meet();
        link.meet();
        REQUIRE(word == 7);
        _exit(0);  // The program's leaks are not what this is about.
    };
    const auto source = [](Link &link) {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        device.join(qp, link, {.timeout = 8, .retry_cnt = 1});
        const auto place = link.receive<Place>();
        uint64_t word = 8;
        ibv_mr *mr = device.mr(&word, sizeof word);
        link.meet();
        link.meet();
        REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 0, mr, 0, 8, place) == 0);
        REQUIRE(poll(cq, 1)[0].status == IBV_WC_RETRY_EXC_ERR);
        link.meet();
        link.meet();
        REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 0, mr, 0, 8, place) == 0);
        REQUIRE(poll(cq, 1)[0].status == IBV_WC_WR_FLUSH_ERR);
        link.meet();
    };
    World::run(target, source);
}

}  // namespace
}  // namespace processes
