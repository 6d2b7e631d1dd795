// SPDX-License-Identifier: BSD-2-Clause
// The game of the ping-pong programs that play it with one queue pair.
#include "pingpong_game.hh"

#include <cstdio>

#include "text.hh"

namespace tools {

ibv_ah_attr address_of(const PingpongOptions &options, const Address &remote)
{
    ibv_ah_attr attr = {};
    attr.dlid = static_cast<uint16_t>(remote.lid);
    attr.sl = static_cast<uint8_t>(options.service_level);
    attr.port_num = static_cast<uint8_t>(options.ib_port);
    if (remote.gid.global.interface_id) {
        attr.is_global = 1;
        attr.grh.hop_limit = 1;
        attr.grh.dgid = remote.gid;
        attr.grh.sgid_index = static_cast<uint8_t>(options.gid_index);
    }
    return attr;
}

const char *connect_qp(ibv_qp *qp, const Connection &connection)
{
    const bool reliable = connection.type == IBV_QPT_RC;
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = connection.options.path_mtu;
    attr.dest_qp_num = connection.remote.qpn;
    attr.rq_psn = connection.remote.psn;
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    attr.ah_attr = address_of(connection.options, connection.remote);
    int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (ibv_modify_qp(qp, &attr, mask | (reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)))
        return "RTR";

    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    attr.sq_psn = connection.local_psn;
    attr.max_rd_atomic = 1;
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (reliable)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return ibv_modify_qp(qp, &attr, mask) ? "RTS" : nullptr;
}

bool takes_inline(ibv_qp *qp, size_t size)
{
    ibv_qp_attr attr = {};
    ibv_qp_init_attr init_attr = {};
    ibv_query_qp(qp, &attr, IBV_QP_CAP, &init_attr);
    return init_attr.cap.max_inline_data >= size;
}

bool succeeded(int status, int request)
{
    if (status == IBV_WC_SUCCESS)
        return true;
    fprintf(stderr, "Failed status %s (%d) for wr_id %d\n",
            ibv_wc_status_str(static_cast<ibv_wc_status>(status)), status, request);
    return false;
}

bool wait_for_event(ibv_comp_channel *channel, ibv_cq *expected, unsigned *events)
{
    ibv_cq *cq;
    void *cq_context;
    if (ibv_get_cq_event(channel, &cq, &cq_context))
        return failed("Failed to get cq_event");
    ++*events;
    if (cq != expected) {
        fprintf(stderr, "CQ event for unknown CQ %p\n", static_cast<void *>(cq));
        return false;
    }
    if (ibv_req_notify_cq(cq, 0))
        return failed("Couldn't request CQ notification");
    return true;
}

bool Game::open()
{
    context_ = open_device(options_.device_name);
    return context_ && buffer_.allocate(options_.size);
}

bool Game::register_memory()
{
    mr_ = ibv_reg_mr(pd_, buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE);
    return mr_ || failed("Couldn't register MR");
}

bool Game::create_cq()
{
    cq_ = ibv_create_cq(context_, options_.rx_depth + 1, nullptr, channel_, 0);
    return cq_ || failed("Couldn't create CQ");
}

ibv_qp_cap Game::capabilities() const
{
    return {
        .max_send_wr = 1,
        .max_recv_wr = static_cast<uint32_t>(options_.rx_depth),
        .max_send_sge = 1,
        .max_recv_sge = 1,
    };
}

bool Game::make_qp()
{
    ibv_qp_init_attr attr = {};
    attr.send_cq = cq_;
    attr.recv_cq = cq_;
    attr.cap = capabilities();
    attr.qp_type = type_;
    qp_ = ibv_create_qp(pd_, &attr);
    return qp_ != nullptr;
}

bool Game::create_qp()
{
    if (!make_qp())
        return failed("Couldn't create QP");
    if (takes_inline(qp_, buffer_.message_size()) && may_send_inline())
        send_flags_ |= IBV_SEND_INLINE;
    return true;
}

bool Game::bring_to_init()
{
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = static_cast<uint8_t>(options_.ib_port);
    if (ibv_modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        return failed("Failed to modify QP to INIT");
    return true;
}

bool Game::set_up()
{
    if (!open())
        return false;
    if (options_.use_events) {
        channel_ = ibv_create_comp_channel(context_);
        if (!channel_)
            return failed("Couldn't create completion channel");
    }
    pd_ = ibv_alloc_pd(context_);
    if (!pd_)
        return failed("Couldn't allocate PD");
    return check_features() && register_memory() && create_cq() && create_qp() && bring_to_init();
}

bool Game::connect(const Address &remote)
{
    const char *missed = connect_qp(qp_, {options_, type_, local_.psn, remote});
    if (missed)
        fprintf(stderr, "Failed to modify QP to %s\n", missed);
    return !missed;
}

bool Game::meet_peer()
{
    if (!keep_receiving())
        return false;
    if (options_.use_events && ibv_req_notify_cq(cq_, 0))
        return failed("Couldn't request CQ notification");
    if (!query_local_address(context_, options_, *address_rules_, &local_))
        return false;
    local_.qpn = qp_->qp_num;
    local_.psn = random_psn();
    print_address("local address: ", local_, after_psn_);

    Address remote;
    if (options_.server) {
        if (!exchange_as_client(options_.server, options_.tcp_port, {&local_, 1}, {&remote, 1}))
            return false;
    } else {
        Connector connector = {[](void *self, std::span<const Address> peers) {
                                   return static_cast<Game *>(self)->connect(peers[0]);
                               },
                               this};
        if (!exchange_as_server(options_.tcp_port, {&local_, 1}, connector, {&remote, 1}))
            return false;
    }
    print_address("remote address:", remote);
    return !options_.server || connect(remote);
}

// Posts receives and returns how many it could post.
int Game::post_receives(int count)
{
    ibv_sge sge = {data_address(), static_cast<uint32_t>(buffer_.size()), mr_->lkey};
    ibv_recv_wr request = {};
    request.wr_id = kReceive;
    request.sg_list = &sge;
    request.num_sge = 1;
    for (int posted = 0; posted < count; ++posted) {
        ibv_recv_wr *refused;
        if (ibv_post_recv(qp_, &request, &refused))
            return posted;
    }
    return count;
}

// Posts as many receives as are missing.
bool Game::keep_receiving()
{
    receives_outstanding_ += post_receives(options_.rx_depth - receives_outstanding_);
    if (receives_outstanding_ >= options_.rx_depth)
        return true;
    fprintf(stderr, "Couldn't post receive (%d)\n", receives_outstanding_);
    return false;
}

ibv_send_wr Game::send_request(ibv_sge *sge) const
{
    sge->addr = data_address() + (buffer_.size() - buffer_.message_size());
    sge->length = static_cast<uint32_t>(buffer_.message_size());
    sge->lkey = mr_->lkey;
    ibv_send_wr request = {};
    request.wr_id = kSend;
    request.sg_list = sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = send_flags_;
    return request;
}

bool Game::post_send()
{
    ibv_sge sge;
    ibv_send_wr request = send_request(&sge);
    ibv_send_wr *refused;
    return ibv_post_send(qp_, &request, &refused) == 0;
}

bool Game::take_completion(uint64_t id, int status)
{
    int request = static_cast<int>(id);
    if (!succeeded(status, request))
        return false;
    switch (request) {
        case kSend:
            ++sent_;
            break;
        case kReceive:
            if (--receives_outstanding_ <= 1 && !keep_receiving())
                return false;
            ++received_;
            on_receive();
            break;
        default:
            fprintf(stderr, "Completion for unknown wr_id %d\n", request);
            return false;
    }
    pending_ &= ~request;
    if (sent_ < options_.iterations && !pending_) {
        if (!post_send())
            return failed("Couldn't post send");
        pending_ = kReceive | kSend;
    }
    return true;
}

int Game::poll()
{
    ibv_wc completions[2];
    int count;
    do {
        count = ibv_poll_cq(cq_, 2, completions);
        if (count < 0) {
            fprintf(stderr, "poll CQ failed %d\n", count);
            return 1;
        }
    } while (!options_.use_events && count < 1);
    for (int i = 0; i < count; ++i) {
        if (!take_completion(completions[i].wr_id, number_of(completions[i].status))) {
            on_failure(count);
            return 1;
        }
    }
    return 0;
}

bool Game::prepare_data()
{
    if (options_.check_data)
        buffer_.mark_pages();
    return true;
}

// As the client, sends first.
bool Game::start()
{
    pending_ = kReceive;
    if (!options_.server)
        return true;
    if (!prepare_data())
        return false;
    if (!post_send())
        return failed("Couldn't post send");
    pending_ |= kSend;
    return true;
}

int Game::play()
{
    if (!start() || !read_clock(&start_))
        return 1;
    while (received_ < options_.iterations || sent_ < options_.iterations) {
        if (options_.use_events && !wait_for_event(channel_, cq_, &events_))
            return 1;
        if (int status = poll())
            return status;
    }
    return read_clock(&end_) ? 0 : 1;
}

bool Game::report()
{
    report_rate(options_, start_, end_);
    report_more();
    if (!options_.check_data || options_.server)
        return true;
    if (!fetch_data())
        return false;
    buffer_.check_pages();
    return true;
}

// Destroys what there is, the last made first. Checked, it stops at a failure and tells of it.
bool Game::release(bool checked)
{
    if (cq_)
        ibv_ack_cq_events(cq_, events_);
    events_ = 0;
    return destroy(checked, qp_, ibv_destroy_qp, "Couldn't destroy QP") &&
           destroy(checked, cq_, ibv_destroy_cq, "Couldn't destroy CQ") &&
           destroy(checked, mr_, ibv_dereg_mr, "Couldn't deregister MR") && release_own(checked) &&
           destroy(checked, pd_, ibv_dealloc_pd, "Couldn't deallocate PD") &&
           destroy(checked, channel_, ibv_destroy_comp_channel, "Couldn't destroy completion channel") &&
           destroy(checked, context_, ibv_close_device, "Couldn't release context");
}

int Game::play_to_the_end()
{
    if (!set_up() || !meet_peer())
        return 1;
    if (int status = play())
        return status;
    return report() && release(true) ? 0 : 1;
}

int Game::run()
{
    if (!check_numbers(options_))
        return 1;
    int status = play_to_the_end();
    release(false);
    return status;
}

}  // namespace tools
