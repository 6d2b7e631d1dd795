/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is registered in other ways than by its address alone: buffers, dma-bufs, all attributes at
 * once. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance.h"

static const int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

/* Writes 4000 bytes at `iova` of `mr`, which this process sees at `memory`, from side 0, and reads them back.
 */
static void through(const struct ibv_mr *mr, uint64_t iova, char *memory)
{
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, 0);
    fill(at(0, 0), 4000, 5);
    struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
    wr.wr.rdma.remote_addr = iova;
    wr.wr.rdma.rkey = mr->rkey;
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 4000), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK(filled(memory, 4000, 5));
    wr.opcode = IBV_WR_RDMA_READ;
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 8000), 4000), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK(filled(at(0, 8000), 4000, 5));
    pair_close(&pair);
}

static void extended(void)
{
    const uint64_t iova = (uint64_t)1 << 40;
    struct ibv_mr_init_attr attr = {.length = 8192,
                                    .access = kAccess,
                                    .comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA,
                                    .iova = iova,
                                    .addr = at(1, 0)};
    struct ibv_mr *mr = ibv_reg_mr_ex(env.pd, &attr);
    CHECK_OFFERED(mr, ibv_reg_mr_ex);
    CHECK(mr->addr == at(1, 0) && mr->length == 8192 && mr->pd == env.pd);
    through(mr, iova, at(1, 0));
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    attr.comp_mask = IBV_REG_MR_MASK_ADDR;
    mr = ibv_reg_mr_ex(env.pd, &attr);
    CHECK_OFFERED(mr, ibv_reg_mr_ex);
    through(mr, address(at(1, 0)), at(1, 0));
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD;
    errno = 0;
    CHECK(ibv_reg_mr_ex(env.pd, &attr) == NULL);
    CHECK_EQ(errno, EINVAL);
}

static void buffer(void)
{
    struct ibv_buf *buf = NULL;
    char *memory = ibv_alloc_buf(env.pd, 10000, &buf);
    CHECK_OFFERED(memory, ibv_alloc_buf);
    CHECK(buf != NULL);
    struct ibv_mr *mr = ibv_reg_buf_mr(env.pd, buf, memory + 100, 9000, kAccess);
    CHECK_MADE(mr, ibv_reg_buf_mr);
    CHECK(mr->addr == memory + 100 && mr->length == 9000);
    through(mr, address(memory + 100), memory + 100);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    errno = 0;
    CHECK(ibv_reg_buf_mr(env.pd, buf, memory, 10001, kAccess) == NULL);
    CHECK_EQ(errno, EINVAL);
    const int fd = ibv_export_buf_dmabuf_fd(buf);
    if (fd < 0)
        CHECK_EQ(errno, ENODATA);
    else
        CHECK_EQ(close(fd), 0);
    ibv_free_buf(buf);
}

/* A dma-buf of so many bytes (a multiple of 4096) from vgem, the kernel's graphics device without
 * hardware; -1 if there is none. The two commands and their structures are the kernel's. */
static int new_dmabuf(uint32_t bytes)
{
    struct {
        uint32_t height, width, bits_per_pixel, flags, handle, pitch;
        uint64_t size;
    } dumb = {.height = bytes / 4096, .width = 1024, .bits_per_pixel = 32};
    struct {
        uint32_t handle, flags;
        int32_t fd;
    } prime = {.fd = -1};
    const int device = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    if (device < 0)
        return -1;
    if (ioctl(device, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0xb2, sizeof(dumb)), &dumb) == 0) {
        prime.handle = dumb.handle;
        prime.flags = O_RDWR | O_CLOEXEC;
        if (ioctl(device, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x2d, sizeof(prime)), &prime) != 0)
            prime.fd = -1;
    }
    close(device);
    return prime.fd;
}

static void dmabuf(void)
{
    const int fd = new_dmabuf(65536);
    if (fd < 0)
        SKIP("no dma-buf to register: /dev/dri/card0 is no vgem");
    const uint64_t iova = (uint64_t)1 << 40;
    errno = 0;
    struct ibv_mr *mr = ibv_reg_dmabuf_mr(env.pd, 8192, 16384, iova, fd, kAccess);
    if (mr == NULL) {
        CHECK_EQ(errno, EOPNOTSUPP); /* the driver has no dma-bufs, and that is how it says so */
        struct ibv_mr_init_attr attr = {
            .length = 16384,
            .access = kAccess,
            .comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA,
            .iova = iova,
            .fd = fd,
            .fd_offset = 8192};
        errno = 0;
        CHECK(ibv_reg_mr_ex(env.pd, &attr) == NULL);
        CHECK_EQ(errno, EOPNOTSUPP);
        CHECK_EQ(close(fd), 0);
        SKIP("ibv_reg_dmabuf_mr: %s", strerror(EOPNOTSUPP));
    }
    CHECK(mr->addr == (void *)(uintptr_t)8192);
    CHECK_EQ(mr->length, 16384);
    char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED);
    CHECK_EQ(close(fd), 0); /* the region keeps it */
    through(mr, iova, memory + 8192);
    munmap(memory, 65536);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
}

static void newer_objects(void)
{
    struct ibv_comp_cntr_caps caps = {0};
    int error = ibv_query_comp_cntr_caps(env.context, &caps);
    CHECK(error == 0 || error == EOPNOTSUPP);
    struct ibv_comp_cntr_init_attr counter = {.type = IBV_COMP_CNTR_TYPE_WRS};
    if (error != 0) {
        errno = 0;
        CHECK(ibv_create_comp_cntr(env.context, &counter) == NULL);
        CHECK_EQ(errno, EOPNOTSUPP);
    }
    struct ibv_dmah_init_attr hints = {0};
    errno = 0;
    struct ibv_dmah *dmah = ibv_alloc_dmah(env.context, &hints);
    CHECK(dmah != NULL || errno == EOPNOTSUPP);
    if (dmah != NULL) {
        struct ibv_mr_init_attr attr = {.length = 8192,
                                        .access = kAccess,
                                        .comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH,
                                        .addr = at(1, 0),
                                        .dmah = dmah};
        struct ibv_mr *mr = ibv_reg_mr_ex(env.pd, &attr);
        CHECK_OFFERED(mr, ibv_reg_mr_ex);
        CHECK_EQ(ibv_dealloc_dmah(dmah), EBUSY);
        through(mr, address(at(1, 0)), at(1, 0));
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        CHECK_EQ(ibv_dealloc_dmah(dmah), 0);
        hints.comp_mask = 1U << 31;
        errno = 0;
        CHECK(ibv_alloc_dmah(env.context, &hints) == NULL);
        CHECK_EQ(errno, EINVAL);
    }
    uint64_t speed = 0;
    error = ibv_query_port_speed(env.context, env.port, &speed);
    CHECK(error == EOPNOTSUPP || (error == 0 && speed > 0));
}

const struct test memory_tests[] = {
    {"extended", extended, true},           {"buffer", buffer, true}, {"dmabuf", dmabuf, true},
    {"newer_objects", newer_objects, true}, {NULL, NULL, false},
};
