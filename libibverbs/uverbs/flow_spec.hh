// SPDX-License-Identifier: BSD-2-Clause
// Flow specifications in the kernel's form.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>

#include "base/result.hh"

namespace verbs::uverbs {

/// No specification is longer in the kernel's form.
constexpr size_t kMaxFlowSpecSize = 88;

/// Writes the kernel's form of `spec` to `to` (kMaxFlowSpecSize zeroed bytes); its size. Errors: see flow_create.
Result<size_t> flow_spec_to_kernel(const ibv_flow_spec &spec, std::byte *to);

}  // namespace verbs::uverbs
