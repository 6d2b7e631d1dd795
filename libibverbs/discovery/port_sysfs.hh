// SPDX-License-Identifier: BSD-2-Clause
// GID and P_Key tables as sysfs shows them: what verbs fall back to where the kernel has no command for them.
#pragma once

#include <infiniband/driver.h>

#include <cstdint>

#include "base/result.hh"

namespace verbs::discovery {

// Tables are sparse: an entry without a value says nothing of its neighbours, so a reader of the whole table
// goes on behind it. `port` counts from 1, `index` from 0. Beyond the table, or without such a port: ENOENT.
// Any thread.

/// The GID at `index` in network order. An entry without a GID is the zero GID (kernels differ in how sysfs
/// shows it).
Result<ibv_gid> read_gid(const verbs_sysfs_dev &device, uint32_t port, uint32_t index);

/// The type of the GID at `index`: IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1 or IBV_GID_TYPE_ROCE_V2. Sysfs has
/// one name for the first two; the link layer of the port tells them apart. EINVAL: the entry has no GID.
/// Kernels without GID types (below 4.5) have only the first two.
Result<ibv_gid_type> read_gid_type(const verbs_sysfs_dev &device, uint32_t port, uint32_t index);

/// The index (as of if_nametoindex) of the network interface that the GID at `index` belongs to; 0 where GIDs
/// have none (InfiniBand). EINVAL: the entry has no GID; ENODEV: the interface is in another network
/// namespace.
Result<uint32_t> read_gid_ndev(const verbs_sysfs_dev &device, uint32_t port, uint32_t index);

/// The P_Key at `index` in network order, as ibv_query_pkey gives it. An entry without one is 0.
Result<uint16_t> read_pkey(const verbs_sysfs_dev &device, uint32_t port, uint32_t index);

}  // namespace verbs::discovery
