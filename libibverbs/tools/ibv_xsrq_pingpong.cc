// SPDX-License-Identifier: BSD-2-Clause
// ibv_xsrq_pingpong: a server and its clients send each other messages in turn over XRC, which receives into
// shared queues of the peer's process.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "pingpong_game.hh"
#include "text.hh"

using namespace tools;

namespace {

constexpr OptionRow kRows[] = {
    kPortOption,
    kDeviceOption,
    kIbPortOption,
    kSizeOption,
    with_argument("mtu", 'm', "  -m, --mtu=<size>       path MTU (default 2048)\n"),
    with_argument("clients", 'c', "  -c, --clients=<n>      number of clients (on server only, default 1)\n"),
    with_argument("num_tests", 'n', "  -n, --num_tests=<n>    number of tests per client (default 5)\n"),
    kServiceLevelOption,
    kEventsOption,
    without_argument("odp", 'o', "  -o, --odp\t\t    use on demand paging\n"),
    kGidIndexOption};

struct Options : PingpongOptions {
    unsigned num_clients = 1;
    bool use_odp = false;
};

// How the two sides close their conversation.
constexpr char kEnd[] = "END";

// The file that processes of one XRC domain share.
constexpr const char *kDomainFile = "/tmp/xrc_domain";

// Where a side's queues are: what the two tell each other.
struct XrcAddress {
    unsigned lid;
    unsigned recv_qpn;
    unsigned send_qpn;
    unsigned psn;
    unsigned srqn;
    ibv_gid gid;
};

// The text of an address, its NUL included: "LID:RECV_QPN:SEND_QPN:PSN:SRQN:GID" in hexadecimal.
struct Message {
    char text[sizeof("0000:000000:000000:000000:000000:00000000000000000000000000000000")];
};

Message encode(const XrcAddress &address)
{
    Message message;
    int length = snprintf(message.text, sizeof message.text,
                          "%04x:%06x:%06x:%06x:%06x:", address.lid & 0xffff, address.recv_qpn & 0xffffff,
                          address.send_qpn & 0xffffff, address.psn & 0xffffff, address.srqn & 0xffffff);
    encode_gid(address.gid, message.text + length);
    return message;
}

// The peer is not trusted to have sent an address: what cannot be read counts as zero.
XrcAddress decode(Message message)
{
    message.text[sizeof message.text - 1] = '\0';
    XrcAddress address = {};
    char digits[33] = {};
    sscanf(message.text, "%x:%x:%x:%x:%x:%32s", &address.lid, &address.recv_qpn, &address.send_qpn,
           &address.psn, &address.srqn, digits);
    address.gid = decode_gid(digits);
    return address;
}

void print(const char *whose, const XrcAddress &address)
{
    char gid[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, &address.gid, gid, sizeof gid);
    printf("%s: LID %04x, QPN RECV %06x SEND %06x, PSN %06x, SRQN %06x, GID %s\n", whose, address.lid,
           address.recv_qpn, address.send_qpn, address.psn, address.srqn, gid);
}

// What a server has for each client, and a client for its server.
struct Peer {
    ibv_qp *recv_qp;
    ibv_qp *send_qp;
    int socket;
    XrcAddress local;
    XrcAddress remote;
    unsigned sends_left;
};

bool failed_at(const char *what, unsigned index, const char *state)
{
    fprintf(stderr, "%s QP[%u] to %s\n", what, index, state);
    return false;
}

// The verbs objects of one side, and its part of the game. Each function writes the reason for a failure to
// stderr.
class XsrqGame {
public:
    explicit XsrqGame(const Options &options) : options_(options) {}
    XsrqGame(const XsrqGame &) = delete;
    XsrqGame &operator=(const XsrqGame &) = delete;
    ~XsrqGame();

    bool run() { return set_up() && meet_peers() && play() && part() && release(true); }

private:
    bool set_up();
    bool check_features();
    bool query_port();
    bool open_domain();
    bool create_cqs();
    bool create_srq();
    bool create_qps(unsigned index);
    bool post_receive();

    bool meet_peers() { return options_.server ? meet_server() : meet_clients(); }
    bool meet_server();
    bool meet_clients();
    bool find_local_address(Peer &peer);
    bool send_address(Peer &peer);
    bool receive_address(unsigned index);
    bool connect(unsigned index);

    bool play();
    bool post_send(Peer &peer);
    bool drain_receives(unsigned *outstanding);
    bool take_receive(const ibv_wc &completion);
    bool wait_for_sends();

    bool part();
    bool send_end(const Peer &peer);
    bool receive_end(const Peer &peer);
    bool release(bool checked);

    ibv_sge message() const
    {
        return {reinterpret_cast<uintptr_t>(buffer_.data()), static_cast<uint32_t>(buffer_.size()),
                mr_->lkey};
    }

    const Options &options_;
    PageBuffer buffer_;
    Peer *peers_ = nullptr;
    unsigned num_peers_ = 0;
    uint16_t lid_ = 0;
    ibv_context *context_ = nullptr;
    ibv_pd *pd_ = nullptr;
    ibv_mr *mr_ = nullptr;
    int domain_fd_ = -1;
    ibv_xrcd *domain_ = nullptr;
    ibv_comp_channel *channel_ = nullptr;
    ibv_cq *recv_cq_ = nullptr;
    ibv_cq *send_cq_ = nullptr;
    ibv_srq *srq_ = nullptr;
    unsigned events_ = 0;
};

XsrqGame::~XsrqGame()
{
    release(false);
    free(peers_);
}

bool XsrqGame::check_features()
{
    constexpr uint32_t kNeeded = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
    if (!options_.use_odp)
        return true;
    ibv_device_attr_ex attr;
    if (ibv_query_device_ex(context_, nullptr, &attr))
        return failed("Couldn't query device for its features");
    if (!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT) || (attr.xrc_odp_caps & kNeeded) != kNeeded)
        return failed("The device isn't ODP capable or does not support XRC send, receive and srq with ODP");
    return true;
}

bool XsrqGame::query_port()
{
    ibv_port_attr port;
    if (ibv_query_port(context_, static_cast<uint8_t>(options_.ib_port), &port))
        return failed("Failed to get port info");
    lid_ = port.lid;
    if (port.link_layer != IBV_LINK_LAYER_ETHERNET && !port.lid)
        return failed("Couldn't get local LID");
    return true;
}

bool XsrqGame::open_domain()
{
    domain_fd_ = open(kDomainFile, O_RDONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IRGRP);
    if (domain_fd_ < 0)
        fprintf(stderr, "Couldn't create the file for the XRC Domain but not stopping %d\n", errno);
    ibv_xrcd_init_attr attr = {};
    attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    attr.fd = domain_fd_;
    attr.oflags = O_CREAT;
    domain_ = ibv_open_xrcd(context_, &attr);
    if (!domain_)
        fprintf(stderr, "Couldn't Open the XRC Domain %d\n", errno);
    return domain_ != nullptr;
}

bool XsrqGame::create_cqs()
{
    recv_cq_ = ibv_create_cq(context_, static_cast<int>(options_.num_clients), this, channel_, 0);
    if (!recv_cq_)
        return failed("Couldn't create recv CQ");
    if (options_.use_events && ibv_req_notify_cq(recv_cq_, 0))
        return failed("Couldn't request CQ notification");
    send_cq_ = ibv_create_cq(context_, static_cast<int>(options_.num_clients), nullptr, nullptr, 0);
    return send_cq_ || failed("Couldn't create send CQ");
}

bool XsrqGame::create_srq()
{
    ibv_srq_init_attr_ex attr = {};
    attr.attr.max_wr = options_.num_clients;
    attr.attr.max_sge = 1;
    attr.comp_mask =
        IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD;
    attr.srq_type = IBV_SRQT_XRC;
    attr.xrcd = domain_;
    attr.cq = recv_cq_;
    attr.pd = pd_;
    srq_ = ibv_create_srq_ex(context_, &attr);
    return srq_ || failed("Couldn't create SRQ");
}

// Both queue pairs of a peer, in INIT.
bool XsrqGame::create_qps(unsigned index)
{
    constexpr int kMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    Peer &peer = peers_[index];
    ibv_qp_init_attr_ex recv_attr = {};
    recv_attr.qp_type = IBV_QPT_XRC_RECV;
    recv_attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    recv_attr.xrcd = domain_;
    peer.recv_qp = ibv_create_qp_ex(context_, &recv_attr);
    if (!peer.recv_qp) {
        fprintf(stderr, "Couldn't create recv QP[%u] errno %d\n", index, errno);
        return false;
    }
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = static_cast<uint8_t>(options_.ib_port);
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (ibv_modify_qp(peer.recv_qp, &attr, kMask))
        return failed_at("Failed to modify recv", index, "INIT");

    ibv_qp_init_attr send_attr = {};
    send_attr.send_cq = send_cq_;
    send_attr.cap.max_send_wr = options_.iterations;
    send_attr.cap.max_send_sge = 1;
    send_attr.qp_type = IBV_QPT_XRC_SEND;
    peer.send_qp = ibv_create_qp(pd_, &send_attr);
    if (!peer.send_qp) {
        fprintf(stderr, "Couldn't create send QP[%u] errno %d\n", index, errno);
        return false;
    }
    attr.qp_access_flags = 0;
    if (ibv_modify_qp(peer.send_qp, &attr, kMask))
        return failed_at("Failed to modify send", index, "INIT");
    return true;
}

bool XsrqGame::post_receive()
{
    ibv_sge sge = message();
    ibv_recv_wr request = {};
    request.wr_id = sge.addr;
    request.sg_list = &sge;
    request.num_sge = 1;
    ibv_recv_wr *refused;
    return ibv_post_srq_recv(srq_, &request, &refused) == 0 || failed("Failed to post receive to SRQ");
}

bool XsrqGame::set_up()
{
    context_ = open_device(options_.device_name, "IB device  not found");
    if (!context_)
        return failed("Failed to open device");
    if (!check_features() || !query_port() || !buffer_.allocate(options_.size, 0, 0))
        return false;
    peers_ = static_cast<Peer *>(calloc(options_.num_clients ? options_.num_clients : 1, sizeof *peers_));
    if (!peers_)
        return failed("Couldn't allocate work buf.");
    num_peers_ = options_.num_clients;
    for (unsigned i = 0; i < num_peers_; ++i)
        peers_[i].socket = -1;
    if (options_.use_events) {
        channel_ = ibv_create_comp_channel(context_);
        if (!channel_)
            return failed("Couldn't create completion channel");
    }
    pd_ = ibv_alloc_pd(context_);
    if (!pd_)
        return failed("Couldn't allocate PD");
    mr_ =
        ibv_reg_mr(pd_, buffer_.data(), buffer_.size(),
                   options_.use_odp ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND : IBV_ACCESS_LOCAL_WRITE);
    if (!mr_)
        return failed("Couldn't register MR");
    if (!open_domain() || !create_cqs() || !create_srq())
        return false;
    for (unsigned i = 0; i < num_peers_; ++i)
        if (!create_qps(i))
            return false;
    for (unsigned i = 0; i < num_peers_; ++i)
        if (!post_receive())
            return failed("Couldn't post receives");
    return true;
}

bool XsrqGame::find_local_address(Peer &peer)
{
    peer.local.lid = lid_;
    peer.local.recv_qpn = peer.recv_qp->qp_num;
    peer.local.send_qpn = peer.send_qp->qp_num;
    peer.local.psn = random_psn();
    if (options_.gid_index >= 0 && ibv_query_gid(context_, static_cast<uint8_t>(options_.ib_port),
                                                 options_.gid_index, &peer.local.gid)) {
        fprintf(stderr, "can't read sgid of index %d\n", options_.gid_index);
        return false;
    }
    uint32_t srqn;
    if (ibv_get_srq_num(srq_, &srqn))
        return failed("Couldn't get SRQ num");
    peer.local.srqn = srqn;
    return true;
}

bool XsrqGame::send_address(Peer &peer)
{
    if (!find_local_address(peer))
        return false;
    print("   local", peer.local);
    Message message = encode(peer.local);
    return send_all(peer.socket, &message, sizeof message) || failed("Couldn't send local address");
}

bool XsrqGame::receive_address(unsigned index)
{
    Message message;
    ssize_t length = receive_all(peers_[index].socket, &message, sizeof message);
    if (length != static_cast<ssize_t>(sizeof message)) {
        perror("client read");
        fprintf(stderr, "%d/%zu: Couldn't read remote address [%u]\n",
                length > 0 ? static_cast<int>(length) : 0, sizeof message, index);
        return false;
    }
    peers_[index].remote = decode(message);
    print("  remote", peers_[index].remote);
    return true;
}

bool XsrqGame::meet_server()
{
    Peer &server = peers_[0];  // NOLINT(clang-analyzer-core.NullDereference): there since set_up()
    server.socket = connect_to(options_.server, options_.tcp_port);
    return server.socket >= 0 && send_address(server) && receive_address(0) && connect(0);
}

bool XsrqGame::meet_clients()
{
    int listener = listen_at(options_.tcp_port, static_cast<int>(options_.num_clients));
    if (listener < 0)
        return false;
    bool met = true;
    for (unsigned i = 0; met && i < num_peers_; ++i) {
        peers_[i].socket = accept(listener, nullptr, nullptr);
        if (peers_[i].socket < 0)
            fprintf(stderr, "accept() failed for client %u\n", i);
        met = peers_[i].socket >= 0 && receive_address(i) && send_address(peers_[i]) && connect(i);
    }
    close(listener);
    return met;
}

bool XsrqGame::connect(unsigned index)
{
    const Peer &peer = peers_[index];
    ibv_qp_attr attr = {};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = options_.path_mtu;
    attr.dest_qp_num = peer.remote.send_qpn;
    attr.rq_psn = peer.remote.psn;
    attr.min_rnr_timer = 12;
    attr.ah_attr = address_of(options_, {peer.remote.lid, 0, 0, peer.remote.gid});
    attr.ah_attr.grh.hop_limit = attr.ah_attr.is_global ? 5 : 0;
    constexpr int kToRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (ibv_modify_qp(peer.recv_qp, &attr, kToRtr | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        return failed_at("Failed to modify recv", index, "RTR");
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.sq_psn = peer.local.psn;
    if (ibv_modify_qp(peer.recv_qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN))
        return failed_at("Failed to modify recv", index, "RTS");

    attr.qp_state = IBV_QPS_RTR;
    attr.dest_qp_num = peer.remote.recv_qpn;
    if (ibv_modify_qp(peer.send_qp, &attr, kToRtr))
        return failed_at("Failed to modify send", index, "RTR");
    attr.qp_state = IBV_QPS_RTS;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    if (ibv_modify_qp(peer.send_qp, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        return failed_at("Failed to modify send", index, "RTS");
    return true;
}

// The last message to a peer, and only that, completes.
bool XsrqGame::post_send(Peer &peer)
{
    ibv_sge sge = message();
    ibv_send_wr request = {};
    request.wr_id = static_cast<uint64_t>(&peer - peers_);
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = --peer.sends_left == 0 ? IBV_SEND_SIGNALED : 0;
    request.qp_type.xrc.remote_srqn = peer.remote.srqn;
    ibv_send_wr *refused;
    return ibv_post_send(peer.send_qp, &request, &refused) == 0 || failed("Couldn't post send");
}

bool XsrqGame::take_receive(const ibv_wc &completion)
{
    if (number_of(completion.status) != IBV_WC_SUCCESS) {
        fprintf(stderr, "Work completion error %d\n", number_of(completion.status));
        return false;
    }
    if (!post_receive())
        return false;
    for (unsigned i = 0; i < num_peers_; ++i)
        if (peers_[i].recv_qp->qp_num == completion.qp_num)
            return peers_[i].sends_left == 0 || post_send(peers_[i]);
    fprintf(stderr, "Unable to find qp %x\n", completion.qp_num);
    return false;
}

// Takes all that the queue has.
bool XsrqGame::drain_receives(unsigned *outstanding)
{
    for (;;) {
        ibv_wc completion;
        int count = ibv_poll_cq(recv_cq_, 1, &completion);
        if (count < 0) {
            fprintf(stderr, "Error polling cq %d\n", count);
            return false;
        }
        if (count == 0)
            return true;
        if (!take_receive(completion))
            return false;
        // A peer that plays more rounds than this side sends more than is waited for.
        if (*outstanding > 0)
            --*outstanding;
    }
}

bool XsrqGame::wait_for_sends()
{
    for (unsigned i = 0; i < num_peers_; ++i) {
        ibv_wc completion;
        int count;
        do {
            count = ibv_poll_cq(send_cq_, 1, &completion);
        } while (count == 0);
        if (count < 0) {
            fprintf(stderr, "Error polling cq %d\n", count);
            return false;
        }
        if (number_of(completion.status) != IBV_WC_SUCCESS) {
            fprintf(stderr, "Work completion error %d\n", number_of(completion.status));
            return false;
        }
    }
    return true;
}

bool XsrqGame::play()
{
    if (options_.iterations == 0)
        return true;
    for (unsigned i = 0; i < num_peers_; ++i) {
        peers_[i].sends_left = options_.iterations;
        if (!options_.server && !post_send(peers_[i]))
            return false;
    }
    for (unsigned outstanding = options_.iterations * options_.num_clients; outstanding > 0;) {
        if (options_.use_events && !wait_for_event(channel_, recv_cq_, &events_))
            return false;
        if (!drain_receives(&outstanding))
            return false;
    }
    if (!wait_for_sends())
        return false;
    if (options_.use_events)
        ibv_ack_cq_events(recv_cq_, events_);
    events_ = 0;
    return true;
}

bool XsrqGame::send_end(const Peer &peer)
{
    return send_all(peer.socket, kEnd, sizeof kEnd) || failed("Couldn't send termination ack");
}

bool XsrqGame::receive_end(const Peer &peer)
{
    char end[sizeof kEnd];
    ssize_t length = receive_all(peer.socket, end, sizeof end);
    if (length == static_cast<ssize_t>(sizeof end))
        return true;
    perror("client read");
    fprintf(stderr, "%d/%zu: Couldn't read remote termination ack\n",
            length > 0 ? static_cast<int>(length) : 0, sizeof end);
    return false;
}

// A client says that it has finished, and the server that it heard so, before anything is destroyed.
bool XsrqGame::part()
{
    for (unsigned i = 0; i < num_peers_; ++i) {
        const Peer &peer = peers_[i];
        bool parted =
            options_.server ? send_end(peer) && receive_end(peer) : receive_end(peer) && send_end(peer);
        if (!parted)
            return false;
    }
    return true;
}

// Destroys what there is, the last made first. Checked, it stops at a failure and tells of it.
bool XsrqGame::release(bool checked)
{
    if (events_ > 0)
        ibv_ack_cq_events(recv_cq_, events_);
    events_ = 0;
    for (unsigned i = 0; i < num_peers_; ++i) {
        Peer &peer = peers_[i];
        if (peer.socket >= 0)
            close(peer.socket);
        peer.socket = -1;
        char message[48];
        snprintf(message, sizeof message, "Couldn't destroy INI QP[%u]", i);
        if (!destroy(checked, peer.send_qp, ibv_destroy_qp, message))
            return false;
        snprintf(message, sizeof message, "Couldn't destroy TGT QP[%u]", i);
        if (!destroy(checked, peer.recv_qp, ibv_destroy_qp, message))
            return false;
    }
    auto close_domain = [](ibv_xrcd *domain) { return ibv_close_xrcd(domain); };
    if (!destroy(checked, srq_, ibv_destroy_srq, "Couldn't destroy SRQ") ||
        !destroy(checked, domain_, close_domain, "Couldn't close the XRC Domain"))
        return false;
    if (domain_fd_ >= 0 && close(domain_fd_) && checked)
        return failed("Couldn't close the file for the XRC Domain");
    domain_fd_ = -1;
    return destroy(checked, send_cq_, ibv_destroy_cq, "Couldn't destroy send CQ") &&
           destroy(checked, recv_cq_, ibv_destroy_cq, "Couldn't destroy recv CQ") &&
           destroy(checked, mr_, ibv_dereg_mr, "Couldn't deregister MR") &&
           destroy(checked, pd_, ibv_dealloc_pd, "Couldn't deallocate PD") &&
           destroy(checked, channel_, ibv_destroy_comp_channel, "Couldn't destroy completion channel") &&
           destroy(checked, context_, ibv_close_device, "Couldn't release context");
}

}  // namespace

int main(int argc, char **argv)
{
    seed_psn();
    Options options;
    options.iterations = 5;
    auto take = [&options](int letter, const char *argument) {
        switch (letter) {
            case 'i':
                options.ib_port = static_cast<int>(strtol(argument, nullptr, 0));
                return true;
            case 'c':
                options.num_clients = static_cast<unsigned>(parse_int(argument));
                return true;
            case 'o':
                options.use_odp = true;
                return true;
            default:
                return take_option(letter, argument, &options) == Taken::kYes;
        }
    };
    if (!parse_options(argc, argv, kRows, &options, take)) {
        print_usage(argv[0], kRows);
        return 1;
    }
    if (options.server)
        options.num_clients = 1;
    if (!check_numbers(options) || !XsrqGame(options).run())
        return 1;
    printf("success\n");
    return 0;
}
