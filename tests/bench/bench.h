/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts what verbs cost in front of the simulated kernel: instructions (callgrind counts them in `measured` alone, and
 * stops where the simulated kernel begins) and system calls. Without valgrind only the latter.
 */
#ifndef BENCH_H
#define BENCH_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* How often a verb is called in one measurement, on objects of their own. */
enum { kTimes = 16 };

/* Calls verb(0) … verb(kTimes - 1), after which the counts of `name` are written. */
void measure(const char *name, void (*verb)(size_t i));

/* The same after a first call that does not count: it finds symbols and allocates what stays. */
void measure_warm(const char *name, void (*verb)(size_t i));

/* For a verb that is called once. */
void measure_once(const char *name, void (*verb)(size_t i));

/* Ends the program with a message if something that has to work does not. */
void need(int works, const char *what);

/* Opens the device of this name, or ends the program. */
struct ibv_context *open_named(const char *name);

#endif
