// SPDX-License-Identifier: BSD-2-Clause
// Events that cross processes: of completion queues, and those that wake a target which sleeps.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "world.hh"

namespace processes {
namespace {

/// How a process waits for an event of its channel.
enum class Wait { kBlocking, kPoll };

void wait_for_event(ibv_comp_channel *channel, ibv_cq *expected, Wait how)
{
    if (how == Wait::kPoll) {
        const int file = epoll_create1(EPOLL_CLOEXEC);
        epoll_event event = {.events = EPOLLIN, .data = {.fd = channel->fd}};
        REQUIRE(file >= 0 && epoll_ctl(file, EPOLL_CTL_ADD, channel->fd, &event) == 0);
        REQUIRE(epoll_wait(file, &event, 1, kDeadline / 2) == 1);
        close(file);
    }
    ibv_cq *cq = nullptr;
    void *context = nullptr;
    REQUIRE(ibv_get_cq_event(channel, &cq, &context) == 0);
    REQUIRE(cq == expected);
    ibv_ack_cq_events(cq, 1);
}

/// Polls one, sleeping until it is there.
ibv_wc await(ibv_comp_channel *channel, ibv_cq *cq, Wait how)
{
    for (;;) {
        ibv_wc wc;
        if (ibv_poll_cq(cq, 1, &wc) == 1)
            return wc;
        REQUIRE(ibv_req_notify_cq(cq, 0) == 0);
        if (ibv_poll_cq(cq, 1, &wc) == 1)
            return wc;  // The event comes some time.
        wait_for_event(channel, cq, how);
    }
}

/// One event for `count` completions, or `period` microseconds after the first.
void moderate(ibv_cq *cq, uint16_t count, uint16_t period)
{
    ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE,
                               .moderate = {.cq_count = count, .cq_period = period}};
    REQUIRE(ibv_modify_cq(cq, &attr) == 0);
}

void ping_pong(Link &link, bool is_first, Wait how, uint32_t rounds, uint64_t seed, uint16_t period = 0)
{
    Device device;
    ibv_comp_channel *channel = device.channel();
    ibv_cq *sends = device.cq(64), *receives = device.cq(64, channel);
    moderate(receives, period == 0 ? 0 : 64, period);
    ibv_qp *qp = device.qp(sends, {.sges = 1, .recv_cq = receives});
    uint64_t in = 0, out = 0;
    ibv_mr *in_mr = device.mr(&in, sizeof in), *out_mr = device.mr(&out, sizeof out);
    Device::to_init(qp);
    post_receive(qp, 0, in_mr, 0, 8);
    link.send(device.address(qp));
    device.to_rtr(qp, link.receive<Address>());
    Device::to_rts(qp);
    link.meet();
    Random random(seed);
    for (uint32_t i = 0; i < rounds; ++i) {
        for (const bool sends_now : {is_first, !is_first}) {
            if (sends_now) {
                out = i + 1;
                REQUIRE(post(qp, IBV_WR_SEND, i, out_mr, 0, 8) == 0);
                poll_one(sends);
            } else {
                const ibv_wc wc = await(channel, receives, how);
                REQUIRE(wc.status == IBV_WC_SUCCESS && in == i + 1);
                post_receive(qp, i + 1, in_mr, 0, 8);
            }
            if (random.below(64) == 0)
                usleep(static_cast<useconds_t>(random.below(100)));
        }
    }
    link.meet();
}

TEST(CompletionEvents, NoneIsLost)
{
    for (const Wait how : {Wait::kBlocking, Wait::kPoll})
        World::run([&](Link &link) { ping_pong(link, true, how, 50'000, 1); },
                   [&](Link &link) { ping_pong(link, false, how, 50'000, 2); });
}

TEST(ModeratedEvents, NoneIsLost)
{
    World::run([&](Link &link) { ping_pong(link, true, Wait::kPoll, 2000, 3, 50); },
               [&](Link &link) { ping_pong(link, false, Wait::kBlocking, 2000, 4, 1); });
}

/// Sends as many as it is told, until it is told none, and says when they are there.
void send_as_told(Link &link)
{
    Device device;
    ibv_cq *cq = device.cq();
    ibv_qp *qp = device.qp(cq, {.sges = 1});
    device.join(qp, link);
    while (const auto count = link.receive<int>()) {
        for (int i = 0; i < count; ++i) {
            REQUIRE(post(qp, IBV_WR_SEND, 0, nullptr, 0, 0) == 0);
            poll_one(cq);
        }
        link.send('d');
    }
}

/// What receives it: asks for messages, and looks for events.
struct Target {
    explicit Target(Link &with, int depth = 256) : link(with)
    {
        channel = device.channel();
        REQUIRE(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK) == 0);
        cq = device.cq(depth, channel);
        ibv_qp *qp = device.qp(cq, {.depth = 512, .sges = 1});
        device.join(qp, link);
        for (int i = 0; i < 512; ++i)
            post_receive(qp, 0, nullptr, 0, 0);
    }
    void get(int count) const
    {
        link.send(count);
        link.receive<char>();
    }
    void arm() const { REQUIRE(ibv_req_notify_cq(cq, 0) == 0); }
    bool has_event() const
    {
        ibv_cq *of;
        void *context;
        errno = 0;
        if (ibv_get_cq_event(channel, &of, &context) != 0) {
            REQUIRE(errno == EAGAIN);
            return false;
        }
        ibv_ack_cq_events(of, 1);
        return of == cq;
    }
    bool awaits_event() const
    {
        pollfd file = {.fd = channel->fd, .events = POLLIN, .revents = 0};
        return ::poll(&file, 1, kDeadline / 2) == 1 && has_event();
    }

    Link &link;
    Device device;
    ibv_comp_channel *channel;
    ibv_cq *cq;
};

TEST(ModeratedEvents, ComeWithSoManyCompletions)
{
    const auto receiver = [](Link &link) {
        const Target target(link);
        moderate(target.cq, 8, 0);
        target.get(20);  // Nobody asked for an event.
        REQUIRE(!target.has_event());
        for (int round = 0; round < 3; ++round) {
            target.arm();
            target.get(7);
            REQUIRE(!target.has_event());
            target.arm();  // asks for nothing new
            target.get(1);
            REQUIRE(target.has_event());
            target.get(20);
            REQUIRE(!target.has_event());
        }
        REQUIRE(poll(target.cq, 104).size() == 104);
        // Solicited ones are not moderated, so a program that waits for them waits for nothing else.
        REQUIRE(ibv_req_notify_cq(target.cq, 1) == 0);
        target.get(20);
        REQUIRE(!target.has_event());
        // What has waited under other rules is told.
        target.arm();
        target.get(3);
        moderate(target.cq, 100, 0);
        REQUIRE(target.has_event());
        target.arm();
        target.get(99);
        REQUIRE(!target.has_event());
        target.get(1);
        REQUIRE(target.has_event());
        moderate(target.cq, 0, 0);
        target.arm();
        target.get(1);
        REQUIRE(target.has_event());
        link.send(0);
    };
    World::run(receiver, send_as_told);
}

TEST(ModeratedEvents, ComeWhenTheQueueIsFull)
{
    const auto receiver = [](Link &link) {
        const Target target(link, 16);
        moderate(target.cq, 1000, 0);
        target.arm();
        target.get(15);
        REQUIRE(!target.has_event());
        target.get(1);
        REQUIRE(target.has_event());
        link.send(0);
    };
    World::run(receiver, send_as_told);
}

TEST(ModeratedEvents, ComeWhenTheTimeIsOver)
{
    const auto receiver = [](Link &link) {
        const Target target(link);
        for (const uint16_t count : {uint16_t{0}, uint16_t{100}}) {
            moderate(target.cq, count, 30'000);
            for (int round = 0; round < 3; ++round) {
                target.arm();
                const uint64_t begin = now_ms();
                target.get(3);
                REQUIRE(target.awaits_event());
                REQUIRE(now_ms() - begin >= 29);
                REQUIRE(!target.has_event());
            }
        }
        // As many as make an event do not wait for the time, which then makes none.
        moderate(target.cq, 4, 30'000);
        target.arm();
        target.get(4);
        REQUIRE(target.has_event());
        target.arm();
        usleep(60'000);
        REQUIRE(!target.has_event());
        link.send(0);
    };
    World::run(receiver, send_as_told);
}

TEST(CompletionEvents, WaitForSolicitedOnes)
{
    const auto target = [](Link &link) {
        Device device;
        ibv_comp_channel *channel = device.channel();
        REQUIRE(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK) == 0);
        ibv_cq *cq = device.cq(64, channel);
        ibv_qp *qp = device.qp(cq, {.sges = 1});
        device.join(qp, link);
        for (int i = 0; i < 8; ++i)
            post_receive(qp, static_cast<uint64_t>(i), nullptr, 0, 0);
        REQUIRE(ibv_req_notify_cq(cq, 1) == 0);
        link.meet();
        link.meet();  // One that asks for no event is there.
        ibv_cq *of;
        void *context;
        errno = 0;
        REQUIRE(ibv_get_cq_event(channel, &of, &context) == -1 && errno == EAGAIN);
        link.meet();
        link.meet();  // One that does.
        REQUIRE(ibv_get_cq_event(channel, &of, &context) == 0 && of == cq);
        ibv_ack_cq_events(cq, 1);
        link.meet();
        link.meet();  // Another, for which nobody asked.
        REQUIRE(ibv_get_cq_event(channel, &of, &context) == -1 && errno == EAGAIN);
        REQUIRE(poll(cq, 3).size() == 3);
        // Failures are always solicited.
        REQUIRE(ibv_req_notify_cq(cq, 1) == 0);
        ibv_qp_attr attr{};
        attr.qp_state = IBV_QPS_ERR;
        REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
        pollfd file = {.fd = channel->fd, .events = POLLIN, .revents = 0};
        REQUIRE(::poll(&file, 1, kDeadline / 2) == 1);
        REQUIRE(ibv_get_cq_event(channel, &of, &context) == 0 && of == cq);
        ibv_ack_cq_events(cq, 1);
        for (const ibv_wc &wc : poll(cq, 5))
            REQUIRE(wc.status == IBV_WC_WR_FLUSH_ERR);
    };
    const auto source = [](Link &link) {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        device.join(qp, link);
        for (const unsigned flags : {0U, unsigned{IBV_SEND_SOLICITED}, unsigned{IBV_SEND_SOLICITED}}) {
            link.meet();
            REQUIRE(post(qp, IBV_WR_SEND, 0, nullptr, 0, 0, {}, flags) == 0);
            poll_one(cq);
            link.meet();
        }
        link.wait_for_end();
    };
    World::run(target, source);
}

/// Sleeps in ibv_get_async_event until that event comes.
void await_event(const Device &device, ibv_event_type type, const void *element)
{
    ibv_async_event event;
    REQUIRE(ibv_get_async_event(device.context(), &event) == 0);
    REQUIRE(event.event_type == type);
    REQUIRE(event.element.qp == element);
    ibv_ack_async_event(&event);
}

TEST(AsyncEvents, WakeATargetThatSleeps)
{
    const auto target = [](Link &link) {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_srq *srq = device.srq(16);
        ibv_qp *qp = device.qp(cq, {.srq = srq});
        uint64_t word = 7;
        ibv_mr *mr = device.mr(&word, sizeof word, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
        for (uint64_t i = 0; i < 8; ++i)
            post_receive(srq, i, mr, 0, 8);
        ibv_srq_attr limit = {.max_wr = 0, .max_sge = 0, .srq_limit = 6};
        REQUIRE(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0);
        Device::to_init(qp);
        link.send(device.address(qp));
        device.to_rtr(qp, link.receive<Address>());
        link.meet();
        await_event(device, IBV_EVENT_COMM_EST, qp);
        Device::to_rts(qp);
        link.meet();
        await_event(device, IBV_EVENT_SRQ_LIMIT_REACHED, srq);
        REQUIRE(poll(cq, 3).size() == 3);
        REQUIRE(ibv_query_srq(srq, &limit) == 0 && limit.srq_limit == 0);
        link.send(Place{reinterpret_cast<uintptr_t>(&word), mr->rkey});
        await_event(device, IBV_EVENT_QP_ACCESS_ERR, qp);
        await_event(device, IBV_EVENT_QP_LAST_WQE_REACHED, qp);
        ibv_qp_attr attr;
        ibv_qp_init_attr init;
        REQUIRE(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0 && attr.qp_state == IBV_QPS_ERR);
        REQUIRE(word == 7);
        link.meet();
    };
    const auto source = [](Link &link) {
        Device device;
        ibv_cq *cq = device.cq();
        ibv_qp *qp = device.qp(cq);
        device.join(qp, link);
        usleep(20'000);
        REQUIRE(post(qp, IBV_WR_SEND, 0, nullptr, 0, 0) == 0);
        poll_one(cq);
        link.meet();
        usleep(20'000);
        for (uint64_t i = 1; i < 3; ++i) {
            REQUIRE(post(qp, IBV_WR_SEND, i, nullptr, 0, 0) == 0);
            poll_one(cq);
        }
        const auto place = link.receive<Place>();
        uint64_t word = 8;
        ibv_mr *mr = device.mr(&word, sizeof word);
        usleep(20'000);
        REQUIRE(post(qp, IBV_WR_RDMA_WRITE, 3, mr, 0, 8, place) == 0);
        REQUIRE(post(qp, IBV_WR_SEND, 4, nullptr, 0, 0) == 0);
        const std::vector<ibv_wc> wcs = poll(cq, 2);
        REQUIRE(wcs[0].wr_id == 3 && wcs[0].status == IBV_WC_REM_ACCESS_ERR);
        REQUIRE(wcs[1].wr_id == 4 && wcs[1].status == IBV_WC_WR_FLUSH_ERR);
        link.meet();
    };
    World::run(target, source);
}

}  // namespace
}  // namespace processes
