// SPDX-License-Identifier: BSD-2-Clause
// What the files of the fake know of each other's objects.
#pragma once

#include <infiniband/verbs.h>

#include <deque>

namespace fake_verbs {

struct Cq {
    ibv_cq_ex cq;  // first; its beginning is an ibv_cq
    std::deque<ibv_wc> ready;
};

// Receives that wait for data.
struct ReceiveQueue {
    std::deque<uint64_t> wr_ids;
    ibv_sge buffer;  // of the latest
};

struct Srq {
    ibv_srq srq;  // first
    ReceiveQueue receives;
    Cq *cq;  // of an XRC SRQ
};

struct Qp {
    ibv_qp_ex qp;  // first
    Cq *send_cq;
    Cq *recv_cq;
    ReceiveQueue own;
    ReceiveQueue *receives;  // the own ones or those of a shared receive queue
};

// Takes a list of receive requests and logs it under the name of the verb.
int post_receives(const char *verb, ReceiveQueue &receives, ibv_recv_wr *wr, ibv_recv_wr **bad);

Cq *make_cq(ibv_context *context, int cqe, ibv_comp_channel *channel, void *cq_context);

// Makes the receives of the process's one XRC SRQ those of the queue pair.
void attach_to_xrc_srq(Qp *qp);

void log_ah(const ibv_ah_attr &ah);

// Keeps an object that the scenario does not let the program destroy, so that a leak checker does not take the program
// to have lost it.
void abandon(void *object);

// Fills the context's operations for posting, polling, and the extended objects.
void fill_data_path(verbs_context *context);
void fill_shared_receive_queues(verbs_context *context);

}  // namespace fake_verbs
