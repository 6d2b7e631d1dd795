/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs with ordinary, odd and wrong arguments, each answer a line: label, result, errno, outputs. The simulated kernel's
 * record is marked with the same label, so that two libraries can be compared call by call, in what they answer and in
 * what they asked of the kernel.
 */
#ifndef CALLS_H
#define CALLS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern struct ibv_context *context;
extern struct ibv_pd *pd;
extern char page[4 * 4096];

void calls_context(void);
void calls_device(void);
void calls_port(void);
void calls_pd(void);
void calls_mr(void);
void calls_dm(void);
void calls_mw(void);
void calls_cq(void);
void calls_event(void);
void calls_srq(void);
void calls_qp(void);
void calls_wq(void);
void calls_ah(void);
void calls_xrcd(void);
void calls_flow(void);
void calls_counters(void);
void calls_import(void);

/* Begins a call: names it in the record, and lets no earlier errno show. */
void call(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends it: `result` as the verb returned it, errno if that says failure. */
void answered(long result);
void answered_object(const void *object);
void no_object(void);

/* Whether the call before was hit by a fault that the program asked for. */
int fault_has_struck(void);

/* Outputs of the call before. */
void field(const char *name, uint64_t value);
void bytes(const char *name, const void *start, size_t size);
void text(const char *string);

/* A verb that returns a number; one that returns an object. */
#define ANSWER(expression)            \
    do {                              \
        errno = 0;                    \
        answered((long)(expression)); \
    } while (0)
#define OBJECT(variable, expression) \
    do {                             \
        errno = 0;                   \
        (variable) = (expression);   \
        answered_object(variable);   \
    } while (0)

/* A verb that makes an object from another, which may not have come to be. */
#define OBJECT_OF(parent, variable, expression) \
    do {                                        \
        (variable) = NULL;                      \
        if ((parent) != NULL)                   \
            OBJECT(variable, expression);       \
        else                                    \
            no_object();                        \
    } while (0)

/* A verb on an object that may not have come to be. */
#define IF(object, expression)  \
    do {                        \
        if ((object) != NULL)   \
            ANSWER(expression); \
        else                    \
            no_object();        \
    } while (0)

/* One that destroys it. Tried again where a fault was put in its way, so that nothing stays behind. */
#define DESTROY(object, expression)             \
    do {                                        \
        long result_ = 0;                       \
        if ((object) == NULL) {                 \
            no_object();                        \
            break;                              \
        }                                       \
        errno = 0;                              \
        result_ = (expression);                 \
        answered(result_);                      \
        if (result_ != 0 && fault_has_struck()) \
            result_ = (expression);             \
        if (result_ == 0)                       \
            (object) = NULL;                    \
    } while (0)

/* One that must not: `holder` still uses the object. */
#define DESTROY_IN_USE(holder, object, expression) \
    do {                                           \
        if ((holder) != NULL && (object) != NULL)  \
            ANSWER(expression);                    \
        else                                       \
            no_object();                           \
    } while (0)

/* The same for objects that only served other calls; says nothing. */
#define CLEAN(object, expression)                                         \
    do {                                                                  \
        if ((object) != NULL && ((expression) == 0 || (expression) == 0)) \
            (object) = NULL;                                              \
    } while (0)

#endif
