/* SPDX-License-Identifier: BSD-2-Clause */
/* Work in a process of its own: started, waited for, and killed when its time is up. */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* SIGCHLD is blocked, so that none is missed between a look and the wait. */
static bool ended(pid_t child, int *status, double limit)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (const double end = now() + limit;;) {
        const pid_t waited = waitpid(child, status, WNOHANG);
        if (waited == child)
            return true;
        const double left = end - now();
        if (left <= 0)
            return false;
        const struct timespec time = {.tv_sec = (time_t)left,
                                      .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
        sigtimedwait(&signals, NULL, &time);
    }
}

static void be_child(void (*work)(void *), void *context, const sigset_t *signals, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigprocmask(SIG_SETMASK, signals, NULL);
    /* What a library prints must not get between results. */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    work(context);
    exit(0);
}

struct ending child_run(void (*work)(void *), void *context, int limit)
{
    sigset_t child_signal, before;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal, &before);
    fflush(NULL);
    const double start = now();
    struct ending ending = {.how = kEndedWell};
    const pid_t parent = getpid();
    const pid_t child = fork();
    int status = 0;
    if (child == 0)
        be_child(work, context, &before, parent);
    if (child < 0) {
        ending.how = kNotStarted;
        ending.value = errno;
    } else if (!ended(child, &status, limit)) {
        ending.how = kTimedOut;
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
        if (!ended(child, &status, 5)) /* the kernel holds on to it */
            ending.how = kImmortal;
    } else if (WIFSIGNALED(status)) {
        ending.how = kKilled;
        ending.value = WTERMSIG(status);
    } else if (WEXITSTATUS(status) != 0) {
        ending.how = kEndedBadly;
        ending.value = WEXITSTATUS(status);
    }
    if (child > 0)
        kill(-child, SIGKILL); /* whatever it left behind */
    ending.seconds = now() - start;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ending;
}
