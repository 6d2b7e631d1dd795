// SPDX-License-Identifier: BSD-2-Clause
// Opening and closing domains of extended reliable connections, and QPs in them.
#include "verbs/xrcd.hh"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"

namespace urxe {

ibv_xrcd *xrcd_open(ibv_context *context, ibv_xrcd_init_attr *attr)
{
    if (attr->comp_mask != (IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS) ||
        (attr->oflags & ~(O_CREAT | O_EXCL)) != 0)
        return common::null_with(EINVAL);
    struct stat file {};
    const bool has_file = attr->fd != -1;
    if (has_file && fstat(attr->fd, &file) != 0)
        return common::null_with(errno);
    Process &process = process_of(*context);
    common::Allocated<Xrcd> made = common::allocate<Xrcd>();
    if (!made)
        return nullptr;
    common::Locked locked(process.lock);
    for (const Xrcd *xrcd = process.xrcds; has_file && xrcd != nullptr; xrcd = xrcd->next)
        if (xrcd->has_file && xrcd->device == file.st_dev && xrcd->inode == file.st_ino)
            made->number = xrcd->number;
    if (made->number == 0 && (attr->oflags & O_CREAT) == 0)
        return common::null_with(EINVAL);
    if (made->number != 0 && (attr->oflags & O_EXCL) != 0)
        return common::null_with(EEXIST);
    if (made->number == 0)
        made->number = ++process.last_xrcd;
    made->has_file = has_file;
    made->device = file.st_dev;
    made->inode = file.st_ino;
    made->verbs.xrcd.context = context;
    made->verbs.comp_mask = VERBS_XRCD_HANDLE;
    made->verbs.handle = made->number;
    made->next = process.xrcds;
    process.xrcds = made.get();
    return &made.release()->verbs.xrcd;
}

int xrcd_close(ibv_xrcd *ibxrcd)
{
    Xrcd *xrcd = &to_xrcd(ibxrcd);
    Process &process = process_of(*ibxrcd->context);
    common::Locked locked(process.lock);
    if (xrcd->users != 0)
        return EBUSY;
    for (Xrcd **link = &process.xrcds; *link != nullptr; link = &(*link)->next)
        if (*link == xrcd) {
            *link = xrcd->next;
            break;
        }
    std::free(xrcd);
    return 0;
}

ibv_qp *qp_open(ibv_context *context, ibv_qp_open_attr *attr)
{
    static_assert(offsetof(OpenedQp, qp) == offsetof(Qp, self));
    constexpr uint32_t kNeeded = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    if ((attr->comp_mask & ~uint32_t{IBV_QP_OPEN_ATTR_CONTEXT}) != kNeeded || attr->xrcd == nullptr ||
        attr->qp_type != IBV_QPT_XRC_RECV)
        return common::null_with(EINVAL);
    Process &process = process_of(*context);
    Xrcd &xrcd = to_xrcd(attr->xrcd);
    common::Allocated<OpenedQp> made = common::allocate<OpenedQp>();
    if (!made)
        return nullptr;
    common::Locked locked(process.lock);
    Qp *found = process.qps.get(shared::index_of_qp(attr->qp_num));
    if (found == nullptr || found->verbs.qp.qp_num != attr->qp_num)
        return common::null_with(EINVAL);
    Qp &qp = *found;
    if (qp.verbs.qp.qp_type != IBV_QPT_XRC_RECV || qp.xrcd != xrcd.number)
        return common::null_with(EINVAL);
    ibv_qp &handle = made->verbs.qp;
    handle.context = context;
    handle.qp_context = (attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0 ? attr->qp_context : nullptr;
    handle.handle = qp.index;
    handle.qp_num = attr->qp_num;
    handle.qp_type = IBV_QPT_XRC_RECV;
    handle.state = qp.state.load();
    made->verbs.comp_mask = VERBS_QP_XRCD;
    made->verbs.xrcd = &xrcd.verbs;
    pthread_mutex_init(&handle.mutex, nullptr);
    pthread_cond_init(&handle.cond, nullptr);
    made->qp = &qp;
    made->next = qp.opened;
    qp.opened = made.get();
    ++xrcd.users;
    return &made.release()->verbs.qp;
}

bool qp_close(ibv_qp *handle)
{
    Qp &qp = qp_behind(handle);
    if (handle == &qp.verbs.qp) {
        qp.is_disowned = qp.opened != nullptr;
        if (qp.xrcd != 0)
            --reinterpret_cast<Xrcd *>(qp.verbs.xrcd)->users;
    } else {
        auto *closed = reinterpret_cast<OpenedQp *>(handle);
        for (OpenedQp **link = &qp.opened; *link != nullptr; link = &(*link)->next)
            if (*link == closed) {
                *link = closed->next;
                break;
            }
        --reinterpret_cast<Xrcd *>(closed->verbs.xrcd)->users;
        pthread_cond_destroy(&handle->cond);
        pthread_mutex_destroy(&handle->mutex);
        std::free(closed);
        if (!qp.is_disowned)
            return false;
    }
    if (qp.opened == nullptr)
        return true;
    // Its maker's context may go while it lives on.
    qp.verbs.qp.context = qp.opened->verbs.qp.context;
    return false;
}

}  // namespace urxe
