// SPDX-License-Identifier: BSD-2-Clause
// Commands for indirection tables of receive work queues.
#include "uverbs/rwq_ind_table.hh"

#include "uverbs/object.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kDestroy = {UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY};

}  // namespace

Result<RwqIndTableInfo> rwq_ind_table_create(Channel &channel, const ibv_wq *const *wqs, uint32_t log_size,
                                             const DriverData &driver)
{
    if (log_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE)
        return Status(EINVAL);
    size_t count = size_t{1} << log_size;
    // Extended requests are whole words of eight bytes.
    size_t size = (sizeof(ib_uverbs_ex_create_rwq_ind_table) + count * sizeof(uint32_t) + 7) / 8 * 8;
    Scratch buffer(size);
    if (buffer.bytes() == nullptr)
        return Status(ENOMEM);
    auto &request = *reinterpret_cast<ib_uverbs_ex_create_rwq_ind_table *>(buffer.bytes());
    request.log_ind_tbl_size = log_size;
    for (size_t i = 0; i < count; ++i)
        request.wq_handles[i] = wqs[i]->handle;

    ib_uverbs_ex_create_rwq_ind_table_resp response = {};
    Status status =
        execute(channel, IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL | uint32_t{IB_USER_VERBS_CMD_FLAG_EXTENDED},
                buffer.bytes(), size, &response, sizeof response, false, driver);
    if (!status)
        return status;
    return RwqIndTableInfo{.handle = response.ind_tbl_handle, .number = response.ind_tbl_num};
}

Status rwq_ind_table_destroy(Channel &channel, uint32_t handle)
{
    Status status =
        object_destroy_by_ioctl(channel, kDestroy, UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, handle);
    if (channel.offers(kDestroy))
        return status;
    ib_uverbs_ex_destroy_rwq_ind_table request = {.comp_mask = 0, .ind_tbl_handle = handle};
    return extended_command(channel, IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, request);
}

}  // namespace verbs::uverbs
