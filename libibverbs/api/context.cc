// SPDX-License-Identifier: BSD-2-Clause
// Opening and closing devices.
#include <fcntl.h>
#include <infiniband/driver.h>
#include <pthread.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "api/import.hh"
#include "base/export.hh"
#include "base/log.hh"
#include "base/unique_fd.hh"
#include "discovery/character_device.hh"
#include "fork/range.hh"
#include "provider/context.hh"
#include "provider/devices.hh"
#include "provider/userspace.hh"
#include "uverbs/context.hh"

namespace {

/// Providers read the variable while they destroy objects, which only an opened device has.
void read_destroy_policy()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, [] {
        verbs_allow_disassociate_destroy = secure_getenv("RDMAV_ALLOW_DISASSOC_DESTROY") != nullptr;
    });
}

/// What a person can do about a character device that does not open.
const char *remedy_for(int error)
{
    switch (error) {
        case EACCES:
        case EPERM:
            return "; let the user in by the node's group or mode (a udev rule), or a container by its "
                   "device list";
        case ENOENT:
            return "; there is no such node here: give it to the container, or let udev make it";
        default:
            return "";
    }
}

}  // namespace

VERBS_EXPORT ibv_context *verbs_open_device(ibv_device *device, void *private_data)
{
    read_destroy_policy();
    verbs_device &opened = *verbs_get_device(device);
    if (verbs::provider::userspace_ops(*opened.sysfs) != nullptr)
        return verbs::provider::context_of(*opened.ops, opened.ops->alloc_context(device, -1, private_data));
    verbs::Result<verbs::UniqueFd> fd = verbs::discovery::open_character_device(*opened.sysfs);
    if (!fd) {
        verbs::log(verbs::LogLevel::kError, "%s: cannot open its character device /dev/infiniband/%s: %s%s",
                   device->name, device->dev_name, strerrordesc_np(fd.error()), remedy_for(fd.error()));
        return verbs::null_with(fd.error());
    }
    return verbs::provider::context_of(*opened.ops,
                                       opened.ops->alloc_context(device, fd->release(), private_data));
}
VERBS_EXPORT_SINCE_34(verbs_open_device);

VERBS_EXPORT ibv_context *ibv_open_device(ibv_device *device)
{
    return verbs_open_device(device, nullptr);
}

namespace {

/// A context for the file of another one. On failure `cmd_fd` stays the caller's. Providers that fail close what
/// they were given: they get a duplicate, whose place the original takes in the end.
verbs::Result<ibv_context *> import_context(ibv_device &device, int cmd_fd)
{
    const verbs_device_ops &provider = *verbs_get_device(&device)->ops;
    if (provider.import_context == nullptr)
        return verbs::Status(EOPNOTSUPP);
    int duplicate = fcntl(cmd_fd, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0)
        return verbs::Status::from_errno();
    ibv_context *context = verbs::provider::context_of(provider, provider.import_context(&device, duplicate));
    if (context == nullptr)
        return verbs::Status(verbs::api::import_error(verbs::Status::from_errno()));
    if (context->async_fd < 0) {
        // Events of the objects that are made here; a kernel that has no file for them reports none.
        verbs::Result<verbs::UniqueFd> events =
            verbs::uverbs::async_events_open(verbs::provider::channel(context));
        if (events) {
            context->async_fd = events->release();
        } else if (!verbs::uverbs::Channel::is_refusal(events.status()) && events.error() != EOPNOTSUPP) {
            verbs::provider::ops(context).free_context(context);
            return events.status();
        }
    }
    verbs::provider::channel(context).set_fd(cmd_fd);
    verbs::UniqueFd(std::exchange(context->cmd_fd, cmd_fd)).reset();
    return context;
}

}  // namespace

VERBS_EXPORT ibv_context *ibv_import_device(int cmd_fd)
{
    read_destroy_policy();
    verbs::fork::enable_from_environment();
    struct stat node = {};
    if (fstat(cmd_fd, &node) != 0)
        return verbs::null_with(errno == EBADF ? EINVAL : errno);
    // A device of the kernel has a node; what other file stands for one of a provider's, that one knows.
    const bool is_node = S_ISCHR(node.st_mode);
    verbs::Result<verbs::provider::DeviceArray> list = verbs::provider::list_devices();
    if (!list)
        return verbs::null_with(is_node ? list.error() : EINVAL);

    int error = is_node ? ENODEV : EINVAL;
    ibv_context *context = nullptr;
    for (size_t i = 0; i < list->count; ++i) {
        ibv_device *device = list->devices.get()[i];
        verbs_device &candidate = *verbs_get_device(device);
        const bool is_userspace = verbs::provider::userspace_ops(*candidate.sysfs) != nullptr;
        const bool may_be_it = is_node ? !is_userspace && candidate.sysfs->sysfs_cdev == node.st_rdev
                                       : is_userspace && candidate.ops->import_context != nullptr;
        if (context == nullptr && may_be_it) {
            verbs::Result<ibv_context *> imported = import_context(*device, cmd_fd);
            if (is_node || imported.error() != EINVAL)
                error = imported.error();
            context = *imported;
        }
        verbs::provider::device_unref(candidate);
    }
    return context != nullptr ? context : static_cast<ibv_context *>(verbs::null_with(error));
}

VERBS_EXPORT int ibv_close_device(ibv_context *context)
{
    verbs::provider::ops(context).free_context(context);
    return 0;
}
