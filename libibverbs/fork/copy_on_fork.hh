// SPDX-License-Identifier: BSD-2-Clause
// Whether fork protection is the kernel's own business.
#pragma once

namespace verbs::fork {

/// Whether the kernel gives a child copies of pages that devices use. False also where it cannot be asked.
bool kernel_copies_pinned_pages();

}  // namespace verbs::fork
