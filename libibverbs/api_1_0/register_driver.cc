// SPDX-License-Identifier: BSD-2-Clause
// How providers made themselves known before plugins had a number in their name.
#include "api_1_0/verbs.hh"

// None of them can be served any more: the devices that they would make are not today's. Programs that name
// the symbol start.
VERBS_EXPORT_1_1(ibv_register_driver) void ibv_register_driver_1_1(const char *, ibv_driver_init_func_1_1) {}
