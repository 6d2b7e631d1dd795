// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for indirection tables of receive work queues.
#include "uverbs/rwq_ind_table.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_create_rwq_ind_table(ibv_context *context, ibv_rwq_ind_table_init_attr *init_attr,
                                              ibv_rwq_ind_table *rwq_ind_table,
                                              ib_uverbs_ex_create_rwq_ind_table_resp *resp, size_t resp_size)
{
    using verbs::provider_api::driver_data;
    if (init_attr->comp_mask >= IBV_CREATE_IND_TABLE_RESERVED)
        return creation_error(EINVAL);
    ib_uverbs_ex_create_rwq_ind_table *no_command = nullptr;
    verbs::Result<verbs::uverbs::RwqIndTableInfo> info =
        verbs::uverbs::rwq_ind_table_create(channel(context), init_attr->ind_tbl, init_attr->log_ind_tbl_size,
                                            driver_data(no_command, 0, resp, resp_size));
    if (!info)
        return creation_error(info.error());
    verbs::provider_api::give_answer(resp, resp_size,
                                     {.comp_mask = 0,
                                      .response_length = sizeof *resp,
                                      .ind_tbl_handle = info->handle,
                                      .ind_tbl_num = info->number});
    rwq_ind_table->context = context;
    rwq_ind_table->ind_tbl_handle = static_cast<int>(info->handle);
    rwq_ind_table->ind_tbl_num = static_cast<int>(info->number);
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_create_rwq_ind_table);

VERBS_EXPORT int ibv_cmd_destroy_rwq_ind_table(ibv_rwq_ind_table *rwq_ind_table)
{
    return verbs::provider_api::destroy_error(verbs::uverbs::rwq_ind_table_destroy(
        channel(rwq_ind_table->context), static_cast<uint32_t>(rwq_ind_table->ind_tbl_handle)));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_destroy_rwq_ind_table);
