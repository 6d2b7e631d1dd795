// SPDX-License-Identifier: BSD-2-Clause
// The game of the ping-pong programs that play it with one queue pair: two of them send each other a message
// in turn.
#pragma once

#include <infiniband/verbs.h>

#include "pingpong.hh"

namespace tools {

// Work request identifiers; while requests are outstanding, a mask of them.
enum WorkRequest : int {
    kReceive = 1,
    kSend = 2,
};

// What a connected queue pair is given to reach its peer; used by every program with connections.
struct Connection {
    const PingpongOptions &options;
    ibv_qp_type type;  // IBV_QPT_RC or IBV_QPT_UC
    unsigned local_psn;
    const Address &remote;
};

// Takes the queue pair from INIT to where it sends and receives. Null, or the name of the state that it did
// not reach.
const char *connect_qp(ibv_qp *qp, const Connection &connection);

// How to reach the peer, by its GID where it told one.
ibv_ah_attr address_of(const PingpongOptions &options, const Address &remote);

// The verbs objects of one side, and its part of the game. As it stands it plays over an unreliable
// connection; what other transports do otherwise is virtual. Each function writes the reason for a failure to
// stderr.
class Game {
public:
    Game(const PingpongOptions &options, ibv_qp_type type) : options_(options), type_(type) {}
    Game(const Game &) = delete;
    Game &operator=(const Game &) = delete;

    // From the first verb to the last; the program's exit status.
    int run();

protected:
    ~Game() = default;

    // Steps of the set-up, in this order.
    virtual bool open();
    virtual bool check_features() { return true; }
    virtual bool register_memory();
    virtual bool create_cq();
    virtual bool make_qp();
    virtual bool bring_to_init();

    virtual bool connect(const Address &remote);
    // As the client, puts the data in place.
    virtual bool prepare_data();
    virtual bool post_send();
    // Takes what the completion queue has, waiting for something unless events do that. 0 or an exit status.
    virtual int poll();
    // After the rate; and, where data are checked, so that they are in the buffer.
    virtual void report_more() {}
    virtual bool fetch_data() { return true; }
    // Destroys what there is that is not the base's, between the memory region and the protection domain.
    virtual bool release_own(bool /*checked*/) { return true; }

    // For the steps above.
    const AddressRules *address_rules_ = &kConnectedRules;
    const char *after_psn_ = ",";  // of the local address, as it is written
    virtual uint64_t data_address() const { return reinterpret_cast<uintptr_t>(buffer_.data()); }
    ibv_qp_cap capabilities() const;
    virtual bool may_send_inline() const { return true; }
    ibv_send_wr send_request(ibv_sge *sge) const;
    // Accounts for a completion, and sends again where it is our turn.
    bool take_completion(uint64_t id, int status);
    // Called for each message that arrived, and where one of the completions that were polled failed.
    virtual void on_receive() {}
    virtual void on_failure(int /*polled*/) {}

    const PingpongOptions &options_;
    const ibv_qp_type type_;
    PageBuffer buffer_;
    ibv_context *context_ = nullptr;
    ibv_comp_channel *channel_ = nullptr;
    ibv_pd *pd_ = nullptr;
    ibv_mr *mr_ = nullptr;
    ibv_cq *cq_ = nullptr;
    ibv_qp *qp_ = nullptr;
    unsigned send_flags_ = IBV_SEND_SIGNALED;
    Address local_ = {};

private:
    bool set_up();
    bool create_qp();
    bool meet_peer();
    int play();
    int play_to_the_end();
    bool start();
    bool report();
    int post_receives(int count);
    bool keep_receiving();
    bool release(bool checked);

    int receives_outstanding_ = 0;
    int pending_ = 0;  // what is still awaited before the next send
    unsigned received_ = 0;
    unsigned sent_ = 0;
    unsigned events_ = 0;
    timeval start_ = {};
    timeval end_ = {};
};

// Whether the queue pair takes messages of that size inline.
bool takes_inline(ibv_qp *qp, size_t size);

// Whether a request succeeded; if not, tells of it on stderr.
bool succeeded(int status, int request);

// Waits for the next event of the queue, counts it and asks for another. On failure writes the reason to
// stderr.
bool wait_for_event(ibv_comp_channel *channel, ibv_cq *expected, unsigned *events);

}  // namespace tools
