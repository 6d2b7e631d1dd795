/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over results, and the two forms that are written while cases run: the table and TAP. */
#include "output.h"

#include <string.h>

struct tally tally(const struct run *run, const char *object)
{
    struct tally sums = {0};
    for (size_t i = 0; i < run->count; ++i)
        if (object == NULL || strcmp(run->results[i].object, object) == 0)
            ++sums.of[run->results[i].report.outcome];
    return sums;
}

bool first_of_object(const struct run *run, size_t index)
{
    return index == 0 || strcmp(run->results[index].object, run->results[index - 1].object) != 0;
}

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[kOutcomes] = {"passed", "failed", "not offered", "not run"};
    return names[outcome];
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

static bool colourful;

static const char *colour(const char *sequence)
{
    return colourful ? sequence : "";
}

static const char *colour_of(enum outcome outcome)
{
    static const char *const sequences[kOutcomes] = {"\033[32m", "\033[1;31m", "\033[33m", "\033[2m"};
    return colour(sequences[outcome]);
}

void table_begin(const struct run *run, bool with_colour)
{
    const struct device_facts *device = &run->device;
    colourful = with_colour;
    printf("device    %s, port %d (%s)", device->name, device->port, device->link);
    if (device->gid[0] != 0)
        printf(", GID %d: %s", device->gid_index, device->gid);
    printf("\n          GUID %s, vendor 0x%04x, part %u, firmware %s\n", device->guid, device->vendor,
           device->part, device->firmware[0] != 0 ? device->firmware : "-");
    printf("library   %s\n\n%s%-11s %-24s result%s\n", device->library, colour("\033[1m"), "object",
           "operation", colour("\033[0m"));
}

static void detail(const char *name, const char *text)
{
    if (text[0] != 0)
        printf("            %-9s %s\n", name, text);
}

void table_row(const struct run *run, const struct result *result)
{
    (void)run;
    const struct report *report = &result->report;
    const bool failed = report->outcome == kFailed;
    printf("%-11s %-24s %s%s%s%s%s\n", result->object, result->operation, colour_of(report->outcome),
           failed ? "FAILED" : outcome_name(report->outcome), colour("\033[0m"),
           failed || report->reason[0] == 0 ? "" : ": ", failed ? "" : report->reason);
    if (!failed)
        return;
    if (report->expected[0] == 0) {
        printf("            %s\n", report->reason);
        return;
    }
    detail("where", report->where);
    detail("call", report->call);
    detail("check", report->check);
    detail("expected", report->expected);
    detail("seen", report->seen);
}

static void sum_row(const char *object, struct tally sums)
{
    printf("%-11s", object);
    for (int outcome = 0; outcome < kOutcomes; ++outcome)
        printf(" %s%11u%s", sums.of[outcome] != 0 ? colour_of((enum outcome)outcome) : "", sums.of[outcome],
               sums.of[outcome] != 0 ? colour("\033[0m") : "");
    putchar('\n');
}

void table_end(const struct run *run)
{
    printf("\n%s%-11s", colour("\033[1m"), "object");
    for (int outcome = 0; outcome < kOutcomes; ++outcome)
        printf(" %11s", outcome_name((enum outcome)outcome));
    printf("%s\n", colour("\033[0m"));
    for (size_t i = 0; i < run->count; ++i)
        if (first_of_object(run, i))
            sum_row(run->results[i].object, tally(run, run->results[i].object));
    sum_row("all", tally(run, NULL));
}

/* ---- TAP ----------------------------------------------------------------------------------------------------------- */

static int tap_count(const struct run *run)
{
    return (int)(run->count - tally(run, NULL).of[kNotRun]);
}

void tap_row(const struct run *run, const struct result *result)
{
    const struct report *report = &result->report;
    const int number = tap_count(run);
    switch (report->outcome) {
        case kFailed:
            printf("not ok %d - %s.%s\n# %s\n", number, result->object, result->operation, report->reason);
            break;
        case kNotOffered:
            printf("ok %d - %s.%s # SKIP %s\n", number, result->object, result->operation, report->reason);
            break;
        case kNotRun:
            printf("# left out: %s.%s: %s\n", result->object, result->operation, report->reason);
            break;
        default:
            printf("ok %d - %s.%s\n", number, result->object, result->operation);
            break;
    }
}

void tap_end(const struct run *run)
{
    printf("1..%d\n", tap_count(run));
}
