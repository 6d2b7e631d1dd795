/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hot unplug: uses the first device while a command removes it, and prints how each call answers then, a line per call
 * with the result and errno. Two libraries that print the same answer alike. With a second argument "keep", leaves
 * what is open to the end of the process.
 *
 * Drivers that cannot take a device from its users, such as rxe and siw, make the removal wait for them: the device is
 * no longer listed, what is open goes on working, and the removal ends when it is closed. Others send
 * IBV_EVENT_DEVICE_FATAL, and every command fails with EIO.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char page[4096] __attribute__((aligned(4096)));

static const char *error_name(int error)
{
    const char *name = strerrorname_np(error < 0 ? -error : error);
    return name != NULL ? name : "?";
}

#define ANSWER(label, call)                                               \
    do {                                                                  \
        errno = 0;                                                        \
        long answer_ = (long)(call);                                      \
        int errno_ = errno;                                               \
        printf("%s: %ld errno %s\n", label, answer_, error_name(errno_)); \
    } while (0)
/* Makes an object, and destroys it at once. */
#define OBJECT(type, label, create, destroy)                                   \
    do {                                                                       \
        errno = 0;                                                             \
        type *object = (create);                                               \
        int create_errno_ = errno;                                             \
        printf("%s: %s errno %s\n", label, object != NULL ? "object" : "NULL", \
               object != NULL ? "-" : error_name(create_errno_));              \
        if (object != NULL)                                                    \
            ANSWER("its end", destroy(object));                                \
    } while (0)
#define NEEDED(variable, call)         \
    do {                               \
        (variable) = (call);           \
        if ((variable) == NULL) {      \
            printf("%s: %m\n", #call); \
            return 1;                  \
        }                              \
    } while (0)

/* The events in order, up to the one that ends the device or a while without any. */
static void print_events(struct ibv_context *context)
{
    struct pollfd ready = {.fd = context->async_fd, .events = POLLIN};
    struct ibv_async_event event;
    fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
    for (int i = 0; i < 20 && poll(&ready, 1, 2000) == 1; ++i) {
        errno = 0;
        if (ibv_get_async_event(context, &event) != 0) {
            printf("get_async_event: %s\n", error_name(errno));
            return;
        }
        printf("event: %s\n", ibv_event_type_str(event.event_type));
        ibv_ack_async_event(&event);
    }
    printf("no more events\n");
}

static int listed(void)
{
    int count = -1;
    struct ibv_device **list = ibv_get_device_list(&count);
    if (list != NULL)
        ibv_free_device_list(list);
    return count;
}

/* The removal may wait for us, so it runs beside us. */
static pid_t start(const char *command)
{
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return child;
}

int main(int argc, char **argv)
{
    struct ibv_device **list;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_srq *srq;
    struct ibv_qp *qp;
    if (argc < 2) {
        fprintf(stderr, "usage: unplug COMMAND [keep]\nCOMMAND is the shell's, and removes the device\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    NEEDED(list, ibv_get_device_list(NULL));
    NEEDED(list[0], list[0]);
    NEEDED(context, ibv_open_device(list[0]));
    struct ibv_device *device = list[0];
    NEEDED(pd, ibv_alloc_pd(context));
    NEEDED(mr, ibv_reg_mr(pd, page, sizeof page, IBV_ACCESS_LOCAL_WRITE));
    NEEDED(channel, ibv_create_comp_channel(context));
    NEEDED(cq, ibv_create_cq(context, 10, NULL, channel, 0));
    struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 10, .max_sge = 1}};
    NEEDED(srq, ibv_create_srq(pd, &srq_attr));
    struct ibv_qp_init_attr qp_attr = {
        .send_cq = cq, .recv_cq = cq, .cap = {10, 10, 1, 1, 0}, .qp_type = IBV_QPT_RC};
    NEEDED(qp, ibv_create_qp(pd, &qp_attr));
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    ANSWER("modify_qp",
           ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));

    const pid_t removal = start(argv[1]);
    for (int i = 0; i < 100 && listed() != 0; ++i)
        poll(NULL, 0, 100);
    printf("listed: %d\n", listed());
    print_events(context);
    struct ibv_device_attr device_attr;
    struct ibv_port_attr port;
    union ibv_gid gid;
    struct ibv_wc wc;
    struct ibv_sge sge = {.addr = (uintptr_t)page, .length = 8, .lkey = mr->lkey};
    struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad_recv;
    struct ibv_srq_attr srq_now;
    struct ibv_qp_attr qp_now;
    struct ibv_qp_init_attr qp_init;
    ANSWER("query_device", ibv_query_device(context, &device_attr));
    ANSWER("query_port", ibv_query_port(context, 1, &port));
    ANSWER("query_gid", ibv_query_gid(context, 1, 0, &gid));
    OBJECT(struct ibv_pd, "alloc_pd", ibv_alloc_pd(context), ibv_dealloc_pd);
    OBJECT(struct ibv_mr, "reg_mr", ibv_reg_mr(pd, page, sizeof page, IBV_ACCESS_LOCAL_WRITE), ibv_dereg_mr);
    OBJECT(struct ibv_cq, "create_cq", ibv_create_cq(context, 10, NULL, NULL, 0), ibv_destroy_cq);
    OBJECT(struct ibv_srq, "create_srq", ibv_create_srq(pd, &srq_attr), ibv_destroy_srq);
    OBJECT(struct ibv_qp, "create_qp", ibv_create_qp(pd, &qp_attr), ibv_destroy_qp);
    OBJECT(struct ibv_comp_channel, "create_comp_channel", ibv_create_comp_channel(context),
           ibv_destroy_comp_channel);
    ANSWER("post_recv", ibv_post_recv(qp, &recv, &bad_recv));
    ANSWER("post_srq_recv", ibv_post_srq_recv(srq, &recv, &bad_recv));
    ANSWER("poll_cq", ibv_poll_cq(cq, 1, &wc));
    ANSWER("query_srq", ibv_query_srq(srq, &srq_now));
    ANSWER("query_qp", ibv_query_qp(qp, &qp_now, IBV_QP_STATE, &qp_init));
    init.qp_state = IBV_QPS_ERR;
    ANSWER("modify_qp", ibv_modify_qp(qp, &init, IBV_QP_STATE));
    OBJECT(struct ibv_context, "open_device", ibv_open_device(device), ibv_close_device);
    ibv_free_device_list(list);
    if (argc > 2)
        return 0;
    ANSWER("destroy_qp", ibv_destroy_qp(qp));
    ANSWER("destroy_srq", ibv_destroy_srq(srq));
    ANSWER("destroy_cq", ibv_destroy_cq(cq));
    ANSWER("destroy_comp_channel", ibv_destroy_comp_channel(channel));
    ANSWER("dereg_mr", ibv_dereg_mr(mr));
    ANSWER("dealloc_pd", ibv_dealloc_pd(pd));
    ANSWER("close_device", ibv_close_device(context));
    int status = -1;
    waitpid(removal, &status, 0);
    printf("removed: %d, listed: %d\n", status, listed());
    return 0;
}
