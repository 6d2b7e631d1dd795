// SPDX-License-Identifier: BSD-2-Clause
// Commands for queue pairs.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <optional>

#include "base/result.hh"
#include "uverbs/attributes.hh"

namespace verbs::uverbs {

struct QpRequest {
    uint64_t user_handle;  ///< comes back in events
    ibv_qp_type type;
    ibv_qp_cap cap;  ///< wanted sizes
    bool signal_all;
    uint32_t create_flags;  ///< enum ib_uverbs_qp_create_flags, beside signal_all
    uint32_t source_qpn;    ///< with the create flag for it
    std::optional<uint32_t> pd_handle;
    std::optional<uint32_t> xrcd_handle;  ///< of an XRC target, instead of a PD
    std::optional<uint32_t> send_cq_handle;
    std::optional<uint32_t> recv_cq_handle;
    std::optional<uint32_t> srq_handle;
    std::optional<uint32_t> ind_table_handle;
    int async_fd;  ///< the context's, where events of the queue pair go
};

struct QpInfo {
    uint32_t handle = 0;
    uint32_t qp_num = 0;
    ibv_qp_cap cap{};  ///< sizes that there are
};

/// `attributes` are what only the ioctl can carry; null for none.
Result<QpInfo> qp_create(Channel &channel, const QpRequest &request, const DriverData &driver,
                         ibv_command_buffer *attributes = nullptr);

/// Opens the XRC target `qp_num` of a domain; info.cap is not known.
Result<QpInfo> qp_open(Channel &channel, uint32_t xrcd_handle, uint32_t qp_num, ibv_qp_type type,
                       uint64_t user_handle, const DriverData &driver);

/// Changes what `attr_mask` (enum ibv_qp_attr_mask) names.
Status qp_modify(Channel &channel, uint32_t handle, const ibv_qp_attr &attr, int attr_mask,
                 const DriverData &driver);

/// The same by the extended command, which knows IBV_QP_RATE_LIMIT too; the driver may answer.
Status qp_modify_ex(Channel &channel, uint32_t handle, const ibv_qp_attr &attr, int attr_mask,
                    ib_uverbs_ex_modify_qp_resp &response, const DriverData &driver);

/// Fills attr and the capabilities and signalling of init_attr; untouched on failure.
Status qp_query(Channel &channel, uint32_t handle, int attr_mask, ibv_qp_attr &attr,
                ibv_qp_init_attr &init_attr, const DriverData &driver);

/// The response counts the events that were reported and that the program has to acknowledge.
Status qp_destroy(Channel &channel, uint32_t handle, ib_uverbs_destroy_qp_resp &response);

}  // namespace verbs::uverbs
