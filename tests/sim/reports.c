/* SPDX-License-Identifier: BSD-2-Clause */
/* What users of verbs ran into, each as a program that would run into it again; tests/reports.md has the list. */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sim.h"

static int failures;

static void expect(int holds, const char *what)
{
    if (holds)
        return;
    failures++;
    printf("not so: %s (errno %s)\n", what, strerrorname_np(errno));
}

static struct ibv_context *open_first(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
    if (context == NULL) {
        printf("no device to open\n");
        exit(1);
    }
    ibv_free_device_list(list);
    return context;
}

/* A container has nodes for two of four devices: all are listed, those two open, the others say why not. */
static void partial_nodes(void)
{
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    expect(list != NULL && count == 4, "all four devices are listed");
    int opened = 0;
    for (int i = 0; i < count; i++) {
        errno = 0;
        struct ibv_context *context = ibv_open_device(list[i]);
        if (context == NULL) {
            expect(errno == ENOENT, "a device without a node fails with ENOENT");
            continue;
        }
        opened++;
        ibv_close_device(context);
    }
    expect(opened == 2, "the two with nodes open");
    ibv_free_device_list(list);
}

/* In a network namespace only some GIDs are seen: the table has exactly those, and no error for the others. */
static void sparse_gids(void)
{
    struct ibv_context *context = open_first();
    struct ibv_gid_entry entries[64];
    ssize_t count = ibv_query_gid_table(context, entries, 64, 0);
    expect(count == 4, "four entries");
    for (ssize_t i = 0; i < count; i++)
        expect(entries[i].gid_index == 4 + i && entries[i].port_num == 1, "at indices 4 to 7");
    union ibv_gid gid;
    expect(ibv_query_gid(context, 1, 0, &gid) == 0, "an empty index is no error of ibv_query_gid");
    struct ibv_gid_entry entry;
    expect(ibv_query_gid_ex(context, 1, 0, &entry, 0) == ENODATA, "and ENODATA of ibv_query_gid_ex");
    ibv_close_device(context);
}

/* Pinning more memory than the process may: the log names limit, amount and remedy. */
static void memlock(void)
{
    char path[] = "/tmp/verbs_reports.XXXXXX";
    const int file = mkstemp(path);
    expect(file >= 0, "a log file");
    setenv("VERBS_LOG_LEVEL", "1", 1);
    setenv("VERBS_LOG_FILE", path, 1);
    const struct rlimit limit = {64 * 1024, 64 * 1024};
    expect(setrlimit(RLIMIT_MEMLOCK, &limit) == 0, "lowering the limit");
    struct ibv_context *context = open_first();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    static char memory[1 << 20];
    errno = 0;
    expect(ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == ENOMEM,
           "ENOMEM");
    char text[2048] = "";
    FILE *log = fdopen(file, "r");
    expect(log != NULL && fread(text, 1, sizeof text - 1, log) > 0, "a line in the log");
    expect(strstr(text, "1048576 bytes") != NULL, "it has the amount");
    expect(strstr(text, "64 KiB") != NULL && strstr(text, "RLIMIT_MEMLOCK") != NULL, "and the limit");
    expect(strstr(text, "ulimit -l") != NULL, "and the remedy");
    printf("%s", failures != 0 ? text : "");
    if (log != NULL)
        fclose(log);
    remove(path);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
}

static atomic_int is_destroyed;

static void *destroy(void *cq)
{
    expect(ibv_destroy_cq(cq) == 0, "destroying the queue");
    atomic_store(&is_destroyed, 1);
    return NULL;
}

/* Two queues on one channel: destroying one waits for the acknowledgement of its own events, which another thread gives
 * late, and not for the other's. */
static void late_acknowledgement(void)
{
    int (*raise)(int cmd_fd, uint32_t cq_handle, int always);
    *(void **)&raise = dlsym(RTLD_DEFAULT, "verbs_sim_completion_event");
    struct ibv_context *context = open_first();
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *first = ibv_create_cq(context, 4, NULL, channel, 0);
    struct ibv_cq *second = ibv_create_cq(context, 4, NULL, channel, 0);
    if (raise == NULL || channel == NULL || first == NULL || second == NULL) {
        expect(0, "setting up");
        return;
    }
    expect(raise(context->cmd_fd, first->handle, 1) == 0, "an event of the first");
    expect(raise(context->cmd_fd, second->handle, 1) == 0, "an event of the second");
    for (int i = 0; i < 2; i++) {
        struct ibv_cq *cq;
        void *unused;
        expect(ibv_get_cq_event(channel, &cq, &unused) == 0 && cq == (i == 0 ? first : second),
               "events in order");
    }
    ibv_ack_cq_events(second, 1);
    expect(ibv_destroy_cq(second) == 0, "the second goes while the first's event is not acknowledged");
    pthread_t thread;
    expect(pthread_create(&thread, NULL, destroy, first) == 0, "a thread");
    /* Without a wait it would be through by now, as often as not. */
    const struct timespec moment = {0, 20 * 1000 * 1000};
    nanosleep(&moment, NULL);
    expect(!atomic_load(&is_destroyed), "the first waits for its acknowledgement");
    ibv_ack_cq_events(first, 1);
    pthread_join(thread, NULL);
    expect(atomic_load(&is_destroyed), "and goes after it");
    expect(ibv_destroy_comp_channel(channel) == 0, "the channel is free");
    ibv_close_device(context);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } reports[] = {{"partial_nodes", partial_nodes},
                   {"sparse_gids", sparse_gids},
                   {"memlock", memlock},
                   {"late_acknowledgement", late_acknowledgement}};
    for (size_t i = 0; argc == 2 && i < sizeof reports / sizeof *reports; i++)
        if (strcmp(argv[1], reports[i].name) == 0) {
            reports[i].run();
            return failures != 0;
        }
    fprintf(stderr, "usage: reports NAME\nRuns into what a user reported; NAME is one of:");
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        fprintf(stderr, " %s", reports[i].name);
    fprintf(stderr, "\n");
    return 2;
}
