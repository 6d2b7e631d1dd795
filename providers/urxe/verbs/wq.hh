// SPDX-License-Identifier: BSD-2-Clause
// Work queues, and the tables by which QPs spread frames over them.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace urxe {

struct Qp;

/// A queue of receives: a QP that has nothing else.
struct Wq {
    ibv_wq wq;  // must be first
    Qp *queue;
    uint32_t users;  ///< tables; atomic
};

struct IndirectionTable {
    ibv_rwq_ind_table table;  // must be first
    uint32_t users;           ///< QPs; atomic
    uint32_t size;            ///< a power of two
    Wq *queues[];
};

inline IndirectionTable &to_table(ibv_rwq_ind_table *table)
{
    return *reinterpret_cast<IndirectionTable *>(table);
}

/// log2 of the most entries of a table.
constexpr uint32_t kMaxLogTableSize = 9;

ibv_wq *wq_create(ibv_context *context, ibv_wq_init_attr *attr);
int wq_modify(ibv_wq *wq, ibv_wq_attr *attr);
int wq_destroy(ibv_wq *wq);
ibv_rwq_ind_table *table_create(ibv_context *context, ibv_rwq_ind_table_init_attr *attr);
int table_destroy(ibv_rwq_ind_table *table);

/// Counts a QP that uses the table.
void table_ref(IndirectionTable &table);
void table_unref(IndirectionTable &table);
/// Whose receives a frame of that hash is for.
Qp &table_queue(const IndirectionTable &table, uint32_t hash);

}  // namespace urxe
