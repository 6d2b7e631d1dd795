// SPDX-License-Identifier: BSD-2-Clause
// Where sysfs is, and its files.
#include <infiniband/driver.h>

#include <climits>
#include <cstdarg>
#include <cstdio>

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

VERBS_EXPORT int ibv_read_ibdev_sysfs_file(char *buf, size_t size, verbs_sysfs_dev *sysfs_dev,
                                           const char *fnfmt, ...)
{
    char name[IBV_SYSFS_PATH_MAX];
    va_list args;
    va_start(args, fnfmt);
    int length = vsnprintf(name, sizeof name, fnfmt, args);
    va_end(args);
    if (length < 0 || static_cast<size_t>(length) >= sizeof name)
        return verbs::minus_one_with(ENAMETOOLONG);
    return ibv_read_sysfs_file(sysfs_dev->ibdev_path, name, buf, size);
}
VERBS_EXPORT_SINCE_34(ibv_read_ibdev_sysfs_file);
