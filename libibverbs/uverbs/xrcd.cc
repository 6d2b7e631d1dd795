// SPDX-License-Identifier: BSD-2-Clause
// Commands for XRC domains.
#include "uverbs/xrcd.hh"

#include "uverbs/object.hh"

namespace verbs::uverbs {

Result<uint32_t> xrcd_open(Channel &channel, int fd, int oflags, const DriverData &driver)
{
    ib_uverbs_open_xrcd request = {};
    request.fd = static_cast<uint32_t>(fd);
    request.oflags = static_cast<uint32_t>(oflags);
    ib_uverbs_open_xrcd_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_OPEN_XRCD, request, response, driver);
    if (!status)
        return status;
    return response.xrcd_handle;
}

Status xrcd_close(Channel &channel, uint32_t handle)
{
    return object_destroy(channel, {UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY},
                          UVERBS_ATTR_DESTROY_XRCD_HANDLE, handle, IB_USER_VERBS_CMD_CLOSE_XRCD,
                          ib_uverbs_close_xrcd{.xrcd_handle = handle});
}

}  // namespace verbs::uverbs
