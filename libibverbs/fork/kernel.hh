// SPDX-License-Identifier: BSD-2-Clause
// What the kernel has to say on fork: whether it copies pinned pages, and how it takes advice on ranges of
// memory.
#pragma once

#include <cstdint>

#include "base/result.hh"

namespace verbs::fork {

/// Whether the kernel gives a child copies of pages that devices use. False also where it cannot be asked.
bool kernel_copies_pinned_pages();

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
