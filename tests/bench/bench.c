/* SPDX-License-Identifier: BSD-2-Clause */
/* Measurement of one verb. */
#include "bench.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

static uint64_t (*sim_calls)(const char *kind, int reset);

/* The kinds of calls that the simulated kernel counts. Of a stdio file it sees fopen alone, behind which are four system
 * calls at least: open, fstat, read and close. */
static const struct {
    const char *name;
    uint64_t system_calls;
} kinds[] = {{"open", 1},    {"close", 1},   {"ioctl", 1}, {"write", 1},   {"read", 1},
             {"mmap", 1},    {"poll", 1},    {"fcntl", 1}, {"socket", 1},  {"bind", 1},
             {"sendmsg", 1}, {"recvmsg", 1}, {"fopen", 4}, {"opendir", 1}, {"stat", 1}};

static uint64_t system_calls(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; sim_calls != NULL && i < sizeof kinds / sizeof *kinds; i++)
        sum += kinds[i].system_calls * sim_calls(kinds[i].name, 1);
    return sum;
}

/* Callgrind knows this function by its name. */
__attribute__((noinline)) void measured(void (*verb)(size_t i), size_t times)
{
    for (size_t i = 0; i < times; i++)
        verb(i);
    __asm__ volatile("" ::: "memory");
}

static void measure_times(const char *name, void (*verb)(size_t i), size_t times)
{
    if (sim_calls == NULL)
        *(void **)&sim_calls = dlsym(RTLD_DEFAULT, "verbs_sim_calls");
    system_calls();
    CALLGRIND_ZERO_STATS;
    measured(verb, times);
    uint64_t calls = system_calls();
    CALLGRIND_DUMP_STATS_AT(name);
    printf("%s\t%zu\t%llu\n", name, times, (unsigned long long)calls);
    fflush(stdout);
}

void measure(const char *name, void (*verb)(size_t i))
{
    measure_times(name, verb, kTimes);
}

void measure_warm(const char *name, void (*verb)(size_t i))
{
    verb(0);
    measure(name, verb);
}

void measure_once(const char *name, void (*verb)(size_t i))
{
    measure_times(name, verb, 1);
}

void need(int works, const char *what)
{
    if (works)
        return;
    fprintf(stderr, "bench: %s failed: %s\n", what, strerror(errno));
    exit(1);
}

struct ibv_context *open_named(const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    need(list != NULL, "ibv_get_device_list");
    struct ibv_context *context = NULL;
    for (size_t i = 0; list[i] != NULL && context == NULL; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0)
            context = ibv_open_device(list[i]);
    need(context != NULL, "opening the device");
    ibv_free_device_list(list);
    return context;
}
