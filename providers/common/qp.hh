// SPDX-License-Identifier: BSD-2-Clause
// Creating queue pairs where the driver knows protection domains and operations, and no create flags.
#pragma once

#include <infiniband/driver.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace common {

/// The plain verb by the extended one.
template <class CreateEx>
ibv_qp *create_qp_by_ex(ibv_pd *pd, ibv_qp_init_attr *attr, CreateEx create_ex)
{
    static_assert(offsetof(ibv_qp_init_attr, sq_sig_all) == offsetof(ibv_qp_init_attr_ex, sq_sig_all));
    ibv_qp_init_attr_ex attr_ex{};
    std::memcpy(&attr_ex, attr, sizeof(*attr));
    attr_ex.comp_mask = IBV_QP_INIT_ATTR_PD;
    attr_ex.pd = pd;
    ibv_qp *qp = create_ex(pd->context, &attr_ex);
    if (qp != nullptr)
        attr->cap = attr_ex.cap;
    return qp;
}

/// Whether the program wants the functions of ibv_qp_ex.
inline bool wants_send_ops(const ibv_qp_init_attr_ex &attr)
{
    return (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
}

/// 0, or the errno value with which a request is refused. `operations` are the IBV_QP_EX_WITH_* that there are.
inline int check_qp_attr(const ibv_qp_init_attr_ex &attr, uint64_t operations)
{
    constexpr uint32_t kKnown =
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    const bool has_flags = (attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && attr.create_flags != 0;
    if ((attr.comp_mask & ~kKnown) != 0 || has_flags)
        return EOPNOTSUPP;
    if ((attr.comp_mask & IBV_QP_INIT_ATTR_PD) == 0)
        return EINVAL;
    return wants_send_ops(attr) && (attr.send_ops_flags & ~operations) != 0 ? EOPNOTSUPP : 0;
}

/// Makes the kernel's queue pair with the plain command, which is one without flags. 0, or an errno value.
template <class Response>
int command_create_qp(ibv_context *context, verbs_qp &qp, ibv_qp_init_attr_ex &attr, Response &response)
{
    struct ibv_create_qp command {};
    const uint32_t asked =
        std::exchange(attr.comp_mask, attr.comp_mask & ~uint32_t{IBV_QP_INIT_ATTR_CREATE_FLAGS});
    const int error = ibv_cmd_create_qp_ex(context, &qp, &attr, &command, sizeof(command), response.core(),
                                           response.size());
    attr.comp_mask = asked;
    return error;
}

}  // namespace common
