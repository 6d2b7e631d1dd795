// SPDX-License-Identifier: BSD-2-Clause
// ibv_rc_pingpong: two programs send each other a message in turn over a reliable connection.
#include <getopt.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "pingpong.hh"
#include "text.hh"
#include "timestamp_statistics.hh"

using namespace tools;

namespace {

// Work request identifiers; while requests are outstanding, a mask of them.
enum WorkRequest : int {
    kReceive = 1,
    kSend = 2,
};

struct Options : PingpongOptions {
    bool use_odp = false;
    bool use_implicit_odp = false;
    bool use_prefetch = false;
    bool use_timestamps = false;
    bool use_device_memory = false;
    bool use_new_send = false;
};

// The verbs objects of one side, and its part of the game.
class Pingpong {
public:
    explicit Pingpong(const Options &options) : options_(options) {}
    Pingpong(const Pingpong &) = delete;
    Pingpong &operator=(const Pingpong &) = delete;
    ~Pingpong() { release(false); }

    // Each writes the reason for a failure to stderr.
    bool set_up();
    bool meet_peer();
    // The exit status: 0, or what went wrong.
    int play();
    bool report();
    bool tear_down() { return release(true); }

private:
    bool check_features();
    bool register_memory();
    bool create_cq();
    bool create_qp();
    bool bring_to_init();
    bool connect(const Address &remote);
    bool start();

    int post_receives(int count);
    bool post_send();
    bool take_completion(uint64_t id, int status, uint64_t timestamp);
    bool wait_for_event();
    int poll();
    int poll_with_timestamps();

    bool release(bool checked);

    const Options &options_;
    PageBuffer buffer_;
    ibv_context *context_ = nullptr;
    ibv_comp_channel *channel_ = nullptr;
    ibv_pd *pd_ = nullptr;
    ibv_dm *dm_ = nullptr;
    ibv_mr *mr_ = nullptr;
    ibv_cq_ex *cq_ex_ = nullptr;  // with timestamps: the same object as cq_
    ibv_cq *cq_ = nullptr;
    ibv_qp *qp_ = nullptr;
    ibv_qp_ex *qp_ex_ = nullptr;  // with the new way to send: the same object as qp_
    unsigned send_flags_ = IBV_SEND_SIGNALED;
    Address local_ = {};
    TimestampStatistics timestamps_{0};

    int receives_outstanding_ = 0;
    int pending_ = 0;  // what is still awaited before the next send
    unsigned received_ = 0;
    unsigned sent_ = 0;
    unsigned events_ = 0;
    timeval start_ = {};
    timeval end_ = {};
};

bool failed(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return false;
}

// Whether the device can do what the options ask of it.
bool Pingpong::check_features()
{
    if (!options_.use_odp && !options_.use_timestamps && !options_.use_device_memory)
        return true;
    ibv_device_attr_ex attr;
    if (ibv_query_device_ex(context_, nullptr, &attr))
        return failed("Couldn't query device for its features");
    if (options_.use_odp) {
        constexpr uint32_t kNeeded = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;
        if (!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT) ||
            (attr.odp_caps.per_transport_caps.rc_odp_caps & kNeeded) != kNeeded)
            return failed("The device isn't ODP capable or does not support RC send and receive with ODP");
        if (options_.use_implicit_odp && !(attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT))
            return failed("The device doesn't support implicit ODP");
    }
    if (options_.use_timestamps) {
        if (!attr.completion_timestamp_mask)
            return failed("The device isn't completion timestamp capable");
        timestamps_ = TimestampStatistics(attr.completion_timestamp_mask);
    }
    if (options_.use_device_memory) {
        if (!attr.max_dm_size)
            return failed("Device doesn't support dm allocation");
        if (attr.max_dm_size < buffer_.size())
            return failed("Device memory is insufficient");
    }
    return true;
}

bool Pingpong::register_memory()
{
    if (options_.use_device_memory) {
        ibv_alloc_dm_attr attr = {};
        attr.length = buffer_.size();
        dm_ = ibv_alloc_dm(context_, &attr);
        if (!dm_)
            return failed("Dev mem allocation failed");
        mr_ = ibv_reg_dm_mr(pd_, dm_, 0, buffer_.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
    } else if (options_.use_implicit_odp) {
        mr_ = ibv_reg_mr(pd_, nullptr, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
    } else if (options_.use_odp) {
        mr_ = ibv_reg_mr(pd_, buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
    } else {
        mr_ = ibv_reg_mr(pd_, buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE);
    }
    if (!mr_)
        return failed("Couldn't register MR");

    if (options_.use_prefetch) {
        ibv_sge sge = {reinterpret_cast<uintptr_t>(buffer_.data()), static_cast<uint32_t>(buffer_.size()),
                       mr_->lkey};
        int error =
            ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
        if (error)
            fprintf(stderr, "Couldn't prefetch MR(%d). Continue anyway\n", error);
    }
    return true;
}

bool Pingpong::create_cq()
{
    int entries = options_.rx_depth + 1;
    if (options_.use_timestamps) {
        ibv_cq_init_attr_ex attr = {};
        attr.cqe = static_cast<uint32_t>(entries);
        attr.channel = channel_;
        attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
        cq_ex_ = ibv_create_cq_ex(context_, &attr);
        cq_ = cq_ex_ ? ibv_cq_ex_to_cq(cq_ex_) : nullptr;
    } else {
        cq_ = ibv_create_cq(context_, entries, nullptr, channel_, 0);
    }
    return cq_ || failed("Couldn't create CQ");
}

bool Pingpong::create_qp()
{
    const ibv_qp_cap cap = {
        .max_send_wr = 1,
        .max_recv_wr = static_cast<uint32_t>(options_.rx_depth),
        .max_send_sge = 1,
        .max_recv_sge = 1,
    };
    if (options_.use_new_send) {
        ibv_qp_init_attr_ex attr = {};
        attr.send_cq = cq_;
        attr.recv_cq = cq_;
        attr.cap = cap;
        attr.qp_type = IBV_QPT_RC;
        attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        attr.pd = pd_;
        attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
        qp_ = ibv_create_qp_ex(context_, &attr);
        qp_ex_ = qp_ ? ibv_qp_to_qp_ex(qp_) : nullptr;
    } else {
        ibv_qp_init_attr attr = {};
        attr.send_cq = cq_;
        attr.recv_cq = cq_;
        attr.cap = cap;
        attr.qp_type = IBV_QPT_RC;
        qp_ = ibv_create_qp(pd_, &attr);
    }
    if (!qp_ || (options_.use_new_send && !qp_ex_))
        return failed("Couldn't create QP");

    ibv_qp_attr attr = {};
    ibv_qp_init_attr init_attr = {};
    ibv_query_qp(qp_, &attr, IBV_QP_CAP, &init_attr);
    if (init_attr.cap.max_inline_data >= buffer_.size() && !options_.use_device_memory)
        send_flags_ |= IBV_SEND_INLINE;
    return true;
}

bool Pingpong::bring_to_init()
{
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.pkey_index = 0;
    attr.port_num = static_cast<uint8_t>(options_.ib_port);
    attr.qp_access_flags = 0;
    if (ibv_modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        return failed("Failed to modify QP to INIT");
    return true;
}

bool Pingpong::set_up()
{
    context_ = open_device(options_.device_name);
    if (!context_ || !buffer_.allocate(options_.size))
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

// Takes the queue pair from INIT to where it sends and receives.
bool Pingpong::connect(const Address &remote)
{
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = options_.path_mtu;
    attr.dest_qp_num = remote.qpn;
    attr.rq_psn = remote.psn;
    attr.max_dest_rd_atomic = 1;
    attr.min_rnr_timer = 12;
    attr.ah_attr.dlid = static_cast<uint16_t>(remote.lid);
    attr.ah_attr.sl = static_cast<uint8_t>(options_.service_level);
    attr.ah_attr.port_num = static_cast<uint8_t>(options_.ib_port);
    if (remote.gid.global.interface_id) {
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh.hop_limit = 1;
        attr.ah_attr.grh.dgid = remote.gid;
        attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(options_.gid_index);
    }
    if (ibv_modify_qp(qp_, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        return failed("Failed to modify QP to RTR");

    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    attr.sq_psn = local_.psn;
    attr.max_rd_atomic = 1;
    if (ibv_modify_qp(qp_, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        return failed("Failed to modify QP to RTS");
    return true;
}

bool Pingpong::meet_peer()
{
    receives_outstanding_ = post_receives(options_.rx_depth);
    if (receives_outstanding_ < options_.rx_depth) {
        fprintf(stderr, "Couldn't post receive (%d)\n", receives_outstanding_);
        return false;
    }
    if (options_.use_events && ibv_req_notify_cq(cq_, 0))
        return failed("Couldn't request CQ notification");
    if (!query_local_address(context_, options_, &local_))
        return false;
    local_.qpn = qp_->qp_num;
    local_.psn = random_psn();
    print_address("local address: ", local_);

    Address remote;
    if (options_.server) {
        if (!exchange_as_client(options_.server, options_.tcp_port, local_, &remote))
            return false;
    } else {
        Connector connector = {
            [](void *self, const Address &peer) { return static_cast<Pingpong *>(self)->connect(peer); },
            this};
        if (!exchange_as_server(options_.tcp_port, local_, connector, &remote))
            return false;
    }
    print_address("remote address:", remote);
    return !options_.server || connect(remote);
}

// Posts receives and returns how many it could post.
int Pingpong::post_receives(int count)
{
    ibv_sge sge = {dm_ ? 0 : reinterpret_cast<uintptr_t>(buffer_.data()),
                   static_cast<uint32_t>(buffer_.size()), mr_->lkey};
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

bool Pingpong::post_send()
{
    ibv_sge sge = {dm_ ? 0 : reinterpret_cast<uintptr_t>(buffer_.data()),
                   static_cast<uint32_t>(buffer_.size()), mr_->lkey};
    if (qp_ex_) {
        ibv_wr_start(qp_ex_);
        qp_ex_->wr_id = kSend;
        qp_ex_->wr_flags = send_flags_;
        ibv_wr_send(qp_ex_);
        ibv_wr_set_sge(qp_ex_, sge.lkey, sge.addr, sge.length);
        return ibv_wr_complete(qp_ex_) == 0;
    }
    ibv_send_wr request = {};
    request.wr_id = kSend;
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = send_flags_;
    ibv_send_wr *refused;
    return ibv_post_send(qp_, &request, &refused) == 0;
}

bool Pingpong::take_completion(uint64_t id, int status, uint64_t timestamp)
{
    int request = static_cast<int>(id);
    if (status != IBV_WC_SUCCESS) {
        fprintf(stderr, "Failed status %s (%d) for wr_id %d\n",
                ibv_wc_status_str(static_cast<ibv_wc_status>(status)), status, request);
        return false;
    }
    switch (request) {
        case kSend:
            ++sent_;
            break;
        case kReceive:
            if (--receives_outstanding_ <= 1) {
                receives_outstanding_ += post_receives(options_.rx_depth - receives_outstanding_);
                if (receives_outstanding_ < options_.rx_depth) {
                    fprintf(stderr, "Couldn't post receive (%d)\n", receives_outstanding_);
                    return false;
                }
            }
            ++received_;
            if (cq_ex_)
                timestamps_.add(timestamp);
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

bool Pingpong::wait_for_event()
{
    ibv_cq *cq;
    void *cq_context;
    if (ibv_get_cq_event(channel_, &cq, &cq_context))
        return failed("Failed to get cq_event");
    ++events_;
    if (cq != cq_) {
        fprintf(stderr, "CQ event for unknown CQ %p\n", static_cast<void *>(cq));
        return false;
    }
    if (ibv_req_notify_cq(cq_, 0))
        return failed("Couldn't request CQ notification");
    return true;
}

// Takes what the completion queue has, waiting for something unless events do that. Returns 0 or an exit status.
int Pingpong::poll()
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
        if (!take_completion(completions[i].wr_id, number_of(completions[i].status), 0)) {
            fprintf(stderr, "parse WC failed %d\n", count);
            return 1;
        }
    }
    return 0;
}

// The same for a completion queue with timestamps, at most two completions at a time.
int Pingpong::poll_with_timestamps()
{
    ibv_poll_cq_attr attr = {};
    int error;
    do {
        error = ibv_start_poll(cq_ex_, &attr);
    } while (!options_.use_events && error == ENOENT);
    if (error) {
        fprintf(stderr, "poll CQ failed %d\n", error);
        return error;
    }
    auto take = [this] {
        return take_completion(cq_ex_->wr_id, number_of(cq_ex_->status), ibv_wc_read_completion_ts(cq_ex_))
                   ? 0
                   : 1;
    };
    if (int failed_first = take()) {
        ibv_end_poll(cq_ex_);
        return failed_first;
    }
    error = ibv_next_poll(cq_ex_);
    if (!error)
        error = take();
    ibv_end_poll(cq_ex_);
    if (error && error != ENOENT) {
        fprintf(stderr, "poll CQ failed %d\n", error);
        return error;
    }
    return 0;
}

// As the client, puts the data in place and sends first.
bool Pingpong::start()
{
    pending_ = kReceive;
    if (!options_.server)
        return true;
    if (options_.check_data)
        buffer_.mark_pages();
    if (dm_ && ibv_memcpy_to_dm(dm_, 0, buffer_.data(), buffer_.size()))
        return failed("Copy to dm buffer failed");
    if (!post_send())
        return failed("Couldn't post send");
    pending_ |= kSend;
    return true;
}

int Pingpong::play()
{
    if (!start() || !read_clock(&start_))
        return 1;
    while (received_ < options_.iterations || sent_ < options_.iterations) {
        if (options_.use_events && !wait_for_event())
            return 1;
        if (int status = cq_ex_ ? poll_with_timestamps() : poll())
            return status;
    }
    return read_clock(&end_) ? 0 : 1;
}

bool Pingpong::report()
{
    report_rate(options_, start_, end_);
    if (cq_ex_)
        timestamps_.report();
    if (options_.check_data && !options_.server) {
        if (dm_ && ibv_memcpy_from_dm(buffer_.data(), dm_, 0, buffer_.size()))
            return failed("Copy from DM buffer failed");
        buffer_.check_pages();
    }
    return true;
}

// Destroys what there is, the last made first. Checked, it stops at a failure and tells of it.
bool Pingpong::release(bool checked)
{
    if (cq_)
        ibv_ack_cq_events(cq_, events_);
    events_ = 0;
    auto destroy = [checked](auto *&object, auto destroyer, const char *message) {
        if (object && destroyer(object) && checked)
            return failed(message);
        object = nullptr;
        return true;
    };
    return destroy(qp_, ibv_destroy_qp, "Couldn't destroy QP") &&
           destroy(cq_, ibv_destroy_cq, "Couldn't destroy CQ") &&
           destroy(mr_, ibv_dereg_mr, "Couldn't deregister MR") &&
           destroy(
               dm_, [](ibv_dm *dm) { return ibv_free_dm(dm); }, "Couldn't free DM") &&
           destroy(pd_, ibv_dealloc_pd, "Couldn't deallocate PD") &&
           destroy(channel_, ibv_destroy_comp_channel, "Couldn't destroy completion channel") &&
           destroy(context_, ibv_close_device, "Couldn't release context");
}

void print_usage(const char *program)
{
    printf(
        "Usage:\n"
        "  %s            start a server and wait for connection\n"
        "  %s <host>     connect to server at <host>\n"
        "\n"
        "Options:\n"
        "  -p, --port=<port>      listen on/connect to port <port> (default 18515)\n"
        "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n"
        "  -i, --ib-port=<port>   use port <port> of IB device (default 1)\n"
        "  -s, --size=<size>      size of message to exchange (default 4096)\n"
        "  -m, --mtu=<size>       path MTU (default 1024)\n"
        "  -r, --rx-depth=<dep>   number of receives to post at a time (default 500)\n"
        "  -n, --iters=<iters>    number of exchanges (default 1000)\n"
        "  -l, --sl=<sl>          service level value\n"
        "  -e, --events           sleep on CQ events (default poll)\n"
        "  -g, --gid-idx=<gid index> local port gid index\n"
        "  -o, --odp\t\t    use on demand paging\n"
        "  -O, --iodp\t\t    use implicit on demand paging\n"
        "  -P, --prefetch\t    prefetch an ODP MR\n"
        "  -t, --ts\t            get CQE with timestamp\n"
        "  -c, --chk\t            validate received buffer\n"
        "  -j, --dm\t            use device memory\n"
        "  -N, --new_send            use new post send WR API\n",
        program, program);
}

constexpr option kLongOptions[] = {
    {"port", required_argument, nullptr, 'p'},    {"ib-dev", required_argument, nullptr, 'd'},
    {"ib-port", required_argument, nullptr, 'i'}, {"size", required_argument, nullptr, 's'},
    {"mtu", required_argument, nullptr, 'm'},     {"rx-depth", required_argument, nullptr, 'r'},
    {"iters", required_argument, nullptr, 'n'},   {"sl", required_argument, nullptr, 'l'},
    {"events", no_argument, nullptr, 'e'},        {"gid-idx", required_argument, nullptr, 'g'},
    {"odp", no_argument, nullptr, 'o'},           {"iodp", no_argument, nullptr, 'O'},
    {"prefetch", no_argument, nullptr, 'P'},      {"ts", no_argument, nullptr, 't'},
    {"chk", no_argument, nullptr, 'c'},           {"dm", no_argument, nullptr, 'j'},
    {"new_send", no_argument, nullptr, 'N'},      {},
};

bool take_rc_option(int letter, Options *options)
{
    switch (letter) {
        case 'O':
            options->use_implicit_odp = true;
            [[fallthrough]];
        case 'o':
            options->use_odp = true;
            return true;
        case 'P':
            options->use_prefetch = true;
            return true;
        case 't':
            options->use_timestamps = true;
            return true;
        case 'j':
            options->use_device_memory = true;
            return true;
        case 'N':
            options->use_new_send = true;
            return true;
        default:
            return false;
    }
}

bool parse_options(int argc, char **argv, Options *options)
{
    for (int letter;
         (letter = getopt_long(argc, argv, "p:d:i:s:m:r:n:l:eg:oOPtcjN", kLongOptions, nullptr)) != -1;) {
        Taken taken = take_option(letter, optarg, options);
        if (taken == Taken::kInvalid || (taken == Taken::kUnknown && !take_rc_option(letter, options)))
            return false;
    }
    return take_server(argc, argv, optind, options);
}

}  // namespace

int main(int argc, char **argv)
{
    seed_psn();
    Options options;
    if (!parse_options(argc, argv, &options)) {
        print_usage(argv[0]);
        return 1;
    }
    if (options.use_odp && options.use_device_memory) {
        fprintf(stderr, "DM memory region can't be on demand\n");
        return 1;
    }
    if (options.use_prefetch && !options.use_odp) {
        fprintf(stderr, "prefetch is valid only with on-demand memory region\n");
        return 1;
    }
    Pingpong pingpong(options);
    if (!pingpong.set_up() || !pingpong.meet_peer())
        return 1;
    if (int status = pingpong.play())
        return status;
    return pingpong.report() && pingpong.tear_down() ? 0 : 1;
}
