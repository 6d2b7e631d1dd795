/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of Ethernet frames share: raw packet QPs, frames and flow rules. Frames are of a type for local experiments
 * (IEEE 802), so that nobody else minds them; the device must loop back what is sent to its own port. */
#ifndef CONFORMANCE_RAW_H
#define CONFORMANCE_RAW_H

#include "conformance.h"

enum {
    kHeader = 14 /* bytes in front of a frame's payload */
};

/* Two QPs in RTS. */
struct raw {
    struct ibv_cq *cq[2];
    struct ibv_qp *qp[2];
};

/* False and the test skipped or failed where there are none. */
bool raw_open(struct raw *raw);
void raw_close(struct raw *raw);
int raw_to(struct ibv_qp *qp, enum ibv_qp_state state);
#define OPEN_RAW(raw)       \
    do {                    \
        if (!raw_open(raw)) \
            return;         \
    } while (0)

/* Writes a frame to a station, the last byte of whose address is `to`, with `length` bytes of payload; gives its size. */
uint32_t write_frame(char *memory, uint8_t to, uint32_t length, unsigned seed);
/* Posts one. */
int send_frame(struct raw *raw, uint8_t to, uint32_t length, unsigned seed);

/* A rule and its specifications, without gaps. */
struct rule {
    union {
        struct ibv_flow_attr attr;
        char bytes[256];
    };
    size_t size;
};

struct rule rule_of(enum ibv_flow_attr_type type);
void rule_add(struct rule *rule, const void *spec, size_t size);
/* For frames to a station. */
struct rule rule_to(uint8_t to, uint16_t priority);

#endif
