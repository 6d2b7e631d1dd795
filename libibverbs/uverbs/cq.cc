// SPDX-License-Identifier: BSD-2-Clause
// Commands for completion queues.
#include "uverbs/cq.hh"

#include <algorithm>

#include "uverbs/object.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kCreate = {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE};

template <size_t kCapacity>
void add_buffer(Attributes<kCapacity> &attributes, const CqBuffer &buffer)
{
    if (buffer.dmabuf_fd < 0)
        attributes.in(UVERBS_ATTR_CREATE_CQ_BUFFER_VA, uint64_t{reinterpret_cast<uintptr_t>(buffer.address)});
    else
        attributes.file(UVERBS_ATTR_CREATE_CQ_BUFFER_FD, buffer.dmabuf_fd)
            .in(UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, buffer.dmabuf_offset);
    attributes.in(UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, buffer.length);
}

Status create_by_ioctl(Channel &channel, const CqRequest &cq, const DriverData &driver,
                       ibv_command_buffer *more, CqInfo &info)
{
    Attributes<13> attributes(kCreate);
    attributes.new_object(UVERBS_ATTR_CREATE_CQ_HANDLE)
        .out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, info.cqe)
        .in(UVERBS_ATTR_CREATE_CQ_CQE, cq.cqe)
        .in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, cq.user_handle)
        .in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, cq.comp_vector);
    if (cq.async_fd >= 0)
        attributes.file(UVERBS_ATTR_CREATE_CQ_EVENT_FD, cq.async_fd).optional();
    if (cq.comp_channel_fd >= 0)
        attributes.file(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, cq.comp_channel_fd);
    if (cq.flags != 0)
        attributes.in(UVERBS_ATTR_CREATE_CQ_FLAGS, cq.flags);
    if (cq.buffer)
        add_buffer(attributes, *cq.buffer);
    Status status = attributes.driver(driver).issue(channel, more);
    if (status)
        info.handle = attributes.result();
    return status;
}

[[gnu::noinline, gnu::cold]] Status create_by_plain_write(Channel &channel, const CqRequest &cq,
                                                          const DriverData &driver, CqInfo &info)
{
    ib_uverbs_create_cq request = {};
    request.user_handle = cq.user_handle;
    request.cqe = cq.cqe;
    request.comp_vector = cq.comp_vector;
    request.comp_channel = cq.comp_channel_fd;
    ib_uverbs_create_cq_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_CREATE_CQ, request, response, driver);
    info = {.handle = response.cq_handle, .cqe = response.cqe};
    return status;
}

[[gnu::noinline, gnu::cold]] Status create_by_extended_write(Channel &channel, const CqRequest &cq,
                                                             const DriverData &driver, CqInfo &info)
{
    ib_uverbs_ex_create_cq request = {};
    request.user_handle = cq.user_handle;
    request.cqe = cq.cqe;
    request.comp_vector = cq.comp_vector;
    request.comp_channel = cq.comp_channel_fd;
    request.flags = cq.flags;
    ib_uverbs_ex_create_cq_resp response = {};
    Status status = extended_command(channel, IB_USER_VERBS_EX_CMD_CREATE_CQ, request, response, driver);
    info = {.handle = response.base.cq_handle, .cqe = response.base.cqe};
    return status;
}

Result<size_t> poll_once(Channel &channel, uint32_t handle, std::span<ibv_wc> completions)
{
    ib_uverbs_poll_cq request = {};
    request.cq_handle = handle;
    request.ne = static_cast<uint32_t>(completions.size());
    size_t size = sizeof(ib_uverbs_poll_cq_resp) + completions.size() * sizeof(ib_uverbs_wc);
    Scratch buffer(size);
    if (buffer.bytes() == nullptr)
        return Status(ENOMEM);
    Status status = execute_on_data_path(
        channel, {IB_USER_VERBS_CMD_POLL_CQ, &request, sizeof request, buffer.bytes(), size, true});
    if (!status)
        return status;
    const auto &response = *reinterpret_cast<const ib_uverbs_poll_cq_resp *>(buffer.bytes());
    if (response.count > completions.size())
        return Status(EIO);
    for (size_t i = 0; i < response.count; ++i) {
        const ib_uverbs_wc &from = response.wc[i];
        completions[i] = {.wr_id = from.wr_id,
                          .status = static_cast<ibv_wc_status>(from.status),
                          .opcode = static_cast<ibv_wc_opcode>(from.opcode),
                          .vendor_err = from.vendor_err,
                          .byte_len = from.byte_len,
                          .imm_data = from.ex.imm_data,
                          .qp_num = from.qp_num,
                          .src_qp = from.src_qp,
                          .wc_flags = from.wc_flags,
                          .pkey_index = from.pkey_index,
                          .slid = from.slid,
                          .sl = from.sl,
                          .dlid_path_bits = from.dlid_path_bits};
    }
    return response.count;
}

}  // namespace

Result<CqInfo> cq_create(Channel &channel, const CqRequest &cq, const DriverData &driver,
                         ibv_command_buffer *attributes)
{
    bool by_ioctl_alone = attributes != nullptr || cq.buffer.has_value();
    uint32_t needs_extended =
        cq.can_lose_timestamps ? cq.flags & ~uint32_t{IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION} : cq.flags;
    CqInfo info;
    Status status(EPROTONOSUPPORT);
    if (channel.offers(kCreate))
        status = create_by_ioctl(channel, cq, driver, attributes, info);
    if (!channel.offers(kCreate) && !by_ioctl_alone) {
        status = needs_extended != 0 ? create_by_extended_write(channel, cq, driver, info)
                                     : create_by_plain_write(channel, cq, driver, info);
    }
    if (!status)
        return status;
    return info;
}

Result<uint32_t> cq_resize(Channel &channel, uint32_t handle, uint32_t cqe, const DriverData &driver)
{
    ib_uverbs_resize_cq request = {};
    request.cq_handle = handle;
    request.cqe = cqe;
    ib_uverbs_resize_cq_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_RESIZE_CQ, request, response, driver);
    if (!status)
        return status;
    return response.cqe;
}

Status cq_modify(Channel &channel, uint32_t handle, const ibv_modify_cq_attr &attr, const DriverData &driver)
{
    ib_uverbs_ex_modify_cq request = {};
    request.cq_handle = handle;
    request.attr_mask = attr.attr_mask;
    if ((attr.attr_mask & IBV_CQ_ATTR_MODERATE) != 0) {
        request.attr.cq_count = attr.moderate.cq_count;
        request.attr.cq_period = attr.moderate.cq_period;
    }
    return extended_command(channel, IB_USER_VERBS_EX_CMD_MODIFY_CQ, request, driver);
}

Result<size_t> cq_poll(Channel &channel, uint32_t handle, std::span<ibv_wc> completions)
{
    // What the sizes in a command, by the ioctl too, can express.
    constexpr size_t kMost = (UINT16_MAX - sizeof(ib_uverbs_poll_cq_resp)) / sizeof(ib_uverbs_wc);
    size_t taken = 0;
    while (true) {
        std::span<ibv_wc> wanted = completions.subspan(taken, std::min(completions.size() - taken, kMost));
        Result<size_t> count = poll_once(channel, handle, wanted);
        if (!count && taken == 0)
            return count;
        // An error after that is for the next poll to find: completions that were taken must not be lost.
        taken += count ? *count : 0;
        if (!count || *count < wanted.size() || taken == completions.size())
            return taken;
    }
}

Status cq_request_notification(Channel &channel, uint32_t handle, bool solicited_only)
{
    ib_uverbs_req_notify_cq request = {.cq_handle = handle, .solicited_only = solicited_only};
    return write_command(channel, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, request);
}

Status cq_destroy(Channel &channel, uint32_t handle, ib_uverbs_destroy_cq_resp &response)
{
    ib_uverbs_destroy_cq request = {};
    request.cq_handle = handle;
    return object_destroy(channel, {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY},
                          UVERBS_ATTR_DESTROY_CQ_HANDLE, handle, UVERBS_ATTR_DESTROY_CQ_RESP,
                          IB_USER_VERBS_CMD_DESTROY_CQ, request, response);
}

}  // namespace verbs::uverbs
