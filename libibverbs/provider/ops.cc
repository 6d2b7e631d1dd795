// SPDX-License-Identifier: BSD-2-Clause
// The ops of a context.
#include "provider/ops.hh"

#include <cerrno>
#include <cstddef>
#include <type_traits>

#include "provider/context.hh"

namespace verbs::provider {
namespace {

template <class Op>
struct Unsupported;

template <class Answer, class... Arguments>
struct Unsupported<Answer (*)(Arguments...)> {
    static Answer answer(Arguments... /*unused*/)
    {
        if constexpr (std::is_pointer_v<Answer>) {
            errno = EOPNOTSUPP;
            return nullptr;
        } else if constexpr (!std::is_void_v<Answer>) {
            return EOPNOTSUPP;
        }
    }
};

/// What providers without DMA handles can do with the rest of the attributes: their plain ops have it all.
ibv_mr *register_plainly(ibv_pd *pd, ibv_mr_init_attr *attr)
{
    const verbs_context_ops &plain = ops(pd->context);
    switch (attr->comp_mask) {
        case IBV_REG_MR_MASK_ADDR:
            return plain.reg_mr(pd, attr->addr, attr->length, reinterpret_cast<uintptr_t>(attr->addr),
                                attr->access);
        case IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA:
            return plain.reg_mr(pd, attr->addr, attr->length, attr->iova, attr->access);
        case IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET:
            return plain.reg_dmabuf_mr(pd, attr->fd_offset, attr->length, attr->iova, attr->fd, attr->access);
        default:
            return null_with((attr->comp_mask & IBV_REG_MR_MASK_DMAH) != 0 ? EOPNOTSUPP : EINVAL);
    }
}

constexpr verbs_context_ops make_default_ops()
{
    verbs_context_ops ops = {
#define OP(name) .name = Unsupported<decltype(verbs_context_ops::name)>::answer,
#define OP_EXTENDED(name, member) OP(name)
#define OP_DATA(name) OP(name)
#include "provider/ops.def"
#undef OP
#undef OP_EXTENDED
#undef OP_DATA
    };
    ops.dm_export_dmabuf_fd = [](ibv_dm *) { return minus_one_with(EOPNOTSUPP); };
    ops.reg_mr_ex = register_plainly;
    ops.query_qp_data_in_order = [](ibv_qp *, ibv_wr_opcode, uint32_t) { return 0; };
    return ops;
}

// The table has a row per slot: a row that is missing or out of order shows here.
enum Slot : size_t {
#define OP(name) kSlot_##name,
#define OP_EXTENDED(name, member) OP(name)
#define OP_DATA(name) OP(name)
#include "provider/ops.def"
#undef OP
#undef OP_EXTENDED
#undef OP_DATA
    kSlots
};
static_assert(sizeof(verbs_context_ops) == kSlots * sizeof(void *));
#define OP(name) static_assert(offsetof(verbs_context_ops, name) == kSlot_##name * sizeof(void *));
#define OP_EXTENDED(name, member) OP(name)
#define OP_DATA(name) OP(name)
#include "provider/ops.def"
#undef OP
#undef OP_EXTENDED
#undef OP_DATA

}  // namespace

constinit const verbs_context_ops kDefaultOps = make_default_ops();

void set_ops(verbs_context &vctx, const verbs_context_ops &ops)
{
    verbs_context_ops &table = private_of(vctx).ops;
    // In front of the members that the context has lies what is not the library's.
    const size_t front = sizeof vctx - vctx.sz;
    ibv_context_ops &data = vctx.context.ops;
#define OP(name)  \
    if (ops.name) \
        table.name = ops.name;
#define OP_EXTENDED(name, member)                     \
    if (ops.name) {                                   \
        table.name = ops.name;                        \
        if (offsetof(verbs_context, member) >= front) \
            vctx.member = ops.name;                   \
    }
#define OP_DATA(name)          \
    if (ops.name) {            \
        table.name = ops.name; \
        data.name = ops.name;  \
    }
#include "provider/ops.def"
#undef OP
#undef OP_EXTENDED
#undef OP_DATA
}

}  // namespace verbs::provider
