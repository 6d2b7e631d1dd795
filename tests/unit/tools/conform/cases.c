/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases for ibv_conform that pass, fail, crash and hang, on a device that is none. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static int post_nothing(int answer)
{
    return answer;
}

static void passes(void)
{
    CHECK_EQ(post_nothing(0), 0);
    CHECK(true);
    puts("what a provider prints");
}

static void error_number(void)
{
    CHECK_EQ(post_nothing(EINVAL), 0);
}

static void status(void)
{
    const struct {
        enum ibv_wc_status status;
    } wc = {IBV_WC_RETRY_EXC_ERR};
    CHECK_EQ(post_nothing(0), 0);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static void untrue(void)
{
    const char *text = "<a> & \"b\"";
    CHECK(strcmp(text, "") == 0);
}

static bool right_bytes(void)
{
    test_note("byte %d is 0x%02x, not 0x%02x", 7, 0, 1);
    return false;
}

static void noted(void)
{
    CHECK(right_bytes());
}

static void not_made(void)
{
    const void *object = NULL;
    errno = ENOMEM;
    CHECK_MADE(object, ibv_make_something);
}

static void first_of_two(void)
{
    test_fail(__FILE__, 7, "the first");
    test_fail(__FILE__, 8, "the second");
    test_skip("nor this");
}

static void dies(void)
{
    CHECK_EQ(post_nothing(0), 0);
    abort();
}

static void dies_at_once(void)
{
    abort();
}

static void fails_and_dies(void)
{
    test_fail(__FILE__, 9, "wrong");
    abort();
}

static void hangs(void)
{
    CHECK_EQ(post_nothing(0), 0);
    while (true)
        pause();
}

static void exits(void)
{
    exit(3);
}

static void scribbles(void)
{
    memset(case_report, 'x', sizeof(*case_report));
}

static void skips(void)
{
    SKIP("the device has none");
}

static void refused(void)
{
    const void *object = NULL;
    errno = EOPNOTSUPP;
    CHECK_OFFERED(object, ibv_make_something);
}

static void refused_by_number(void)
{
    CHECK_OFFERS(post_nothing(EOPNOTSUPP), EINVAL);
}

static void refused_wrongly(void)
{
    CHECK_OFFERS(post_nothing(EPERM), EINVAL);
}

static const struct test good_tests[] = {
    {"passes", passes, false}, {"strictly", passes, true}, {NULL, NULL, false}};
static const struct test bad_tests[] = {
    {"error_number", error_number, false},
    {"status", status, false},
    {"untrue", untrue, false},
    {"noted", noted, false},
    {"not_made", not_made, false},
    {"refused_wrongly", refused_wrongly, false},
    {"first_of_two", first_of_two, false},
    {NULL, NULL, false},
};
static const struct test rough_tests[] = {
    {"dies", dies, false},   {"dies_at_once", dies_at_once, false}, {"fails_and_dies", fails_and_dies, false},
    {"exits", exits, false}, {"scribbles", scribbles, false},       {NULL, NULL, false},
};
static const struct test slow_tests[] = {
    {"hangs", hangs, false}, {"passes", passes, false}, {NULL, NULL, false}};
static const struct test lacking_tests[] = {{"skips", skips, false},
                                            {"refused", refused, false},
                                            {"refused_by_number", refused_by_number, false},
                                            {"alien", passes, false},
                                            {NULL, NULL, false}};

const struct suite suites[] = {
    {"good", good_tests}, {"bad", bad_tests},         {"rough", rough_tests},
    {"slow", slow_tests}, {"lacking", lacking_tests}, {NULL, NULL},
};

/* ---- the device ----------------------------------------------------------------------------------------------------- */

bool device_open(const struct device_choice *choice, struct device_facts *facts)
{
    const char *name = choice->name != NULL ? choice->name : "fake<\"&'\\\n\xff>";
    if (strcmp(name, "crash") == 0)
        abort();
    if (strcmp(name, "none") == 0)
        snprintf(facts->problem, sizeof(facts->problem), "there is no such device");
    snprintf(facts->name, sizeof(facts->name), "%s", name);
    snprintf(facts->firmware, sizeof(facts->firmware), "1.2");
    snprintf(facts->guid, sizeof(facts->guid), "0123456789abcdef");
    snprintf(facts->gid, sizeof(facts->gid), "fe80::1");
    snprintf(facts->library, sizeof(facts->library), "libfake.so");
    facts->link = "RoCE";
    facts->port = choice->port;
    facts->gid_index = choice->gid_index >= 0 ? choice->gid_index : 2;
    return facts->problem[0] == 0;
}

void device_close(void) {}

const char *not_for_device(const char *test)
{
    return strcmp(test, "lacking.alien") == 0 ? "the device is another" : NULL;
}

int import_main(int socket)
{
    return socket;
}

const char *ibv_wc_status_str(enum ibv_wc_status value)
{
    return value == IBV_WC_RETRY_EXC_ERR ? "no answer" : "?";
}
