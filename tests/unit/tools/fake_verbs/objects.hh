// SPDX-License-Identifier: BSD-2-Clause
// What the files of the fake know of each other's objects.
#pragma once

#include <infiniband/verbs.h>

namespace fake_verbs {

// Keeps an object that the scenario does not let the program destroy, so that a leak checker does not take the program
// to have lost it.
void abandon(void *object);

// Fills the context's operations for posting, polling, and the extended objects.
void fill_data_path(verbs_context *context);

}  // namespace fake_verbs
