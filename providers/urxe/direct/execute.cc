// SPDX-License-Identifier: BSD-2-Clause
// Carrying out a request on the objects of its target.
#include "direct/execute.hh"

#include <cstring>
#include <optional>

#include "direct/tags.hh"
#include "direct/target.hh"

namespace urxe::direct {
namespace {

using shared::Counted;
using shared::QpEntry;

/// The type of QP that one of a type is connected to.
uint32_t responder_of(uint32_t type)
{
    return type == IBV_QPT_XRC_SEND ? uint32_t{IBV_QPT_XRC_RECV} : type;
}

bool is_connected(const Qp &qp, const QpEntry &remote)
{
    const uint32_t state = remote.state.load(std::memory_order_acquire);
    return is_receiving(state) && remote.qp_num.load(std::memory_order_relaxed) == qp.attr.dest_qp_num &&
           remote.dest_qp_num == qp.verbs.qp.qp_num && remote.type == responder_of(qp.shared->type) &&
           std::memcmp(&remote.remote_gid, &qp.shared->local_gid, sizeof(ibv_gid)) == 0 &&
           std::memcmp(&remote.local_gid, &qp.shared->remote_gid, sizeof(ibv_gid)) == 0;
}

/// What a copy that failed comes to for the requester, when memory of the target is what is written to, or read.
ibv_wc_status status_of(Copied copied, bool writes)
{
    switch (copied) {
        case Copied::kAll:
            return IBV_WC_SUCCESS;
        case Copied::kFaultTo:
            return writes ? IBV_WC_REM_OP_ERR : IBV_WC_LOC_PROT_ERR;
        case Copied::kFaultFrom:
            return writes ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_OP_ERR;
        case Copied::kGone:
        case Copied::kRefused:
            break;
    }
    return IBV_WC_RETRY_EXC_ERR;
}

/// Whoever is not reliable never learns that it was refused.
Result refuse(const Target &target, shared::Attention why, ibv_wc_status status)
{
    target.fail(why);
    return done(target.is_reliable ? status : IBV_WC_SUCCESS);
}

Result execute_send(Qp &qp, const Request &request, const Target &target)
{
    Pieces payload;
    if (!find_payload(qp, request, payload))
        return done(IBV_WC_LOC_PROT_ERR);
    const uint32_t qp_num = target.qp.qp_num.load(std::memory_order_relaxed);
    const bool invalidates = request.opcode == IBV_WR_SEND_WITH_INV;
    if (invalidates && !can_invalidate(target.peer, request.imm_data, target.pd(), qp_num))
        return refuse(target, shared::kAttentionAccessError, IBV_WC_REM_ACCESS_ERR);
    uint8_t start[kTagHeader];
    MessageStart message;
    if (target.tag_matching_srq() != nullptr) [[unlikely]] {
        message = {start, std::min<uint64_t>(request.length, sizeof start)};
        if (!message->empty() &&
            gather(qp.process->self, start, {payload.piece, payload.count}, message->size()) != Copied::kAll)
            return done(IBV_WC_LOC_PROT_ERR);
    }
    TakenReceive receive;
    if (!take_receive(target, receive, message))
        return {Outcome::kNoReceive, IBV_WC_SUCCESS, 0};
    NewCompletion completion = receive_completion(qp, request);
    const uint64_t length = receive.delivered(request.length);
    Pieces part;
    std::span<const Piece> from = {payload.piece, payload.count};
    if (length != request.length) [[unlikely]] {
        part_of(payload, receive.begin, length, part);
        from = {part.piece, part.count};
    }
    if (receive.is_tag && !receive.is_rendezvous && request.length > shared::once(target.qp.mtu)) [[unlikely]]
        if (complete_match(target, receive, completion) == Pushed::kOverrun)
            return done(IBV_WC_REM_OP_ERR);
    if (length > receive.length) {
        completion.status = IBV_WC_LOC_LEN_ERR;
        complete_receive(target, receive, completion);
        target.fail(shared::kAttentionRequestError);
        return done(IBV_WC_REM_INV_REQ_ERR);
    }
    Pieces to;
    to.clear();
    if (!find_pieces(target.peer, {receive.segments, receive.count}, receive.pd, IBV_ACCESS_LOCAL_WRITE,
                     to) ||
        to.length < length) {
        completion.status = IBV_WC_LOC_PROT_ERR;
        complete_receive(target, receive, completion);
        target.fail(0);
        return done(IBV_WC_REM_OP_ERR);
    }
    const bool goes_along = length <= shared::kMaxInline && !to.may_be_missing;
    ibv_wc_status status = IBV_WC_SUCCESS;
    if (!goes_along)
        status = status_of(copy(target.peer, {to.piece, to.count}, from, length), true);
    if (status == IBV_WC_SUCCESS) {
        if (invalidates)
            invalidate(target.peer, request.imm_data, target.pd(), qp_num);
        switch (complete_receive(target, receive, completion, {}, from,
                                 goes_along ? static_cast<uint32_t>(length) : 0)) {
            case Pushed::kYes:
                return done(IBV_WC_SUCCESS);
            case Pushed::kOverrun:
                return done(IBV_WC_REM_OP_ERR);
            case Pushed::kFault:
                status = IBV_WC_LOC_PROT_ERR;
                break;
        }
    }
    completion.status = IBV_WC_LOC_PROT_ERR;
    complete_receive(target, receive, completion);
    target.fail(0);
    return done(status);
}

/// The memory that a request names; or how the request ends if the target does not permit it. To a QP that grants no
/// such access it is an invalid one, to a key a violation of its rights (IBTA 9.7.4.1).
std::optional<Result> find_remote(const Target &target, const Request &request, uint64_t length,
                                  uint32_t access, Piece &piece)
{
    if ((target.qp.access & access) != access)
        return refuse(target, shared::kAttentionRequestError, IBV_WC_REM_INV_REQ_ERR);
    if (!find_memory(target.peer, request.rkey, target.pd(), target.qp.qp_num.load(std::memory_order_relaxed),
                     request.remote_addr, length, access, piece))
        return refuse(target, shared::kAttentionAccessError, IBV_WC_REM_ACCESS_ERR);
    return std::nullopt;
}

Result execute_write(Qp &qp, const Request &request, const Target &target)
{
    Pieces payload;
    if (!find_payload(qp, request, payload))
        return done(IBV_WC_LOC_PROT_ERR);
    const bool takes_receive = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    Piece to;
    // Without a byte to write the key is not looked at (IBTA 9.7.4.1.3).
    if (request.length != 0)
        if (const auto refused = find_remote(target, request, request.length, IBV_ACCESS_REMOTE_WRITE, to)) {
            target.count(Counted::kWrites, false, 0);
            return *refused;
        }
    TakenReceive receive;
    if (takes_receive && !take_receive(target, receive))
        return {Outcome::kNoReceive, IBV_WC_SUCCESS, 0};
    ibv_wc_status status = IBV_WC_SUCCESS;
    if (request.length != 0)
        status = status_of(copy(target.peer, {&to, 1}, {payload.piece, payload.count}, request.length), true);
    if (takes_receive) {
        NewCompletion completion = receive_completion(qp, request);
        if (status != IBV_WC_SUCCESS)
            completion.status = IBV_WC_LOC_PROT_ERR;
        if (complete_receive(target, receive, completion) != Pushed::kYes)
            status = IBV_WC_REM_OP_ERR;
    }
    if (status != IBV_WC_LOC_PROT_ERR)
        target.count(Counted::kWrites, status == IBV_WC_SUCCESS, request.length);
    if (status != IBV_WC_SUCCESS)
        target.fail(0);
    return done(status);
}

/// Where the answer to a request goes.
bool find_answer(Qp &qp, const Request &request, Pieces &pieces)
{
    pieces.clear();
    return find_pieces(qp.process->self, {request.segments(), request.num_segments}, qp.pd_number,
                       IBV_ACCESS_LOCAL_WRITE, pieces);
}

Result execute_read(Qp &qp, const Request &request, const Target &target)
{
    Pieces to;
    if (!find_answer(qp, request, to))
        return done(IBV_WC_LOC_PROT_ERR);
    if (request.length == 0) {
        target.count(Counted::kReads, true, 0);
        return done(IBV_WC_SUCCESS);
    }
    Piece from;
    if (const auto refused = find_remote(target, request, request.length, IBV_ACCESS_REMOTE_READ, from)) {
        target.count(Counted::kReads, false, 0);
        return *refused;
    }
    const ibv_wc_status status =
        status_of(copy(target.peer, {to.piece, to.count}, {&from, 1}, request.length), false);
    if (status != IBV_WC_LOC_PROT_ERR)
        target.count(Counted::kReads, status == IBV_WC_SUCCESS, request.length);
    if (status != IBV_WC_SUCCESS)
        target.fail(0);
    return done(status, request.length);
}

Result execute_atomic(Qp &qp, const Request &request, const Target &target)
{
    const bool is_write = request.opcode == IBV_WR_ATOMIC_WRITE;
    Pieces to;
    to.clear();
    if (!is_write && !find_answer(qp, request, to))
        return done(IBV_WC_LOC_PROT_ERR);
    if (!is_write && to.length < sizeof(uint64_t))
        return done(IBV_WC_LOC_LEN_ERR);
    if (request.remote_addr % sizeof(uint64_t) != 0) {
        target.fail(shared::kAttentionRequestError);
        return done(IBV_WC_REM_INV_REQ_ERR);
    }
    Piece value;
    if (const auto refused =
            find_remote(target, request, sizeof(uint64_t),
                        is_write ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_ATOMIC, value))
        return *refused;
    uint64_t original = 0;
    const auto opcode = static_cast<ibv_wr_opcode>(request.opcode);
    Copied copied = is_write ? atomic(target.peer, value, opcode, 0, request.atomic_write, original)
                             : atomic(target.peer, value, opcode, request.atomic.compare_add,
                                      request.atomic.swap, original);
    if (copied != Copied::kAll) {
        target.fail(0);
        return done(copied == Copied::kGone || copied == Copied::kRefused ? IBV_WC_RETRY_EXC_ERR
                                                                          : IBV_WC_REM_OP_ERR);
    }
    if (is_write)
        return done(IBV_WC_SUCCESS);
    const Piece answer = {reinterpret_cast<uintptr_t>(&original), sizeof original, Way::kPointer};
    copied = copy(qp.process->self, {to.piece, to.count}, {&answer, 1}, sizeof original);
    return done(copied == Copied::kAll ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR, sizeof original);
}

Result execute_flush(const Request &request, const Target &target)
{
    // Memory of this host is where all its processors look: what was written is there once it is ordered.
    constexpr uint32_t kAccess = IBV_ACCESS_FLUSH_GLOBAL;
    if ((request.flush_type & ~uint32_t{IBV_FLUSH_GLOBAL}) != 0) {
        target.fail(shared::kAttentionRequestError);
        return done(IBV_WC_REM_INV_REQ_ERR);
    }
    Piece covered;
    const uint64_t length = request.flush_level == IBV_FLUSH_MR ? 0 : request.length;
    Request place{};
    place.rkey = request.rkey;
    place.remote_addr = request.remote_addr;
    if (const auto refused = find_remote(target, place, length, kAccess, covered))
        return *refused;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return done(IBV_WC_SUCCESS);
}

}  // namespace

Result execute(Qp &qp, const Request &request)
{
    if (qp.peer == nullptr)
        return {Outcome::kNotReady, IBV_WC_SUCCESS, 0};
    if (qp.peer->is_dead.load(std::memory_order_relaxed))
        return done(IBV_WC_RETRY_EXC_ERR);
    const Access access(*qp.peer);
    if (!access) [[unlikely]]
        return done(IBV_WC_RETRY_EXC_ERR);
    const Target target = {*qp.process, *qp.peer, *qp.remote, qp.verbs.qp.qp_type != IBV_QPT_UC,
                           request.srq_num};
    if (!is_connected(qp, target.qp))
        return {Outcome::kNotReady, IBV_WC_SUCCESS, 0};
    target.establish();
    if (target.qp.type == IBV_QPT_XRC_RECV && !target.has_xrc_srq())
        return refuse(target, shared::kAttentionRequestError, IBV_WC_REM_INV_REQ_ERR);
    switch (request.opcode) {
        case IBV_WR_SEND:
        case IBV_WR_SEND_WITH_IMM:
        case IBV_WR_SEND_WITH_INV:
            return execute_send(qp, request, target);
        case IBV_WR_RDMA_WRITE:
        case IBV_WR_RDMA_WRITE_WITH_IMM:
            return execute_write(qp, request, target);
        case IBV_WR_RDMA_READ:
            return execute_read(qp, request, target);
        case IBV_WR_ATOMIC_CMP_AND_SWP:
        case IBV_WR_ATOMIC_FETCH_AND_ADD:
        case IBV_WR_ATOMIC_WRITE:
            return execute_atomic(qp, request, target);
        case IBV_WR_FLUSH:
            return execute_flush(request, target);
        default:
            return done(IBV_WC_LOC_QP_OP_ERR);
    }
}

}  // namespace urxe::direct
