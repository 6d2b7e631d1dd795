// SPDX-License-Identifier: BSD-2-Clause
// P_Key tables.
#include <infiniband/driver.h>

#include "base/export.hh"
#include "discovery/port_sysfs.hh"
#include "provider/userspace.hh"

namespace {

verbs::Result<uint16_t> read_pkey(ibv_context *context, uint32_t port_num, uint32_t index)
{
    const verbs_userspace_ops *userspace = verbs::provider::userspace_ops(context);
    if (userspace == nullptr)
        return verbs::discovery::read_pkey(*verbs_get_device(context->device)->sysfs, port_num, index);
    uint16_t pkey = 0;
    if (int error = userspace->query_pkey(context, port_num, index, &pkey); error != 0)
        return verbs::Status(error);
    return pkey;
}

}  // namespace

VERBS_EXPORT int ibv_query_pkey(ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
    verbs::Result<uint16_t> value = read_pkey(context, port_num, static_cast<uint32_t>(index));
    if (!value)
        return verbs::minus_one_with(value.error());
    *pkey = *value;
    return 0;
}

VERBS_EXPORT int ibv_get_pkey_index(ibv_context *context, uint8_t port_num, __be16 pkey)
{
    __be16 entry = 0;
    for (int index = 0; ibv_query_pkey(context, port_num, index, &entry) == 0; ++index) {
        if (entry == pkey)
            return index;
    }
    return -1;
}
