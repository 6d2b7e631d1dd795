// SPDX-License-Identifier: BSD-2-Clause
// ibv_ud_pingpong: two programs send each other a datagram in turn.
#include <cstdio>

#include "pingpong_game.hh"

using namespace tools;

namespace {

constexpr OptionRow kRows[] = {
    kPortOption,
    kDeviceOption,
    kIbPortOption,
    with_argument("size", 's', "  -s, --size=<size>      size of message to exchange (default 2048)\n"),
    kRxDepthOption,
    kItersOption,
    with_argument("sl", 'l', "  -l, --sl=<SL>          send messages with service level <SL> (default 0)\n"),
    kEventsOption,
    kGidIndexOption,
    kCheckOption};

constexpr uint32_t kQkey = 0x11111111;
constexpr int kGrhSize = 40;  // of what a receive puts in front of a datagram (IBTA 11.4.1.2)

class UdGame final : public Game {
public:
    explicit UdGame(const PingpongOptions &options) : Game(options, IBV_QPT_UD)
    {
        static constexpr AddressRules kRules = {false, "Could not get local gid for gid index"};
        address_rules_ = &kRules;
        after_psn_ = ":";
    }

private:
    bool open() override
    {
        context_ = open_device(options_.device_name);
        return context_ && fits_into_mtu() && buffer_.allocate(options_.size, kGrhSize);
    }

    bool fits_into_mtu()
    {
        ibv_port_attr port;
        if (ibv_query_port(context_, static_cast<uint8_t>(options_.ib_port), &port)) {
            fprintf(stderr, "Unable to query port info for port %d\n", options_.ib_port);
            return false;
        }
        int mtu = 1 << (port.active_mtu + 7);
        if (options_.size <= mtu)
            return true;
        fprintf(stderr, "Requested size larger than port MTU (%d)\n", mtu);
        return false;
    }

    bool bring_to_init() override
    {
        ibv_qp_attr attr = {};
        attr.qp_state = IBV_QPS_INIT;
        attr.port_num = static_cast<uint8_t>(options_.ib_port);
        attr.qkey = kQkey;
        if (ibv_modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
            return failed("Failed to modify QP to INIT");
        return true;
    }

    bool connect(const Address &remote) override
    {
        ibv_qp_attr attr = {};
        attr.qp_state = IBV_QPS_RTR;
        if (ibv_modify_qp(qp_, &attr, IBV_QP_STATE))
            return failed("Failed to modify QP to RTR");
        attr.qp_state = IBV_QPS_RTS;
        attr.sq_psn = local_.psn;
        if (ibv_modify_qp(qp_, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
            return failed("Failed to modify QP to RTS");
        ibv_ah_attr ah_attr = address_of(options_, remote);
        ah_ = ibv_create_ah(pd_, &ah_attr);
        remote_qpn_ = remote.qpn;
        return ah_ || failed("Failed to create AH");
    }

    bool post_send() override
    {
        ibv_sge sge;
        ibv_send_wr request = send_request(&sge);
        request.wr.ud.ah = ah_;
        request.wr.ud.remote_qpn = remote_qpn_;
        request.wr.ud.remote_qkey = kQkey;
        ibv_send_wr *refused;
        return ibv_post_send(qp_, &request, &refused) == 0;
    }

    bool release_own(bool checked) override
    {
        return destroy(checked, ah_, ibv_destroy_ah, "Couldn't destroy AH");
    }

    ibv_ah *ah_ = nullptr;
    uint32_t remote_qpn_ = 0;
};

}  // namespace

int main(int argc, char **argv)
{
    seed_psn();
    PingpongOptions options;
    options.size = 1024;  // whatever the usage text has said so far
    auto take = [&options](int letter, const char *argument) {
        return take_option(letter, argument, &options) == Taken::kYes;
    };
    if (!parse_options(argc, argv, kRows, &options, take)) {
        print_usage(argv[0], kRows);
        return 1;
    }
    return UdGame(options).run();
}
