/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many threads on one device of the simulated kernel: listing, opening, registering, making and destroying objects, and
 * taking events. Run under ThreadSanitizer it shows races; run plainly it shows lost events and objects.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"

enum { kThreads = 6, kRounds = 40, kEvents = 200 };

static struct ibv_device **list;
static struct ibv_context *shared;
static struct ibv_pd *shared_pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *event_cq;
static char memory[kThreads][4096] __attribute__((aligned(4096)));

static int (*completion_event)(int cmd_fd, uint32_t cq_handle, int always);
static int (*object_event)(int cmd_fd, uint32_t handle, uint32_t type);

static void need(int works, const char *what)
{
    if (works)
        return;
    fprintf(stderr, "threads: %s: %s\n", what, strerror(errno));
    _exit(1);
}

/* A context of the thread's own. */
static void open_and_use(size_t thread)
{
    struct ibv_device **own = ibv_get_device_list(NULL);
    need(own != NULL && own[0] != NULL, "ibv_get_device_list");
    struct ibv_context *context = ibv_open_device(own[0]);
    need(context != NULL, "ibv_open_device");
    ibv_free_device_list(own);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    need(pd != NULL, "ibv_alloc_pd");
    struct ibv_mr *mr = ibv_reg_mr(pd, memory[thread], sizeof memory[thread],
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
    need(mr != NULL, "ibv_reg_mr");
    need(ibv_dereg_mr(mr) == 0 && ibv_dealloc_pd(pd) == 0 && ibv_close_device(context) == 0, "closing");
}

/* Objects on the shared context, and the error that all answer to a wrong one. */
static void share(size_t thread)
{
    struct ibv_mr *mr = ibv_reg_mr(shared_pd, memory[thread], 128, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_cq *cq = ibv_create_cq(shared, 16, NULL, channel, 0);
    need(mr != NULL && cq != NULL, "shared context");
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    struct ibv_qp *qp = ibv_create_qp(shared_pd, &attr);
    need(qp != NULL, "ibv_create_qp");
    union ibv_gid gid;
    struct ibv_port_attr port;
    need(ibv_query_gid(shared, 1, 0, &gid) == 0 && ibv_query_port(shared, 1, &port) == 0, "queries");
    need(ibv_destroy_qp(qp) == 0 && ibv_destroy_cq(cq) == 0 && ibv_dereg_mr(mr) == 0, "destroying");
}

static void *worker(void *argument)
{
    const size_t thread = (size_t)(uintptr_t)argument;
    for (int round = 0; round < kRounds; round++) {
        open_and_use(thread);
        share(thread);
        struct ibv_device **again = ibv_get_device_list(NULL);
        need(again != NULL && again[0] == list[0], "the same device in every list");
        ibv_free_device_list(again);
    }
    return NULL;
}

/* Every completion event that was raised arrives once. */
static void *take_completions(void *argument)
{
    (void)argument;
    for (int i = 0; i < kEvents; i++) {
        struct ibv_cq *cq;
        void *context;
        need(ibv_get_cq_event(channel, &cq, &context) == 0, "ibv_get_cq_event");
        need(cq == event_cq && context == memory, "the event's queue");
        if (i % 2 != 0)
            ibv_ack_cq_events(cq, 2);
    }
    return NULL;
}

static void *take_async_events(void *argument)
{
    (void)argument;
    for (int i = 0; i < kEvents; i++) {
        struct ibv_async_event event;
        need(ibv_get_async_event(shared, &event) == 0, "ibv_get_async_event");
        need(event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == event_cq, "the event's element");
        ibv_ack_async_event(&event);
    }
    return NULL;
}

static void *raise_events(void *argument)
{
    (void)argument;
    for (int i = 0; i < kEvents; i++) {
        need(completion_event(shared->cmd_fd, event_cq->handle, 1) == 0, "raising a completion event");
        need(object_event(shared->cmd_fd, event_cq->handle, IBV_EVENT_CQ_ERR) == 0,
             "raising an asynchronous event");
    }
    return NULL;
}

static pthread_t start(void *(*function)(void *), size_t argument)
{
    pthread_t thread;
    errno = pthread_create(&thread, NULL, function, (void *)(uintptr_t)argument);
    need(errno == 0, "pthread_create");
    return thread;
}

int main(void)
{
    *(void **)&completion_event = dlsym(RTLD_DEFAULT, "verbs_sim_completion_event");
    *(void **)&object_event = dlsym(RTLD_DEFAULT, "verbs_sim_object_event");
    need(completion_event != NULL && object_event != NULL,
         "this needs the simulated kernel (LD_PRELOAD=libverbs_sim.so)");

    pthread_t threads[kThreads + 3];
    list = ibv_get_device_list(NULL);
    need(list != NULL && list[0] != NULL, "ibv_get_device_list");
    shared = ibv_open_device(list[0]);
    need(shared != NULL, "ibv_open_device");
    shared_pd = ibv_alloc_pd(shared);
    channel = ibv_create_comp_channel(shared);
    need(shared_pd != NULL && channel != NULL, "setting up");
    event_cq = ibv_create_cq(shared, 16, memory, channel, 0);
    need(event_cq != NULL, "ibv_create_cq");

    for (size_t i = 0; i < kThreads; i++)
        threads[i] = start(worker, i);
    threads[kThreads] = start(take_completions, 0);
    threads[kThreads + 1] = start(take_async_events, 0);
    threads[kThreads + 2] = start(raise_events, 0);
    for (size_t i = 0; i < kThreads + 3; i++)
        pthread_join(threads[i], NULL);

    /* Waits for acknowledgements: all were given. */
    need(ibv_destroy_cq(event_cq) == 0 && ibv_destroy_comp_channel(channel) == 0,
         "destroying the event queue");
    need(ibv_dealloc_pd(shared_pd) == 0 && ibv_close_device(shared) == 0, "closing the shared context");
    ibv_free_device_list(list);
    printf("%d threads, %d rounds, %d events of each kind\n", kThreads, kRounds, kEvents);
    return 0;
}
