/* SPDX-License-Identifier: BSD-2-Clause */
/* What a test can make happen in the simulated kernel: events, faults, hot unplug; and that its objects are
 * the same for all who hold the file. Ends with 0 where everything came as expected. */
#include "sim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

static void expect(const char *what, long long got, long long wanted)
{
    printf("%s: %lld\n", what, got);
    if (got != wanted) {
        printf("  but %lld was expected\n", wanted);
        failures++;
    }
}

#define CONTROL(name) ((__typeof__(&name))control(#name))

static void *control(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s: run this with libverbs_sim.so preloaded\n", name);
        exit(2);
    }
    return symbol;
}

static struct ibv_context *open_device(const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = NULL;
    for (int i = 0; list != NULL && list[i] != NULL && context == NULL; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0)
            context = ibv_open_device(list[i]);
    if (list != NULL)
        ibv_free_device_list(list);
    return context;
}

static int is_readable(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return poll(&wanted, 1, 0);
}

static void check_async_events(struct ibv_context *context, struct ibv_qp *qp)
{
    struct ibv_async_event event;
    expect("no event yet", is_readable(context->async_fd), 0);
    expect("raise a port event", CONTROL(verbs_sim_device_event)("rxe0", IBV_EVENT_PORT_ERR, 1), 0);
    expect("raise a queue pair's event",
           CONTROL(verbs_sim_object_event)(context->cmd_fd, qp->handle, IBV_EVENT_QP_FATAL), 0);
    expect("an event is there", is_readable(context->async_fd), 1);
    expect("get it", ibv_get_async_event(context, &event), 0);
    expect("its type", event.event_type, IBV_EVENT_PORT_ERR);
    expect("its port", event.element.port_num, 1);
    ibv_ack_async_event(&event);
    expect("get the other", ibv_get_async_event(context, &event), 0);
    expect("its queue pair", event.element.qp == qp, 1);
    ibv_ack_async_event(&event);
    expect("none is left", is_readable(context->async_fd), 0);
    expect("an event of what is not there", CONTROL(verbs_sim_object_event)(context->cmd_fd, 999, 0), ENOENT);
}

static void check_completion_events(struct ibv_context *context, struct ibv_comp_channel *channel,
                                    struct ibv_cq *cq)
{
    struct ibv_cq *from = NULL;
    void *cq_context = NULL;
    expect("complete unasked", CONTROL(verbs_sim_completion_event)(context->cmd_fd, cq->handle, 0), 0);
    expect("no event", is_readable(channel->fd), 0);
    expect("ask", ibv_req_notify_cq(cq, 0), 0);
    expect("complete", CONTROL(verbs_sim_completion_event)(context->cmd_fd, cq->handle, 0), 0);
    expect("get the event", ibv_get_cq_event(channel, &from, &cq_context), 0);
    expect("its queue", from == cq, 1);
    expect("its context", cq_context == context, 1);
    expect("complete again", CONTROL(verbs_sim_completion_event)(context->cmd_fd, cq->handle, 0), 0);
    expect("once only", is_readable(channel->fd), 0);
    ibv_ack_cq_events(cq, 1);
}

static int receive_over_socket(int fd)
{
    int pair[2];
    char control_data[CMSG_SPACE(sizeof fd)] = {0};
    char byte = 0;
    struct iovec io = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = control_data, .msg_controllen = sizeof control_data};
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header =
        (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    expect("send the file", sendmsg(pair[0], &message, 0), 1);
    expect("receive it", recvmsg(pair[1], &message, 0), 1);
    int received = -1;
    header = CMSG_FIRSTHDR(&message);
    if (header != NULL)
        memcpy(&received, CMSG_DATA(header), sizeof received);
    close(pair[0]);
    close(pair[1]);
    return received;
}

static void check_sharing(struct ibv_context *context)
{
    uint32_t before = CONTROL(verbs_sim_object_count)(context->cmd_fd, "PD");
    int copy = dup(context->cmd_fd);
    int received = receive_over_socket(context->cmd_fd);
    struct stat node = {0};
    expect("stat the copy", fstat(copy, &node), 0);
    expect("a character device", S_ISCHR(node.st_mode), 1);
    expect("its number", major(node.st_rdev), 231);
    pid_t child = fork();
    if (child == 0)
        _exit(ibv_alloc_pd(context) == NULL);
    int status = -1;
    waitpid(child, &status, 0);
    expect("a child's domain", status, 0);
    expect("counted in the copy", CONTROL(verbs_sim_object_count)(copy, "PD") - before, 1);
    expect("counted in what was received", CONTROL(verbs_sim_object_count)(received, "PD") - before, 1);
    close(copy);
    close(received);
}

static void check_faults(struct ibv_context *context)
{
    expect("nonsense", CONTROL(verbs_sim_set_faults)("open:zero:EMFILE"), EINVAL);
    expect("a command to fail", CONTROL(verbs_sim_set_faults)("command:PD/ALLOC#2:ENOSPC"), 0);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    expect("the first works", pd != NULL, 1);
    errno = 0;
    expect("the second fails", ibv_alloc_pd(context) == NULL, 1);
    expect("with this errno", errno, ENOSPC);
    expect("no command", CONTROL(verbs_sim_set_faults)("ioctl:1+:EINTR write:1+:EINTR"), 0);
    expect("so no domain", ibv_alloc_pd(context) == NULL, 1);
    expect("with that errno", errno, EINTR);
    CONTROL(verbs_sim_set_faults)("");
    CONTROL(verbs_sim_calls)("ioctl", 1);
    CONTROL(verbs_sim_calls)("write", 1);
    expect("all is well", ibv_dealloc_pd(pd), 0);
    /* An old kernel refuses an ioctl or two before. */
    uint64_t calls = CONTROL(verbs_sim_calls)("ioctl", 0) + CONTROL(verbs_sim_calls)("write", 0);
    expect("in few calls", calls >= 1 && calls <= 3, 1);

    CONTROL(verbs_sim_set_faults)("open:1+:EMFILE");
    expect("no more files", open_device("rxe0") == NULL, 1);
    if (dlsym(RTLD_DEFAULT, "verbs_sim_is_malloc_preloaded") != NULL) {
        CONTROL(verbs_sim_set_faults)("malloc:1:ENOMEM");
        expect("no memory", ibv_alloc_pd(context) == NULL, 1);
        expect("no memory, says errno", errno, ENOMEM);
    }
    CONTROL(verbs_sim_set_faults)(NULL);
}

static void check_unplug(struct ibv_context *context)
{
    struct ibv_async_event event;
    expect("remove the device", CONTROL(verbs_sim_remove_device)("rxe0"), 0);
    expect("once", CONTROL(verbs_sim_remove_device)("rxe0"), ENODEV);
    expect("an event comes", ibv_get_async_event(context, &event), 0);
    expect("of the end", event.event_type, IBV_EVENT_DEVICE_FATAL);
    ibv_ack_async_event(&event);
    errno = 0;
    expect("no more events", ibv_get_async_event(context, &event), -1);
    expect("because", errno, EIO);
    errno = 0;
    expect("no more domains", ibv_alloc_pd(context) == NULL, 1);
    expect("for the same reason", errno, EIO);
    expect("not listed", open_device("rxe0") == NULL, 1);
    expect("close", ibv_close_device(context), 0);
    expect("put it back", CONTROL(verbs_sim_add_device)("rxe0"), 0);
    context = open_device("rxe0");
    expect("open it", context != NULL, 1);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    expect("make a domain", pd != NULL, 1);
    expect("give it back", ibv_dealloc_pd(pd), 0);
    expect("close it", ibv_close_device(context), 0);
}

int main(void)
{
    struct ibv_context *context = open_device("rxe0");
    if (context == NULL) {
        perror("rxe0");
        return 1;
    }
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *cq = ibv_create_cq(context, 10, context, channel, 0);
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    if (qp == NULL) {
        perror("queue pair");
        return 1;
    }
    check_async_events(context, qp);
    check_completion_events(context, channel, cq);
    check_sharing(context);
    check_faults(context);
    expect("destroy the queue pair", ibv_destroy_qp(qp), 0);
    expect("destroy the queue", ibv_destroy_cq(cq), 0);
    expect("destroy the channel", ibv_destroy_comp_channel(channel), 0);
    expect("free the domain", ibv_dealloc_pd(pd), 0);
    check_unplug(context);
    return failures != 0;
}
