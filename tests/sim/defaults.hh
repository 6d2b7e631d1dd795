// SPDX-License-Identifier: BSD-2-Clause
// What a described device has where its description says nothing.
#pragma once

#include <string_view>

#include "description.hh"

namespace sim {

void set_defaults(Device &device, std::string_view name);
void set_defaults(Port &port, const Device &device);

/// Where the driver has defaults of its own (rxe, siw).
void set_driver_defaults(Device &device);

ib_uverbs_gid_type default_gid_type(const Port &port);

/// What depends on the whole description: the single default port, lengths of tables, copies of members.
void complete(Device &device);

}  // namespace sim
