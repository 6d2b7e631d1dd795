// SPDX-License-Identifier: BSD-2-Clause
// Asking about a port.
#include <infiniband/driver.h>

#include <cstring>

#include "base/export.hh"
#include "provider/context.hh"

#undef ibv_query_port  // the header's macro picks the inline verb, which knows the size of its structure

// Programs built before ibv_port_attr grew call this one, with the 48 bytes of then.
VERBS_EXPORT int ibv_query_port(ibv_context *context, uint8_t port_num, _compat_ibv_port_attr *port_attr)
{
    ibv_port_attr whole = {};
    int error = verbs::provider::ops(context).query_port(context, port_num, &whole);
    if (error == 0)
        std::memcpy(port_attr, &whole, 48);  // ABI-frozen
    return error;
}

VERBS_EXPORT int ibv_query_port_speed(ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
    uint64_t speed = 0;
    int error = verbs::provider::ops(context).query_port_speed(context, port_num, &speed);
    if (error == 0)
        *port_speed = speed;
    return error;
}
