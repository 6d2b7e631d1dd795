// SPDX-License-Identifier: BSD-2-Clause
// XRC domains. Those of one file share nothing with those of others.
#include <fcntl.h>

#include "interpose/real.hh"
#include "kernel/destroy.hh"
#include "kernel/driver.hh"
#include "kernel/methods.hh"

namespace sim {
namespace {

constexpr Field kOpenRequest[] = {SIM_FIELD(ib_uverbs_open_xrcd, response, Show::kHidden),
                                  SIM_FIELD(ib_uverbs_open_xrcd, fd, Show::kFd),
                                  SIM_FIELD(ib_uverbs_open_xrcd, oflags)};
constexpr Field kOpenResponse[] = {SIM_FIELD(ib_uverbs_open_xrcd_resp, xrcd_handle, Show::kHandle)};

int open_xrcd(Call &call)
{
    const auto request = call.request<ib_uverbs_open_xrcd>();
    const int fd = static_cast<int>(request.fd);
    if ((call.device().attributes.base.device_cap_flags & IB_UVERBS_DEVICE_XRC) == 0)
        return EOPNOTSUPP;
    uint64_t inode = 0;
    if (fd != -1) {
        struct stat node;
        if (REAL(fstat)(fd, &node) != 0)
            return EBADF;
        inode = node.st_ino;
        // The domain belongs to the file's inode: whoever opens it again gets the same.
        for (uint32_t place = 0; place < call.state().end; ++place) {
            const Object *other = call.file().find_any(place);
            if (other != nullptr && other->kind == UVERBS_OBJECT_XRCD && other->start == inode &&
                (request.oflags & O_EXCL) != 0)
                return EINVAL;
        }
        if ((request.oflags & O_CREAT) == 0) {
            bool is_there = false;
            for (uint32_t place = 0; place < call.state().end && !is_there; ++place) {
                const Object *other = call.file().find_any(place);
                is_there = other != nullptr && other->kind == UVERBS_OBJECT_XRCD && other->start == inode;
            }
            if (!is_there)
                return EAGAIN;
        }
    }
    ib_uverbs_open_xrcd_resp response = {};
    Object *xrcd = call.file().add(UVERBS_OBJECT_XRCD, response.xrcd_handle);
    if (xrcd == nullptr)
        return ENOMEM;
    xrcd->start = inode;
    call.respond(response);
    driver_other(call);
    return 0;
}

constexpr Field kCloseRequest[] = {SIM_FIELD(ib_uverbs_close_xrcd, xrcd_handle, Show::kHandle)};

int close_xrcd(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_XRCD, call.request<ib_uverbs_close_xrcd>().xrcd_handle);
}

constexpr Attribute kDestroy[] = {
    {UVERBS_ATTR_DESTROY_XRCD_HANDLE, "xrcd_handle", Kind::kDestroyed, UVERBS_OBJECT_XRCD}};

int destroy_xrcd(Call &call)
{
    return destroy_object(call, UVERBS_OBJECT_XRCD, call.handle(UVERBS_ATTR_DESTROY_XRCD_HANDLE));
}

constexpr IoctlMethod kIoctl[] = {
    {UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, "XRCD/DESTROY", kDestroy, destroy_xrcd}};
constexpr WriteMethod kWrite[] = {
    {IB_USER_VERBS_CMD_OPEN_XRCD, "XRCD/OPEN", sizeof(ib_uverbs_open_xrcd), sizeof(ib_uverbs_open_xrcd_resp),
     kOpenRequest, kOpenResponse, open_xrcd},
    {IB_USER_VERBS_CMD_CLOSE_XRCD,
     "XRCD/DESTROY",
     sizeof(ib_uverbs_close_xrcd),
     0,
     kCloseRequest,
     {},
     close_xrcd,
     false},
};

}  // namespace

Methods xrcd_methods()
{
    return {kIoctl, kWrite};
}

}  // namespace sim
