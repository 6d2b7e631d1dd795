// SPDX-License-Identifier: BSD-2-Clause
// Opening and closing devices, for programs of 2006.
#include "api_1_0/verbs.hh"

namespace {

using namespace verbs;

/// A context that functions without an IBVERBS_1.0 of their own (ibv_create_comp_channel) can tell from
/// today's: where that one has abi_compat, this one has the context inside.
struct Context {
    ibv_context_1_0 context;
    char unused[offsetof(ibv_context, abi_compat) - sizeof(ibv_context_1_0)];
    ibv_context *real_context;
};
static_assert(offsetof(Context, real_context) == offsetof(ibv_context, abi_compat));

}  // namespace

VERBS_EXPORT_1_0(ibv_open_device) ibv_context_1_0 *ibv_open_device_1_0(ibv_device_1_0 *device)
{
    if (device == nullptr)
        return null_with(EINVAL);
    Allocated<Context> opened = allocate<Context>();
    if (!opened)
        return null_with(ENOMEM);
    ibv_context *real = ibv_open_device(device->real_device);
    if (real == nullptr)
        return nullptr;

    api_1_0::device_ref(*device);
    ibv_context_1_0 &context = opened->context;
    context.device = device;
    context.ops.poll_cq = api_1_0::poll_cq;
    context.ops.req_notify_cq = api_1_0::req_notify_cq;
    context.ops.post_srq_recv = api_1_0::post_srq_recv;
    context.ops.post_send = api_1_0::post_send;
    context.ops.post_recv = api_1_0::post_recv;
    context.cmd_fd = real->cmd_fd;
    context.async_fd = real->async_fd;
    context.num_comp_vectors = real->num_comp_vectors;
    context.real_context = opened->real_context = real;
    return &opened.release()->context;
}

VERBS_EXPORT_1_0(ibv_close_device) int ibv_close_device_1_0(ibv_context_1_0 *context)
{
    ibv_device_1_0 *device = context->device;
    int error = api_1_0::destroyed(context, ibv_close_device(context->real_context));
    if (error == 0)
        api_1_0::device_unref(*device);
    return error;
}
