// SPDX-License-Identifier: BSD-2-Clause
// Where sysfs is, and its files.
#include <infiniband/driver.h>

#include <climits>

#include "base/export.hh"
#include "base/result.hh"
#include "discovery/sysfs_file.hh"

VERBS_EXPORT const char *ibv_get_sysfs_path(void)
{
    return verbs::discovery::sysfs_root();
}

VERBS_EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
    if (dir == nullptr || file == nullptr || buf == nullptr || size > INT_MAX)
        return verbs::minus_one_with(EINVAL);
    verbs::Result<size_t> length = verbs::discovery::read_sysfs_file(dir, file, {buf, size});
    return length ? static_cast<int>(*length) : verbs::minus_one_with(length.error());
}
