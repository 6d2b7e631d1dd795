// SPDX-License-Identifier: BSD-2-Clause
// dma-bufs: of a device's own memory, and from the heap that a confidential guest shares with its host.
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <unistd.h>

#include "fake_context.hh"

namespace verbs::test {
namespace {

using namespace uverbs::test;

class DmabufTest : public FakeContext {
protected:
    ~DmabufTest() override { redirection = {}; }
};

TEST_F(DmabufTest, IsExportedAsAFile)
{
    kernel.new_object = 123;
    EXPECT_EQ(ibv_cmd_export_dmabuf_fd(context, 7), 123);
    EXPECT_EQ(kernel.take(), ioctl(UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC,
                                   {object(UVERBS_ATTR_ALLOC_DMABUF_HANDLE, 0),
                                    in(UVERBS_ATTR_ALLOC_DMABUF_PGOFF, "07000000 00000000")}));
}

TEST_F(DmabufTest, IsMinusOneAndErrnoWhereThereIsNone)
{
    kernel.error = EINVAL;
    errno = 0;
    EXPECT_EQ(ibv_cmd_export_dmabuf_fd(context, 7), -1);
    EXPECT_EQ(errno, EINVAL);
    kernel.no_methods = true;
    errno = 0;
    EXPECT_EQ(ibv_cmd_export_dmabuf_fd(context, 7), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(DmabufTest, HeapIsWhatTheKernelHas)
{
    redirection = {"/dev/dma_heap/system_cc_shared", "/nowhere"};
    EXPECT_NULL_WITH(ibv_dmabuf_heap_cc_shared_init(), ENOENT);
}

TEST_F(DmabufTest, HeapThatRefusesLeavesNothing)
{
    redirection = {"/dev/dma_heap/system_cc_shared", "/dev/null"};
    ibv_dmabuf_heap *heap = ibv_dmabuf_heap_cc_shared_init();
    ASSERT_NE(heap, nullptr);
    int fd = 7;
    EXPECT_NULL_WITH(ibv_dmabuf_heap_alloc(heap, 4096, &fd), ENOTTY);  // /dev/null is no heap
    EXPECT_EQ(fd, 7);
    ibv_dmabuf_heap_destroy(heap);
}

TEST_F(DmabufTest, HeapGivesMemoryAndItsFile)
{
    redirection = {"/dev/dma_heap/system_cc_shared", "/dev/null"};
    fake_heap = true;
    ibv_dmabuf_heap *heap = ibv_dmabuf_heap_cc_shared_init();
    ASSERT_NE(heap, nullptr);
    int fd = -1;
    auto *memory = static_cast<char *>(ibv_dmabuf_heap_alloc(heap, 8192, &fd));
    fake_heap = false;
    ASSERT_NE(memory, nullptr);
    ASSERT_GE(fd, 0);
    memory[8191] = 'x';
    char seen = 0;
    EXPECT_EQ(pread(fd, &seen, 1, 8191), 1);
    EXPECT_EQ(seen, 'x') << "the memory is that of the file";
    ibv_dmabuf_heap_free(memory, 8192, fd);
    EXPECT_EQ(fcntl(fd, F_GETFD), -1);
    ibv_dmabuf_heap_destroy(heap);
}

}  // namespace
}  // namespace verbs::test
