/* SPDX-License-Identifier: BSD-2-Clause */
/* What a case tells: each step that it begins, and how one went wrong, in words that need no source to be read. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "case.h"

static struct report own_report;
struct report *case_report = &own_report;

static char note[sizeof(own_report.seen)];

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_call(const char *text)
{
    static const char *const starts[] = {"ibv_", "post_", "qp_to_", "raw_to", "wq_to", "send_", "attach("};
    for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); ++i)
        if (starts_with(text, starts[i]))
            return true;
    return false;
}

static const char *base_name(const char *file)
{
    const char *base = strrchr(file, '/');
    return base != NULL ? base + 1 : file;
}

void test_step(const char *file, int line, const char *text)
{
    snprintf(case_report->step_where, sizeof(case_report->step_where), "%s:%d", base_name(file), line);
    snprintf(case_report->step, sizeof(case_report->step), "%s", text);
    if (is_call(text))
        memcpy(case_report->verb, case_report->step, sizeof(case_report->verb));
    note[0] = 0;
}

void test_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(note, sizeof(note), format, args);
    va_end(args);
}

/* `expected` and `seen` are filled in; so is the rest here. */
static void fail_step(void)
{
    memcpy(case_report->where, case_report->step_where, sizeof(case_report->where));
    memcpy(case_report->call, case_report->verb, sizeof(case_report->call));
    const bool own = is_call(case_report->step);
    if (!own)
        memcpy(case_report->check, case_report->step, sizeof(case_report->check));
    snprintf(case_report->reason, sizeof(case_report->reason), "%s: %s: expected %s, saw %s%s%s",
             case_report->where, case_report->step, case_report->expected, case_report->seen,
             !own && case_report->call[0] != 0 ? "; after " : "", own ? "" : case_report->call);
    case_report->outcome = kFailed;
}

void test_differs(long long seen, long long expected, const char *expected_text)
{
    if (case_report->outcome == kFailed)
        return;
    const bool named = (*expected_text < '0' || *expected_text > '9') && *expected_text != '-';
    const bool number = strcmp(case_report->step, "errno") == 0 || (expected_text[0] == 'E' && seen != 0) ||
                        (expected == 0 && seen > 0 && is_call(case_report->step) &&
                         !starts_with(case_report->step, "ibv_poll_cq"));
    const char *meaning = NULL;
    if (ends_with(case_report->step, "status") && seen >= 0 && seen <= IBV_WC_TM_RNDV_INCOMPLETE)
        meaning = ibv_wc_status_str((enum ibv_wc_status)seen);
    else if (number)
        meaning = strerror((int)seen);
    snprintf(case_report->expected, sizeof(case_report->expected), named ? "%s (%lld)" : "%.0s%lld",
             expected_text, expected);
    snprintf(case_report->seen, sizeof(case_report->seen), meaning != NULL ? "%lld (%s)" : "%lld%.0s", seen,
             meaning != NULL ? meaning : "");
    fail_step();
}

void test_untrue(void)
{
    if (case_report->outcome == kFailed)
        return;
    const bool refusal = is_call(case_report->step) && ends_with(case_report->step, "== NULL");
    snprintf(case_report->expected, sizeof(case_report->expected), "%s",
             refusal ? "a refusal" : "that it holds");
    snprintf(case_report->seen, sizeof(case_report->seen), "%s",
             note[0] != 0 ? note
             : refusal    ? "an object"
                          : "that it does not");
    fail_step();
}

void test_not_made(void)
{
    if (case_report->outcome == kFailed)
        return;
    snprintf(case_report->expected, sizeof(case_report->expected), "an object");
    snprintf(case_report->seen, sizeof(case_report->seen), "NULL, errno %d (%s)", errno, strerror(errno));
    fail_step();
}

void test_fail(const char *file, int line, const char *format, ...)
{
    if (case_report->outcome == kFailed)
        return;
    snprintf(case_report->where, sizeof(case_report->where), "%s:%d", base_name(file), line);
    const int used = snprintf(case_report->reason, sizeof(case_report->reason), "%s: ", case_report->where);
    va_list args;
    va_start(args, format);
    vsnprintf(case_report->reason + used, sizeof(case_report->reason) - (size_t)used, format, args);
    va_end(args);
    case_report->outcome = kFailed;
}

void test_skip(const char *format, ...)
{
    if (case_report->outcome == kFailed)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(case_report->reason, sizeof(case_report->reason), format, args);
    va_end(args);
    case_report->outcome = kNotOffered;
}

void test_not_run(const char *reason)
{
    snprintf(case_report->reason, sizeof(case_report->reason), "%s", reason);
    case_report->outcome = kNotRun;
}

bool test_not_offered(const char *call)
{
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    test_skip("%s: %s", call, strerror(errno));
    return true;
}
