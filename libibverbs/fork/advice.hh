// SPDX-License-Identifier: BSD-2-Clause
// Advice to the kernel on which memory children get.
#pragma once

#include <cstdint>

#include "base/result.hh"

namespace verbs::fork {

/// Whether the kernel can withhold memory from children at all.
Status probe_dontfork();

/// A range of whole pages.
struct PageRange {
    uintptr_t begin;
    uintptr_t end;
};

/// What became of a request: which pages the kernel was asked about, and its answer.
struct Advice {
    PageRange range;
    Status status;
};

/// Withholds the range, widened to the page size of the mapping where that is larger. After a failure some
/// pages of the range that is returned may be withheld.
Advice withhold(PageRange range);

/// Gives the range to children again, narrowed to the page size of the mapping where that is larger. Memory
/// that is no longer mapped counts as given back. EINVAL where the range holds no whole page, or is a mapping
/// that the kernel never gives to children.
Advice give_back(PageRange range);

}  // namespace verbs::fork
