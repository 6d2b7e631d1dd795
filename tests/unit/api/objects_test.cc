// SPDX-License-Identifier: BSD-2-Clause
// The verbs of completion counters, DMA handles, buffers and port speed: which op each reaches, and what
// programs see where there is none.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "fake_provider.hh"

namespace verbs::test {
namespace {

class ObjectsTest : public FakeProvider {
protected:
    ~ObjectsTest() override { answer = 0; }

    /// What an op gives that fails with `answer`.
    template <class Object>
    static Object *made_none()
    {
        errno = answer;
        return nullptr;
    }
};

TEST_F(ObjectsTest, AreNotSupportedWithoutAProvidersOp)
{
    ibv_comp_cntr counter = {.context = context, .handle = 0};
    ibv_dmah dmah = {.context = context};
    ibv_comp_cntr_init_attr counter_attr{};
    ibv_qp_attach_comp_cntr_attr attach{};
    ibv_dmah_init_attr dmah_attr{};
    ibv_comp_cntr_caps caps{};
    ibv_qp qp{};
    ibv_dm dm{};
    ibv_buf *buf = nullptr;
    uint64_t value = 7;
    qp.context = dm.context = context;

    EXPECT_NULL_WITH(ibv_alloc_dmah(context, &dmah_attr), EOPNOTSUPP);
    EXPECT_EQ(ibv_dealloc_dmah(&dmah), EOPNOTSUPP);
    EXPECT_EQ(ibv_query_comp_cntr_caps(context, &caps), EOPNOTSUPP);
    EXPECT_NULL_WITH(ibv_create_comp_cntr(context, &counter_attr), EOPNOTSUPP);
    EXPECT_EQ(ibv_destroy_comp_cntr(&counter), EOPNOTSUPP);
    EXPECT_EQ(ibv_set_comp_cntr(&counter, 1), EOPNOTSUPP);
    EXPECT_EQ(ibv_set_err_comp_cntr(&counter, 1), EOPNOTSUPP);
    EXPECT_EQ(ibv_inc_comp_cntr(&counter, 1), EOPNOTSUPP);
    EXPECT_EQ(ibv_inc_err_comp_cntr(&counter, 1), EOPNOTSUPP);
    EXPECT_EQ(ibv_read_comp_cntr(&counter, &value), EOPNOTSUPP);
    EXPECT_EQ(ibv_read_err_comp_cntr(&counter, &value), EOPNOTSUPP);
    EXPECT_EQ(ibv_qp_attach_comp_cntr(&qp, &counter, &attach), EOPNOTSUPP);
    EXPECT_EQ(ibv_query_port_speed(context, 1, &value), EOPNOTSUPP);
    EXPECT_EQ(value, 7u);
    EXPECT_NULL_WITH(ibv_alloc_buf(&pd, 4096, &buf), EOPNOTSUPP);
    EXPECT_EQ(buf, nullptr);
    errno = 0;
    EXPECT_EQ(ibv_dm_export_dmabuf_fd(&dm), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
    ibv_mr_init_attr mr_attr{};
    mr_attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    EXPECT_NULL_WITH(ibv_reg_mr_ex(&pd, &mr_attr), EOPNOTSUPP);
}

TEST_F(ObjectsTest, AreNotImportedWhereTheKernelDoesNotKnowHow)
{
    set_ops({.import_dm = [](ibv_context *, uint32_t) { return made_none<ibv_dm>(); },
             .import_mr = [](ibv_pd *, uint32_t) { return made_none<ibv_mr>(); },
             .import_pd = [](ibv_context *, uint32_t) { return made_none<ibv_pd>(); }});
    for (auto [kernels, promised] : {std::pair{EPROTONOSUPPORT, EOPNOTSUPP}, std::pair{ENOTTY, EOPNOTSUPP},
                                     std::pair{EOPNOTSUPP, EOPNOTSUPP}, std::pair{EINVAL, EINVAL}}) {
        answer = kernels;
        EXPECT_NULL_WITH(ibv_import_pd(context, 1), promised);
        EXPECT_NULL_WITH(ibv_import_mr(&pd, 1), promised);
        EXPECT_NULL_WITH(ibv_import_dm(context, 1), promised);
    }
}

TEST_F(ObjectsTest, APortIsToldOfOnSuccessOnly)
{
    set_ops({.query_port =
                 [](ibv_context *, uint8_t, ibv_port_attr *attr) {
                     attr->lid = 5;
                     return answer;
                 },
             .query_port_speed =
                 [](ibv_context *, uint32_t, uint64_t *port_speed) {
                     *port_speed = 4000;
                     return answer;
                 }});
    ibv_port_attr attr{};
    attr.lid = 7;
    uint64_t speed = 7;
    answer = EIO;
    EXPECT_EQ(ibv_query_port(context, 1, &attr), EIO);
    EXPECT_EQ(attr.lid, 7);
    EXPECT_EQ(ibv_query_port_speed(context, 1, &speed), EIO);
    EXPECT_EQ(speed, 7u);
    answer = 0;
    EXPECT_EQ(ibv_query_port(context, 1, &attr), 0);
    EXPECT_EQ(attr.lid, 5);
    EXPECT_EQ(ibv_query_port_speed(context, 1, &speed), 0);
    EXPECT_EQ(speed, 4000u);
}

TEST_F(ObjectsTest, EachVerbReachesItsOp)
{
    set_all_ops();
    ibv_comp_cntr counter = {.context = context, .handle = 0};
    ibv_dmah dmah = {.context = context};
    ibv_qp_attach_comp_cntr_attr attach = {.comp_mask = 0, .op_mask = 5};
    ibv_qp qp{};
    qp.context = context;
    uint64_t value = 0;
    const struct {
        const char *called;
        std::function<int()> verb;
    } verbs[] = {
        {"dealloc_dmah", [&] { return ibv_dealloc_dmah(&dmah); }},
        {"destroy_comp_cntr", [&] { return ibv_destroy_comp_cntr(&counter); }},
        {"set_comp_cntr 11", [&] { return ibv_set_comp_cntr(&counter, 11); }},
        {"set_err_comp_cntr 12", [&] { return ibv_set_err_comp_cntr(&counter, 12); }},
        {"inc_comp_cntr 13", [&] { return ibv_inc_comp_cntr(&counter, 13); }},
        {"inc_err_comp_cntr 14", [&] { return ibv_inc_err_comp_cntr(&counter, 14); }},
        {"read_comp_cntr", [&] { return ibv_read_comp_cntr(&counter, &value); }},
        {"read_err_comp_cntr", [&] { return ibv_read_err_comp_cntr(&counter, &value); }},
        {"qp_attach_comp_cntr 5", [&] { return ibv_qp_attach_comp_cntr(&qp, &counter, &attach); }},
        {"query_port_speed 2", [&] { return ibv_query_port_speed(context, 2, &value); }},
    };
    for (const auto &one : verbs) {
        for (int wanted : {0, EBUSY}) {
            answer = wanted;
            EXPECT_EQ(one.verb(), wanted);
            EXPECT_EQ(called, one.called);
        }
    }
    EXPECT_EQ(value, 4000u);
}

TEST_F(ObjectsTest, AreGivenTheirContext)
{
    set_all_ops();
    ibv_comp_cntr_init_attr counter_attr = {.comp_mask = 0, .type = IBV_COMP_CNTR_TYPE_BYTES, .flags = 0};
    ibv_comp_cntr *counter = ibv_create_comp_cntr(context, &counter_attr);
    ASSERT_NE(counter, nullptr);
    EXPECT_EQ(called, "create_comp_cntr 1");
    EXPECT_EQ(counter->context, context);
    ibv_dmah_init_attr dmah_attr{};
    dmah_attr.comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH;
    ibv_dmah *dmah = ibv_alloc_dmah(context, &dmah_attr);
    ASSERT_NE(dmah, nullptr);
    EXPECT_EQ(called, "alloc_dmah 2");
    EXPECT_EQ(dmah->context, context);
    answer = ENOMEM;
    EXPECT_NULL_WITH(ibv_create_comp_cntr(context, &counter_attr), ENOMEM);
    EXPECT_NULL_WITH(ibv_alloc_dmah(context, &dmah_attr), ENOMEM);
}

TEST_F(ObjectsTest, CountersHaveNoOptionsYet)
{
    set_all_ops();
    ibv_comp_cntr_init_attr attr = {.comp_mask = 1, .type = IBV_COMP_CNTR_TYPE_WRS, .flags = 0};
    EXPECT_NULL_WITH(ibv_create_comp_cntr(context, &attr), EOPNOTSUPP);
    attr = {.comp_mask = 0, .type = IBV_COMP_CNTR_TYPE_WRS, .flags = 1};
    EXPECT_NULL_WITH(ibv_create_comp_cntr(context, &attr), EOPNOTSUPP);
    EXPECT_EQ(called, "");
}

TEST_F(ObjectsTest, CounterCapabilitiesFitTheCallersStructure)
{
    set_all_ops();
    struct {
        ibv_comp_cntr_caps caps;
        uint64_t later;
    } larger = {.caps = {}, .later = 5};
    EXPECT_EQ(_ibv_query_comp_cntr_caps(context, &larger.caps, sizeof larger), 0);
    EXPECT_EQ(larger.caps.max_counters, 7u);
    EXPECT_EQ(larger.later, 0u);
    EXPECT_EQ(called, "query_comp_cntr_caps 16");

    ibv_comp_cntr_caps caps;
    std::memset(&caps, 0xee, sizeof caps);
    EXPECT_EQ(_ibv_query_comp_cntr_caps(context, &caps, sizeof caps.max_value), 0);
    EXPECT_EQ(caps.max_value, 70u);
    EXPECT_EQ(caps.max_counters, 0xeeeeeeeeu);
    answer = EIO;
    caps.max_value = 3;
    EXPECT_EQ(ibv_query_comp_cntr_caps(context, &caps), EIO);
    EXPECT_EQ(caps.max_value, 3u);
}

TEST_F(ObjectsTest, DeviceMemoryIsExportedAsAFileOrMinusOne)
{
    set_all_ops();
    ibv_dm dm{};
    dm.context = context;
    EXPECT_EQ(ibv_dm_export_dmabuf_fd(&dm), 99);
    answer = EINVAL;
    EXPECT_EQ(ibv_dm_export_dmabuf_fd(&dm), -1);
    EXPECT_EQ(errno, EINVAL);
}

class BufferTest : public ObjectsTest {
protected:
    BufferTest() { set_all_ops(); }
    ~BufferTest() override
    {
        if (buf_ != nullptr)
            ibv_free_buf(buf_);
        dmabuf_fd = -1;
    }

    char *alloc() { return static_cast<char *>(ibv_alloc_buf(&pd, 8192, &buf_)); }

    ibv_buf *buf_ = nullptr;
};

TEST_F(BufferTest, KnowsItsMemoryAndItsDomain)
{
    char *memory = alloc();
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(called, "alloc_buf 8192");
    EXPECT_EQ(buf_->addr, memory);
    EXPECT_EQ(buf_->size, 8192u);
    EXPECT_EQ(buf_->pd, &pd);
    ibv_free_buf(buf_);
    EXPECT_EQ(called, "free_buf");
    buf_ = nullptr;
    answer = ENOMEM;
    EXPECT_NULL_WITH(ibv_alloc_buf(&pd, 8192, &buf_), ENOMEM);
    EXPECT_EQ(buf_, nullptr);
}

TEST_F(BufferTest, OfOrdinaryMemoryIsRegisteredAsThat)
{
    char *memory = alloc();
    ibv_mr *mr = ibv_reg_buf_mr(&pd, buf_, memory + 100, 200, 3);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(registration.comp_mask, uint64_t{IBV_REG_MR_MASK_ADDR});
    EXPECT_EQ(registration.addr, memory + 100);
    EXPECT_EQ(registration.length, 200u);
    EXPECT_EQ(registration.access, 3);
    EXPECT_EQ(mr->addr, memory + 100);
    EXPECT_EQ(mr->length, 200u);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    errno = 0;
    EXPECT_EQ(ibv_export_buf_dmabuf_fd(buf_), -1);
    EXPECT_EQ(errno, ENODATA);
}

TEST_F(BufferTest, OfADmabufIsRegisteredByItsFile)
{
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dmabuf_fd = file;
    char *memory = alloc();
    ibv_mr *mr = ibv_reg_buf_mr(&pd, buf_, memory + 100, 200, 3);
    ASSERT_NE(mr, nullptr);
    EXPECT_EQ(registration.comp_mask,
              uint64_t{IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA});
    EXPECT_EQ(registration.fd, file);
    EXPECT_EQ(registration.fd_offset, 100u);
    EXPECT_EQ(registration.iova, reinterpret_cast<uintptr_t>(memory + 100));
    EXPECT_EQ(mr->addr, memory + 100) << "the program's own address, not the offset";
    EXPECT_EQ(ibv_dereg_mr(mr), 0);

    int copy = ibv_export_buf_dmabuf_fd(buf_);
    EXPECT_GE(copy, 0);
    EXPECT_NE(copy, file) << "which the caller closes";
    EXPECT_EQ(fcntl(copy, F_GETFD), FD_CLOEXEC);
    close(copy);
    close(file);
}

TEST_F(BufferTest, IsRegisteredInItsBoundsAndItsDomainOnly)
{
    char *memory = alloc();
    const struct {
        ptrdiff_t offset;
        size_t length;
        bool fits;
    } ranges[] = {
        {0, 8192, true},      {8191, 1, true},         {8192, 0, true},          {0, 8193, false},
        {8192, 1, false},     {8193, 0, false},        {-1, 1, false},           {4096, 4097, false},
        {1, SIZE_MAX, false}, {8191, SIZE_MAX, false}, {0, SIZE_MAX - 1, false},
    };
    for (const auto &range : ranges) {
        if (range.fits) {
            ibv_mr *mr = ibv_reg_buf_mr(&pd, buf_, memory + range.offset, range.length, 1);
            ASSERT_NE(mr, nullptr) << range.offset << ' ' << range.length;
            EXPECT_EQ(ibv_dereg_mr(mr), 0);
        } else {
            EXPECT_NULL_WITH(ibv_reg_buf_mr(&pd, buf_, memory + range.offset, range.length, 1), EINVAL);
        }
    }
    ibv_pd other = pd;
    EXPECT_NULL_WITH(ibv_reg_buf_mr(&other, buf_, memory, 1, 1), EINVAL);
    EXPECT_NULL_WITH(ibv_reg_buf_mr(&pd, nullptr, memory, 1, 1), EINVAL);
}

TEST_F(BufferTest, GoesWithSomeOfTheOtherAttributes)
{
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    verbs_dmah dmah{};
    for (int of_dmabuf = 0; of_dmabuf < 2; ++of_dmabuf) {
        dmabuf_fd = of_dmabuf != 0 ? file : -1;
        char *memory = alloc();
        for (uint64_t more = 0; more < IBV_REG_MR_MASK_BUF; ++more) {
            ibv_mr_init_attr attr{};
            attr.comp_mask = IBV_REG_MR_MASK_BUF | more;
            attr.buf = buf_;
            attr.addr = memory;
            attr.iova = reinterpret_cast<uintptr_t>(memory);
            attr.length = 100;
            attr.dmah = &dmah.dmah;
            uint64_t rest = more & ~uint64_t{IBV_REG_MR_MASK_DMAH};
            bool fits = rest == IBV_REG_MR_MASK_ADDR ||
                        (rest == (IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA) && of_dmabuf == 0);
            if (!fits) {
                EXPECT_NULL_WITH(ibv_reg_mr_ex(&pd, &attr), EINVAL);
                continue;
            }
            ibv_mr *mr = ibv_reg_mr_ex(&pd, &attr);
            ASSERT_NE(mr, nullptr) << more;
            EXPECT_EQ(attr.comp_mask, IBV_REG_MR_MASK_BUF | more) << "the caller's is left alone";
            EXPECT_EQ(ibv_dereg_mr(mr), 0);
        }
        ibv_free_buf(buf_);
        buf_ = nullptr;
    }
    close(file);
}

}  // namespace
}  // namespace verbs::test
