// SPDX-License-Identifier: BSD-2-Clause
// Fork protection as programs and providers see it.
#include "fork/range.hh"

#include <infiniband/driver.h>

#include "base/export.hh"

namespace {

int minus_one_on_failure(verbs::Status status)
{
    return status ? 0 : verbs::minus_one_with(status.error());
}

}  // namespace

VERBS_EXPORT int ibv_fork_init()
{
    return verbs::fork::enable().error();
}

VERBS_EXPORT ibv_fork_status ibv_is_fork_initialized()
{
    switch (verbs::fork::state()) {
        case verbs::fork::State::kEnabled:
            return IBV_FORK_ENABLED;
        case verbs::fork::State::kUnneeded:
            return IBV_FORK_UNNEEDED;
        case verbs::fork::State::kDisabled:
            break;
    }
    return IBV_FORK_DISABLED;
}

VERBS_EXPORT int ibv_dontfork_range(void *base, size_t size)
{
    return minus_one_on_failure(verbs::fork::dontfork_range(base, size));
}

VERBS_EXPORT int ibv_dofork_range(void *base, size_t size)
{
    return minus_one_on_failure(verbs::fork::dofork_range(base, size));
}
