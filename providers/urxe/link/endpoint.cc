// SPDX-License-Identifier: BSD-2-Clause
// A queue pair as the wire sees it: making it, and its requests.
#include "link/endpoint.hh"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

#include "transport/request.hh"
#include "verbs/mw.hh"
#include "wire/codes.hh"

namespace urxe::link {
namespace {

constexpr uint16_t kDefaultPkey = 0xffff;

wire::Transport transport_of(const Qp &qp)
{
    switch (qp.verbs.qp.qp_type) {
        case IBV_QPT_UC:
            return wire::Transport::kUc;
        case IBV_QPT_UD:
            return wire::Transport::kUd;
        case IBV_QPT_XRC_SEND:
        case IBV_QPT_XRC_RECV:
            return wire::Transport::kXrc;
        default:
            return wire::Transport::kRc;
    }
}

uint32_t to_host(uint32_t big)
{
    return wire::load32(reinterpret_cast<const uint8_t *>(&big));
}

/// A request as the requester knows it.
transport::Request convert(const Request &from)
{
    using transport::Extra;
    using transport::Op;
    transport::Request to{};
    to.op = Op::kSend;
    to.fence = from.is_fenced;
    to.solicited = from.is_solicited;
    to.quiet = !from.is_signaled;
    to.length = static_cast<uint32_t>(from.length);
    to.rkey = from.rkey;
    to.address = from.remote_addr;
    to.srqn = from.srq_num;
    switch (from.opcode) {
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_WRITE_WITH_IMM:
            to.op = Op::kWrite;
            break;
        case IBV_WR_RDMA_READ:
            to.op = Op::kRead;
            break;
        case IBV_WR_ATOMIC_CMP_AND_SWP:
            to.op = Op::kCompareSwap;
            to.length = sizeof(uint64_t);
            to.compare = from.atomic.compare_add;
            to.swap_or_add = from.atomic.swap;
            break;
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
            to.op = Op::kFetchAdd;
            to.length = sizeof(uint64_t);
            to.swap_or_add = from.atomic.compare_add;
            break;
        case IBV_WR_ATOMIC_WRITE:
            to.op = Op::kAtomicWrite;
            to.length = sizeof(uint64_t);
            break;
        case IBV_WR_FLUSH:
            to.op = Op::kFlush;
            to.placement = (from.flush_type & IBV_FLUSH_PERSISTENT) != 0 ? wire::kPlacementPersistent
                                                                         : wire::kPlacementGlobal;
            to.selectivity = from.flush_level == IBV_FLUSH_MR ? wire::kSelectRegion : wire::kSelectRange;
            break;
        case IBV_WR_LOCAL_INV:
        case IBV_WR_BIND_MW:
            to.op = Op::kLocal;
            break;
        default:
            break;
    }
    if (from.opcode == IBV_WR_SEND_WITH_IMM || from.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
        to.extra = Extra::kImmediate;
        to.extra_value = to_host(from.imm_data);
    } else if (from.opcode == IBV_WR_SEND_WITH_INV) {
        to.extra = Extra::kInvalidate;
        to.extra_value = from.imm_data;
    }
    return to;
}

}  // namespace

Endpoint::Endpoint(Qp &qp, const Route &route)
    : is_touched(false),
      has_responses(false),
      qp_(qp),
      route_(route),
      requests_(nullptr),
      first_(qp.next),
      given_(0),
      has_more_(false),
      xrc_srq_(0),
      receive_(),
      arrival_(nullptr),
      packet_(nullptr),
      datagram_psn_(0)
{
    const ibv_qp_attr &attr = qp.attr;
    responder_.emplace(transport::ResponderConfig{.transport = transport_of(qp),
                                                  .dest_qpn = attr.dest_qp_num,
                                                  .pkey = kDefaultPkey,
                                                  .mtu = static_cast<uint16_t>(qp_mtu(qp)),
                                                  .first_psn = attr.rq_psn,
                                                  .qkey = attr.qkey,
                                                  .max_dest_rd_atomic = attr.max_dest_rd_atomic,
                                                  .min_rnr_timer = attr.min_rnr_timer,
                                                  .access = static_cast<int>(attr.qp_access_flags)},
                       *this);
}

Endpoint *Endpoint::create(Qp &qp, const Route &route)
{
    void *memory = std::malloc(sizeof(Endpoint));
    auto *requests = static_cast<transport::Request *>(
        std::calloc(qp.request_mask + size_t{1}, sizeof(transport::Request)));
    if (memory == nullptr || requests == nullptr) {
        std::free(memory);
        std::free(requests);
        return nullptr;
    }
    auto *endpoint = new (memory) Endpoint(qp, route);
    endpoint->requests_ = requests;
    return endpoint;
}

void Endpoint::destroy(Endpoint *endpoint)
{
    if (endpoint == nullptr)
        return;
    std::free(endpoint->requests_);
    std::free(endpoint);
}

void Endpoint::start_requester()
{
    const ibv_qp_attr &attr = qp_.attr;
    if (requester_.has_value() || qp_.verbs.qp.qp_type == IBV_QPT_UD ||
        qp_.verbs.qp.qp_type == IBV_QPT_XRC_RECV)
        return;
    requester_.emplace(transport::RequesterConfig{.transport = transport_of(qp_),
                                                  .own_qpn = qp_.verbs.qp.qp_num,
                                                  .dest_qpn = attr.dest_qp_num,
                                                  .pkey = kDefaultPkey,
                                                  .mtu = static_cast<uint16_t>(qp_mtu(qp_)),
                                                  .first_psn = attr.sq_psn,
                                                  .timeout_ns = wire::ack_timeout_ns(attr.timeout),
                                                  .retry_count = attr.retry_cnt,
                                                  .rnr_retry = attr.rnr_retry,
                                                  .max_rd_atomic = attr.max_rd_atomic,
                                                  .window = kWindow},
                       *this);
}

void Endpoint::refresh()
{
    responder_->set_access(static_cast<int>(qp_.attr.qp_access_flags));
    responder_->set_min_rnr_timer(qp_.attr.min_rnr_timer);
    responder_->set_qkey(qp_.attr.qkey);
}

void Endpoint::stop()
{
    if (requester_.has_value())
        requester_->stop();
    responder_->stop();
    has_more_ = false;
}

void Endpoint::progress_requests()
{
    has_responses = false;
    if (!requester_.has_value())
        return;
    const uint32_t posted = qp_.posted.load(std::memory_order_relaxed);
    if (posted - first_ != given_ && qp_.state.load(std::memory_order_relaxed) == IBV_QPS_RTS) {
        const uint32_t count = posted - first_ - given_;
        for (; given_ != posted - first_; ++given_)
            requests_[given_ & qp_.request_mask] = convert(qp_.request(first_ + given_));
        requester_->post(count);
    }
    requester_->progress(now_ns());
}

void Endpoint::schedule()
{
    const uint64_t deadline = has_more_                ? now_ns()
                              : requester_.has_value() ? requester_->next_deadline()
                                                       : transport::kNever;
    // To be called too early does no harm: deadlines mostly move on.
    if (deadline == transport::kNever ||
        (qp_.is_waiting && qp_.retry_at.load(std::memory_order_relaxed) <= deadline))
        return;
    qp_.retry_at.store(deadline, std::memory_order_relaxed);
    qp_.process->add_waiting(qp_);
}

void Endpoint::run()
{
    is_touched = false;
    const QpBusy busy(qp_);
    link().begin();
    // In this order what is sent goes out as one, if all it has to answer is an acknowledgement.
    progress_requests();
    has_more_ = responder_->progress();
    link().end();
    schedule();
}

void Endpoint::run_requests()
{
    const QpBusy busy(qp_);
    link().begin();
    progress_requests();
    link().end();
    schedule();
}

ibv_wc_status Endpoint::gather(uint32_t index, uint32_t offset, std::span<uint8_t> out)
{
    const Request &request = qp_.request(first_ + index);
    if (request.opcode == IBV_WR_ATOMIC_WRITE) {
        std::memcpy(out.data(), reinterpret_cast<const uint8_t *>(&request.atomic_write) + offset,
                    out.size());
        return IBV_WC_SUCCESS;
    }
    direct::Pieces whole, part;
    if (!direct::find_payload(qp_, request, whole) || whole.length < offset + out.size())
        return IBV_WC_LOC_PROT_ERR;
    direct::part_of(whole, offset, out.size(), part);
    return direct::gather(qp_.process->self, out.data(), {part.piece, part.count}, out.size()) ==
                   direct::Copied::kAll
               ? IBV_WC_SUCCESS
               : IBV_WC_LOC_PROT_ERR;
}

ibv_wc_status Endpoint::scatter(uint32_t index, uint32_t offset, std::span<const uint8_t> bytes)
{
    const Request &request = qp_.request(first_ + index);
    direct::Pieces whole, part;
    whole.clear();
    if (!direct::find_pieces(qp_.process->self, {request.segments(), request.num_segments}, qp_.pd_number,
                             IBV_ACCESS_LOCAL_WRITE, whole))
        return IBV_WC_LOC_PROT_ERR;
    if (whole.length < offset + bytes.size())
        return IBV_WC_LOC_LEN_ERR;
    direct::part_of(whole, offset, bytes.size(), part);
    return direct::scatter(qp_.process->self, {part.piece, part.count}, bytes.data(), bytes.size()) ==
                   direct::Copied::kAll
               ? IBV_WC_SUCCESS
               : IBV_WC_LOC_PROT_ERR;
}

ibv_wc_status Endpoint::execute(uint32_t index)
{
    return mw_execute(qp_, qp_.request(first_ + index));
}

void Endpoint::complete(uint32_t, ibv_wc_status status, uint32_t byte_count)
{
    qp_complete_request(qp_, status, byte_count);
    if (status != IBV_WC_SUCCESS)
        qp_fail(qp_);
}

ibv_wc_status Endpoint::send_datagram(const Request &request, uint32_t slot)
{
    const auto &datagram = request.datagram;
    direct::Pieces payload;
    if (!direct::find_payload(qp_, request, payload))
        return IBV_WC_LOC_PROT_ERR;
    Route route{};
    route.flow.source = std::bit_cast<wire::Address>(datagram.source);
    route.flow.destination = std::bit_cast<wire::Address>(datagram.destination);
    route.flow.source_port = route.flow.destination_port = wire::kRoceUdpPort;
    route.interface = route_.interface;
    route.slot = slot;
    route.traffic_class = datagram.traffic_class;
    route.hop_limit = datagram.hop_limit;
    const bool has_immediate = request.opcode == IBV_WR_SEND_WITH_IMM;
    wire::Packet packet{};
    packet.bth.opcode =
        wire::opcode_of(wire::Transport::kUd,
                        has_immediate ? wire::Operation::kSendOnlyWithImmediate : wire::Operation::kSendOnly);
    packet.bth.solicited = request.is_solicited;
    packet.bth.pkey = kDefaultPkey;
    packet.bth.dest_qpn = datagram.qp_num;
    packet.bth.psn = datagram_psn_++ & wire::kPsnMask;
    packet.deth.qkey = (datagram.qkey >> 31) != 0 ? qp_.attr.qkey : datagram.qkey;
    packet.deth.source_qpn = qp_.verbs.qp.qp_num;
    packet.immediate.value = to_host(request.imm_data);
    link().begin();
    const std::span<uint8_t> room = link().room();
    const size_t size = transport::lay_out(packet, request.length, room);
    ibv_wc_status status = size == 0 ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
    if (size != 0 && request.length != 0 &&
        direct::gather(qp_.process->self, room.data() + (packet.payload.data() - room.data()),
                       {payload.piece, payload.count}, request.length) != direct::Copied::kAll)
        status = IBV_WC_LOC_PROT_ERR;
    if (status == IBV_WC_SUCCESS)
        link().send(route, size);
    link().end();
    return status;
}

}  // namespace urxe::link
