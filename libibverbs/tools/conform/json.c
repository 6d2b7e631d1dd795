/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as JSON: the device, each case, and the sums. */
#include "output.h"

/* Whatever is no ASCII becomes a question mark. */
static void put_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != 0; ++text) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        if (*text == '\n')
            fputs("\\n", file);
        else
            fputc(*text >= ' ' && *text <= '~' ? *text : '?', file);
    }
    fputc('"', file);
}

static void put_member(FILE *file, const char *name, const char *value)
{
    fprintf(file, ", \"%s\": ", name);
    put_string(file, value);
}

static void put_if_known(FILE *file, const char *name, const char *value)
{
    if (value[0] != 0)
        put_member(file, name, value);
}

static void put_device(FILE *file, const struct device_facts *device)
{
    fputs("  \"device\": {\"name\": ", file);
    put_string(file, device->name);
    put_member(file, "guid", device->guid);
    fprintf(file, ", \"vendor\": %u, \"part\": %u", device->vendor, device->part);
    put_member(file, "firmware", device->firmware);
    fprintf(file, ", \"port\": %d", device->port);
    put_member(file, "link", device->link);
    if (device->gid[0] != 0) {
        fprintf(file, ", \"gid_index\": %d", device->gid_index);
        put_member(file, "gid", device->gid);
    }
    fputs("},\n  \"library\": ", file);
    put_string(file, device->library);
}

static void put_case(FILE *file, const struct result *result)
{
    const struct report *report = &result->report;
    fputs("    {\"object\": ", file);
    put_string(file, result->object);
    put_member(file, "operation", result->operation);
    put_member(file, "result", outcome_name(report->outcome));
    fprintf(file, ", \"seconds\": %.3f", result->seconds);
    put_if_known(file, "reason", report->reason);
    if (report->outcome == kFailed) {
        put_if_known(file, "where", report->where);
        put_if_known(file, "call", report->call);
        put_if_known(file, "check", report->check);
        put_if_known(file, "expected", report->expected);
        put_if_known(file, "seen", report->seen);
    }
    fputc('}', file);
}

static void put_tally(FILE *file, const char *object, struct tally sums)
{
    fputs("    ", file);
    put_string(file, object);
    fprintf(file, ": {\"passed\": %u, \"failed\": %u, \"not offered\": %u, \"not run\": %u}",
            sums.of[kPassed], sums.of[kFailed], sums.of[kNotOffered], sums.of[kNotRun]);
}

void json_write(FILE *file, const struct run *run)
{
    fputs("{\n", file);
    put_device(file, &run->device);
    fprintf(file, ",\n  \"strict\": %s,\n  \"cases\": [\n", run->strict ? "true" : "false");
    for (size_t i = 0; i < run->count; ++i) {
        put_case(file, &run->results[i]);
        fputs(i + 1 < run->count ? ",\n" : "\n", file);
    }
    fputs("  ],\n  \"objects\": {\n", file);
    for (size_t i = 0; i < run->count; ++i)
        if (first_of_object(run, i)) {
            put_tally(file, run->results[i].object, tally(run, run->results[i].object));
            fputs(",\n", file);
        }
    put_tally(file, "all", tally(run, NULL));
    fputs("\n  }\n}\n", file);
}
