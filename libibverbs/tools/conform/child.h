/* SPDX-License-Identifier: BSD-2-Clause */
/* Work in a process of its own, which may crash or hang. */
#ifndef CONFORM_CHILD_H
#define CONFORM_CHILD_H

struct ending {
    enum { kEndedWell, kEndedBadly, kKilled, kTimedOut, kImmortal, kNotStarted } how;
    int value; /* an exit status, a signal, an errno value: as `how` asks for */
    double seconds;
};

/* Calls work(context) in a child, which ends with it. After `limit` seconds it is killed, with what it started; whatever
 * does not even die of that is left behind. */
struct ending child_run(void (*work)(void *), void *context, int limit);

#endif
