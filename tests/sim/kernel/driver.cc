// SPDX-License-Identifier: BSD-2-Clause
// What the kernel driver of a device adds to commands.
#include "kernel/driver.hh"

#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <rdma/siw-abi.h>

#include <algorithm>
#include <bit>

namespace sim {
namespace {

bool is_rxe(Call &call)
{
    return call.device().driver_id == RDMA_DRIVER_RXE;
}

bool is_siw(Call &call)
{
    return call.device().driver_id == RDMA_DRIVER_SIW;
}

/// A queue of rxe: a power of two of slots, one of which stays empty. `entries` becomes what fits.
mminfo make_rxe_queue(Call &call, uint32_t &entries, size_t element)
{
    const uint32_t slots = std::bit_ceil(entries + 1);
    element = std::bit_ceil(std::max<size_t>(element, 64));
    entries = slots - 1;
    rxe_queue_buf head{};
    head.log2_elem_size = static_cast<uint32_t>(std::countr_zero(element));
    head.index_mask = slots - 1;
    const size_t size = (sizeof head + slots * element + 4095) & ~size_t{4095};
    mminfo info{};
    info.offset = call.file().allocate_range(size);
    info.size = static_cast<uint32_t>(size);
    call.file().write_range(info.offset, &head, sizeof head);
    return info;
}

size_t rxe_recv_element(uint32_t sges)
{
    return sizeof(rxe_recv_wqe) + sges * sizeof(rxe_sge);
}

uint64_t make_siw_queue(Call &call, size_t size)
{
    return call.file().allocate_range(size);
}

void answer_pattern(Call &call)
{
    // Real providers of devices without a driver here find zeros, which mean no capabilities to most.
    std::vector<uint8_t> bytes(call.driver_out.size);
    for (size_t i = 0; i < bytes.size() && call.device().driver_id == RDMA_DRIVER_UNKNOWN; ++i)
        bytes[i] = static_cast<uint8_t>(0xd0 + i % 16);
    call.respond_driver(bytes.data(), bytes.size());
}

template <class T>
void answer(Call &call, const T &value)
{
    call.respond_driver(&value, sizeof value);
}

}  // namespace

void driver_context(Call &call)
{
    if (is_siw(call))
        answer(call, siw_uresp_alloc_ctx{.dev_id = call.device().index, .pad = 0});
    else
        driver_other(call);
}

void driver_pd(Call &call)
{
    driver_other(call);
}

void driver_other(Call &call)
{
    if (!is_rxe(call) && !is_siw(call))
        answer_pattern(call);
}

int driver_cq(Call &call, Object &cq)
{
    if (is_rxe(call)) {
        rxe_create_cq_resp response{};
        if (call.driver_out.size < sizeof response)
            return EINVAL;
        response.mi = make_rxe_queue(call, cq.cap.max_recv_wr, sizeof(ib_uverbs_wc));
        answer(call, response);
    } else if (is_siw(call)) {
        siw_uresp_create_cq response{};
        cq.cap.max_recv_wr = std::bit_ceil(cq.cap.max_recv_wr);
        response.cq_id = call.file().handle_of(cq);
        response.num_cqe = cq.cap.max_recv_wr;
        response.cq_key = make_siw_queue(call, response.num_cqe * sizeof(siw_cqe) + sizeof(siw_cq_ctrl));
        answer(call, response);
    } else {
        answer_pattern(call);
    }
    return 0;
}

int driver_qp(Call &call, Object &qp, ib_uverbs_qp_cap &answered)
{
    answered = qp.cap;
    const bool has_recv_queue =
        qp.is_srq == 0 && qp.type != IB_UVERBS_QPT_XRC_INI && qp.type != IB_UVERBS_QPT_XRC_TGT;
    if (is_rxe(call)) {
        rxe_create_qp_resp response{};
        if (call.driver_out.size < sizeof response)
            return EINVAL;
        if (has_recv_queue)
            response.rq_mi = make_rxe_queue(call, qp.cap.max_recv_wr, rxe_recv_element(qp.cap.max_recv_sge));
        const auto data = std::max<uint32_t>(qp.cap.max_send_sge * sizeof(rxe_sge), qp.cap.max_inline_data);
        response.sq_mi = make_rxe_queue(call, qp.cap.max_send_wr, sizeof(rxe_send_wqe) + data);
        qp.cap.max_send_sge = data / sizeof(rxe_sge);
        qp.cap.max_inline_data = data;
        answer(call, response);
    } else if (is_siw(call)) {
        siw_uresp_create_qp response{};
        response.qp_id = qp.number;
        response.num_sqe = std::bit_ceil(std::max(qp.cap.max_send_wr, 1U));
        response.num_rqe = std::bit_ceil(std::max(qp.cap.max_recv_wr, 1U));
        response.sq_key = make_siw_queue(call, response.num_sqe * sizeof(siw_sqe));
        if (has_recv_queue)
            response.rq_key = make_siw_queue(call, response.num_rqe * sizeof(siw_rqe));
        answer(call, response);
    } else {
        answer_pattern(call);
    }
    const uint32_t send_wr = answered.max_send_wr;
    const uint32_t recv_wr = answered.max_recv_wr;
    answered = qp.cap;
    if (is_rxe(call)) {
        answered.max_send_wr = send_wr;
        answered.max_recv_wr = recv_wr;
    }
    return 0;
}

int driver_srq(Call &call, Object &srq, ib_uverbs_qp_cap &answered)
{
    answered = srq.cap;
    if (is_rxe(call)) {
        rxe_create_srq_resp response{};
        if (call.driver_out.size < sizeof response)
            return EINVAL;
        response.mi = make_rxe_queue(call, srq.cap.max_recv_wr, rxe_recv_element(srq.cap.max_recv_sge));
        response.srq_num = srq.number;
        answer(call, response);
    } else if (is_siw(call)) {
        siw_uresp_create_srq response{};
        response.num_rqe = std::bit_ceil(std::max(srq.cap.max_recv_wr, 1U));
        srq.cap.max_recv_wr = response.num_rqe;
        response.srq_key = make_siw_queue(call, response.num_rqe * sizeof(siw_rqe));
        answer(call, response);
    } else {
        answer_pattern(call);
    }
    const uint32_t asked = answered.max_recv_wr;
    answered = srq.cap;
    if (is_rxe(call))
        answered.max_recv_wr = asked;
    return 0;
}

void driver_mr(Call &call, Object &mr)
{
    if (is_siw(call)) {
        siw_ureq_reg_mr request{};
        if (call.driver_in.size >= sizeof request)
            memcpy(&request, call.driver_in.bytes, sizeof request);
        mr.number = (mr.number & ~0xffU) | request.stag_key;
        mr.number2 = mr.number2 != 0 ? mr.number : 0;
        answer(call, siw_uresp_reg_mr{.stag = mr.number, .pad = 0});
    } else {
        driver_other(call);
    }
}

void driver_ah(Call &call, Object &ah)
{
    if (is_rxe(call)) {
        if (call.driver_out.size >= sizeof(rxe_create_ah_resp))
            answer(call, rxe_create_ah_resp{.ah_num = call.file().handle_of(ah) + 1, .reserved = 0});
    } else {
        driver_other(call);
    }
}

int driver_modify_srq(Call &call, Object &srq, bool resizes)
{
    if (!is_rxe(call))
        return 0;
    rxe_modify_srq_cmd request;
    if (call.driver_in.size < sizeof request)
        return EINVAL;
    memcpy(&request, call.driver_in.bytes, sizeof request);
    if (!resizes)
        return 0;
    const mminfo info = make_rxe_queue(call, srq.cap.max_recv_wr, rxe_recv_element(srq.cap.max_recv_sge));
    if (request.mmap_info_addr == 0)
        return EFAULT;
    memcpy(reinterpret_cast<void *>(request.mmap_info_addr), &info, sizeof info);
    return 0;
}

}  // namespace sim
