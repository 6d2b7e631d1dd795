// SPDX-License-Identifier: BSD-2-Clause
// ibv_rc_pingpong: two programs send each other a message in turn over a reliable connection.
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "pingpong_game.hh"
#include "text.hh"
#include "timestamp_statistics.hh"

using namespace tools;

namespace {

constexpr OptionRow kRows[] = {
    kPortOption,
    kDeviceOption,
    kIbPortOption,
    kSizeOption,
    kMtuOption,
    kRxDepthOption,
    kItersOption,
    kServiceLevelOption,
    kEventsOption,
    kGidIndexOption,
    without_argument("odp", 'o', "  -o, --odp\t\t    use on demand paging\n"),
    without_argument("iodp", 'O', "  -O, --iodp\t\t    use implicit on demand paging\n"),
    without_argument("prefetch", 'P', "  -P, --prefetch\t    prefetch an ODP MR\n"),
    without_argument("ts", 't', "  -t, --ts\t            get CQE with timestamp\n"),
    without_argument("chk", 'c', "  -c, --chk\t            validate received buffer\n"),
    without_argument("dm", 'j', "  -j, --dm\t            use device memory\n"),
    without_argument("new_send", 'N', "  -N, --new_send            use new post send WR API\n"),
};

struct Options : PingpongOptions {
    bool use_odp = false;
    bool use_implicit_odp = false;
    bool use_prefetch = false;
    bool use_timestamps = false;
    bool use_device_memory = false;
    bool use_new_send = false;
};

class RcGame final : public Game {
public:
    explicit RcGame(const Options &options) : Game(options, IBV_QPT_RC), rc_options_(options) {}

private:
    bool check_features() override;
    bool register_memory() override;
    bool create_cq() override;
    bool make_qp() override;
    bool may_send_inline() const override { return !dm_; }
    bool prepare_data() override;
    bool post_send() override;
    int poll() override { return cq_ex_ ? poll_with_timestamps() : Game::poll(); }
    void report_more() override;
    bool fetch_data() override;
    bool release_own(bool checked) override;
    uint64_t data_address() const override { return dm_ ? 0 : Game::data_address(); }
    void on_receive() override
    {
        if (cq_ex_)
            timestamps_.add(timestamp_);
    }
    void on_failure(int polled) override { fprintf(stderr, "parse WC failed %d\n", polled); }

    int poll_with_timestamps();

    const Options &rc_options_;
    ibv_dm *dm_ = nullptr;
    ibv_cq_ex *cq_ex_ = nullptr;  // with timestamps: the same object as cq_
    ibv_qp_ex *qp_ex_ = nullptr;  // with the new way to send: the same object as qp_
    TimestampStatistics timestamps_{0};
    uint64_t timestamp_ = 0;  // of the completion that is being taken
};

bool RcGame::check_features()
{
    if (!rc_options_.use_odp && !rc_options_.use_timestamps && !rc_options_.use_device_memory)
        return true;
    ibv_device_attr_ex attr;
    if (ibv_query_device_ex(context_, nullptr, &attr))
        return failed("Couldn't query device for its features");
    if (rc_options_.use_odp) {
        constexpr uint32_t kNeeded = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;
        if (!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT) ||
            (attr.odp_caps.per_transport_caps.rc_odp_caps & kNeeded) != kNeeded)
            return failed("The device isn't ODP capable or does not support RC send and receive with ODP");
        if (rc_options_.use_implicit_odp && !(attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT))
            return failed("The device doesn't support implicit ODP");
    }
    if (rc_options_.use_timestamps) {
        if (!attr.completion_timestamp_mask)
            return failed("The device isn't completion timestamp capable");
        timestamps_ = TimestampStatistics(attr.completion_timestamp_mask);
    }
    if (rc_options_.use_device_memory) {
        if (!attr.max_dm_size)
            return failed("Device doesn't support dm allocation");
        if (attr.max_dm_size < buffer_.size())
            return failed("Device memory is insufficient");
    }
    return true;
}

bool RcGame::register_memory()
{
    if (rc_options_.use_device_memory) {
        ibv_alloc_dm_attr attr = {};
        attr.length = buffer_.size();
        dm_ = ibv_alloc_dm(context_, &attr);
        if (!dm_)
            return failed("Dev mem allocation failed");
        mr_ = ibv_reg_dm_mr(pd_, dm_, 0, buffer_.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
    } else if (rc_options_.use_implicit_odp) {
        mr_ = ibv_reg_mr(pd_, nullptr, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
    } else if (rc_options_.use_odp) {
        mr_ = ibv_reg_mr(pd_, buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
    } else {
        mr_ = ibv_reg_mr(pd_, buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE);
    }
    if (!mr_)
        return failed("Couldn't register MR");

    if (rc_options_.use_prefetch) {
        ibv_sge sge = {reinterpret_cast<uintptr_t>(buffer_.data()), static_cast<uint32_t>(buffer_.size()),
                       mr_->lkey};
        int error =
            ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
        if (error)
            fprintf(stderr, "Couldn't prefetch MR(%d). Continue anyway\n", error);
    }
    return true;
}

bool RcGame::create_cq()
{
    if (!rc_options_.use_timestamps)
        return Game::create_cq();
    ibv_cq_init_attr_ex attr = {};
    attr.cqe = static_cast<uint32_t>(options_.rx_depth + 1);
    attr.channel = channel_;
    attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    cq_ex_ = ibv_create_cq_ex(context_, &attr);
    cq_ = cq_ex_ ? ibv_cq_ex_to_cq(cq_ex_) : nullptr;
    return cq_ || failed("Couldn't create CQ");
}

bool RcGame::make_qp()
{
    if (!rc_options_.use_new_send)
        return Game::make_qp();
    ibv_qp_init_attr_ex attr = {};
    attr.send_cq = cq_;
    attr.recv_cq = cq_;
    attr.cap = capabilities();
    attr.qp_type = IBV_QPT_RC;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attr.pd = pd_;
    attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
    qp_ = ibv_create_qp_ex(context_, &attr);
    qp_ex_ = qp_ ? ibv_qp_to_qp_ex(qp_) : nullptr;
    return qp_ex_ != nullptr;
}

// As Game::poll(), at most two completions at a time.
int RcGame::poll_with_timestamps()
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
        timestamp_ = ibv_wc_read_completion_ts(cq_ex_);
        return take_completion(cq_ex_->wr_id, number_of(cq_ex_->status)) ? 0 : 1;
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

bool RcGame::prepare_data()
{
    Game::prepare_data();
    if (dm_ && ibv_memcpy_to_dm(dm_, 0, buffer_.data(), buffer_.size()))
        return failed("Copy to dm buffer failed");
    return true;
}

bool RcGame::post_send()
{
    if (!qp_ex_)
        return Game::post_send();
    ibv_wr_start(qp_ex_);
    qp_ex_->wr_id = kSend;
    qp_ex_->wr_flags = send_flags_;
    ibv_wr_send(qp_ex_);
    ibv_wr_set_sge(qp_ex_, mr_->lkey, data_address(), static_cast<uint32_t>(buffer_.size()));
    return ibv_wr_complete(qp_ex_) == 0;
}

void RcGame::report_more()
{
    if (cq_ex_)
        timestamps_.report();
}

bool RcGame::fetch_data()
{
    if (dm_ && ibv_memcpy_from_dm(buffer_.data(), dm_, 0, buffer_.size()))
        return failed("Copy from DM buffer failed");
    return true;
}

bool RcGame::release_own(bool checked)
{
    auto free_dm = [](ibv_dm *dm) { return ibv_free_dm(dm); };
    return destroy(checked, dm_, free_dm, "Couldn't free DM");
}

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

}  // namespace

int main(int argc, char **argv)
{
    seed_psn();
    Options options;
    auto take = [&options](int letter, const char *argument) {
        Taken taken = take_option(letter, argument, &options);
        return taken == Taken::kYes || (taken == Taken::kUnknown && take_rc_option(letter, &options));
    };
    if (!parse_options(argc, argv, kRows, &options, take)) {
        print_usage(argv[0], kRows);
        return 1;
    }
    if (options.use_odp && options.use_device_memory) {
        failed("DM memory region can't be on demand");
        return 1;
    }
    if (options.use_prefetch && !options.use_odp) {
        failed("prefetch is valid only with on-demand memory region");
        return 1;
    }
    return RcGame(options).run();
}
