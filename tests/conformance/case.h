/* SPDX-License-Identifier: BSD-2-Clause */
/* What a conformance case is, and how it tells what it found. It runs in a process of its own; what it tells lies in memory
 * that ibv_conform sees as well, so that nothing is lost where the case ends in the middle. */
#ifndef CONFORMANCE_CASE_H
#define CONFORMANCE_CASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
    const char *name; /* the operation */
    void (*run)(void);
    bool strict; /* asks more than release 44.0 of the reference gives; runs with --strict alone */
};

/* The cases of an object; a NULL name ends both kinds of list. */
struct suite {
    const char *name;
    const struct test *tests;
};
extern const struct suite suites[];

/* ---- results ------------------------------------------------------------------------------------------------- */

enum outcome {
    kPassed,
    kFailed,
    kNotOffered, /* the device said so */
    kNotRun,     /* it says nothing about such a device */
    kOutcomes
};

struct report {
    enum outcome outcome;
    char step[256],
        step_where[64]; /* the last check that was begun, as it is written in the case; its file and line */
    char verb[256];     /* the last one that is a call */
    /* Of a failure: */
    char where[64];
    char call[256],
        check[256]; /* the call, and what was wrong after it if not its answer; either may be empty */
    char expected[128], seen[256]; /* empty where `reason` says all */
    char reason[1024];             /* one line with all of that; or why it is not offered, or was not run */
};
/* Of the running case. */
extern struct report *case_report;

/* The check that comes now. */
void test_step(const char *file, int line, const char *text);
/* What was wrong in that step, by the one who looks closest: which byte, which completion. */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How the step went wrong. The first failure of a case is the one to read. */
void test_differs(long long seen, long long expected, const char *expected_text);
void test_untrue(void);
void test_not_made(void);
void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
void test_not_run(const char *reason);
/* Whether a call that just failed is one that the device does not offer, as errno says; that is the result then. */
bool test_not_offered(const char *call);

/* Each ends the test function that it stands in. */
#define CHECK(condition)                           \
    do {                                           \
        test_step(__FILE__, __LINE__, #condition); \
        if (!(condition)) {                        \
            test_untrue();                         \
            return;                                \
        }                                          \
    } while (0)
#define CHECK_EQ(actual, expected)                                                        \
    do {                                                                                  \
        test_step(__FILE__, __LINE__, #actual);                                           \
        const long long actual_ = (long long)(actual), expected_ = (long long)(expected); \
        if (actual_ != expected_) {                                                       \
            test_differs(actual_, expected_, #expected);                                  \
            return;                                                                       \
        }                                                                                 \
    } while (0)
/* The object that a call has just given. */
#define CHECK_MADE(object, call)              \
    do {                                      \
        test_step(__FILE__, __LINE__, #call); \
        if ((object) == NULL) {               \
            test_not_made();                  \
            return;                           \
        }                                     \
    } while (0)
/* The same for an object that devices need not offer. */
#define CHECK_OFFERED(object, call)           \
    do {                                      \
        test_step(__FILE__, __LINE__, #call); \
        if ((object) == NULL) {               \
            if (!test_not_offered(#call))     \
                test_not_made();              \
            return;                           \
        }                                     \
    } while (0)
/* CHECK_EQ of what a verb returns that devices need not offer. */
#define CHECK_OFFERS(call, expected)                         \
    do {                                                     \
        test_step(__FILE__, __LINE__, #call);                \
        const int error_ = (call);                           \
        errno = error_;                                      \
        if (error_ != (expected)) {                          \
            if (!test_not_offered(#call))                    \
                test_differs(error_, (expected), #expected); \
            return;                                          \
        }                                                    \
    } while (0)
#define SKIP(...)               \
    do {                        \
        test_skip(__VA_ARGS__); \
        return;                 \
    } while (0)

/* ---- the device ------------------------------------------------------------------------------------------------ */

struct device_choice {
    const char *name; /* the first if NULL */
    int port;         /* from 1 */
    int gid_index;    /* -1: the first that loopback works with */
};

struct device_facts {
    char name[64], firmware[64], guid[20];
    uint32_t vendor, part;
    const char *link; /* what the port is */
    char gid[48];     /* empty on iWARP */
    int port, gid_index;
    char library[256]; /* the libibverbs that runs */
    char problem[512]; /* why the device cannot be used, and what to do; empty if it can */
};

/* Opens the device for the cases; whether `facts` have no problem. */
bool device_open(const struct device_choice *choice, struct device_facts *facts);
/* Destroys what device_open made, which fails where a case left objects of its own. */
void device_close(void);
/* Why a case says nothing about the device that is open; NULL if it does. */
const char *not_for_device(const char *test);
/* The other process of cases that need one: they run /proc/self/exe --importer SOCKET. Its exit status. */
int import_main(int socket);

#endif
