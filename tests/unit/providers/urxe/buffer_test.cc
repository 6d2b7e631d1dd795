// SPDX-License-Identifier: BSD-2-Clause
// Buffers, device memory and regions of files in one process.
#include <fcntl.h>
#include <infiniband/driver.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#if __has_include(<linux/udmabuf.h>)
#include <linux/udmabuf.h>
#endif

#include "loopback.hh"

namespace urxe::test {
namespace {

constexpr size_t kSize = 10000;
constexpr int kZeroBased = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

class Buffers : public Loopback {
protected:
    void SetUp() override
    {
        Loopback::SetUp();
        mr_ = make_mr(memory_.data(), sizeof memory_);
        pair_ = make_pair();
    }
    char *make_buffer(size_t size)
    {
        ibv_buf *buf = nullptr;
        void *memory = ibv_alloc_buf(pd_, size, &buf);
        EXPECT_NE(memory, nullptr) << strerror(errno);
        at_end([buf] {
            ibv_free_buf(buf);
            return 0;
        });
        return static_cast<char *>(memory);
    }
    ibv_dm *make_dm(size_t length)
    {
        ibv_alloc_dm_attr attr = {.length = length, .log_align_req = 0, .comp_mask = 0};
        ibv_dm *dm = ibv_alloc_dm(context_, &attr);
        EXPECT_NE(dm, nullptr) << strerror(errno);
        return dm;
    }
    ibv_sge own(size_t word, uint32_t length)
    {
        return {.addr = address_of(memory_.data() + word), .length = length, .lkey = mr_->lkey};
    }
    ibv_wc_status request(ibv_wr_opcode opcode, const ibv_sge &sge, uint64_t remote, uint32_t rkey)
    {
        EXPECT_EQ(post(pair_.qp[0], opcode, sge, remote, rkey), 0);
        return wait(pair_.cq[0]).status;
    }
    ibv_wc_status fetch_and_add(uint64_t remote, uint32_t rkey, uint64_t add)
    {
        ibv_sge sge = own(0, 8);
        ibv_send_wr wr{}, *bad = nullptr;
        wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.wr.atomic = {.remote_addr = remote, .compare_add = add, .swap = 0, .rkey = rkey};
        EXPECT_EQ(ibv_post_send(pair_.qp[0], &wr, &bad), 0);
        return wait(pair_.cq[0]).status;
    }
    /// WRITE, READ, an atomic, and a SEND into and from eight words that the region has at `remote`. `word(i)` gives what is
    /// there, in the order of the owner.
    template <class Word>
    void work_on(const ibv_mr *mr, uint64_t remote, Word word)
    {
        memory_ = {1, 2, 3, 4, 5, 6, 7, 8};
        ASSERT_EQ(request(IBV_WR_RDMA_WRITE, own(0, 64), remote, mr->rkey), IBV_WC_SUCCESS);
        for (size_t i = 0; i < 8; ++i)
            EXPECT_EQ(word(i), i + 1);
        ASSERT_EQ(request(IBV_WR_RDMA_READ, own(8, 24), remote + 8, mr->rkey), IBV_WC_SUCCESS);
        EXPECT_EQ(memory_[8], 2U);
        EXPECT_EQ(memory_[10], 4U);
        ASSERT_EQ(fetch_and_add(remote + 16, mr->rkey, 10), IBV_WC_SUCCESS);
        EXPECT_EQ(memory_[0], 3U);
        EXPECT_EQ(word(2), 13U);
        const ibv_sge there = {.addr = remote, .length = 64, .lkey = mr->lkey};
        memory_[0] = 77;
        post_receive(pair_.qp[1], 1, there);
        ASSERT_EQ(request(IBV_WR_SEND, own(0, 8), 0, 0), IBV_WC_SUCCESS);
        EXPECT_EQ(wait(pair_.cq[1]).byte_len, 8U);
        EXPECT_EQ(word(0), 77U);
        post_receive(pair_.qp[1], 2, own(0, 64));
        ASSERT_EQ(request(IBV_WR_SEND, there, 0, 0), IBV_WC_SUCCESS);
        EXPECT_EQ(wait(pair_.cq[1]).byte_len, 64U);
        EXPECT_EQ(memory_[2], 13U);
        EXPECT_EQ(memory_[7], 8U);
    }

    std::array<uint64_t, 16> memory_{};
    ibv_mr *mr_ = nullptr;
    Pair pair_{};
};

TEST_F(Buffers, AreMemoryThatCanBeRegistered)
{
    char *memory = make_buffer(kSize);
    for (size_t i = 0; i < kSize; ++i)
        ASSERT_EQ(memory[i], 0);
    const ibv_mr *mr = make_mr(memory + 96, kSize - 96);
    work_on(mr, address_of(memory + 96), [&](size_t i) {
        uint64_t value;
        std::memcpy(&value, memory + 96 + 8 * i, sizeof value);
        return value;
    });
}

TEST_F(Buffers, RefusedWithoutSizeAndBeyondMemory)
{
    ibv_buf *buf = nullptr;
    errno = 0;
    EXPECT_EQ(ibv_alloc_buf(pd_, 0, &buf), nullptr);
    EXPECT_EQ(errno, EINVAL);
    for (const size_t size : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1}) {
        errno = 0;
        EXPECT_EQ(ibv_alloc_buf(pd_, size, &buf), nullptr);
        EXPECT_EQ(errno, ENOMEM);
    }
    EXPECT_EQ(buf, nullptr);
}

TEST_F(Buffers, HoldTheirDomain)
{
    ibv_pd *pd = ibv_alloc_pd(context_);
    ASSERT_NE(pd, nullptr);
    ibv_buf *buf;
    ASSERT_NE(ibv_alloc_buf(pd, 1, &buf), nullptr);
    EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
    ibv_free_buf(buf);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(Buffers, StayWhileARegionNeedsThem)
{
    ibv_buf *buf;
    char *memory = static_cast<char *>(ibv_alloc_buf(pd_, kSize, &buf));
    ASSERT_NE(memory, nullptr);
    const ibv_mr *mr = make_mr(memory, kSize);
    ibv_free_buf(buf);
    memory_[0] = 5;
    EXPECT_EQ(request(IBV_WR_RDMA_WRITE, own(0, 8), address_of(memory), mr->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(memory[0], 5);
}

TEST_F(Buffers, FoundAmongMany)
{
    constexpr int kMany = 50;
    char *memory[kMany];
    ibv_buf *buf[kMany];
    for (int i = 0; i < kMany; ++i) {
        memory[i] = static_cast<char *>(ibv_alloc_buf(pd_, kSize, &buf[i]));
        ASSERT_NE(memory[i], nullptr);
    }
    for (int i = 0; i < kMany; i += 2)
        ibv_free_buf(buf[i]);
    for (int i = 1; i < kMany; i += 2) {
        ibv_mr *mr = ibv_reg_buf_mr(pd_, buf[i], memory[i] + 16, 8, kAllAccess);
        ASSERT_NE(mr, nullptr);
        memory_[0] = static_cast<uint64_t>(i);
        EXPECT_EQ(request(IBV_WR_RDMA_WRITE, own(0, 8), address_of(memory[i] + 16), mr->rkey),
                  IBV_WC_SUCCESS);
        EXPECT_EQ(memory[i][16], i);
        EXPECT_EQ(ibv_dereg_mr(mr), 0);
        ibv_free_buf(buf[i]);
    }
}

TEST_F(Buffers, KeepTheirRegionsAcrossReregistration)
{
    char *memory = make_buffer(kSize);
    uint64_t elsewhere = 0;
    ibv_mr *mr = make_mr(memory, kSize);
    ASSERT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, &elsewhere, 8, 0), 0);
    memory_[0] = 9;
    EXPECT_EQ(request(IBV_WR_RDMA_WRITE, own(0, 8), address_of(&elsewhere), mr->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(elsewhere, 9U);
    ASSERT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, memory + 8, 8, 0), 0);
    EXPECT_EQ(request(IBV_WR_RDMA_WRITE, own(0, 8), address_of(memory + 8), mr->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(memory[8], 9);
}

TEST_F(Buffers, OfDeviceMemoryAreReachedFromZero)
{
    ibv_dm *dm = make_dm(kSize);
    at_end([dm] { return ibv_free_dm(dm); });
    ibv_mr *mr = ibv_reg_dm_mr(pd_, dm, 4096, 4096, kZeroBased);
    ASSERT_NE(mr, nullptr) << strerror(errno);
    EXPECT_EQ(mr->length, 4096U);
    EXPECT_EQ(ibv_free_dm(dm), EBUSY);
    work_on(mr, 0, [&](size_t i) {
        uint64_t value = 0;
        EXPECT_EQ(ibv_memcpy_from_dm(&value, dm, 4096 + 8 * i, sizeof value), 0);
        return value;
    });
    const uint64_t written = 4321;
    EXPECT_EQ(ibv_memcpy_to_dm(dm, 4096 + 4088, &written, 8), 0);
    ASSERT_EQ(request(IBV_WR_RDMA_READ, own(0, 8), 4088, mr->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(memory_[0], written);
    EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
              IBV_REREG_MR_ERR_INPUT);
    EXPECT_EQ(request(IBV_WR_RDMA_READ, own(0, 8), 4089, mr->rkey), IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Buffers, OfDeviceMemoryAddToWordsThatAreNotAligned)
{
    ibv_dm *dm = make_dm(64);
    at_end([dm] { return ibv_free_dm(dm); });
    ibv_mr *mr = ibv_reg_dm_mr(pd_, dm, 4, 60, kZeroBased);
    ASSERT_NE(mr, nullptr);
    at_end([mr] { return ibv_dereg_mr(mr); });
    ASSERT_EQ(fetch_and_add(8, mr->rkey, 5), IBV_WC_SUCCESS);
    uint64_t value = 0;
    EXPECT_EQ(ibv_memcpy_from_dm(&value, dm, 12, 8), 0);
    EXPECT_EQ(value, 5U);
}

TEST_F(Buffers, OfDeviceMemoryHaveLimits)
{
    ibv_device_attr_ex attr{};
    ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
    ASSERT_GT(attr.max_dm_size, 0U);
    struct {
        ibv_alloc_dm_attr attr;
        int error;
    } const cases[] = {{{0, 0, 0}, EINVAL},
                       {{64, 0, 1}, EINVAL},
                       {{64, 40, 0}, EINVAL},
                       {{64, UINT32_MAX, 0}, EINVAL},
                       {{attr.max_dm_size + 1, 0, 0}, ENOMEM},
                       {{SIZE_MAX, 0, 0}, ENOMEM}};
    for (const auto &refused : cases) {
        ibv_alloc_dm_attr wanted = refused.attr;
        errno = 0;
        EXPECT_EQ(ibv_alloc_dm(context_, &wanted), nullptr);
        EXPECT_EQ(errno, refused.error);
    }
    ibv_alloc_dm_attr most = {attr.max_dm_size, 12, 0};
    ibv_dm *dm = ibv_alloc_dm(context_, &most);
    ASSERT_NE(dm, nullptr);
    char byte = 0;
    EXPECT_EQ(ibv_memcpy_to_dm(dm, attr.max_dm_size - 1, &byte, 1), 0);
    EXPECT_EQ(ibv_memcpy_to_dm(dm, attr.max_dm_size, nullptr, 0), 0);
    EXPECT_EQ(ibv_memcpy_to_dm(dm, attr.max_dm_size, &byte, 1), EINVAL);
    EXPECT_EQ(ibv_memcpy_from_dm(&byte, dm, UINT64_MAX, 1), EINVAL);
    EXPECT_EQ(ibv_memcpy_from_dm(&byte, dm, 1, SIZE_MAX), EINVAL);
    struct {
        uint64_t offset;
        size_t length;
        unsigned access;
    } const regions[] = {{attr.max_dm_size, 1, kZeroBased},
                         {1, attr.max_dm_size, kZeroBased},
                         {UINT64_MAX, 2, kZeroBased},
                         {0, 64, kZeroBased & ~IBV_ACCESS_ZERO_BASED},
                         {0, 64, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE}};
    for (const auto &region : regions) {
        errno = 0;
        EXPECT_EQ(ibv_reg_dm_mr(pd_, dm, region.offset, region.length, region.access), nullptr);
        EXPECT_EQ(errno, EINVAL);
    }
    errno = 0;
    EXPECT_EQ(ibv_dm_export_dmabuf_fd(dm), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
    EXPECT_EQ(ibv_free_dm(dm), 0);
}

/// Regions of files.
class Files : public Buffers {
protected:
    static constexpr uint64_t kIova = 0x10'0000;

    int make_file(off_t size, int seals)
    {
        const int file = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        EXPECT_GE(file, 0);
        EXPECT_EQ(ftruncate(file, size), 0);
        EXPECT_EQ(fcntl(file, F_ADD_SEALS, seals), 0);
        at_end([file] { return close(file); });
        return file;
    }
    void expect_refused(uint64_t offset, size_t length, int file, int access, int error)
    {
        errno = 0;
        EXPECT_EQ(ibv_reg_dmabuf_mr(pd_, offset, length, kIova, file, access), nullptr);
        EXPECT_EQ(errno, error);
    }
};

TEST_F(Files, AreReachedWhereverTheyBegin)
{
    for (const int seals : {0, F_SEAL_SHRINK})
        for (const uint64_t offset : {uint64_t{0}, uint64_t{4096}, uint64_t{5000}}) {
            const int file = make_file(kSize, seals);
            ibv_mr *mr = ibv_reg_dmabuf_mr(pd_, offset, kSize - offset, kIova, file, kAllAccess);
            ASSERT_NE(mr, nullptr) << strerror(errno);
            EXPECT_EQ(verbs_get_mr(mr)->mr_type, IBV_MR_TYPE_DMABUF_MR);
            work_on(mr, kIova, [&](size_t i) {
                uint64_t value = 0;
                EXPECT_EQ(pread(file, &value, sizeof value, static_cast<off_t>(offset + 8 * i)), 8);
                return value;
            });
            EXPECT_EQ(ibv_dereg_mr(mr), 0);
        }
}

TEST_F(Files, RefusedWhereTheyCannotBeMapped)
{
    const int file = make_file(kSize, 0);
    expect_refused(0, kSize + 1, file, kAllAccess, EINVAL);
    expect_refused(kSize, 1, file, kAllAccess, EINVAL);
    expect_refused(UINT64_MAX, 2, file, kAllAccess, EINVAL);
    expect_refused(0, 0, file, kAllAccess, EINVAL);
    expect_refused(0, SIZE_MAX, file, kAllAccess, EINVAL);
    expect_refused(0, 64, file, IBV_ACCESS_REMOTE_WRITE, EINVAL);
    expect_refused(0, 64, -1, kAllAccess, EBADF);
    int pipe[2];
    ASSERT_EQ(pipe2(pipe, O_CLOEXEC), 0);
    expect_refused(0, 64, pipe[0], kAllAccess, EACCES);
    expect_refused(0, 64, pipe[1], IBV_ACCESS_REMOTE_READ, EACCES);
    close(pipe[0]);
    close(pipe[1]);
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    const int readable = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(readable, 0);
    expect_refused(0, 64, readable, kAllAccess, EACCES);
    ibv_mr *mr = ibv_reg_dmabuf_mr(pd_, 0, 64, kIova, readable, IBV_ACCESS_REMOTE_READ);
    EXPECT_NE(mr, nullptr);
    close(readable);
    EXPECT_EQ(request(IBV_WR_RDMA_READ, own(0, 64), kIova, mr->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Files, MayLoseTheirEnd)
{
    const int file = make_file(8192, 0);
    ibv_mr *mr = ibv_reg_dmabuf_mr(pd_, 0, 8192, kIova, file, kAllAccess);
    ASSERT_NE(mr, nullptr);
    at_end([mr] { return ibv_dereg_mr(mr); });
    ASSERT_EQ(ftruncate(file, 4096), 0);
    EXPECT_EQ(request(IBV_WR_RDMA_WRITE, own(0, 64), kIova, mr->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(request(IBV_WR_RDMA_WRITE, own(0, 64), kIova + 4096, mr->rkey), IBV_WC_REM_OP_ERR);
}

#ifdef UDMABUF_CREATE
TEST_F(Files, MayBeDmaBuffers)
{
    const int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (device < 0)
        GTEST_SKIP() << "/dev/udmabuf: " << strerror(errno);
    const int file = make_file(8192, F_SEAL_SHRINK);
    udmabuf_create create = {
        .memfd = static_cast<uint32_t>(file), .flags = UDMABUF_FLAGS_CLOEXEC, .offset = 0, .size = 8192};
    const int dmabuf = ioctl(device, UDMABUF_CREATE, &create);
    close(device);
    ASSERT_GE(dmabuf, 0) << strerror(errno);
    ibv_mr *mr = ibv_reg_dmabuf_mr(pd_, 4096, 4096, kIova, dmabuf, kAllAccess);
    close(dmabuf);
    if (mr == nullptr && errno == EOPNOTSUPP)
        GTEST_SKIP() << "this kernel keeps the memory of such buffers from process_vm_*";
    ASSERT_NE(mr, nullptr) << strerror(errno);
    work_on(mr, kIova, [&](size_t i) {
        uint64_t value = 0;
        EXPECT_EQ(pread(file, &value, sizeof value, static_cast<off_t>(4096 + 8 * i)), 8);
        return value;
    });
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
}
#endif

}  // namespace
}  // namespace urxe::test
