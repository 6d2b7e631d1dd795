/* SPDX-License-Identifier: BSD-2-Clause */
/* All conformance cases, object by object. */
#include "conformance.h"

const struct suite suites[] = {
    {"rc", rc_tests},           {"datagram", datagram_tests},
    {"srq", srq_tests},         {"mw", mw_tests},
    {"wr", wr_tests},           {"cq", cq_tests},
    {"event", event_tests},     {"protection", protection_tests},
    {"failure", failure_tests}, {"post", post_tests},
    {"object", object_tests},   {"import", import_tests},
    {"domain", domain_tests},   {"memory", memory_tests},
    {"iwarp", iwarp_tests},     {"raw", raw_tests},
    {"wq", wq_tests},           {"comp_cntr", comp_cntr_tests},
    {"tag", tag_tests},         {NULL, NULL},
};
