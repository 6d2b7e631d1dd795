// SPDX-License-Identifier: BSD-2-Clause
// ibv_srq_pingpong: two programs send each other messages in turn over several reliable connections, which
// receive into one shared queue.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "pingpong_game.hh"
#include "text.hh"

using namespace tools;

namespace {

constexpr unsigned kMostQps =
    256;  // addresses that the two sides exchange, whether there are queue pairs for them or not

constexpr OptionRow kRows[] = {
    kPortOption,
    kDeviceOption,
    kIbPortOption,
    kSizeOption,
    kMtuOption,
    with_argument("num-qp", 'q', "  -q, --num-qp=<num>     number of QPs to use (default 16)\n"),
    kRxDepthOption,
    with_argument("iters", 'n', "  -n, --iters=<iters>    number of exchanges per QP(default 1000)\n"),
    kServiceLevelOption,
    kEventsOption,
    kGidIndexOption,
    without_argument("odp", 'o', "  -o, --odp\t\t    use on demand paging\n"),
    kCheckOption};

struct Options : PingpongOptions {
    unsigned num_qps = 16;
    bool use_odp = false;
};

// The verbs objects of one side, and its part of the game. Each function writes the reason for a failure to
// stderr.
class SrqGame {
public:
    explicit SrqGame(const Options &options) : options_(options) {}
    SrqGame(const SrqGame &) = delete;
    SrqGame &operator=(const SrqGame &) = delete;
    ~SrqGame()
    {
        release(false);
        free(completions_);
    }

    bool run() { return set_up() && meet_peer() && play() && report() && release(true); }

private:
    bool set_up();
    bool register_memory();
    bool create_queues();
    bool bring_to_init();
    bool find_local_addresses();
    bool meet_peer();
    bool connect(std::span<const Address> remote);
    bool play();
    bool start();
    bool poll();
    bool take_completion(const ibv_wc &completion);
    bool keep_receiving();
    int post_receives(int count);
    bool post_send(ibv_qp *qp);
    bool report();
    bool release(bool checked);

    ibv_sge message() const
    {
        return {reinterpret_cast<uintptr_t>(buffer_.data()), static_cast<uint32_t>(buffer_.size()),
                mr_->lkey};
    }

    const Options &options_;
    PageBuffer buffer_;
    ibv_context *context_ = nullptr;
    ibv_comp_channel *channel_ = nullptr;
    ibv_pd *pd_ = nullptr;
    ibv_mr *mr_ = nullptr;
    ibv_cq *cq_ = nullptr;
    ibv_srq *srq_ = nullptr;
    ibv_qp *qps_[kMostQps] = {};
    Address local_[kMostQps] = {};
    int pending_[kMostQps] = {};  // what is still awaited before the next send
    unsigned send_flags_ = IBV_SEND_SIGNALED;
    ibv_wc *completions_ = nullptr;

    int receives_outstanding_ = 0;
    unsigned received_ = 0;
    unsigned sent_ = 0;
    unsigned events_ = 0;
    timeval start_ = {};
    timeval end_ = {};
};

bool SrqGame::register_memory()
{
    int access = IBV_ACCESS_LOCAL_WRITE;
    if (options_.use_odp) {
        constexpr uint32_t kNeeded = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
        ibv_device_attr_ex attr;
        if (ibv_query_device_ex(context_, nullptr, &attr))
            return failed("Couldn't query device for its features");
        if (!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT) ||
            (attr.odp_caps.per_transport_caps.rc_odp_caps & kNeeded) != kNeeded)
            return failed(
                "The device isn't ODP capable or does not support RC send, receive and srq with ODP");
        access |= IBV_ACCESS_ON_DEMAND;
    }
    mr_ = ibv_reg_mr(pd_, buffer_.data(), buffer_.size(), access);
    return mr_ || failed("Couldn't register MR");
}

bool SrqGame::create_queues()
{
    cq_ =
        ibv_create_cq(context_, options_.rx_depth + static_cast<int>(options_.num_qps), nullptr, channel_, 0);
    if (!cq_)
        return failed("Couldn't create CQ");
    ibv_srq_init_attr srq_attr = {};
    srq_attr.attr.max_wr = static_cast<uint32_t>(options_.rx_depth);
    srq_attr.attr.max_sge = 1;
    srq_ = ibv_create_srq(pd_, &srq_attr);
    if (!srq_)
        return failed("Couldn't create SRQ");
    for (unsigned i = 0; i < options_.num_qps; ++i) {
        ibv_qp_init_attr attr = {};
        attr.send_cq = cq_;
        attr.recv_cq = cq_;
        attr.srq = srq_;
        attr.cap.max_send_wr = 1;
        attr.cap.max_send_sge = 1;
        attr.qp_type = IBV_QPT_RC;
        qps_[i] = ibv_create_qp(pd_, &attr);
        if (!qps_[i]) {
            fprintf(stderr, "Couldn't create QP[%u]\n", i);
            return false;
        }
        if (takes_inline(qps_[i], buffer_.size()))
            send_flags_ |= IBV_SEND_INLINE;
    }
    return true;
}

bool SrqGame::bring_to_init()
{
    for (unsigned i = 0; i < options_.num_qps; ++i) {
        ibv_qp_attr attr = {};
        attr.qp_state = IBV_QPS_INIT;
        attr.port_num = static_cast<uint8_t>(options_.ib_port);
        if (ibv_modify_qp(qps_[i], &attr,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) {
            fprintf(stderr, "Failed to modify QP[%u] to INIT\n", i);
            return false;
        }
    }
    return true;
}

bool SrqGame::set_up()
{
    context_ = open_device(options_.device_name);
    if (!context_ || !buffer_.allocate(options_.size, 0, 0))
        return false;
    if (options_.use_events) {
        channel_ = ibv_create_comp_channel(context_);
        if (!channel_)
            return failed("Couldn't create completion channel");
    }
    pd_ = ibv_alloc_pd(context_);
    if (!pd_)
        return failed("Couldn't allocate PD");
    return register_memory() && create_queues() && bring_to_init();
}

bool SrqGame::find_local_addresses()
{
    static constexpr AddressRules kRules = {true, "Could not get local gid for gid index"};
    if (options_.num_qps == 0)
        return true;
    if (!query_local_address(context_, options_, kRules, &local_[0]))
        return false;
    for (unsigned i = 0; i < options_.num_qps; ++i) {
        local_[i] = local_[0];
        local_[i].qpn = qps_[i]->qp_num;
        local_[i].psn = random_psn();
        print_address("local address: ", local_[i]);
    }
    return true;
}

bool SrqGame::meet_peer()
{
    if (!keep_receiving())
        return false;
    if (options_.use_events && ibv_req_notify_cq(cq_, 0))
        return failed("Couldn't request CQ notification");
    if (!find_local_addresses())
        return false;

    Address remote[kMostQps] = {};
    if (options_.server) {
        if (!exchange_as_client(options_.server, options_.tcp_port, local_, remote))
            return false;
    } else {
        Connector connector = {[](void *self, std::span<const Address> peers) {
                                   return static_cast<SrqGame *>(self)->connect(peers);
                               },
                               this};
        if (!exchange_as_server(options_.tcp_port, local_, connector, remote))
            return false;
    }
    for (unsigned i = 0; i < options_.num_qps; ++i)
        print_address("remote address:", remote[i]);
    return !options_.server || connect(remote);
}

bool SrqGame::connect(std::span<const Address> remote)
{
    for (unsigned i = 0; i < options_.num_qps; ++i) {
        if (const char *missed = connect_qp(qps_[i], {options_, IBV_QPT_RC, local_[i].psn, remote[i]})) {
            fprintf(stderr, "Failed to modify QP[%u] to %s\n", i, missed);
            return false;
        }
    }
    return true;
}

int SrqGame::post_receives(int count)
{
    ibv_sge sge = message();
    ibv_recv_wr request = {};
    request.wr_id = kReceive;
    request.sg_list = &sge;
    request.num_sge = 1;
    for (int posted = 0; posted < count; ++posted) {
        ibv_recv_wr *refused;
        if (ibv_post_srq_recv(srq_, &request, &refused))
            return posted;
    }
    return count;
}

bool SrqGame::keep_receiving()
{
    receives_outstanding_ += post_receives(options_.rx_depth - receives_outstanding_);
    if (receives_outstanding_ >= options_.rx_depth)
        return true;
    fprintf(stderr, "Couldn't post receive (%d)\n", receives_outstanding_);
    return false;
}

bool SrqGame::post_send(ibv_qp *qp)
{
    ibv_sge sge = message();
    ibv_send_wr request = {};
    request.wr_id = kSend;
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = send_flags_;
    ibv_send_wr *refused;
    return ibv_post_send(qp, &request, &refused) == 0 || failed("Couldn't post send");
}

bool SrqGame::take_completion(const ibv_wc &completion)
{
    int request = static_cast<int>(completion.wr_id);
    if (!succeeded(number_of(completion.status), request))
        return false;
    ibv_qp **end = qps_ + options_.num_qps;
    ibv_qp **qp =
        std::find_if(qps_, end, [&](const ibv_qp *each) { return each->qp_num == completion.qp_num; });
    if (qp == end) {
        fprintf(stderr, "Couldn't find QPN %06x\n", completion.qp_num);
        return false;
    }
    switch (request) {
        case kSend:
            ++sent_;
            break;
        case kReceive:
            if (--receives_outstanding_ <= static_cast<int>(options_.num_qps) && !keep_receiving())
                return false;
            ++received_;
            break;
        default:
            fprintf(stderr, "Completion for unknown wr_id %d\n", request);
            return false;
    }
    int &pending = pending_[qp - qps_];
    pending &= ~request;
    if (sent_ < options_.iterations && !pending) {
        if (!post_send(*qp))
            return false;
        pending = kReceive | kSend;
    }
    return true;
}

// Takes what the completion queue has, waiting for something unless events do that.
bool SrqGame::poll()
{
    int count;
    do {
        count = ibv_poll_cq(cq_, options_.rx_depth + static_cast<int>(options_.num_qps), completions_);
        if (count < 0) {
            fprintf(stderr, "poll CQ failed %d\n", count);
            return false;
        }
    } while (!options_.use_events && count < 1);
    return std::all_of(completions_, completions_ + count,
                       [this](const ibv_wc &completion) { return take_completion(completion); });
}

// As the client, puts the data in place and sends first on each queue pair.
bool SrqGame::start()
{
    for (unsigned i = 0; i < options_.num_qps; ++i)
        pending_[i] = kReceive;
    if (!options_.server)
        return true;
    if (options_.check_data)
        buffer_.mark_pages();
    for (unsigned i = 0; i < options_.num_qps; ++i) {
        if (!post_send(qps_[i]))
            return false;
        pending_[i] |= kSend;
    }
    return true;
}

bool SrqGame::play()
{
    completions_ = static_cast<ibv_wc *>(
        calloc(static_cast<size_t>(options_.rx_depth) + options_.num_qps, sizeof *completions_));
    if (!completions_)
        return failed("Couldn't allocate work completions");
    if (!start() || !read_clock(&start_))
        return false;
    while (received_ < options_.iterations || sent_ < options_.iterations) {
        if (options_.use_events && !wait_for_event(channel_, cq_, &events_))
            return false;
        if (!poll())
            return false;
    }
    return read_clock(&end_);
}

bool SrqGame::report()
{
    report_rate(options_, start_, end_);
    if (options_.check_data && !options_.server)
        buffer_.check_pages();
    return true;
}

// Destroys what there is, the last made first. Checked, it stops at a failure and tells of it.
bool SrqGame::release(bool checked)
{
    if (cq_)
        ibv_ack_cq_events(cq_, events_);
    events_ = 0;
    for (unsigned i = 0; i < options_.num_qps; ++i) {
        if (qps_[i] && ibv_destroy_qp(qps_[i]) && checked) {
            fprintf(stderr, "Couldn't destroy QP[%u]\n", i);
            return false;
        }
        qps_[i] = nullptr;
    }
    return destroy(checked, srq_, ibv_destroy_srq, "Couldn't destroy SRQ") &&
           destroy(checked, cq_, ibv_destroy_cq, "Couldn't destroy CQ") &&
           destroy(checked, mr_, ibv_dereg_mr, "Couldn't deregister MR") &&
           destroy(checked, pd_, ibv_dealloc_pd, "Couldn't deallocate PD") &&
           destroy(checked, channel_, ibv_destroy_comp_channel, "Couldn't destroy completion channel") &&
           destroy(checked, context_, ibv_close_device, "Couldn't release context");
}

bool check_counts(const Options &options)
{
    if (!check_numbers(options))
        return false;
    if (options.num_qps == 0) {
        fprintf(stderr, "num_qp 0 must be at least 1\n");
        return false;
    }
    if (static_cast<unsigned>(options.rx_depth) < options.num_qps) {
        fprintf(stderr, "rx_depth %d is too small for %d QPs -- must have at least one receive per QP.\n",
                options.rx_depth, static_cast<int>(options.num_qps));
        return false;
    }
    if (options.num_qps >= kMostQps) {
        fprintf(stderr, "num_qp %d must be less than %d\n", static_cast<int>(options.num_qps),
                static_cast<int>(kMostQps - 1));
        return false;
    }
    return true;
}

}  // namespace

int main(int argc, char **argv)
{
    seed_psn();
    Options options;
    auto take = [&options](int letter, const char *argument) {
        if (letter == 'q')
            options.num_qps = static_cast<unsigned>(parse_int(argument));
        else if (letter == 'o')
            options.use_odp = true;
        else
            return take_option(letter, argument, &options) == Taken::kYes;
        return true;
    };
    if (!parse_options(argc, argv, kRows, &options, take)) {
        print_usage(argv[0], kRows);
        return 1;
    }
    return check_counts(options) && SrqGame(options).run() ? 0 : 1;
}
