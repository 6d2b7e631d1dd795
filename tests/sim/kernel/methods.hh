// SPDX-License-Identifier: BSD-2-Clause
// The tables of commands, each in the file that is named after its objects.
#pragma once

#include "kernel/command.hh"

namespace sim {

Methods context_methods();
Methods port_methods();
Methods pd_methods();
Methods mr_methods();
Methods mw_methods();
Methods cq_methods();
Methods event_methods();
Methods qp_methods();
Methods srq_methods();
Methods wq_methods();
Methods ah_methods();
Methods xrcd_methods();
Methods flow_methods();
Methods counters_methods();
Methods dm_methods();
Methods post_methods();

}  // namespace sim
