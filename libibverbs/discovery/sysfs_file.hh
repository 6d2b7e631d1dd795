// SPDX-License-Identifier: BSD-2-Clause
// Reading single attributes of sysfs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hh"

namespace verbs::discovery {

/// Where sysfs is mounted: SYSFS_PATH (ignored in setuid programs) without slashes at its end, else "/sys".
/// Read from the environment once; the string lives as long as the process. Any thread.
const char *sysfs_root();

/// Reads the file `dir`/`name` (or `dir` itself where `name` is null) into `out`, without one trailing
/// newline and with a terminating zero, and gives the length of the text. Of a longer file only the start is
/// read, and that start must end with a newline: EOVERFLOW otherwise. Other errors: those of open and read
/// (ENOENT: there is no such attribute; EINVAL: some attributes of sysfs answer so when they have no value),
/// ENAMETOOLONG. Any thread.
Result<size_t> read_sysfs_file(const char *dir, const char *name, std::span<char> out);

/// The number that the file starts with, in C's notation for `base`. EINVAL where it is none or does not fit.
Result<uint64_t> read_sysfs_number(const char *dir, const char *name, int base = 0);

}  // namespace verbs::discovery
