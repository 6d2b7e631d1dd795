// SPDX-License-Identifier: BSD-2-Clause
// Flow specifications in the kernel's form.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>

#include "base/result.hh"

namespace verbs::uverbs {

/// No specification is longer in the kernel's form.
constexpr size_t kMaxFlowSpecSize = 88;

/// How many bytes the program's specification at `spec`, which need not be aligned, says that it has.
size_t flow_spec_size(const std::byte *spec);

/// Writes the kernel's form of the program's specification at `spec`, which need not be aligned, to `to`
/// (kMaxFlowSpecSize zeroed bytes); its size. Errors: see flow_create.
Result<size_t> flow_spec_to_kernel(const std::byte *spec, std::byte *to);

}  // namespace verbs::uverbs
