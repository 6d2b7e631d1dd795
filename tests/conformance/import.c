/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects that two processes share: the second imports device, PD and MR, moves the first one's memory, and
 * lets go. The same within one process; and device memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance.h"

/* ---- what the processes tell each other ---------------------------------------------------------------------------- */

/* From the owner; with the file behind env.context. */
struct offer {
    uint32_t pd, mr, lkey, rkey, qp_num;
    uint64_t length, local, remote; /* where to read from and write to, in the owner's memory */
    uint8_t port;
    int gid_index;
    union ibv_gid gid;
    int dereg; /* the importer destroys the region for all */
};

/* From the importer: once its QP is there, and once it is done. */
struct answer {
    uint32_t qp_num;
    enum outcome outcome;
    char reason[240];
};

static bool put(int socket, const void *message, size_t size)
{
    return send(socket, message, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool get(int socket, void *message, size_t size)
{
    return recv(socket, message, size, MSG_WAITALL) == (ssize_t)size;
}

static bool put_file(int socket, const struct offer *offer, int fd)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {
        .header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    struct iovec text = {.iov_base = (void *)(uintptr_t)offer, .iov_len = sizeof(*offer)};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.space)};
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*offer);
}

static int get_file(int socket, struct offer *offer)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec text = {.iov_base = offer, .iov_len = sizeof(*offer)};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*offer))
        return -1;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int fd = -1;
    if (header != NULL && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
}

/* ---- the importer -------------------------------------------------------------------------------------------------- */

/* Moves one message each way through the imported keys. The importer has none of the memory: the device
 * reads and writes the owner's. */
static void move(struct ibv_cq *cq, struct ibv_qp *qp, const struct ibv_mr *mr, const struct offer *offer)
{
    struct ibv_wc wc;
    struct ibv_sge sge = {.addr = offer->local, .length = 4000, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad = NULL;
    wr.wr.rdma.remote_addr = offer->remote;
    wr.wr.rdma.rkey = mr->rkey;
    CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
    WAIT_OK(cq, &wc);
    sge.addr = offer->local + 8000;
    wr.opcode = IBV_WR_RDMA_READ;
    wr.wr.rdma.remote_addr = offer->remote + 8000;
    CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
    WAIT_OK(cq, &wc);
}

static void with_region(struct ibv_pd *pd, const struct offer *offer, int socket)
{
    struct ibv_mr *mr = ibv_import_mr(pd, offer->mr);
    CHECK_MADE(mr, ibv_import_mr);
    CHECK(mr->addr == NULL);
    CHECK(mr->pd == pd && mr->context == pd->context);
    CHECK_EQ(mr->length, offer->length);
    CHECK_EQ(mr->lkey, offer->lkey);
    CHECK_EQ(mr->rkey, offer->rkey);
    errno = 0;
    CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
    CHECK_EQ(errno, EINVAL);

    struct ibv_cq *cq = ibv_create_cq(pd->context, 16, NULL, NULL, 0);
    CHECK_MADE(cq, ibv_create_cq);
    struct ibv_qp_init_attr attr = {
        .send_cq = cq, .recv_cq = cq, .cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    CHECK_MADE(qp, ibv_create_qp);
    struct answer ready = {.qp_num = qp->qp_num};
    CHECK(put(socket, &ready, sizeof(ready)));
    CHECK_EQ(qp_to_init(qp, 0), 0);
    CHECK_EQ(qp_to_rtr(qp, offer->qp_num), 0);
    CHECK_EQ(qp_to_rts(qp, 7), 0);
    move(cq, qp, mr, offer);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    if (offer->dereg)
        CHECK_EQ(ibv_dereg_mr(mr), 0);
    else
        ibv_unimport_mr(mr);
}

static void with_device(int fd, const struct offer *offer, int socket)
{
    struct ibv_context *context = ibv_import_device(fd);
    CHECK_OFFERED(context, ibv_import_device);
    CHECK_EQ(context->cmd_fd, fd);
    CHECK(context->num_comp_vectors >= 1);
    CHECK(context->async_fd >= 0); /* its own events */
    struct ibv_device_attr device;
    CHECK_EQ(ibv_query_device(context, &device), 0);

    errno = 0;
    CHECK(ibv_import_pd(context, 0x7fffffff) == NULL);
    CHECK_EQ(errno, ENOENT);
    CHECK(ibv_import_pd(context, offer->mr) == NULL); /* no PD, but a region */
    CHECK_EQ(errno, EINVAL);
    struct ibv_pd *pd = ibv_import_pd(context, offer->pd);
    CHECK_MADE(pd, ibv_import_pd);
    CHECK(pd->context == context);
    CHECK_EQ(pd->handle, offer->pd);
    errno = 0;
    CHECK(ibv_import_mr(pd, 0x7fffffff) == NULL);
    CHECK_EQ(errno, ENOENT);
    CHECK(ibv_import_mr(pd, offer->pd) == NULL);
    CHECK_EQ(errno, EINVAL);
    with_region(pd, offer, socket);
    ibv_unimport_pd(pd);
    CHECK_EQ(ibv_close_device(context), 0);
    CHECK(fcntl(fd, F_GETFD) == -1); /* the context's, which closing closes */
}

int import_main(int socket)
{
    struct offer offer;
    const int fd = get_file(socket, &offer);
    if (fd < 0)
        return 1;
    env.port = offer.port;
    env.gid_index = offer.gid_index;
    env.gid = offer.gid;
    struct answer answer = {0};
    with_device(fd, &offer, socket);
    answer.outcome = case_report->outcome;
    snprintf(answer.reason, sizeof(answer.reason), "%.239s", case_report->reason);
    return put(socket, &answer, sizeof(answer)) ? 0 : 1;
}

/* ---- the owner ----------------------------------------------------------------------------------------------------- */

static pid_t start_importer(int *socket)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        char number[16];
        snprintf(number, sizeof(number), "%d", dup(ends[1]));
        execl("/proc/self/exe", "conformance", "--importer", number, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *socket = ends[0];
    return child;
}

static void share(struct ibv_mr *mr, bool dereg)
{
    struct pair pair;
    int socket = -1;
    OPEN(&pair, .unconnected = true);
    fill(at(0, 0), 4000, 1);
    fill(at(1, 8000), 4000, 2);
    struct offer offer = {.pd = env.pd->handle,
                          .mr = mr->handle,
                          .lkey = mr->lkey,
                          .rkey = mr->rkey,
                          .qp_num = pair.qp[1]->qp_num,
                          .length = mr->length,
                          .local = address(at(0, 0)),
                          .remote = address(at(1, 0)),
                          .port = env.port,
                          .gid_index = env.gid_index,
                          .gid = env.gid,
                          .dereg = dereg};
    const pid_t child = start_importer(&socket);
    CHECK(child > 0);
    CHECK(put_file(socket, &offer, env.context->cmd_fd));
    struct answer ready, done = {0};
    CHECK(get(socket, &ready, sizeof(ready)));
    if (ready.qp_num != 0) {
        CHECK_EQ(qp_to_init(pair.qp[1], IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE), 0);
        CHECK_EQ(qp_to_rtr(pair.qp[1], ready.qp_num), 0);
        CHECK_EQ(qp_to_rts(pair.qp[1], 7), 0);
        CHECK(get(socket, &done, sizeof(done)));
    } else {
        done = ready; /* it did not come that far */
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    close(socket);
    done.reason[sizeof(done.reason) - 1] = 0;
    if (done.outcome == kNotOffered)
        SKIP("%s", done.reason);
    if (done.outcome != kPassed) {
        test_fail(__FILE__, __LINE__, "in the importer: %s", done.reason);
        return;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(filled(at(1, 0), 4000, 1));
    CHECK(filled(at(0, 8000), 4000, 2));
    pair_close(&pair);
}

/* The region goes on after its importer. */
static void region(void)
{
    share(env.mr, false);
    struct pair pair;
    struct ibv_wc wc;
    OPEN(&pair, 0);
    fill(at(0, 0), 1000, 3);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, at(1, 0), env.mr->rkey);
    CHECK_EQ(post_send(pair.qp[0], &wr, at(0, 0), 1000), 0);
    WAIT_OK(pair.cq[0], &wc);
    CHECK(filled(at(1, 0), 1000, 3));
    pair_close(&pair);
}

static void owner_deregisters(void)
{
    struct ibv_mr *mr = ibv_reg_mr(env.pd, env.memory, 2 * (size_t)kSideSize,
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
    CHECK_MADE(mr, ibv_reg_mr);
    share(mr, false);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
}

/* Whoever deregisters the region destroys it for all; the others let go of what they have. */
static void importer_deregisters(void)
{
    struct ibv_mr *mr = ibv_reg_mr(env.pd, env.memory, 2 * (size_t)kSideSize,
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
    CHECK_MADE(mr, ibv_reg_mr);
    share(mr, true);
    CHECK_EQ(ibv_dereg_mr(mr), ENOENT);
    ibv_unimport_mr(mr);
}

static struct ibv_context *import_own_device(void)
{
    const int copy = fcntl(env.context->cmd_fd, F_DUPFD_CLOEXEC, 0);
    struct ibv_context *context = ibv_import_device(copy);
    if (context == NULL)
        close(copy);
    return context;
}

/* Sends from the region into the region, both by the imported key. */
static void send_within(struct ibv_qp *const qp[2], struct ibv_cq *cq, const struct ibv_mr *mr)
{
    for (int i = 0; i < 2; ++i)
        CHECK_EQ(qp_to_init(qp[i], 0), 0);
    for (int i = 0; i < 2; ++i)
        CHECK_EQ(qp_to_rtr(qp[i], qp[1 - i]->qp_num), 0);
    for (int i = 0; i < 2; ++i)
        CHECK_EQ(qp_to_rts(qp[i], 7), 0);
    const uint32_t lengths[] = {50, 5000};
    for (int i = 0; i < 2; ++i) {
        fill(at(0, 0), lengths[i], 4);
        memset(at(1, 0), 0, lengths[i]);
        struct ibv_wc wc[2];
        struct ibv_sge sge = {.addr = address(at(1, 0)), .length = lengths[i], .lkey = mr->lkey};
        struct ibv_recv_wr receive = {.wr_id = 2, .sg_list = &sge, .num_sge = 1}, *bad_receive = NULL;
        CHECK_EQ(ibv_post_recv(qp[1], &receive, &bad_receive), 0);
        struct ibv_sge from = {.addr = address(at(0, 0)), .length = lengths[i], .lkey = mr->lkey};
        struct ibv_send_wr send = {.wr_id = 1,
                                   .sg_list = &from,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_SEND,
                                   .send_flags = IBV_SEND_SIGNALED},
                           *bad_send = NULL;
        CHECK_EQ(ibv_post_send(qp[0], &send, &bad_send), 0);
        WAIT_OK(cq, &wc[0]);
        WAIT_OK(cq, &wc[1]);
        CHECK_EQ(wc[0].wr_id + wc[1].wr_id, 3);
        CHECK(filled(at(1, 0), lengths[i], 4));
    }
}

static void one_process(void)
{
    struct ibv_context *context = import_own_device();
    CHECK_OFFERED(context, ibv_import_device);
    struct ibv_pd *pd = ibv_import_pd(context, env.pd->handle);
    CHECK_MADE(pd, ibv_import_pd);
    struct ibv_mr *mr = ibv_import_mr(pd, env.mr->handle);
    CHECK_MADE(mr, ibv_import_mr);
    CHECK_EQ(mr->lkey, env.mr->lkey);
    CHECK_EQ(mr->rkey, env.mr->rkey);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    CHECK_MADE(cq, ibv_create_cq);
    struct ibv_qp_init_attr attr = {
        .send_cq = cq, .recv_cq = cq, .cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};
    struct ibv_qp *qp[2] = {ibv_create_qp(pd, &attr), ibv_create_qp(pd, &attr)};
    CHECK(qp[0] != NULL && qp[1] != NULL);
    send_within(qp, cq, mr);
    for (int i = 0; i < 2; ++i)
        CHECK_EQ(ibv_destroy_qp(qp[i]), 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    ibv_unimport_mr(mr);
    ibv_unimport_pd(pd);
    CHECK_EQ(ibv_close_device(context), 0);
}

static void device_memory(void)
{
    struct ibv_alloc_dm_attr attr = {.length = 4096};
    struct ibv_dm *dm = ibv_alloc_dm(env.context, &attr);
    CHECK_OFFERED(dm, ibv_alloc_dm);
    struct ibv_context *context = import_own_device();
    CHECK_OFFERED(context, ibv_import_device);
    errno = 0;
    CHECK(ibv_import_dm(context, 0x7fffffff) == NULL);
    CHECK_EQ(errno, ENOENT);
    struct ibv_dm *imported = ibv_import_dm(context, dm->handle);
    CHECK_MADE(imported, ibv_import_dm);
    CHECK(imported->context == context);
    CHECK_EQ(imported->handle, dm->handle);
    fill(at(0, 0), 1000, 5);
    CHECK_EQ(ibv_memcpy_to_dm(imported, 96, at(0, 0), 1000), 0);
    CHECK_EQ(ibv_memcpy_from_dm(at(1, 0), dm, 96, 1000), 0);
    CHECK(filled(at(1, 0), 1000, 5));
    ibv_unimport_dm(imported);
    CHECK_EQ(ibv_close_device(context), 0);
    CHECK_EQ(ibv_memcpy_from_dm(at(1, 1000), dm, 96, 1000), 0);
    CHECK(filled(at(1, 1000), 1000, 5));
    CHECK_EQ(ibv_free_dm(dm), 0);
}

/* The descriptor stays the caller's where it is refused. */
static void refused(void)
{
    const struct {
        const char *path;
        int error;
    } files[] = {{"/dev/null", ENODEV}, {"/dev/zero", ENODEV}, {"/proc/self/exe", EINVAL}, {"/", EINVAL}};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); ++i) {
        const int fd = open(files[i].path, O_RDONLY | O_CLOEXEC);
        CHECK(fd >= 0);
        errno = 0;
        CHECK(ibv_import_device(fd) == NULL);
        CHECK_EQ(errno, files[i].error);
        CHECK_EQ(close(fd), 0);
    }
    errno = 0;
    CHECK(ibv_import_device(-1) == NULL);
    CHECK_EQ(errno, EINVAL);
    struct stat node;
    if (fstat(env.context->cmd_fd, &node) != 0 || !S_ISCHR(node.st_mode))
        return; /* no node stands for the device */
    /* A device that was opened, but is no context yet. */
    char path[80];
    snprintf(path, sizeof(path), "/dev/infiniband/%s", env.context->device->dev_name);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    errno = 0;
    CHECK(ibv_import_device(fd) == NULL);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(close(fd), 0);
}

const struct test import_tests[] = {
    {"region", region, true},
    {"owner_deregisters", owner_deregisters, true},
    {"importer_deregisters", importer_deregisters, true},
    {"one_process", one_process, true},
    {"device_memory", device_memory, true},
    {"refused", refused, true},
    {NULL, NULL, false},
};
