/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls in front of those of the C library. /dev/null stands in for the character device, so commands that are
 * written always succeed. */
#include "fake_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYSTEM_CALL __attribute__((visibility("default")))

/* By the other end's number. */
static int event_files[256];

int fake_kernel_async_events = -1;

int fake_kernel_async_events_of(int async_fd)
{
    return event_files[async_fd];
}

static const char *real_path(const char *path)
{
    return strncmp(path, "/dev/infiniband/uverbs", 22) == 0 ? "/dev/null" : path;
}

SYSTEM_CALL int stat(const char *path, struct stat *node)
{
    return fstatat(AT_FDCWD, real_path(path), node, 0);
}

SYSTEM_CALL int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return openat(AT_FDCWD, real_path(path), flags, mode);
}

/* No netlink: devices come from sysfs. */
SYSTEM_CALL int socket(int domain, int type, int protocol)
{
    if (domain == AF_NETLINK) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return (int)syscall(SYS_socket, domain, type, protocol);
}

static int execute(struct ib_uverbs_ioctl_hdr *command)
{
    for (int i = 0; i < command->num_attrs; ++i) {
        struct ib_uverbs_attr *attr = &command->attrs[i];
        void *answer = (void *)(uintptr_t)attr->data;
        if (command->object_id == UVERBS_OBJECT_ASYNC_EVENT &&
            attr->attr_id == UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE) {
            int ends[2];
            if (pipe2(ends, O_CLOEXEC) != 0 || ends[0] >= (int)(sizeof event_files / sizeof *event_files))
                return -1;
            attr->data_s64 = ends[0];
            event_files[ends[0]] = ends[1];
            fake_kernel_async_events = ends[1];
        } else if (command->object_id == UVERBS_OBJECT_DEVICE &&
                   command->method_id == UVERBS_METHOD_GET_CONTEXT &&
                   attr->attr_id == UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS) {
            uint32_t vectors = FAKE_KERNEL_COMP_VECTORS;
            memcpy(answer, &vectors, sizeof vectors);
        } else if (command->object_id == UVERBS_OBJECT_DEVICE &&
                   command->method_id == UVERBS_METHOD_QUERY_PORT &&
                   attr->attr_id == UVERBS_ATTR_QUERY_PORT_RESP) {
            memset(answer, FAKE_KERNEL_PORT_BYTE, attr->len);
        }
    }
    return 0;
}

SYSTEM_CALL int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    return request == RDMA_VERBS_IOCTL ? execute(argument) : (int)syscall(SYS_ioctl, fd, request, argument);
}
