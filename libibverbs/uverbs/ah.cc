// SPDX-License-Identifier: BSD-2-Clause
// Commands for address handles.
#include "uverbs/ah.hh"

#include <cstring>

#include "uverbs/object.hh"

namespace verbs::uverbs {

Result<uint32_t> ah_create(Channel &channel, uint64_t user_handle, uint32_t pd_handle,
                           const ibv_ah_attr &attr, const DriverData &driver)
{
    ib_uverbs_create_ah request = {};
    request.user_handle = user_handle;
    request.pd_handle = pd_handle;
    ib_uverbs_ah_attr &to = request.attr;
    std::memcpy(to.grh.dgid, attr.grh.dgid.raw, sizeof to.grh.dgid);
    to.grh.flow_label = attr.grh.flow_label;
    to.grh.sgid_index = attr.grh.sgid_index;
    to.grh.hop_limit = attr.grh.hop_limit;
    to.grh.traffic_class = attr.grh.traffic_class;
    to.dlid = attr.dlid;
    to.sl = attr.sl;
    to.src_path_bits = attr.src_path_bits;
    to.static_rate = attr.static_rate;
    to.is_global = attr.is_global;
    to.port_num = attr.port_num;
    ib_uverbs_create_ah_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_CREATE_AH, request, response, driver);
    if (!status)
        return status;
    return response.ah_handle;
}

Status ah_destroy(Channel &channel, uint32_t handle)
{
    return object_destroy(channel, {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY},
                          UVERBS_ATTR_DESTROY_AH_HANDLE, handle, IB_USER_VERBS_CMD_DESTROY_AH,
                          ib_uverbs_destroy_ah{.ah_handle = handle});
}

}  // namespace verbs::uverbs
