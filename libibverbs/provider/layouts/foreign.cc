// SPDX-License-Identifier: BSD-2-Clause
// The layouts of released provider ABIs that are not ours, and the proof that the rest of their objects is ours. ABI-frozen.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "provider/layouts/layout.hh"

namespace verbs::provider {
namespace {

enum OpsColumn { kOpsSince36, kOpsSince59, kOpsSince62, kOpsSince64, kOpsColumns };

constexpr Layout kLayouts[] = {
    // Before ibv_qp_ex had wr_atomic_write. Releases 34 and 35 had fewer ops: there is no layout for them.
    {34, 36, 43, 648, 344, 352, 52, false, kOpsSince36},
    {34, 44, 44, 648, 352, 360, 52, false, kOpsSince36},
    // ibv_qp_ex has wr_flush. Which of these brought ibv_port_attr.active_speed_ex is known to 44 and 50 only: what a
    // release may lack is not written.
    {34, 45, 49, 648, 360, 368, 52, false, kOpsSince36},
    {34, 50, 53, 648, 360, 368, 56, false, kOpsSince36},
    {34, 54, 56, 648, 360, 368, 56, true, kOpsSince36},
    {57, 57, 58, 648, 360, 368, 56, true, kOpsSince36},
    {59, 59, 61, 672, 360, 368, 56, true, kOpsSince59},
    {59, 62, 63, 680, 360, 368, 56, true, kOpsSince62},
    {64, 64, 64, 696, 360, 368, 56, true, kOpsSince64},
};

struct Op {
    size_t offset;  // in our verbs_context_ops
    int16_t slots[kOpsColumns];
};

constexpr Op kOps[] = {
#define OP(name, ...) {offsetof(verbs_context_ops, name), {__VA_ARGS__}},
#include "provider/layouts/ops.def"
#undef OP
};

/// Whether the slots in a column are 0 to count - 1, each once.
constexpr bool has_slots(OpsColumn column, int count)
{
    for (int slot = 0; slot < count; ++slot)
        if (std::ranges::count_if(kOps, [=](const Op &op) { return op.slots[column] == slot; }) != 1)
            return false;
    return std::ranges::count_if(kOps, [=](const Op &op) { return op.slots[column] >= 0; }) == count;
}
static_assert(has_slots(kOpsSince36, 76) && has_slots(kOpsSince59, 79) && has_slots(kOpsSince62, 81) &&
              has_slots(kOpsSince64, 83));

// Counted from its end, a member of verbs_context is where it always was.
constexpr size_t from_end(size_t offset)
{
    return sizeof(verbs_context) - offset;
}
#define MEMBER(name, offset) static_assert(from_end(offsetof(verbs_context, name)) == 648 - (offset));
#include "provider/layouts/context.def"
#undef MEMBER
static_assert(from_end(offsetof(verbs_context, alloc_dmah)) == 672 - 16 &&
              from_end(offsetof(verbs_context, dealloc_dmah)) == 672 - 8 &&
              from_end(offsetof(verbs_context, reg_mr_ex)) == 672);
static_assert(from_end(offsetof(verbs_context, dm_export_dmabuf_fd)) == 680);
static_assert(from_end(offsetof(verbs_context, alloc_buf)) == 696 - 8 &&
              from_end(offsetof(verbs_context, free_buf)) == 696);

// What came at the end: as many bytes as the layouts without it have.
static_assert(offsetof(ibv_qp_ex, wr_atomic_write) == 344 && offsetof(ibv_qp_ex, wr_flush) == 352 &&
              sizeof(ibv_qp_ex) == 360);
static_assert(offsetof(ibv_port_attr, active_speed_ex) == 52 && sizeof(ibv_port_attr) == 56);

// Objects that are the same in all.
static_assert(sizeof(verbs_device_ops) == 72 && sizeof(verbs_device) == 712 &&
              sizeof(verbs_sysfs_dev) == 992);
static_assert(sizeof(verbs_match_ent) == 24 && sizeof(verbs_mr) == 56 && sizeof(verbs_cq) == 288);
static_assert(sizeof(verbs_srq) == 160 && sizeof(verbs_xrcd) == 16 && sizeof(verbs_dm) == 40);
static_assert(sizeof(verbs_counters) == 16 && sizeof(verbs_flow_action) == 16);
static_assert(sizeof(verbs_dmah) == 16 && sizeof(verbs_create_cq_prov_attr) == 24);

/// From `sz` to the end of a verbs_context.
constexpr size_t kBehindSize = from_end(offsetof(verbs_context, sz));

}  // namespace

constinit const std::span<const Layout> kForeignLayouts = kLayouts;

ibv_context *public_context(void *foreign_vctx)
{
    // By growing size, so that no byte behind the context is looked at. What newer contexts have where older ones have
    // `sz` are pointers and a reserved zero, never a number like these.
    const Layout *found = std::ranges::find_if(kLayouts, [foreign_vctx](const Layout &layout) {
        size_t size;
        memcpy(&size, static_cast<char *>(foreign_vctx) + layout.context_size - kBehindSize, sizeof size);
        return size == layout.context_size;
    });
    return public_context(found != std::end(kLayouts) ? *found : kNativeLayout, foreign_vctx);
}

verbs_context_ops native_ops(const Layout &layout, const void *foreign_ops)
{
    verbs_context_ops ops = {};
    for (const Op &op : kOps)
        if (const int slot = op.slots[layout.ops_column]; slot >= 0)
            memcpy(reinterpret_cast<char *>(&ops) + op.offset,
                   static_cast<const char *>(foreign_ops) + static_cast<size_t>(slot) * sizeof(void *),
                   sizeof(void *));
    return ops;
}

}  // namespace verbs::provider
