/* SPDX-License-Identifier: BSD-2-Clause */
/* The program: opens the device that it is told and goes through every object's calls, once and aloud, or once per fault
 * that the simulated kernel can put in the way. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "calls.h"

struct ibv_context *context;
struct ibv_pd *pd;
char page[4 * 4096] __attribute__((aligned(4096)));

static int record = -1; /* what the simulated kernel writes too */
static char label[128];

/* The fault of this round: which call of which kind fails, and how. */
static struct {
    int (*set)(const char *faults);
    uint64_t (*count)(const char *kind, int reset);
    const char *kind;
    uint64_t number;
    int error;
    uint64_t calls_before; /* of the kind, when the verb began */
} fault;

void call(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
    if (fault.kind != NULL) {
        fault.calls_before = fault.count(fault.kind, 0);
        return;
    }
    printf("%s:", label);
    fflush(stdout);
    if (record >= 0)
        dprintf(record, "# %s\n", label);
}

int fault_has_struck(void)
{
    return fault.kind != NULL && fault.calls_before < fault.number &&
           fault.count(fault.kind, 0) >= fault.number;
}

static const char *error_name(int error)
{
    const char *name = strerrorname_np(error < 0 ? -error : error);
    return name != NULL ? name : "?";
}

/* In a round with a fault: what a verb that was hit answers, where it is not just the fault's errno. */
static void judge(long result, int error)
{
    if (!fault_has_struck())
        return;
    const int told = result > 0 ? (int)result : error;
    if (result != 0 && told == fault.error)
        return;
    printf("%s#%llu %s in %s: ", fault.kind, (unsigned long long)fault.number, error_name(fault.error),
           label);
    if (result == 0)
        printf("succeeds\n");
    else
        printf("%s\n", error_name(told));
}

void answered(long result)
{
    const int error = errno;
    if (fault.kind != NULL)
        judge(result, error);
    else if (result == 0)
        printf(" 0\n");
    else if (result > 0)
        printf(" %ld (%s)\n", result, error_name((int)result));
    else if (result < -1)
        printf(" %ld (%s)\n", result, error_name((int)result));
    else
        printf(" -1 errno %s\n", error_name(error));
}

void answered_object(const void *object)
{
    const int error = errno;
    if (fault.kind != NULL)
        judge(object != NULL ? 0 : -1, error);
    else if (object != NULL)
        printf(" object\n");
    else
        printf(" NULL errno %s\n", error_name(error));
}

void no_object(void)
{
    if (fault.kind == NULL)
        printf(" no object\n");
}

void field(const char *name, uint64_t value)
{
    if (fault.kind == NULL)
        printf("  %s %llu\n", name, (unsigned long long)value);
}

void bytes(const char *name, const void *start, size_t size)
{
    if (fault.kind != NULL)
        return;
    const unsigned char *at = start;
    printf("  %s", name);
    for (size_t i = 0; i < size; i++)
        printf(" %02x", at[i]);
    printf("\n");
}

void text(const char *string)
{
    if (fault.kind == NULL)
        printf("  '%.64s'\n", string);
}

static int open_by_name(const char *name)
{
    call("get_device_list");
    struct ibv_device **list = NULL;
    OBJECT(list, ibv_get_device_list(NULL));
    struct ibv_device *device = NULL;
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0)
            device = list[i];
    if (device == NULL) {
        if (fault.kind == NULL)
            fprintf(stderr, "calls: there is no RDMA device %s\n", name);
        if (list != NULL)
            ibv_free_device_list(list);
        return 0;
    }
    call("open_device");
    OBJECT(context, ibv_open_device(device));
    ibv_free_device_list(list);
    return context != NULL;
}

/* Every call there is. 0: it could not begin. */
static int go_through(const char *name)
{
    if (!open_by_name(name))
        return 0;
    call("alloc_pd");
    OBJECT(pd, ibv_alloc_pd(context));
    if (pd != NULL) {
        calls_context();
        calls_device();
        calls_port();
        calls_pd();
        calls_mr();
        calls_dm();
        calls_mw();
        calls_cq();
        calls_event();
        calls_srq();
        calls_qp();
        calls_wq();
        calls_ah();
        calls_xrcd();
        calls_flow();
        calls_counters();
        calls_import();
        call("dealloc_pd");
        DESTROY(pd, ibv_dealloc_pd(pd));
    }
    call("close_device");
    DESTROY(context, ibv_close_device(context));
    return 1;
}

static int open_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL)
        count++;
    if (directory != NULL)
        closedir(directory);
    return count;
}

/* What calls of a kind can fail with, apart from what a library takes for "not offered". */
static const struct {
    const char *kind;
    int errors[8];
} kinds[] = {
    {"ioctl", {EIO, ENOMEM, EINVAL, EPERM, EBUSY, ENOSPC, EAGAIN}},
    {"write", {EIO, ENOMEM, EINVAL, EPERM, EBUSY, ENOSPC, EAGAIN}},
    {"open", {EMFILE, ENFILE, ENOMEM, EACCES, ENXIO, EIO}},
    {"read", {EIO, ENODEV, EINTR}},
    {"close", {EIO, EINTR}},
    {"fcntl", {EMFILE, ENOMEM}},
    {"socket", {EMFILE, ENOBUFS, EACCES, EPROTONOSUPPORT}},
    {"bind", {EADDRINUSE, ENOMEM}},
    {"sendmsg", {ENOBUFS, EPERM, EINTR}},
    {"recvmsg", {ENOBUFS, ENOMEM, EINTR}},
    {"stat", {EACCES, ENOMEM}},
    {"mmap", {ENOMEM, EAGAIN, EACCES}},
    {"malloc", {ENOMEM}},
};

/* One round per call of the kind that fails with this errno. Says where a verb that was hit does not tell it. 0, or 1 when
 * a round leaves files open. */
static int go_through_rounds(const char *name, int error, uint64_t *rounds)
{
    fault.error = error;
    fault.number = 0; /* a round without a fault: whatever stays from it, stays for good */
    go_through(name);
    const int files = open_files();
    for (fault.number = 1;; fault.number++) {
        char text[64];
        snprintf(text, sizeof text, "%s:%llu:%s", fault.kind, (unsigned long long)fault.number,
                 error_name(error));
        if (fault.set(text) != 0) {
            fprintf(stderr, "calls: the simulated kernel does not understand '%s'\n", text);
            return 1;
        }
        fault.count(fault.kind, 1);
        go_through(name);
        const uint64_t made = fault.count(fault.kind, 0);
        fault.set("");
        if (open_files() != files) {
            printf("%s leaves %d files open\n", text, open_files() - files);
            return 1;
        }
        if (made < fault.number)
            return 0;
        ++*rounds;
    }
}

static int go_through_faults(const char *name, const char *kind)
{
    *(void **)&fault.set = dlsym(RTLD_DEFAULT, "verbs_sim_set_faults");
    *(void **)&fault.count = dlsym(RTLD_DEFAULT, "verbs_sim_calls");
    if (fault.set == NULL || fault.count == NULL) {
        fprintf(stderr, "calls: faults need the simulated kernel (LD_PRELOAD=libverbs_sim.so)\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0) {
            uint64_t rounds = 0;
            fault.kind = kind;
            for (const int *error = kinds[i].errors; *error != 0; error++)
                if (go_through_rounds(name, *error, &rounds) != 0)
                    return 1;
            printf("rounds %llu\n", (unsigned long long)rounds);
            return rounds == 0;
        }
    fprintf(stderr, "calls: there is no kind '%s'\n", kind);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--faults") == 0)
        return go_through_faults(argv[3], argv[2]);
    if (argc != 2 || argv[1][0] == '-') {
        printf(
            "usage: calls DEVICE\n"
            "       calls --faults KIND DEVICE\n"
            "Prints what every verb answers on an RDMA device; or, in front of the simulated kernel, lets "
            "every system\n"
            "call of the KIND (ioctl, write, open, ...) fail in turn, and prints which verbs do not just "
            "pass that on.\n");
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    const char *path = getenv("VERBS_SIM_RECORD");
    if (path != NULL)
        record = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (!go_through(argv[1]))
        return 1;
    return 0;
}
