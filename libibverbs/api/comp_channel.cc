// SPDX-License-Identifier: BSD-2-Clause
// Completion channels.
#include "uverbs/comp_channel.hh"

#include <infiniband/driver.h>
#include <unistd.h>

#include "base/export.hh"
#include "base/memory.hh"
#include "provider/context.hh"
#include "provider/userspace.hh"

using verbs::Result;
using verbs::Status;
using verbs::provider::userspace_ops;

namespace {

Result<ibv_comp_channel *> create(ibv_context *context)
{
    verbs::Allocated<ibv_comp_channel> comp_channel = verbs::allocate<ibv_comp_channel>();
    if (!comp_channel)
        return Status(ENOMEM);
    Result<verbs::UniqueFd> fd = verbs::uverbs::comp_channel_create(verbs::provider::channel(context));
    if (!fd)
        return fd.status();
    comp_channel->fd = fd->release();
    return comp_channel.release();
}

Result<ibv_comp_channel *> create(const verbs_userspace_ops &userspace, ibv_context *context)
{
    ibv_comp_channel *made = nullptr;
    Status status = userspace.create_comp_channel(context, &made);
    return status ? Result<ibv_comp_channel *>(made) : status;
}

}  // namespace

// The only verb of an object that IBVERBS_1.0 and later programs share, so either kind of context comes here.
VERBS_EXPORT ibv_comp_channel *ibv_create_comp_channel(ibv_context *context)
{
    context = verbs::provider::context_of_today(context);
    const verbs_userspace_ops *userspace = userspace_ops(context);
    Result<ibv_comp_channel *> made = userspace != nullptr ? create(*userspace, context) : create(context);
    if (!made)
        return verbs::null_with(made.error());
    (*made)->context = context;
    (*made)->refcnt = 0;
    return *made;
}

VERBS_EXPORT int ibv_destroy_comp_channel(ibv_comp_channel *channel)
{
    ibv_context *context = channel->context;
    pthread_mutex_lock(&context->mutex);
    bool in_use = channel->refcnt != 0;
    pthread_mutex_unlock(&context->mutex);
    if (in_use)
        return EBUSY;
    if (const verbs_userspace_ops *userspace = userspace_ops(context))
        return userspace->destroy_comp_channel(channel);
    close(channel->fd);
    free(channel);
    return 0;
}
