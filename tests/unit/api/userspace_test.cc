// SPDX-License-Identifier: BSD-2-Clause
// Verbs on a context without the kernel: channels and events come from the provider, and nothing else needs a kernel.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "userspace_provider.hh"

namespace verbs::test {
namespace {

/// The functions that return NULL or -1 set errno.
#define EXPECT_FAILS(call, failure, error) \
    do {                                   \
        errno = 0;                         \
        EXPECT_EQ(call, failure);          \
        EXPECT_EQ(errno, error);           \
    } while (0)

bool is_readable(int fd)
{
    pollfd file = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&file, 1, 0) == 1 && (file.revents & POLLIN) != 0;
}

void set_nonblocking(int fd)
{
    ASSERT_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

/// Waits until another thread has done what it takes.
void wait_until(const std::function<bool()> &condition)
{
    while (!condition())
        sched_yield();
}

class Userspace : public testing::Test {
protected:
    ~Userspace() override
    {
        if (context_ != nullptr) {
            EXPECT_EQ(ibv_close_device(context_), 0);
        }
        EXPECT_EQ(seen.channels, 0);
    }

    void open(const char *provider)
    {
        seen.cq_events = seen.async_events = seen.destroyed = 0;
        context_ = open_userspace_device(provider);
        ASSERT_NE(context_, nullptr) << strerror(errno);
    }

    ibv_context *context_ = nullptr;
};

class Events : public Userspace {
protected:
    void SetUp() override
    {
        open("whole");
        if (context_ == nullptr)
            return;
        channel_ = ibv_create_comp_channel(context_);
        ASSERT_NE(channel_, nullptr) << strerror(errno);
        cq_ = ibv_create_cq(context_, 8, &mark_, channel_, 0);
        ASSERT_NE(cq_, nullptr) << strerror(errno);
    }
    void TearDown() override
    {
        if (cq_ != nullptr) {
            EXPECT_EQ(ibv_destroy_cq(cq_), 0);
        }
        if (channel_ != nullptr) {
            EXPECT_EQ(ibv_destroy_comp_channel(channel_), 0);
        }
    }

    /// Takes an event, which is one of `cq_`.
    void take()
    {
        ibv_cq *cq = nullptr;
        void *cq_context = nullptr;
        ASSERT_EQ(ibv_get_cq_event(channel_, &cq, &cq_context), 0) << strerror(errno);
        EXPECT_EQ(cq, cq_);
        EXPECT_EQ(cq_context, &mark_);
    }

    ibv_comp_channel *channel_ = nullptr;
    ibv_cq *cq_ = nullptr;
    int mark_ = 0;
};

TEST_F(Events, AChannelIsTheProvidersAndOfItsContext)
{
    EXPECT_EQ(channel_->context, context_);
    EXPECT_EQ(channel_->refcnt, 1);
    seen.channel_failure = ENFILE;
    EXPECT_FAILS(ibv_create_comp_channel(context_), nullptr, ENFILE);
    seen.channel_failure = 0;
}

TEST_F(Events, AChannelInUseStays)
{
    EXPECT_EQ(ibv_destroy_comp_channel(channel_), EBUSY);
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = 3;
    attr.channel = channel_;
    ibv_cq_ex *other = ibv_create_cq_ex(context_, &attr);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(channel_->refcnt, 2);
    EXPECT_EQ(ibv_destroy_cq(cq_), 0);
    cq_ = nullptr;
    EXPECT_EQ(ibv_destroy_comp_channel(channel_), EBUSY);
    EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(other)), 0);
    EXPECT_EQ(channel_->refcnt, 0);
    seen.channel_failure = EIO;
    EXPECT_EQ(ibv_destroy_comp_channel(channel_), EIO) << "what the provider says";
    seen.channel_failure = 0;
    EXPECT_EQ(seen.channels, 1);
    EXPECT_EQ(ibv_destroy_comp_channel(channel_), 0);
    channel_ = nullptr;
}

TEST_F(Events, AQueueIsOnAChannelOfItsContext)
{
    ibv_context *other = open_userspace_device("whole");
    ASSERT_NE(other, nullptr);
    EXPECT_FAILS(ibv_create_cq(other, 1, nullptr, channel_, 0), nullptr, EINVAL);
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = 1;
    attr.channel = channel_;
    EXPECT_FAILS(ibv_create_cq_ex(other, &attr), nullptr, EINVAL);
    EXPECT_EQ(channel_->refcnt, 1);
    EXPECT_EQ(ibv_close_device(other), 0);
}

TEST_F(Events, AreTakenInTurn)
{
    ibv_cq *other = ibv_create_cq(context_, 1, nullptr, channel_, 0);
    ASSERT_NE(other, nullptr);
    EXPECT_FALSE(is_readable(channel_->fd));
    raise(cq_);
    raise(other);
    EXPECT_TRUE(is_readable(channel_->fd));
    take();
    EXPECT_EQ(seen.cq_events, 1);
    EXPECT_TRUE(is_readable(channel_->fd));
    ibv_cq *cq = nullptr;
    void *cq_context = &mark_;
    EXPECT_EQ(ibv_get_cq_event(channel_, &cq, &cq_context), 0);
    EXPECT_EQ(cq, other);
    EXPECT_EQ(cq_context, nullptr);
    EXPECT_EQ(seen.cq_events, 2);
    EXPECT_FALSE(is_readable(channel_->fd));
    ibv_ack_cq_events(cq_, 1);
    ibv_ack_cq_events(other, 1);
    EXPECT_EQ(ibv_destroy_cq(other), 0);
}

TEST_F(Events, AreNotWaitedForWhereTheFileDoesNotBlock)
{
    set_nonblocking(channel_->fd);
    set_nonblocking(context_->async_fd);
    ibv_cq *cq = cq_;
    void *cq_context = &mark_;
    EXPECT_FAILS(ibv_get_cq_event(channel_, &cq, &cq_context), -1, EAGAIN);
    EXPECT_EQ(cq, cq_) << "left alone";
    EXPECT_EQ(cq_context, &mark_);
    ibv_async_event event = {};
    event.event_type = IBV_EVENT_GID_CHANGE;
    EXPECT_FAILS(ibv_get_async_event(context_, &event), -1, EAGAIN);
    EXPECT_EQ(event.event_type, IBV_EVENT_GID_CHANGE);
    EXPECT_EQ(seen.cq_events + seen.async_events, 0);
}

TEST_F(Events, AreWaitedFor)
{
    std::thread raises([this] { raise(cq_); });
    take();
    raises.join();
    ibv_ack_cq_events(cq_, 1);
}

TEST_F(Events, WaitingEndsWithASignal)
{
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    struct sigaction before;
    ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
    const std::function<int()> waits[] = {
        [this] {
            ibv_cq *cq = nullptr;
            void *cq_context = nullptr;
            return ibv_get_cq_event(channel_, &cq, &cq_context);
        },
        [this] {
            ibv_async_event event;
            return ibv_get_async_event(context_, &event);
        },
    };
    for (const std::function<int()> &wait : waits) {
        std::atomic<bool> over = false;
        int result = 0;
        int error = 0;
        std::thread waiter([&] {
            result = wait();
            error = errno;
            over = true;
        });
        wait_until([&] {
            pthread_kill(waiter.native_handle(), SIGUSR1);
            return over.load();
        });
        waiter.join();
        EXPECT_EQ(result, -1);
        EXPECT_EQ(error, EINTR);
    }
    EXPECT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST_F(Events, DestroyingAQueueWaitsUntilAllAreAcknowledged)
{
    raise(cq_);
    raise(cq_);
    take();
    take();
    ibv_async_event event = {};
    event.event_type = IBV_EVENT_CQ_ERR;
    event.element.cq = cq_;
    raise(context_, event);
    ASSERT_EQ(ibv_get_async_event(context_, &event), 0);

    ibv_cq *cq = std::exchange(cq_, nullptr);
    std::thread destroyer([&] { EXPECT_EQ(ibv_destroy_cq(cq), 0); });
    wait_until([] { return seen.waiting == 1; });
    EXPECT_EQ(seen.destroyed, 0);
    ibv_ack_cq_events(cq, 1);
    EXPECT_EQ(seen.destroyed, 0);
    ibv_ack_async_event(&event);
    EXPECT_EQ(seen.destroyed, 0);
    ibv_ack_cq_events(cq, 1);
    destroyer.join();
    EXPECT_EQ(seen.destroyed, 1);
}

TEST_F(Events, AsynchronousOnesOfAllObjects)
{
    ibv_qp qp = {};
    ibv_srq srq = {};
    ibv_wq wq = {};
    auto prepare = [](auto &object) {
        pthread_mutex_init(&object.mutex, nullptr);
        pthread_cond_init(&object.cond, nullptr);
    };
    prepare(qp);
    prepare(srq);
    prepare(wq);
    ibv_async_event events[5] = {};
    events[0].event_type = IBV_EVENT_QP_FATAL;
    events[0].element.qp = &qp;
    events[1].event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
    events[1].element.srq = &srq;
    events[2].event_type = IBV_EVENT_WQ_FATAL;
    events[2].element.wq = &wq;
    events[3].event_type = IBV_EVENT_CQ_ERR;
    events[3].element.cq = cq_;
    events[4].event_type = IBV_EVENT_PORT_ERR;
    events[4].element.port_num = 1;
    for (const ibv_async_event &raised : events)
        raise(context_, raised);
    EXPECT_TRUE(is_readable(context_->async_fd));
    for (const ibv_async_event &raised : events) {
        ibv_async_event event;
        ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
        EXPECT_EQ(event.event_type, raised.event_type);
        EXPECT_EQ(event.element.qp, raised.element.qp);
        ibv_ack_async_event(&event);
    }
    EXPECT_FALSE(is_readable(context_->async_fd));
    EXPECT_EQ(seen.async_events, 5);
    EXPECT_EQ(qp.events_completed, 1u);
    EXPECT_EQ(srq.events_completed, 1u);
    EXPECT_EQ(wq.events_completed, 1u);
    EXPECT_EQ(cq_->async_events_completed, 1u);
}

TEST_F(Userspace, WithoutOpsNothingIsSupported)
{
    open("hollow");
    EXPECT_FAILS(ibv_create_comp_channel(context_), nullptr, EOPNOTSUPP);
    ibv_async_event event;
    EXPECT_FAILS(ibv_get_async_event(context_, &event), -1, EOPNOTSUPP);
    ibv_gid gid;
    EXPECT_FAILS(ibv_query_gid(context_, 1, 0, &gid), -1, EOPNOTSUPP);
    __be16 pkey;
    EXPECT_FAILS(ibv_query_pkey(context_, 1, 0, &pkey), -1, EOPNOTSUPP);
    ibv_device_attr attr;
    EXPECT_EQ(ibv_query_device(context_, &attr), EOPNOTSUPP);
    EXPECT_FAILS(ibv_create_cq(context_, 1, nullptr, nullptr, 0), nullptr, EOPNOTSUPP);
}

TEST_F(Userspace, WhatAProviderDoesNotKnowIsNotSupported)
{
    open("first");
    EXPECT_FAILS(ibv_create_comp_channel(context_), nullptr, EOPNOTSUPP);
    ibv_async_event event;
    EXPECT_FAILS(ibv_get_async_event(context_, &event), -1, EOPNOTSUPP);
    __be16 pkey;
    EXPECT_EQ(ibv_query_pkey(context_, 1, 0, &pkey), 0) << "which it knows";
}

TEST_F(Userspace, EachOpIsNotSupportedByItself)
{
    open("makes");
    ibv_comp_channel *channel = ibv_create_comp_channel(context_);
    ASSERT_NE(channel, nullptr);
    ibv_cq *cq = nullptr;
    void *cq_context = nullptr;
    EXPECT_FAILS(ibv_get_cq_event(channel, &cq, &cq_context), -1, EOPNOTSUPP);
    EXPECT_EQ(ibv_destroy_comp_channel(channel), EOPNOTSUPP);
    free_channel(channel);
}

TEST_F(Userspace, DevicesAndPortsAreTheProviders)
{
    open("whole");
    ibv_device_attr attr = {};
    EXPECT_EQ(ibv_query_device(context_, &attr), 0);
    EXPECT_EQ(attr.max_cq, 5);
    ibv_gid_entry entries[4];
    EXPECT_EQ(ibv_query_gid_table(context_, entries, 4, 0), 1);
    EXPECT_EQ(entries[0].gid_index, 2u);
    EXPECT_EQ(ibv_query_gid_table(context_, entries, 0, 0), -EINVAL);
    EXPECT_EQ(ibv_get_pkey_index(context_, 1, 0xffff), 0);
    EXPECT_EQ(ibv_get_pkey_index(context_, 1, 1), -1);
}

TEST_F(Userspace, ASenderIsFoundInTheProvidersGids)
{
    open("whole");
    // The last 20 bytes are an IPv4 header from 127.0.0.1 to 127.0.0.1.
    ibv_grh grh = {};
    const uint8_t header[] = {0x45, 0, 0,   60, 0, 0, 0x40, 0, 64, IPPROTO_UDP,
                              0,    0, 127, 0,  0, 1, 127,  0, 0,  1};
    std::memcpy(reinterpret_cast<char *>(&grh) + sizeof grh - sizeof header, header, sizeof header);
    ibv_wc wc = {};
    wc.wc_flags = IBV_WC_GRH;
    ibv_ah_attr attr = {};
    ASSERT_EQ(ibv_init_ah_from_wc(context_, 1, &wc, &grh, &attr), 0) << strerror(errno);
    EXPECT_EQ(attr.grh.sgid_index, 2);

    ibv_pd pd = {.context = context_, .handle = 0};
    ibv_ah *ah = ibv_create_ah_from_wc(&pd, &wc, &grh, 1);
    ASSERT_NE(ah, nullptr);
    EXPECT_EQ(ah->handle, 2u);
    EXPECT_EQ(ah->pd, &pd);
    EXPECT_EQ(ibv_destroy_ah(ah), 0);

    uint8_t mac[6];
    std::memset(mac, 0x5a, sizeof mac);
    uint16_t vid = 0;
    ASSERT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, mac, &vid), 0);
    EXPECT_EQ(std::memcmp(mac, "\0\0\0\0\0\0", sizeof mac), 0) << "that of the loopback interface";
    EXPECT_EQ(vid, 0xffff);
}

TEST_F(Userspace, RegionsGoWithForkProtection)
{
    open("whole");
    ASSERT_EQ(ibv_fork_init(), 0);
    ibv_pd pd = {.context = context_, .handle = 0};
    static char memory[3 * 4096];
    ibv_mr *mr = ibv_reg_mr(&pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
    ASSERT_NE(mr, nullptr) << strerror(errno);
    EXPECT_EQ(mr->context, context_);
    EXPECT_EQ(mr->length, sizeof memory);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    seen.region_failure = ENOMEM;
    EXPECT_FAILS(ibv_reg_mr(&pd, memory, sizeof memory, 0), nullptr, ENOMEM);
    seen.region_failure = 0;
}

/// Exits after a registration that fails, in a process with little memory to pin.
[[noreturn]] void fail_to_register()
{
    rlimit limit = {};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 65536);
    setrlimit(RLIMIT_MEMLOCK, &limit);
    ibv_pd pd = {.context = open_userspace_device("whole"), .handle = 0};
    seen.region_failure = ENOMEM;
    char memory[100];
    const bool failed = pd.context != nullptr && ibv_reg_mr(&pd, memory, sizeof memory, 0) == nullptr;
    _exit(failed ? 0 : 1);
}

TEST_F(Userspace, RegionsAreNotPinned)
{
    GTEST_FLAG_SET(death_test_style,
                   "threadsafe");  // a process of its own, whose library reads its environment
    setenv("VERBS_LOG_LEVEL", "1", 1);
    EXPECT_EXIT(fail_to_register(), testing::ExitedWithCode(0),
                "whole0: registering 100 bytes failed: Cannot allocate memory");
    unsetenv("VERBS_LOG_LEVEL");
}

int file_of(size_t size)
{
    const int file = memfd_create("import", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(file, static_cast<off_t>(size)), 0);
    return file;
}

/// Whichever of the devices takes the file.
TEST_F(Userspace, DevicesAreImportedByFilesThatProvidersKnow)
{
    open("whole");
    EXPECT_EQ(ibv_close_device(std::exchange(context_, nullptr)), 0);
    const char *const asked[] = {"WHOLE", "HOLLOW", "MAKES"};
    for (const char *name : asked)
        setenv(name, name[0] == 'W' ? "whole" : name[0] == 'H' ? "hollow" : "makesalong", 1);
    for (const char *name : {"whole0", "makesalong0"}) {
        const int file = file_of(std::strlen(name));
        context_ = ibv_import_device(file);
        ASSERT_NE(context_, nullptr) << strerror(errno);
        EXPECT_STREQ(ibv_get_device_name(context_->device), name);
        EXPECT_EQ(context_->cmd_fd, file);
        EXPECT_EQ(ibv_close_device(std::exchange(context_, nullptr)), 0);
        EXPECT_EQ(fcntl(file, F_GETFD), -1);
    }
    for (const auto &[size, error] : {std::pair<size_t, int>{1, EINVAL}, {7, ESTALE}, {12, ESTALE}}) {
        const int file = file_of(size);
        EXPECT_FAILS(ibv_import_device(file), nullptr, error);
        EXPECT_EQ(close(file), 0) << "it stays the caller's";
    }
    for (const char *name : asked)
        unsetenv(name);
    const int file = file_of(6);
    EXPECT_FAILS(ibv_import_device(file), nullptr, EINVAL);  // nobody is asked
    EXPECT_EQ(close(file), 0);
}

TEST_F(Userspace, WhatNobodyHasIsNotSupported)
{
    open("whole");
    ibv_pd pd = {.context = context_, .handle = 0};
    EXPECT_FAILS(ibv_import_pd(context_, 1), nullptr, EOPNOTSUPP);
    EXPECT_FAILS(ibv_import_mr(&pd, 1), nullptr, EOPNOTSUPP);
    EXPECT_FAILS(ibv_import_dm(context_, 1), nullptr, EOPNOTSUPP);
    EXPECT_FAILS(ibv_import_device(context_->cmd_fd), nullptr, EINVAL);  // there is no file
    ibv_buf *buf = nullptr;
    EXPECT_FAILS(ibv_alloc_buf(&pd, 4096, &buf), nullptr, EOPNOTSUPP);
    ibv_xrcd_init_attr xrcd_attr = {};
    EXPECT_FAILS(ibv_open_xrcd(context_, &xrcd_attr), nullptr, EOPNOTSUPP);
    ibv_values_ex values = {};
    EXPECT_EQ(ibv_query_rt_values_ex(context_, &values), EOPNOTSUPP);
    ibv_srq srq = {};
    srq.context = context_;
    uint32_t number = 0;
    EXPECT_EQ(ibv_get_srq_num(&srq, &number), EOPNOTSUPP);
    ibv_qp qp = {};
    qp.context = context_;
    ibv_ece ece = {};
    EXPECT_EQ(ibv_set_ece(&qp, &ece), EOPNOTSUPP);
    EXPECT_EQ(ibv_query_ece(&qp, &ece), EOPNOTSUPP);
    const ibv_gid gid = {};
    EXPECT_EQ(ibv_attach_mcast(&qp, &gid, 0), EOPNOTSUPP);
    EXPECT_EQ(ibv_detach_mcast(&qp, &gid, 0), EOPNOTSUPP);
}

}  // namespace
}  // namespace verbs::test
