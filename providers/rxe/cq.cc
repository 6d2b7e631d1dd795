// SPDX-License-Identifier: BSD-2-Clause
// Completion queues: create, resize, destroy, and polling with ibv_poll_cq.
#include "cq.hh"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "common/extended.hh"
#include "common/memory.hh"
#include "context.hh"

namespace rxe {
namespace {

/// What a completion of rxe can tell.
constexpr uint64_t kWcFields = IBV_WC_STANDARD_FLAGS;

static_assert(sizeof(ibv_wc) == sizeof(ib_uverbs_wc) &&
              offsetof(ibv_wc, status) == offsetof(ib_uverbs_wc, status) &&
              offsetof(ibv_wc, opcode) == offsetof(ib_uverbs_wc, opcode) &&
              offsetof(ibv_wc, vendor_err) == offsetof(ib_uverbs_wc, vendor_err) &&
              offsetof(ibv_wc, byte_len) == offsetof(ib_uverbs_wc, byte_len) &&
              offsetof(ibv_wc, imm_data) == offsetof(ib_uverbs_wc, ex) &&
              offsetof(ibv_wc, qp_num) == offsetof(ib_uverbs_wc, qp_num) &&
              offsetof(ibv_wc, src_qp) == offsetof(ib_uverbs_wc, src_qp) &&
              offsetof(ibv_wc, wc_flags) == offsetof(ib_uverbs_wc, wc_flags) &&
              offsetof(ibv_wc, pkey_index) == offsetof(ib_uverbs_wc, pkey_index) &&
              offsetof(ibv_wc, slid) == offsetof(ib_uverbs_wc, slid) &&
              offsetof(ibv_wc, sl) == offsetof(ib_uverbs_wc, sl) &&
              offsetof(ibv_wc, dlid_path_bits) == offsetof(ib_uverbs_wc, dlid_path_bits));

/// ibv_poll_cq, under the lock.
[[gnu::always_inline]] inline int take(Cq &cq, int num_entries, ibv_wc *wc)
{
    // A copy: what is stored to the program's memory cannot change it, so it stays in registers.
    Queue<ib_uverbs_wc> ring = cq.ring;
    uint32_t index = ring.consumer();
    const int count = std::min(num_entries, static_cast<int>(ring.available(index)));
    if (count <= 0)
        return 0;
    const uint32_t end = (index + static_cast<uint32_t>(count)) & ring.mask();
    do {
        // All but the flags has the same values and places on both sides.
        std::memcpy(wc, ring.at(index), sizeof *wc);
        if ((wc->wc_flags & kKernelWithInvalidate) != 0) [[unlikely]]
            wc->wc_flags = wc_flags(wc->wc_flags);
        index = ring.next(index);
        ++wc;
    } while (index != end);
    ring.retire(index);
    return count;
}

/// ibv_poll_cq where the lock may have to be waited for: apart, so that the usual case need not save registers for that.
[[gnu::noinline]] int lock_and_take(Cq &cq, int num_entries, ibv_wc *wc)
{
    common::Locked locked(cq.lock);
    return take(cq, num_entries, wc);
}

/// The end of both ways to create a CQ: maps the ring of the one that the kernel made, or destroys it.
int ring_init(Cq &cq, const mminfo &info, bool single_threaded)
{
    const int error = cq.ring.map(cq.verbs.cq.context->cmd_fd, info);
    if (error != 0)
        ibv_cmd_destroy_cq(&cq.verbs.cq);
    else
        cq.lock.init(single_threaded);
    return error;
}

}  // namespace

ibv_cq *cq_create(ibv_context *context, int cqe, ibv_comp_channel *channel, int comp_vector)
{
    auto cq = member_allocate<Cq>(nullptr, Resource::kCq);
    if (!cq)
        return nullptr;
    struct ibv_create_cq command {};
    common::Extended<ib_uverbs_create_cq_resp, rxe_create_cq_resp> response;
    int error = ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->verbs.cq, &command,
                                  sizeof(command), response.core(), response.size());
    if (error == 0)
        error = ring_init(*cq, response.driver().mi, false);
    if (error != 0)
        return common::null_with(error);
    return &cq.release()->verbs.cq;
}

ibv_cq_ex *cq_create_ex(ibv_context *context, ibv_cq_init_attr_ex *attr)
{
    const uint32_t flags = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? attr->flags : 0;
    if ((attr->wc_flags & ~kWcFields) != 0 || (flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0)
        return common::null_with(EOPNOTSUPP);
    const bool has_domain = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0;
    if (has_domain && (attr->parent_domain == nullptr || to_pd(attr->parent_domain)->protection == nullptr))
        return common::null_with(EINVAL);
    auto cq = member_allocate<Cq>(has_domain ? attr->parent_domain : nullptr, Resource::kCq);
    if (!cq)
        return nullptr;
    struct ibv_create_cq_ex command {};
    common::Extended<ib_uverbs_ex_create_cq_resp, rxe_create_cq_resp> response;
    int error = ibv_cmd_create_cq_ex(context, attr, nullptr, &cq->verbs, &command, sizeof(command),
                                     response.core(), response.size(), 0);
    if (error == 0)
        error = ring_init(*cq, response.driver().mi, flags != 0 || cq->membership.single_threaded());
    if (error != 0)
        return common::null_with(error);
    cq_ex_init(cq->verbs.cq_ex);
    return &cq.release()->verbs.cq_ex;
}

int cq_resize(ibv_cq *ibcq, int cqe)
{
    Cq *cq = to_cq(ibcq);
    struct ibv_resize_cq command {};
    common::Extended<ib_uverbs_resize_cq_resp, rxe_resize_cq_resp> response;
    // The kernel moves the completions to another ring: nobody may poll the old one meanwhile.
    common::Locked locked(cq->lock);
    const int error =
        ibv_cmd_resize_cq(ibcq, cqe, &command, sizeof(command), response.core(), response.size());
    if (error != 0)
        return error;
    const int map_error = cq->ring.remap(ibcq->context->cmd_fd, response.driver().mi);
    cq->index = cq->last = cq->ring.consumer();  // what was seen lies elsewhere now
    return resized("CQ", *ibcq->context, map_error);
}

int cq_destroy(ibv_cq *ibcq)
{
    const int error = ibv_cmd_destroy_cq(ibcq);
    if (error != 0)
        return error;
    Cq *cq = to_cq(ibcq);
    cq->ring.unmap();
    member_free(cq, Resource::kCq, cq->membership);
    return 0;
}

int cq_poll(ibv_cq *ibcq, int num_entries, ibv_wc *wc)
{
    Cq &cq = *to_cq(ibcq);
    if (!cq.lock.try_lock()) [[unlikely]]
        return lock_and_take(cq, num_entries, wc);
    const int count = take(cq, num_entries, wc);
    cq.lock.unlock();
    return count;
}

}  // namespace rxe
