/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run found, and the forms that it is written in. */
#ifndef CONFORM_OUTPUT_H
#define CONFORM_OUTPUT_H

#include <stdio.h>

#include "case.h"

struct result {
    const char *object, *operation;
    struct report report;
    double seconds;
};

struct run {
    struct device_facts device;
    bool strict;
    struct result *results;
    size_t count;
};

/* How many of an object's results, or of all where it is NULL, are of which outcome. */
struct tally {
    unsigned of[kOutcomes];
};
struct tally tally(const struct run *run, const char *object);
/* Whether the result is the first of its object: objects come one after the other. */
bool first_of_object(const struct run *run, size_t index);
const char *outcome_name(enum outcome outcome);

/* For people: a row as each result comes, and the sums. */
void table_begin(const struct run *run, bool colour);
void table_row(const struct run *run, const struct result *result);
void table_end(const struct run *run);

/* The Test Anything Protocol, version 12: cases that were not run are comments. */
void tap_row(const struct run *run, const struct result *result);
void tap_end(const struct run *run);

void junit_write(FILE *file, const struct run *run);
void json_write(FILE *file, const struct run *run);

#endif
