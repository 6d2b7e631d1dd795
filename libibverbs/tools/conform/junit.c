/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as JUnit's XML: a suite per object, a test case per operation. */
#include "output.h"

/* What XML cannot have, and whatever is no ASCII, becomes a question mark. */
static void put_escaped(FILE *file, const char *text)
{
    for (; *text != 0; ++text) {
        switch (*text) {
            case '&':
                fputs("&amp;", file);
                break;
            case '<':
                fputs("&lt;", file);
                break;
            case '>':
                fputs("&gt;", file);
                break;
            case '"':
                fputs("&quot;", file);
                break;
            case '\n':
                fputs("&#10;", file);
                break;
            default:
                fputc(*text >= ' ' && *text <= '~' ? *text : '?', file);
        }
    }
}

static void put_attribute(FILE *file, const char *name, const char *value)
{
    fprintf(file, " %s=\"", name);
    put_escaped(file, value);
    fputc('"', file);
}

static void put_property(FILE *file, const char *name, const char *value)
{
    fputs("      <property", file);
    put_attribute(file, "name", name);
    put_attribute(file, "value", value);
    fputs("/>\n", file);
}

static void put_line(FILE *file, const char *name, const char *value)
{
    if (value[0] == 0)
        return;
    fprintf(file, "%-9s ", name);
    put_escaped(file, value);
    fputc('\n', file);
}

static void put_case(FILE *file, const struct result *result)
{
    const struct report *report = &result->report;
    fputs("    <testcase", file);
    put_attribute(file, "classname", result->object);
    put_attribute(file, "name", result->operation);
    fprintf(file, " time=\"%.3f\"", result->seconds);
    if (report->outcome == kPassed) {
        fputs("/>\n", file);
        return;
    }
    fputs(report->outcome == kFailed ? ">\n      <failure" : ">\n      <skipped", file);
    char message[sizeof(report->reason) + 32];
    snprintf(message, sizeof(message), "%s%s%s",
             report->outcome == kFailed ? "" : outcome_name(report->outcome),
             report->outcome == kFailed ? "" : ": ", report->reason);
    put_attribute(file, "message", message);
    if (report->outcome == kFailed) {
        fputs(">", file);
        put_line(file, "where", report->where);
        put_line(file, "call", report->call);
        put_line(file, "check", report->check);
        put_line(file, "expected", report->expected);
        put_line(file, "seen", report->seen);
        fputs("</failure>\n    </testcase>\n", file);
    } else {
        fputs("/>\n    </testcase>\n", file);
    }
}

static void put_suite(FILE *file, const struct run *run, size_t first)
{
    const char *object = run->results[first].object;
    const struct tally sums = tally(run, object);
    size_t end = first;
    double seconds = 0;
    do
        seconds += run->results[end++].seconds;
    while (end < run->count && !first_of_object(run, end));
    fputs("  <testsuite", file);
    put_attribute(file, "name", object);
    fprintf(file, " tests=\"%zu\" failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"%.3f\">\n", end - first,
            sums.of[kFailed], sums.of[kNotOffered] + sums.of[kNotRun], seconds);
    fputs("    <properties>\n", file);
    put_property(file, "device", run->device.name);
    put_property(file, "firmware", run->device.firmware);
    put_property(file, "library", run->device.library);
    fputs("    </properties>\n", file);
    for (size_t i = first; i < end; ++i)
        put_case(file, &run->results[i]);
    fputs("  </testsuite>\n", file);
}

void junit_write(FILE *file, const struct run *run)
{
    const struct tally sums = tally(run, NULL);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", file);
    fprintf(file,
            "<testsuites name=\"ibv_conform\" tests=\"%zu\" failures=\"%u\" errors=\"0\" skipped=\"%u\">\n",
            run->count, sums.of[kFailed], sums.of[kNotOffered] + sums.of[kNotRun]);
    for (size_t i = 0; i < run->count; ++i)
        if (first_of_object(run, i))
            put_suite(file, run, i);
    fputs("</testsuites>\n", file);
}
