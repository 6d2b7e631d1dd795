/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_conform: runs the conformance cases on a device, each in a process of its own, and tells what they found. This process
 * calls no verb: whatever a provider does costs a case and no more. */
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "output.h"

enum {
    kFine = 0,
    kSomeFailed = 1,
    kUnusable = 2 /* the arguments, the device or a file */
};

struct options {
    struct device_choice device;
    int timeout; /* seconds for a case */
    bool strict, tap, list;
    const char *junit, *json;
    char **names; /* what to run; all if there are none */
};

/* What the child that runs a case fills in. */
static struct shared {
    struct report report;
    struct device_facts device;
} * shared;

static int unusable(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int unusable(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("ibv_conform: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return kUnusable;
}

/* ---- which cases ------------------------------------------------------------------------------------------------ */

/* Whether `name` means the case: its object, object.operation, or a pattern of those. */
static bool means(const char *name, const char *object, const char *operation)
{
    char full[128];
    snprintf(full, sizeof(full), "%s.%s", object, operation);
    return strcmp(name, object) == 0 || fnmatch(name, full, 0) == 0;
}

static bool selected(const struct options *options, const char *object, const struct test *test)
{
    if (test->strict && !options->strict)
        return false;
    bool wanted = *options->names == NULL;
    for (char **name = options->names; *name != NULL && !wanted; ++name)
        wanted = means(*name, object, test->name);
    return wanted;
}

/* Each name has to mean something. */
static int check_names(const struct options *options)
{
    for (char **name = options->names; *name != NULL; ++name) {
        bool known = false, runs = false;
        for (const struct suite *suite = suites; suite->name != NULL; ++suite)
            for (const struct test *test = suite->tests; test->name != NULL; ++test) {
                const bool meant = means(*name, suite->name, test->name);
                known |= meant;
                runs |= meant && (options->strict || !test->strict);
            }
        if (!known)
            return unusable("there is no case \"%s\"; ibv_conform --list shows their names", *name);
        if (!runs)
            return unusable("\"%s\" runs with --strict alone", *name);
    }
    return kFine;
}

static size_t count_selected(const struct options *options)
{
    size_t count = 0;
    for (const struct suite *suite = suites; suite->name != NULL; ++suite)
        for (const struct test *test = suite->tests; test->name != NULL; ++test)
            count += selected(options, suite->name, test);
    return count;
}

static void list(const struct options *options)
{
    for (const struct suite *suite = suites; suite->name != NULL; ++suite)
        for (const struct test *test = suite->tests; test->name != NULL; ++test)
            if (selected(options, suite->name, test))
                printf("%s.%s\n", suite->name, test->name);
}

/* ---- running them --------------------------------------------------------------------------------------------------- */

static void probe(void *context)
{
    const struct options *options = context;
    if (device_open(&options->device, &shared->device))
        device_close();
}

struct work {
    const struct options *options;
    const char *object;
    const struct test *test;
};

static void run_test(void *context)
{
    const struct work *work = context;
    char name[128];
    struct device_facts device = {0};
    case_report = &shared->report;
    if (!device_open(&work->options->device, &device)) {
        test_fail(__FILE__, __LINE__, "%s", device.problem);
        return;
    }
    snprintf(name, sizeof(name), "%s.%s", work->object, work->test->name);
    const char *reason = not_for_device(name);
    if (reason != NULL)
        test_not_run(reason);
    else
        work->test->run();
    if (case_report->outcome == kPassed)
        device_close();
}

/* What became of the child, in words; false where it ended as it should. */
static bool tell(struct ending ending, int limit, char *text, size_t size)
{
    switch (ending.how) {
        case kEndedBadly:
            snprintf(text, size, "exit status %d in the middle", ending.value);
            break;
        case kKilled:
            snprintf(text, size, "signal %d (%s)", ending.value, strsignal(ending.value));
            break;
        case kTimedOut:
            snprintf(text, size, "no end within %d s", limit);
            break;
        case kImmortal:
            snprintf(text, size, "no end within %d s, and it cannot be killed", limit);
            break;
        case kNotStarted:
            snprintf(text, size, "no process for it: %s", strerror(ending.value));
            break;
        default:
            return false;
    }
    return true;
}

#define TERMINATE(array) ((array)[sizeof(array) - 1] = 0)

/* A copy of what the child told, which may have gone wild. */
static struct report collect(struct ending ending, int limit)
{
    struct report told = shared->report;
    TERMINATE(told.step);
    TERMINATE(told.step_where);
    TERMINATE(told.where);
    TERMINATE(told.check);
    TERMINATE(told.call);
    TERMINATE(told.expected);
    TERMINATE(told.seen);
    TERMINATE(told.reason);
    if ((unsigned)told.outcome >= kOutcomes) {
        told = (struct report){.outcome = kFailed};
        snprintf(told.reason, sizeof(told.reason),
                 "something wrote over the memory that its results were in");
    }
    char end[128];
    if (!tell(ending, limit, end, sizeof(end)))
        return told;
    if (told.outcome == kFailed) {
        const size_t used = strlen(told.reason);
        snprintf(told.reason + used, sizeof(told.reason) - used, "; then %s", end);
        return told;
    }
    told.outcome = kFailed;
    memcpy(told.where, told.step_where, sizeof(told.where));
    snprintf(told.check, sizeof(told.check), "what comes after %.200s",
             told.step[0] != 0 ? told.step : "the start");
    snprintf(told.expected, sizeof(told.expected), "an end");
    snprintf(told.seen, sizeof(told.seen), "%s", end);
    snprintf(told.reason, sizeof(told.reason), "%s%s%s: %s", told.where, told.where[0] != 0 ? ": " : "",
             told.check, end);
    return told;
}

/* ---- the program --------------------------------------------------------------------------------------------------- */

/* Whether somebody watches who sees what terminals can do. */
static bool is_terminal(int file)
{
    const char *terminal = getenv("TERM");
    return isatty(file) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

/* What runs now, for whoever watches; the line is gone before anything else is printed. */
static void progress(const char *object, const char *operation, size_t number, size_t count)
{
    if (!is_terminal(STDERR_FILENO))
        return;
    fflush(stdout);
    if (object == NULL)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[K[%zu/%zu] %s.%s", number, count, object, operation);
    fflush(stderr);
}

static bool with_colour(void)
{
    const char *none = getenv("NO_COLOR");
    return is_terminal(STDOUT_FILENO) && (none == NULL || *none == 0);
}

static void run_all(const struct options *options, struct run *run, size_t count, bool quiet)
{
    if (!quiet && !options->tap)
        table_begin(run, with_colour());
    for (const struct suite *suite = suites; suite->name != NULL; ++suite) {
        for (const struct test *test = suite->tests; test->name != NULL; ++test) {
            if (!selected(options, suite->name, test))
                continue;
            struct work work = {options, suite->name, test};
            memset(&shared->report, 0, sizeof(shared->report));
            progress(suite->name, test->name, run->count + 1, count);
            const struct ending ending = child_run(run_test, &work, options->timeout);
            progress(NULL, NULL, 0, 0);
            struct result *result = &run->results[run->count++];
            *result =
                (struct result){suite->name, test->name, collect(ending, options->timeout), ending.seconds};
            if (quiet)
                continue;
            if (options->tap)
                tap_row(run, result);
            else
                table_row(run, result);
            fflush(stdout);
        }
    }
    if (quiet)
        return;
    if (options->tap)
        tap_end(run);
    else
        table_end(run);
}

static bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static FILE *open_output(const char *path)
{
    if (path == NULL)
        return NULL;
    return is_stdout(path) ? stdout : fopen(path, "we");
}

static int close_output(FILE *file, const char *path)
{
    if (file == NULL)
        return kFine;
    const bool bad = ferror(file) != 0;
    if ((file == stdout ? fflush(file) : fclose(file)) != 0 || bad)
        return unusable("writing %s: %s", path, strerror(errno));
    return kFine;
}

static int run(const struct options *options)
{
    const size_t count = count_selected(options);
    struct run all = {.strict = options->strict};
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return unusable("no memory");
    char end[128];
    const struct ending ending = child_run(probe, (void *)(uintptr_t)options, options->timeout);
    all.device = shared->device;
    TERMINATE(all.device.problem);
    if (tell(ending, options->timeout, end, sizeof(end)))
        return unusable("opening the device: %s; VERBS_LOG_LEVEL=4 tells how far it came", end);
    if (all.device.problem[0] != 0)
        return unusable("%s", all.device.problem);
    FILE *junit = open_output(options->junit), *json = open_output(options->json);
    if ((options->junit != NULL && junit == NULL) || (options->json != NULL && json == NULL))
        return unusable("%s: %s", options->junit != NULL && junit == NULL ? options->junit : options->json,
                        strerror(errno));
    all.results = calloc(count + 1, sizeof(struct result));
    if (all.results == NULL)
        return unusable("no memory");
    run_all(options, &all, count, is_stdout(options->junit) || is_stdout(options->json));
    if (junit != NULL)
        junit_write(junit, &all);
    if (json != NULL)
        json_write(json, &all);
    int status = close_output(junit, options->junit);
    if (status == kFine)
        status = close_output(json, options->json);
    if (status == kFine && (fflush(stdout) != 0 || ferror(stdout)))
        status = unusable("writing the results: %s", strerror(errno));
    if (status == kFine && tally(&all, NULL).of[kFailed] != 0)
        status = kSomeFailed;
    free(all.results);
    return status;
}

static const char kHelp[] =
    "Usage: ibv_conform [OPTION]... [NAME]...\n"
    "Runs verbs over loopback on one device, and tells which of them do what they should.\n"
    "NAME is an object (rc), a case (rc.send) or a pattern ('mw.type2*'); without any, all cases run.\n\n"
    "  -d, --device NAME       the device (default: the first; ibv_devices lists them)\n"
    "  -i, --port PORT         its port (1)\n"
    "  -g, --gid-index INDEX   the port's GID (default: the first of an IPv4 address; on InfiniBand, 0)\n"
    "  -s, --strict            also what release 44 of the reference library does not do right\n"
    "  -t, --timeout SECONDS   how long a case may take (120)\n"
    "      --tap               TAP instead of the table\n"
    "      --json FILE         also the results as JSON; - is the standard output, instead of the table\n"
    "      --junit FILE        the same as JUnit's XML\n"
    "  -l, --list              the names of the cases, and nothing else\n"
    "  -h, --help              this text\n\n"
    "Exit status: 0 if no case failed, 1 if some did, 2 if none could run.\n"
    "Without RDMA hardware: URXE=lo ibv_conform\n";

/* A number from `least` to `most`, or -1 and a message. */
static int number(const char *option, const char *text, int least, int most)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno == 0 && end != text && *end == 0 && value >= least && value <= most)
        return (int)value;
    unusable("--%s takes a number from %d to %d, not \"%s\"", option, least, most, text);
    return -1;
}

int main(int argc, char **argv)
{
    enum { kTap = 256, kJson, kJunit };
    static const struct option long_options[] = {
        {"device", required_argument, NULL, 'd'},
        {"port", required_argument, NULL, 'i'},
        {"gid-index", required_argument, NULL, 'g'},
        {"strict", no_argument, NULL, 's'},
        {"timeout", required_argument, NULL, 't'},
        {"tap", no_argument, NULL, kTap},
        {"json", required_argument, NULL, kJson},
        {"junit", required_argument, NULL, kJunit},
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.device = {.port = 1, .gid_index = -1}, .timeout = 120};
    if (argc == 3 && strcmp(argv[1], "--importer") == 0)
        return import_main(atoi(argv[2]));
    for (int option; (option = getopt_long(argc, argv, "d:i:g:st:lh", long_options, NULL)) != -1;) {
        int value = 0;
        switch (option) {
            case 'd':
                options.device.name = optarg;
                break;
            case 'i':
                value = options.device.port = number("port", optarg, 1, 255);
                break;
            case 'g':
                value = options.device.gid_index = number("gid-index", optarg, 0, 255);
                break;
            case 's':
                options.strict = true;
                break;
            case 't':
                value = options.timeout = number("timeout", optarg, 1, 1000000);
                break;
            case kTap:
                options.tap = true;
                break;
            case kJson:
                options.json = optarg;
                break;
            case kJunit:
                options.junit = optarg;
                break;
            case 'l':
                options.list = true;
                break;
            case 'h':
                fputs(kHelp, stdout);
                return kFine;
            default:
                fputs("ibv_conform --help lists the options\n", stderr);
                return kUnusable;
        }
        if (value < 0)
            return kUnusable;
    }
    options.names = argv + optind;
    if (is_stdout(options.junit) + is_stdout(options.json) + options.tap > 1)
        return unusable("the standard output takes one of --tap, --json - and --junit -");
    const int status = check_names(&options);
    if (status != kFine)
        return status;
    if (options.list)
        list(&options);
    return options.list ? kFine : run(&options);
}
