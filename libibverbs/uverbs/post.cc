// SPDX-License-Identifier: BSD-2-Clause
// Commands that post work requests through the kernel.
#include "uverbs/post.hh"

#include <cstring>

#include "uverbs/write_command.hh"

namespace verbs::uverbs {
namespace {

static_assert(sizeof(ib_uverbs_sge) == sizeof(ibv_sge));

struct ListSize {
    size_t requests = 0;
    size_t sges = 0;
};

/// What a list takes; on failure (EINVAL: a negative number of SGEs) *bad_wr is the request at fault.
template <class WorkRequest>
Result<ListSize> size_of(WorkRequest *wr, WorkRequest **bad_wr)
{
    ListSize size;
    for (; wr != nullptr; wr = wr->next) {
        if (wr->num_sge < 0) {
            *bad_wr = wr;
            return Status(EINVAL);
        }
        ++size.requests;
        size.sges += static_cast<size_t>(wr->num_sge);
    }
    return size;
}

void fill(ib_uverbs_recv_wr &to, const ibv_recv_wr &wr, ibv_qp_type /*type*/)
{
    to.wr_id = wr.wr_id;
    to.num_sge = static_cast<uint32_t>(wr.num_sge);
}

void fill(ib_uverbs_send_wr &to, const ibv_send_wr &wr, ibv_qp_type type)
{
    to.wr_id = wr.wr_id;
    to.num_sge = static_cast<uint32_t>(wr.num_sge);
    to.opcode = wr.opcode;
    to.send_flags = wr.send_flags;
    to.ex.imm_data = wr.imm_data;
    if (type == IBV_QPT_UD) {
        to.wr.ud.ah = wr.wr.ud.ah->handle;
        to.wr.ud.remote_qpn = wr.wr.ud.remote_qpn;
        to.wr.ud.remote_qkey = wr.wr.ud.remote_qkey;
        return;
    }
    switch (wr.opcode) {
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_WRITE_WITH_IMM:
        case IBV_WR_RDMA_READ:
            to.wr.rdma.remote_addr = wr.wr.rdma.remote_addr;
            to.wr.rdma.rkey = wr.wr.rdma.rkey;
            break;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            to.wr.atomic.remote_addr = wr.wr.atomic.remote_addr;
            to.wr.atomic.compare_add = wr.wr.atomic.compare_add;
            to.wr.atomic.swap = wr.wr.atomic.swap;
            to.wr.atomic.rkey = wr.wr.atomic.rkey;
            break;
        default:
            break;
    }
}

/// The command is the fixed request, the work requests, and then the scatter/gather lists of all of them.
template <class KernelRequest, class Request, class WorkRequest>
[[gnu::noinline]] Status post(Channel &channel, ib_uverbs_write_cmds command, Request request,
                              ibv_qp_type type, WorkRequest *wr, WorkRequest **bad_wr)
{
    Result<ListSize> count = size_of(wr, bad_wr);
    if (!count)
        return count.status();
    request.wr_count = static_cast<uint32_t>(count->requests);
    request.sge_count = static_cast<uint32_t>(count->sges);
    request.wqe_size = sizeof(KernelRequest);
    size_t size = sizeof request + count->requests * sizeof(KernelRequest) + count->sges * sizeof(ibv_sge);
    Scratch buffer(size);
    if (buffer.bytes() == nullptr) {
        *bad_wr = wr;
        return ENOMEM;
    }
    std::memcpy(buffer.bytes(), &request, sizeof request);
    std::byte *next_request = buffer.bytes() + sizeof request;
    std::byte *next_sge = next_request + count->requests * sizeof(KernelRequest);
    for (const WorkRequest *from = wr; from != nullptr; from = from->next) {
        KernelRequest to = {};
        fill(to, *from, type);
        std::memcpy(next_request, &to, sizeof to);
        next_request += sizeof to;
        if (from->num_sge > 0) {
            size_t bytes = static_cast<size_t>(from->num_sge) * sizeof(ibv_sge);
            std::memcpy(next_sge, from->sg_list, bytes);
            next_sge += bytes;
        }
    }

    ib_uverbs_post_send_resp response = {};  // those of the others are the same
    Status status = execute_on_data_path(
        channel, {static_cast<uint32_t>(command), buffer.bytes(), size, &response, sizeof response, true});
    if (!status) {
        // The kernel counts up to the bad one; zero when it refused the command as a whole.
        for (uint32_t i = 1; i < response.bad_wr && wr != nullptr && wr->next != nullptr; ++i)
            wr = wr->next;
        *bad_wr = wr;
    }
    return status;
}

/// What a post of nothing asks for: that the driver looks at a queue that it shares with the process. Such drivers get it
/// with every post.
[[gnu::noinline]] Status ring_doorbell(Channel &channel, uint32_t qp_handle, ibv_send_wr **bad_wr)
{
    ib_uverbs_post_send_resp response = {};
    struct {
        ib_uverbs_cmd_hdr header;
        ib_uverbs_post_send request;
    } command = {};
    command.header = {.command = IB_USER_VERBS_CMD_POST_SEND,
                      .in_words = sizeof command / 4,
                      .out_words = sizeof response / 4};
    command.request.response = reinterpret_cast<uintptr_t>(&response);
    command.request.qp_handle = qp_handle;
    command.request.wqe_size = sizeof(ib_uverbs_send_wr);
    Status status = channel.write(&command, sizeof command);
    if (status) [[likely]]
        return status;
    command.request.response = 0;  // the ioctl has a place of its own for it
    status = execute_instead_of_write(channel, status,
                                      {IB_USER_VERBS_CMD_POST_SEND, &command.request, sizeof command.request,
                                       &response, sizeof response, true});
    if (!status)
        *bad_wr = nullptr;
    return status;
}

}  // namespace

Status post_send(Channel &channel, uint32_t qp_handle, ibv_qp_type type, ibv_send_wr *wr,
                 ibv_send_wr **bad_wr)
{
    if (wr == nullptr)
        return ring_doorbell(channel, qp_handle, bad_wr);
    ib_uverbs_post_send request = {};
    request.qp_handle = qp_handle;
    return post<ib_uverbs_send_wr>(channel, IB_USER_VERBS_CMD_POST_SEND, request, type, wr, bad_wr);
}

Status post_recv(Channel &channel, uint32_t qp_handle, ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    ib_uverbs_post_recv request = {};
    request.qp_handle = qp_handle;
    return post<ib_uverbs_recv_wr>(channel, IB_USER_VERBS_CMD_POST_RECV, request, IBV_QPT_RC, wr, bad_wr);
}

Status post_srq_recv(Channel &channel, uint32_t srq_handle, ibv_recv_wr *wr, ibv_recv_wr **bad_wr)
{
    ib_uverbs_post_srq_recv request = {};
    request.srq_handle = srq_handle;
    return post<ib_uverbs_recv_wr>(channel, IB_USER_VERBS_CMD_POST_SRQ_RECV, request, IBV_QPT_RC, wr, bad_wr);
}

}  // namespace verbs::uverbs
