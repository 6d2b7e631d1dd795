// SPDX-License-Identifier: BSD-2-Clause
// A provider of a foreign release (FAKE_RELEASE) under programs of today: every op in its slot, nothing written outside its
// objects.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "fake_kernel.h"
#include "fakes.hh"

namespace verbs::test {
namespace {

class Layout : public testing::Test {
protected:
    static void SetUpTestSuite()
    {
        if (fake != nullptr)
            return;
        const char *wanted = getenv("FAKE_RELEASE");
        const int number = wanted != nullptr ? atoi(wanted) : 44;
        auto *found = std::ranges::find(kReleases, number, &Release::number);
        ASSERT_NE(found, std::end(kReleases)) << "no fake provider is of release " << number;
        std::span<const Fake> fakes = load_fakes({found, 1});
        ASSERT_EQ(fakes.size(), 1u);
        release = found;
        fake = fakes[0].provider;
        device = fakes[0].device;
    }

    void SetUp() override
    {
        ASSERT_NE(fake, nullptr);
        fake->canaries_hurt = 0;
        fake->front_written = 0;
    }
    void TearDown() override
    {
        if (context_ != nullptr) {
            EXPECT_EQ(ibv_close_device(context_), 0);
        }
        EXPECT_EQ(fake->canaries_hurt, 0);
        EXPECT_EQ(fake->front_written, 0);
    }

    void open(const char *ops)
    {
        fake->ops = ops;
        context_ = ibv_open_device(device);
        ASSERT_NE(context_, nullptr) << strerror(errno);
    }

    static inline const Release *release = nullptr;
    static inline struct fake *fake = nullptr;
    static inline ibv_device *device = nullptr;
    ibv_context *context_ = nullptr;
};

TEST_F(Layout, AContextHasTheSizeOfItsRelease)
{
    open("all");
    EXPECT_EQ(fake->context_size, release->context_size);
    EXPECT_EQ(fake->sz, release->context_size);
    EXPECT_EQ(verbs_get_ctx(context_)->sz, release->context_size);
    EXPECT_EQ(fake->ops_count, release->ops);
    EXPECT_EQ(context_->num_comp_vectors, FAKE_KERNEL_COMP_VECTORS);
    EXPECT_EQ(context_->device, device);
    EXPECT_EQ(context_->device->name, "fake" + std::to_string(release->number));
}

TEST_F(Layout, EveryOpHasAVerb)
{
    std::set<std::string> verbs = {"free_context"};
    for (const Verb &verb : kVerbs)
        verbs.insert(verb.op);
    EXPECT_EQ(verbs.size(), size_t{FAKE_MAX_OPS});
    for (int slot = 0; slot < fake->ops_count; ++slot)
        EXPECT_EQ(verbs.count(fake->names[slot]), 1u) << fake->names[slot];
}

TEST_F(Layout, EveryVerbReachesItsSlot)
{
    open("all");
    for (const Verb &verb : kVerbs)
        expect_reaches_its_slot(*fake, verb, context_);
}

TEST_F(Layout, ClosingReachesItsSlot)
{
    open("all");
    int cmd_fd = context_->cmd_fd;
    int async_fd = context_->async_fd;
    fake->called = -1;
    EXPECT_EQ(ibv_close_device(context_), 0);
    EXPECT_EQ(fake->called, slot_of(*fake, "free_context"));
    EXPECT_EQ(fake->argument, context_);
    context_ = nullptr;
    EXPECT_EQ(fcntl(cmd_fd, F_GETFD), -1);
    EXPECT_EQ(fcntl(async_fd, F_GETFD), -1);
}

TEST_F(Layout, AnOpThatIsNotThereIsNotSupported)
{
    open("none");
    for (const Verb &verb : kVerbs)
        expect_unsupported(*fake, verb, context_);
}

TEST_F(Layout, InlineVerbsThatCameLaterAreNotThere)
{
    open("all");
    // The members through which they are called lie in front of the contexts of older releases.
    EXPECT_EQ(verbs_get_ctx_op(context_, free_buf) != nullptr, release->number >= 64);
    EXPECT_EQ(verbs_get_ctx_op(context_, alloc_buf) != nullptr, release->number >= 64);
    EXPECT_EQ(verbs_get_ctx_op(context_, dm_export_dmabuf_fd) != nullptr, release->number >= 62);
    EXPECT_EQ(verbs_get_ctx_op(context_, reg_mr_ex) != nullptr, release->number >= 59);
    EXPECT_EQ(verbs_get_ctx_op(context_, dealloc_dmah) != nullptr, release->number >= 59);
    EXPECT_EQ(verbs_get_ctx_op(context_, alloc_dmah) != nullptr, release->number >= 59);
    EXPECT_NE(verbs_get_ctx_op(context_, query_port), nullptr);
}

TEST_F(Layout, PortAttributesEndWhereTheReleaseEndedThem)
{
    open("all");
    fake->install_commands(context_);
    ibv_port_attr attr;
    memset(&attr, 0xff, sizeof attr);
    ASSERT_EQ(ibv_query_port(context_, 1, &attr), 0);
    EXPECT_EQ(attr.lid, FAKE_KERNEL_PORT_BYTE * 0x101);
    EXPECT_EQ(attr.port_cap_flags2, FAKE_KERNEL_PORT_BYTE * 0x101);
    EXPECT_EQ(attr.active_speed_ex, release->number >= 50 ? FAKE_KERNEL_PORT_BYTE * 0x1010101u : 0u)
        << "what the provider does not know reads as 0";
}

TEST_F(Layout, OpsSetLaterLeaveTheOthers)
{
    open("all");
    fake->install_commands(context_);
    fake->called = -1;
    ibv_alloc_pd(context_);
    EXPECT_EQ(fake->called, slot_of(*fake, "alloc_pd"));
}

class LayoutQp : public Layout {
protected:
    void SetUp() override
    {
        Layout::SetUp();
        open("all");
        fake->install_commands(context_);
        objects_ = std::make_unique<Objects>(context_);
    }

    /// What every queue pair has to go through before it is destroyed.
    void expect_extended_on_demand(ibv_qp *qp, uint32_t comp_mask)
    {
        ASSERT_NE(qp, nullptr) << strerror(errno);
        EXPECT_EQ(qp->context, context_);
        EXPECT_EQ(fake->qp_comp_mask(qp), comp_mask);
        EXPECT_EQ(ibv_qp_to_qp_ex(qp), nullptr);
        fake->make_extended(qp);
        ibv_qp_ex *qp_ex = ibv_qp_to_qp_ex(qp);
        ASSERT_EQ(static_cast<void *>(qp_ex), static_cast<void *>(qp));
        fake->argument = nullptr;
        ibv_wr_start(qp_ex);
        EXPECT_EQ(fake->argument, qp_ex);
        EXPECT_EQ(ibv_destroy_qp(qp), 0);
    }

    ibv_xrcd *xrcd() { return reinterpret_cast<ibv_xrcd *>(xrcd_memory_); }

    static constexpr uint32_t kXrcd = 1;  // VERBS_QP_XRCD
    std::unique_ptr<Objects> objects_;
    alignas(8) char xrcd_memory_[16]{};
};

TEST_F(LayoutQp, Plain)
{
    ibv_qp_init_attr attr = {};
    attr.qp_type = IBV_QPT_RC;
    attr.send_cq = attr.recv_cq = objects_->cq;
    expect_extended_on_demand(ibv_create_qp(&objects_->pd, &attr), 0);
}

TEST_F(LayoutQp, Extended)
{
    for (int by_ex2 : {0, 1}) {
        fake->uses_ex2 = by_ex2;
        ibv_qp_init_attr_ex attr = {};
        attr.qp_type = IBV_QPT_RC;
        attr.send_cq = attr.recv_cq = objects_->cq;
        attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        attr.pd = &objects_->pd;
        expect_extended_on_demand(ibv_create_qp_ex(context_, &attr), 0);
    }
}

TEST_F(LayoutQp, ErrnoComesFromTheCommand)
{
    ibv_qp_init_attr_ex attr = {};
    attr.qp_type = IBV_QPT_RC;
    attr.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    errno = 0;
    EXPECT_EQ(ibv_create_qp_ex(context_, &attr), nullptr) << "it has neither PD nor XRC domain";
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(LayoutQp, XrcDomainOfANewOne)
{
    for (ibv_qp_type type : {IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND}) {
        ibv_qp_init_attr_ex attr = {};
        attr.qp_type = type;
        attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
        attr.xrcd = xrcd();
        ibv_qp *qp = ibv_create_qp_ex(context_, &attr);
        ASSERT_NE(qp, nullptr) << strerror(errno);
        EXPECT_EQ(fake->qp_xrcd(qp), xrcd());
        expect_extended_on_demand(qp, kXrcd);
    }
}

TEST_F(LayoutQp, XrcDomainOfAnOpenedOne)
{
    ibv_qp_open_attr attr = {};
    attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    attr.qp_num = 17;
    attr.qp_type = IBV_QPT_XRC_RECV;
    attr.xrcd = xrcd();
    ibv_qp *qp = ibv_open_qp(context_, &attr);
    ASSERT_NE(qp, nullptr) << strerror(errno);
    EXPECT_EQ(qp->qp_num, 17u);
    EXPECT_EQ(fake->qp_xrcd(qp), xrcd());
    expect_extended_on_demand(qp, kXrcd);
}

TEST_F(LayoutQp, ExtendedCq)
{
    for (int by_ex2 : {0, 1}) {
        fake->uses_ex2 = by_ex2;
        ibv_cq_init_attr_ex attr = {};
        attr.cqe = 16;
        attr.cq_context = &attr;
        ibv_cq_ex *cq = ibv_create_cq_ex(context_, &attr);
        ASSERT_NE(cq, nullptr) << strerror(errno);
        EXPECT_EQ(cq->context, context_);
        EXPECT_EQ(cq->cq_context, &attr);
        EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    }
}

TEST_F(LayoutQp, DmabufMr)
{
    ibv_mr *mr = ibv_reg_dmabuf_mr(&objects_->pd, 0, 4096, 0x1000, 5, IBV_ACCESS_LOCAL_WRITE);
    ASSERT_NE(mr, nullptr) << strerror(errno);
    EXPECT_EQ(mr->context, context_);
    EXPECT_EQ(mr->length, 4096u);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Layout, LogsNameTheDevice)
{
    open("all");
    fake->log(context_, "something happened");
    fake->log(nullptr, "before there was a context");
    std::string text;
    int fd = ::open(fake_sysfs().path("log").c_str(), O_RDONLY);
    ASSERT_GE(fd, 0);
    char buffer[4096];
    for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(got));
    close(fd);
    EXPECT_NE(text.find(std::string(device->name) + ": something happened"), std::string::npos) << text;
    EXPECT_NE(text.find("before there was a context"), std::string::npos) << text;
}

TEST_F(Layout, Imports)
{
    int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    fake->ops = "all";
    ibv_context *imported = ibv_import_device(fd);
    ASSERT_NE(imported, nullptr) << strerror(errno);
    EXPECT_EQ(imported->device, device);
    EXPECT_EQ(imported->cmd_fd, fd) << "which is the context's from now on";
    EXPECT_EQ(ibv_close_device(imported), 0);
    EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST_F(Layout, LeavesTheCallerTheFileThatItDoesNotImport)
{
    int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    fake->ops = "refuse";
    errno = 0;
    EXPECT_EQ(ibv_import_device(fd), nullptr);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(close(fd), 0);
    fd = ::open("/dev/zero", O_RDWR | O_CLOEXEC);
    errno = 0;
    EXPECT_EQ(ibv_import_device(fd), nullptr);
    EXPECT_EQ(errno, ENODEV);
    EXPECT_EQ(close(fd), 0);
}

}  // namespace
}  // namespace verbs::test
