/* SPDX-License-Identifier: BSD-2-Clause */
/* What the test and the fake providers of foreign ABIs share. Their headers differ, so objects travel as void pointers. */
#ifndef FAKE_H
#define FAKE_H

#include <stddef.h>
#include <stdint.h>

enum { FAKE_MAX_OPS = 83, FAKE_CANARY = 64 };

/* The plugin exports one of these as `fake`. */
struct fake {
    int ops_count;                   /* of the layout */
    const char *names[FAKE_MAX_OPS]; /* of the ops, by slot */
    void *answers[FAKE_MAX_OPS];     /* what the op in the slot returns */
    int called;                      /* the slot that was called last; -1 after the test set it so */
    const void *argument;            /* its first argument */
    int canaries_hurt;               /* how often memory around an object was found changed */
    int front_written;               /* whether the new context had anything but zeros in front of it */
    size_t context_size;             /* of its verbs_context */
    size_t sz;                       /* verbs_context.sz, as the library set it */
    const char
        *ops;     /* of the next context: "all", or "none" but free_context; "refuse": nor is it imported */
    int uses_ex2; /* the installed create_qp_ex and create_cq_ex use the command that ends so, if there is one */

    /* Replace some ops of an open context by ones that do something; the others stay. */
    void (*install_commands)(void *context);
    /* Makes an ibv_wr queue pair of one without. */
    void (*make_extended)(void *qp);
    uint32_t (*qp_comp_mask)(const void *qp);
    const void *(*qp_xrcd)(const void *qp);
    void (*log)(void *context, const char *text);
};

#endif
