// SPDX-License-Identifier: BSD-2-Clause
// The character device of an RDMA device: found by its device number, whatever it is called.
#include "discovery/character_device.hh"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <climits>
#include <cstring>
#include <memory>

#include "base/log.hh"
#include "discovery/path.hh"

namespace verbs::discovery {
namespace {

struct CloseDirectory {
    void operator()(DIR *directory) const { closedir(directory); }
};

bool is_device(const struct stat &node, dev_t number)
{
    return S_ISCHR(node.st_mode) && (number == 0 || node.st_rdev == number);
}

/// Opens `path` if it is the device. ENODEV: it is another.
Result<UniqueFd> open_if_device(const char *path, dev_t number)
{
    // Opening a device can have effects, so what it is comes first; and again, should it have been exchanged
    // since.
    struct stat node;
    if (stat(path, &node) != 0)
        return Status::from_errno();
    if (!is_device(node, number))
        return Status(ENODEV);
    UniqueFd fd(open(path, O_RDWR | O_CLOEXEC));
    if (!fd) {
        int error = errno;
        log(LogLevel::kError, "opening %s: %s%s", path, strerrordesc_np(error),
            error == EACCES ? "; it must be readable and writable for this user" : "");
        return Status(error);
    }
    if (fstat(fd.get(), &node) != 0)
        return Status::from_errno();
    if (!is_device(node, number))
        return Status(ENODEV);
    return fd;
}

/// Whether to go on looking: this path is not the device, or does not tell.
bool is_elsewhere(int error)
{
    return error == ENOENT || error == ENODEV || error == ENOTDIR || error == ELOOP;
}

}  // namespace

Result<UniqueFd> open_character_device(const verbs_sysfs_dev &device, const char *dev_root)
{
    char path[PATH_MAX];
    if (!join_path(path, {dev_root, "/infiniband/", device.sysfs_name}))
        return Status(ENAMETOOLONG);
    Result<UniqueFd> opened = open_if_device(path, device.sysfs_cdev);
    if (opened || !is_elsewhere(opened.error()) || device.sysfs_cdev == 0)
        return opened;

    if (!join_path(path, {dev_root, "/char/", Decimal(major(device.sysfs_cdev)), ":",
                          Decimal(minor(device.sysfs_cdev))}))
        return Status(ENAMETOOLONG);
    opened = open_if_device(path, device.sysfs_cdev);
    if (opened || !is_elsewhere(opened.error()))
        return opened;

    char dir[PATH_MAX];
    if (!join_path(dir, {dev_root, "/infiniband"}))
        return Status(ENAMETOOLONG);
    std::unique_ptr<DIR, CloseDirectory> nodes(opendir(dir));
    while (nodes) {
        const dirent *entry = readdir(nodes.get());
        if (entry == nullptr)
            break;
        if (!join_path(path, {dir, "/", entry->d_name}))
            continue;
        opened = open_if_device(path, device.sysfs_cdev);
        if (opened || !is_elsewhere(opened.error()))
            return opened;
    }
    log(LogLevel::kError,
        "%s has no node for %s (%s, character device %u:%u); a container needs it passed in", dir,
        device.ibdev_name, device.sysfs_name, major(device.sysfs_cdev), minor(device.sysfs_cdev));
    return Status(ENOENT);
}

}  // namespace verbs::discovery
