// SPDX-License-Identifier: BSD-2-Clause
// What the fake's context needs to know of its protection domains, regions and queues.
#pragma once

#include <infiniband/verbs.h>

namespace fake_verbs {

// Fills the context's operations for posting, polling, and the extended objects.
void fill_data_path(verbs_context *context);

}  // namespace fake_verbs
