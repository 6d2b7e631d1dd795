// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for XRC domains.
#include "uverbs/xrcd.hh"

#include <infiniband/driver.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

VERBS_EXPORT int ibv_cmd_open_xrcd(ibv_context *context, verbs_xrcd *xrcd, int vxrcd_size,
                                   ibv_xrcd_init_attr *attr, struct ibv_open_xrcd *cmd, size_t cmd_size,
                                   ib_uverbs_open_xrcd_resp *resp, size_t resp_size)
{
    constexpr uint32_t kMask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    if (attr->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED)
        return creation_error(EOPNOTSUPP);
    if ((attr->comp_mask & kMask) != kMask)
        return creation_error(EINVAL);
    verbs::Result<uint32_t> handle =
        verbs::uverbs::xrcd_open(channel(context), attr->fd, attr->oflags,
                                 verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!handle)
        return creation_error(handle.error());
    verbs::provider_api::give_answer(resp, resp_size, {.xrcd_handle = *handle});
    xrcd->xrcd.context = context;
    xrcd->comp_mask = 0;
    if (static_cast<size_t>(vxrcd_size) >= sizeof *xrcd) {
        xrcd->comp_mask = VERBS_XRCD_HANDLE;
        xrcd->handle = *handle;
    }
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_open_xrcd);

VERBS_EXPORT int ibv_cmd_close_xrcd(verbs_xrcd *xrcd)
{
    return verbs::provider_api::destroy_error(
        verbs::uverbs::xrcd_close(channel(xrcd->xrcd.context), xrcd->handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_close_xrcd);
