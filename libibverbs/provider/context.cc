// SPDX-License-Identifier: BSD-2-Clause
// The library's own part of a context.
#include "provider/context.hh"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/memory.hh"
#include "base/unique_fd.hh"
#include "provider/devices.hh"
#include "provider/ops.hh"
#include "provider/registry.hh"
#include "provider/userspace.hh"

namespace verbs::provider {
namespace {

/// Every inline verb that asks for a port comes here, with the size of the structure that its program knows.
int query_port(ibv_context *context, uint8_t port_num, ibv_port_attr *attr, size_t attr_size)
{
    // Providers fill what they know before they fail, and those of older ABIs know less than there is.
    ibv_port_attr whole = {};
    int error = ops(context).query_port(context, port_num, &whole);
    if (error != 0)
        return error;
    if (attr_size == sizeof whole) {
        *attr = whole;
        return 0;
    }
    size_t known = std::min(attr_size, sizeof whole);
    std::memcpy(attr, &whole, known);
    std::memset(reinterpret_cast<char *>(attr) + known, 0, attr_size - known);
    return 0;
}

ibv_cq_ex *create_cq_ex(ibv_context *context, ibv_cq_init_attr_ex *attr)
{
    if ((attr->wc_flags & ~uint64_t{IBV_CREATE_CQ_SUP_WC_FLAGS}) != 0)
        return null_with(EOPNOTSUPP);
    if (Status status = cq_check_channel(*context, attr->channel); !status)
        return null_with(status.error());
    ibv_cq_ex *cq = ops(context).create_cq_ex(context, attr);
    if (cq != nullptr)
        cq_init(*ibv_cq_ex_to_cq(cq), *context, attr->channel, attr->cq_context);
    return cq;
}

}  // namespace

ibv_context *context_of(const verbs_device_ops &provider, verbs_context *handed_out)
{
    return handed_out != nullptr ? public_context(layout_of(provider), handed_out) : nullptr;
}

Status context_init(ibv_context &context, const Layout &layout, ibv_device &device, int cmd_fd,
                    uint32_t driver_id)
{
    UniqueFd owned_fd(cmd_fd);
    void *memory = std::calloc(1, sizeof(verbs_ex_private));
    if (memory == nullptr)
        return ENOMEM;
    verbs_context &vctx = extended(&context);
    const bool has_kernel = userspace_ops(*verbs_get_device(&device)->sysfs) == nullptr;
    vctx.priv = new (memory) verbs_ex_private{
        .ops = {},
        .channel = uverbs::Channel(cmd_fd, driver_id,
                                   has_kernel ? uverbs::Channel::kSystemCalls : uverbs::Channel::kNoKernel),
        .layout = &layout};
    vctx.sz = layout.context_size;
    set_ops(vctx, kDefaultOps);
    vctx.query_port = query_port;
    vctx.create_cq_ex = create_cq_ex;

    context.device = &device;
    context.cmd_fd = owned_fd.release();
    context.async_fd = -1;
    context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    pthread_mutex_init(&context.mutex, nullptr);
    device_ref(*verbs_get_device(&device));
    return {};
}

void context_uninit(ibv_context &context)
{
    ErrnoGuard keep;
    UniqueFd(context.async_fd).reset();
    UniqueFd(context.cmd_fd).reset();
    pthread_mutex_destroy(&context.mutex);
    std::free(extended(&context).priv);
    device_unref(*verbs_get_device(context.device));
}

Status cq_check_channel(const ibv_context &context, const ibv_comp_channel *channel)
{
    const bool is_foreign = channel != nullptr && channel->context != &context;
    return is_foreign && userspace_ops(&context) != nullptr ? EINVAL : 0;
}

void cq_init(ibv_cq &cq, ibv_context &context, ibv_comp_channel *channel, void *cq_context)
{
    cq.context = &context;
    cq.channel = channel;
    cq.cq_context = cq_context;
    cq.comp_events_completed = 0;
    cq.async_events_completed = 0;
    pthread_mutex_init(&cq.mutex, nullptr);
    pthread_cond_init(&cq.cond, nullptr);
    if (channel != nullptr) {
        pthread_mutex_lock(&context.mutex);
        ++channel->refcnt;
        pthread_mutex_unlock(&context.mutex);
    }
}

}  // namespace verbs::provider
