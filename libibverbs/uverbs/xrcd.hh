// SPDX-License-Identifier: BSD-2-Clause
// Commands for XRC domains.
#pragma once

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

/// Opens the domain of the file behind `fd` (-1: a private one), with the open flags of the verb; its kernel handle.
Result<uint32_t> xrcd_open(Channel &channel, int fd, int oflags, const DriverData &driver);
Status xrcd_close(Channel &channel, uint32_t handle);

}  // namespace verbs::uverbs
