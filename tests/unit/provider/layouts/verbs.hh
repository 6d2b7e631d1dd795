// SPDX-License-Identifier: BSD-2-Clause
// The verb behind each op of foreign provider ABIs, called with objects that the test makes up.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace verbs::test {

/// One object of each kind, all zero but for the context that they belong to.
struct Objects {
    explicit Objects(ibv_context *context);

    ibv_context *context;
    ibv_pd pd{};
    ibv_td td{};
    ibv_mr *mr;  // with what a provider's MR has behind
    ibv_mw mw{};
    ibv_dm dm{};
    ibv_comp_channel channel{};
    ibv_cq_ex cq_ex{};
    ibv_cq *cq;
    ibv_qp *qp;
    ibv_srq *srq;
    ibv_wq wq{};
    ibv_rwq_ind_table table{};
    ibv_ah ah{};
    ibv_xrcd xrcd{};
    ibv_flow flow{};
    ibv_flow_action action{};
    ibv_counters counters{};
    ibv_dmah dmah{};
    ibv_buf buf{};

private:
    alignas(16) char mr_memory_[64]{};
    alignas(16) char qp_memory_[512]{};
    alignas(16) char srq_memory_[256]{};
};

enum class Answer {
    kNumber,   ///< the verb gives what the op gives: 0 or an errno value, or a number
    kPointer,  ///< the verb gives the object that the op gives; null and errno
    kNothing   ///< the verb gives something of its own, or nothing
};

struct Verb {
    const char *op;
    Answer answer;
    intptr_t (*call)(Objects &objects);
};

/// Every op of the newest layout but free_context.
extern const Verb kVerbs[82];

}  // namespace verbs::test
