// SPDX-License-Identifier: BSD-2-Clause
// Memory windows: their keys, binding and invalidating them.
#include "verbs/mw.hh"

#include <cerrno>
#include <cstdlib>

#include "common/memory.hh"
#include "context.hh"
#include "direct/memory.hh"
#include "verbs/mr.hh"
#include "verbs/pd.hh"
#include "verbs/send_queue.hh"

namespace urxe {
namespace {

using shared::MrEntry;
using shared::MrKind;

constexpr unsigned kAccess =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED;

/// Whether the region permits a window of that kind (IBTA 10.6.6.2).
bool permits(const MrEntry &region, const MrEntry &window, const Request &request)
{
    const auto &bind = request.bind;
    const bool writes = (bind.access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
    return region.kind == MrKind::kMemory && region.key.load(std::memory_order_acquire) == bind.region &&
           region.pd == window.pd && (region.access & IBV_ACCESS_MW_BIND) != 0 &&
           (!writes || (region.access & IBV_ACCESS_LOCAL_WRITE) != 0) &&
           direct::covers(region, bind.address, bind.length);
}

/// Whether the window of that index can be reached. Under windows_lock.
bool is_bound(Process &process, uint32_t index)
{
    const uint32_t key = process.regions.find(index)->key.load(std::memory_order_acquire);
    // A peer that invalidates it takes the key away where peers look.
    return key != 0 && process.entry(process.header().regions, index)->key.load() == key;
}

ibv_wc_status bind(Qp &qp, const Request &request)
{
    Process &process = *qp.process;
    const auto &bind = request.bind;
    const uint32_t index = bind.window >> 8;
    common::Locked locked(process.windows_lock);
    MrEntry *window = process.regions.find(index);
    if (window == nullptr || !shared::is_window(window->kind) || window->pd != qp.pd_number ||
        bind.key >> 8 != index)
        return IBV_WC_MW_BIND_ERR;
    const bool is_type2 = window->kind == MrKind::kWindow2;
    const bool unbinds = !is_type2 && bind.length == 0;
    const MrEntry *region = process.regions.find(bind.region >> 8);
    if ((bind.access & ~kAccess) != 0 || (is_type2 && (bind.length == 0 || is_bound(process, index))) ||
        (!unbinds && (region == nullptr || !permits(*region, *window, request))))
        return IBV_WC_MW_BIND_ERR;
    mr_withdraw(process, index);
    if (unbinds)
        return IBV_WC_SUCCESS;
    window->access = bind.access;
    window->iova = (bind.access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : bind.address;
    window->length = bind.length;
    window->address = bind.address;
    window->region = bind.region;
    window->qp_num = is_type2 ? qp.verbs.qp.qp_num : 0;
    mr_publish(process, index, bind.key);
    return IBV_WC_SUCCESS;
}

}  // namespace

ibv_mw *mw_alloc(ibv_pd *pd, ibv_mw_type type)
{
    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
        return common::null_with(EINVAL);
    Process &process = process_of(*pd->context);
    common::Allocated<Mw> made = common::allocate<Mw>();
    if (!made)
        return nullptr;
    Mw &mw = *made;
    {
        common::Locked locked(process.lock);
        mw.index = mr_take_index(process, pd_number(pd));
    }
    if (mw.index == 0)
        return common::null_with(ENOMEM);
    MrEntry &entry = *process.regions.find(mw.index);
    entry.kind = type == IBV_MW_TYPE_1 ? MrKind::kWindow1 : MrKind::kWindow2;
    entry.pd = pd_number(pd);
    entry.buffer = entry.is_paged_on_demand = 0;
    mw.mw.context = pd->context;
    mw.mw.pd = pd;
    mw.mw.type = type;
    mw.mw.handle = mw.index;
    mw.mw.rkey = process.make_key(mw.index);
    pd_ref(pd);
    common::Locked locked(process.windows_lock);
    mw.next = process.windows;
    process.windows = &mw;
    return &made.release()->mw;
}

int mw_dealloc(ibv_mw *ibmw)
{
    auto *mw = reinterpret_cast<Mw *>(ibmw);
    Process &process = process_of(*ibmw->context);
    {
        common::Locked locked(process.windows_lock);
        mr_withdraw(process, mw->index);
        process.regions.find(mw->index)->kind = MrKind::kMemory;
        for (Mw **link = &process.windows; *link != nullptr; link = &(*link)->next)
            if (*link == mw) {
                *link = mw->next;
                break;
            }
    }
    {
        common::Locked locked(process.lock);
        mr_give_index(process, mw->index);
    }
    pd_unref(ibmw->pd);
    std::free(mw);
    return 0;
}

int mw_set_bind(Request &request, const ibv_mw &mw, uint32_t key, const ibv_mw_bind_info &info)
{
    if (info.mr == nullptr && info.length != 0)
        return EINVAL;
    if (info.mr != nullptr && info.mr->pd != mw.pd)
        return EPERM;
    request.bind = {.address = info.addr,
                    .length = info.length,
                    .window = mw.rkey,
                    .key = key,
                    .region = info.mr == nullptr ? 0 : info.mr->lkey,
                    .access = info.mw_access_flags};
    request.length = 0;
    request.num_segments = 0;
    request.is_inline = false;
    return 0;
}

int mw_bind(ibv_qp *ibqp, ibv_mw *mw, ibv_mw_bind *bind)
{
    Qp &qp = to_qp(ibqp);
    // Addresses from zero are for windows of type 2 (IBTA 10.6.6.2.1).
    if ((bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0 || !knows(qp, IBV_WR_BIND_MW))
        return EINVAL;
    const uint32_t key = ibv_inc_rkey(mw->rkey);
    {
        common::Locked locked(qp.send_lock);
        if (!takes_requests(qp))
            return EINVAL;
        const uint32_t number = qp.posted.load(std::memory_order_relaxed);
        if (!can_post(qp, number))
            return ENOMEM;
        Request &request = qp.request(number);
        if (const int error = mw_set_bind(request, *mw, key, bind->bind_info); error != 0)
            return error;
        set_common(qp, request, bind->wr_id, IBV_WR_BIND_MW, bind->send_flags);
        qp.posted.store(number + 1, std::memory_order_release);
        mw->rkey = key;
        qp_go_on(qp);
    }
    qp.process->attend();
    return 0;
}

ibv_wc_status mw_execute(Qp &qp, const Request &request)
{
    if (request.opcode == IBV_WR_BIND_MW)
        return bind(qp, request);
    if (!direct::invalidate(qp.process->self, request.imm_data, qp.pd_number, qp.verbs.qp.qp_num))
        return IBV_WC_MW_BIND_ERR;
    qp.process->wait_for_accesses();
    return IBV_WC_SUCCESS;
}

void mw_invalidated(Process &process, uint32_t key, uint32_t qp_num)
{
    MrEntry *entry = process.regions.find(key >> 8);
    if (entry != nullptr && entry->kind == MrKind::kWindow2 && entry->qp_num == qp_num)
        entry->key.compare_exchange_strong(key, 0);
}

bool mw_is_bound_to(Process &process, uint32_t key)
{
    common::Locked locked(process.windows_lock);
    for (const Mw *mw = process.windows; mw != nullptr; mw = mw->next)
        if (is_bound(process, mw->index) && process.regions.find(mw->index)->region == key)
            return true;
    return false;
}

}  // namespace urxe
