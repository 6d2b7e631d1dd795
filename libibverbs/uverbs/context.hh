// SPDX-License-Identifier: BSD-2-Clause
// Commands that concern a whole context: setting it up, and asking about device and port.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <span>

#include "base/result.hh"
#include "base/unique_fd.hh"
#include "uverbs/attributes.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs {

/// What the kernel says of a context that it just set up.
struct ContextInfo {
    UniqueFd async_fd;  ///< where asynchronous events are read
    uint32_t num_comp_vectors = 0;
    uint64_t core_support = 0;  ///< enum ib_uverbs_core_support
};

/// Makes the channel's file a context; once per open file. `files` are descriptors that the driver wants with
/// it, which only the ioctl can carry: EOPNOTSUPP on older kernels.
Result<ContextInfo> context_get(Channel &channel, const DriverData &driver, std::span<const int> files = {});

/// A file where events of a context can be read that has none in this process. ioctl only: EPROTONOSUPPORT or
/// ENOTTY on older kernels.
Result<UniqueFd> async_events_open(Channel &channel);

/// What the kernel says of a context that another process set up.
struct ContextDescription {
    uint32_t num_comp_vectors = 0;
    uint64_t core_support = 0;  ///< enum ib_uverbs_core_support
};

/// ioctl only: EPROTONOSUPPORT or ENOTTY on older kernels; EOPNOTSUPP from drivers without it.
Result<ContextDescription> context_query(Channel &channel, ibv_command_buffer *driver);

/// The plain device query; `response` is zeroed before.
Status device_query(Channel &channel, ib_uverbs_query_device_resp &response);

/// The extended device query; a kernel or driver without it gives an errno value. `response` is zeroed before: what an
/// older kernel does not fill stays as it is, response_length tells how much it filled.
Status device_query_ex(Channel &channel, ib_uverbs_ex_query_device_resp &response, const DriverData &driver);

/// The port query, with the parts that only the ioctl has zero where the kernel has just the write form.
Status port_query(Channel &channel, uint8_t port_num, ib_uverbs_query_port_resp_ex &response,
                  const DriverData &driver);

/// The port's speed over all lanes, in 100 Mbit/s. ioctl only: EPROTONOSUPPORT or ENOTTY on older kernels;
/// EOPNOTSUPP from drivers without it.
Result<uint64_t> port_speed_query(Channel &channel, uint32_t port_num);

/// One entry of the GID table: ENODATA where it is empty. ioctl only: EPROTONOSUPPORT or ENOTTY on older kernels.
Status gid_query(Channel &channel, uint32_t port_num, uint32_t index, uint32_t flags,
                 ib_uverbs_gid_entry &entry);

/// The filled entries of the GID tables of all ports; the number written. Errors as for gid_query.
Result<size_t> gid_table_query(Channel &channel, uint32_t flags, ib_uverbs_gid_entry *entries,
                               size_t capacity);

}  // namespace verbs::uverbs
