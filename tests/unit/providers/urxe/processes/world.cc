// SPDX-License-Identifier: BSD-2-Clause
// Making processes, and the verbs objects that most of them need.
#include "world.hh"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>

namespace processes {
namespace {

// Before there are threads: the library reads the environment whenever it is asked for devices.
[[maybe_unused]] const int kEnvironmentError = setenv("URXE", "lo", 1);

}  // namespace

void fail_process(const char *file, int line, const char *condition)
{
    std::fprintf(stderr, "%s:%d: process %d: %s does not hold; errno %d (%s)\n", file, line, getpid(),
                 condition, errno, strerror(errno));
    _exit(1);
}

uint64_t now_ms()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

void pause_since(uint64_t begin)
{
    sched_yield();
    REQUIRE(now_ms() - begin < kDeadline / 2);
}

bool Link::has_more() const
{
    pollfd poll = {.fd = file_, .events = POLLIN, .revents = 0};
    return ::poll(&poll, 1, 0) == 1;
}

void Link::wait_for_end()
{
    char byte;
    ssize_t count;
    do
        count = recv(file_, &byte, 1, 0);
    while (count == 1 || (count < 0 && errno == EINTR));
}

void Link::send_bytes(const void *bytes, size_t size)
{
    REQUIRE(::send(file_, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
}

void Link::receive_bytes(void *bytes, size_t size)
{
    // A process that was stopped in it is told so.
    for (size_t done = 0; done < size;) {
        const ssize_t some = recv(file_, static_cast<char *>(bytes) + done, size - done, 0);
        REQUIRE(some > 0 || (some < 0 && errno == EINTR));
        done += static_cast<size_t>(std::max<ssize_t>(some, 0));
    }
}

void refuse_copies()
{
    const auto refuse = [](uint32_t call) {
        return std::array{sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
                          sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
    };
    const auto reads = refuse(SYS_process_vm_readv), writes = refuse(SYS_process_vm_writev);
    sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                             reads[0],
                             reads[1],
                             writes[0],
                             writes[1],
                             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter = {.len = std::size(program), .filter = program};
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

World::~World()
{
    for (const pid_t process : running_) {
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
    }
    for (const int file : files_)
        close(file);
}

pid_t World::start(std::function<void()> body)
{
    std::fflush(stdout);
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        body();
        // Not _exit(): what checks for leaks runs at the end.
        std::exit(testing::Test::HasFailure() ? 1 : 0);
    }
    EXPECT_GT(process, 0);
    if (process > 0)
        running_.push_back(process);
    return process;
}

World::Pair World::pair()
{
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const timeval limit = {.tv_sec = kDeadline / 2000, .tv_usec = 0};
    for (const int end : ends) {
        setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        files_.push_back(end);
    }
    return {Link(ends[0]), Link(ends[1])};
}

void World::wait(pid_t process, bool is_killed)
{
    const uint64_t begin = now_ms();
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(process, &status, WNOHANG)) == 0) {
        if (now_ms() - begin > kDeadline) {
            ADD_FAILURE() << "process " << process << " hangs";
            kill(process, SIGABRT);
            waitpid(process, &status, 0);
            break;
        }
        usleep(1000);
    }
    std::erase(running_, process);
    if (is_killed)
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
    else
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

void World::wait_for_all()
{
    while (!running_.empty())
        wait(running_.front());
}

void World::run(const std::function<void(Link &)> &left, const std::function<void(Link &)> &right)
{
    World world;
    Pair pair = world.pair();
    world.start([&] {
        close(pair.right.file());
        left(pair.left);
    });
    world.start([&] {
        close(pair.left.file());
        right(pair.right);
    });
    for (const int file : {pair.left.file(), pair.right.file()}) {
        close(file);
        std::erase(world.files_, file);
    }
    world.wait_for_all();
}

ibv_context *open_loopback()
{
    int count = 0;
    ibv_device **list = ibv_get_device_list(&count);
    ibv_context *context = nullptr;
    for (int i = 0; i < count; ++i)
        if (std::strcmp(ibv_get_device_name(list[i]), "urxe_lo") == 0)
            context = ibv_open_device(list[i]);
    if (list != nullptr)
        ibv_free_device_list(list);
    return context;
}

Device::Device() : context_(open_loopback())
{
    REQUIRE(context_ != nullptr);
    pd_ = ibv_alloc_pd(context_);
    REQUIRE(pd_ != nullptr);
    REQUIRE(ibv_query_gid(context_, 1, 0, &gid_) == 0);
}

Device::~Device()
{
    for (ibv_qp *qp : qps_)
        REQUIRE(ibv_destroy_qp(qp) == 0);
    for (ibv_srq *srq : srqs_)
        REQUIRE(ibv_destroy_srq(srq) == 0);
    for (ibv_cq *cq : cqs_)
        REQUIRE(ibv_destroy_cq(cq) == 0);
    for (ibv_comp_channel *channel : channels_)
        REQUIRE(ibv_destroy_comp_channel(channel) == 0);
    for (ibv_mr *mr : mrs_)
        REQUIRE(ibv_dereg_mr(mr) == 0);
    REQUIRE(ibv_dealloc_pd(pd_) == 0);
    REQUIRE(ibv_close_device(context_) == 0);
}

ibv_comp_channel *Device::channel()
{
    ibv_comp_channel *channel = ibv_create_comp_channel(context_);
    REQUIRE(channel != nullptr);
    channels_.push_back(channel);
    return channel;
}

ibv_cq *Device::cq(int cqe, ibv_comp_channel *channel)
{
    ibv_cq *cq = ibv_create_cq(context_, cqe, nullptr, channel, 0);
    REQUIRE(cq != nullptr);
    cqs_.push_back(cq);
    return cq;
}

ibv_cq_ex *Device::cq_ex(uint64_t wc_flags)
{
    ibv_cq_init_attr_ex attr{};
    attr.cqe = 512;
    attr.wc_flags = wc_flags;
    ibv_cq_ex *cq = ibv_create_cq_ex(context_, &attr);
    REQUIRE(cq != nullptr);
    cqs_.push_back(ibv_cq_ex_to_cq(cq));
    return cq;
}

ibv_srq *Device::tag_srq(ibv_cq *cq, uint32_t max_wr, const ibv_tm_cap &cap)
{
    ibv_srq_init_attr_ex attr{};
    attr.attr = {.max_wr = max_wr, .max_sge = 4, .srq_limit = 0};
    attr.comp_mask =
        IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
    attr.srq_type = IBV_SRQT_TM;
    attr.pd = pd_;
    attr.cq = cq;
    attr.tm_cap = cap;
    ibv_srq *srq = ibv_create_srq_ex(context_, &attr);
    REQUIRE(srq != nullptr);
    srqs_.push_back(srq);
    return srq;
}

ibv_srq *Device::srq(uint32_t max_wr)
{
    ibv_srq_init_attr attr{};
    attr.attr = {.max_wr = max_wr, .max_sge = 4, .srq_limit = 0};
    ibv_srq *srq = ibv_create_srq(pd_, &attr);
    REQUIRE(srq != nullptr);
    srqs_.push_back(srq);
    return srq;
}

ibv_qp *Device::qp(ibv_cq *cq, const QpOptions &options)
{
    ibv_qp_init_attr attr{};
    attr.send_cq = cq;
    attr.recv_cq = options.recv_cq != nullptr ? options.recv_cq : cq;
    attr.srq = options.srq;
    attr.cap = {.max_send_wr = options.depth,
                .max_recv_wr = options.srq != nullptr ? 0 : options.depth,
                .max_send_sge = options.sges,
                .max_recv_sge = options.sges,
                .max_inline_data = options.inline_data};
    attr.qp_type = options.type;
    attr.sq_sig_all = options.signals_all ? 1 : 0;
    ibv_qp *qp = ibv_create_qp(pd_, &attr);
    REQUIRE(qp != nullptr);
    qps_.push_back(qp);
    return qp;
}

ibv_mr *Device::mr(void *memory, size_t size, int access)
{
    ibv_mr *mr = ibv_reg_mr(pd_, memory, size, access);
    REQUIRE(mr != nullptr);
    mrs_.push_back(mr);
    return mr;
}

void Device::destroy(ibv_qp *qp)
{
    std::erase(qps_, qp);
    REQUIRE(ibv_destroy_qp(qp) == 0);
}

void Device::deregister(ibv_mr *mr)
{
    std::erase(mrs_, mr);
    REQUIRE(ibv_dereg_mr(mr) == 0);
}

ibv_ah_attr Device::path_to(const ibv_gid &gid) const
{
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.grh.dgid = gid;
    attr.grh.hop_limit = 64;
    attr.port_num = 1;
    return attr;
}

void Device::to_init(ibv_qp *qp)
{
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qkey = kQkey;
    attr.qp_access_flags = kAllAccess;
    const int last = qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
    REQUIRE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | last) == 0);
}

void Device::to_rtr(ibv_qp *qp, const Address &to) const
{
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    int mask = IBV_QP_STATE;
    if (qp->qp_type != IBV_QPT_UD) {
        attr.ah_attr = path_to(to.gid);
        attr.path_mtu = IBV_MTU_4096;
        attr.dest_qp_num = to.qp_num;
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    }
    if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_RECV) {
        attr.max_dest_rd_atomic = 16;
        attr.min_rnr_timer = 1;
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    }
    REQUIRE(ibv_modify_qp(qp, &attr, mask) == 0);
}

int Device::try_rts(ibv_qp *qp, const PathOptions &options)
{
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = options.timeout;
    attr.retry_cnt = options.retry_cnt;
    attr.rnr_retry = options.rnr_retry;
    attr.max_rd_atomic = 16;
    int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return ibv_modify_qp(qp, &attr, mask);
}

void Device::to_rts(ibv_qp *qp, const PathOptions &options)
{
    REQUIRE(try_rts(qp, options) == 0);
}

void Device::connect(ibv_qp *qp, const Address &to, const PathOptions &options) const
{
    to_init(qp);
    to_rtr(qp, to);
    to_rts(qp, options);
}

Address Device::join(ibv_qp *qp, Link &link, const PathOptions &options) const
{
    link.send(address(qp));
    const auto to = link.receive<Address>();
    connect(qp, to, options);
    link.meet();
    return to;
}

std::vector<ibv_wc> poll(ibv_cq *cq, size_t count)
{
    std::vector<ibv_wc> all(count);
    size_t got = 0;
    for (const uint64_t begin = now_ms(); got < count;) {
        const int some = ibv_poll_cq(cq, static_cast<int>(count - got), all.data() + got);
        REQUIRE(some >= 0);
        got += static_cast<size_t>(some);
        if (some == 0)
            pause_since(begin);
    }
    return all;
}

ibv_wc poll_one(ibv_cq *cq)
{
    const ibv_wc wc = poll(cq, 1)[0];
    if (wc.status != IBV_WC_SUCCESS)
        std::fprintf(stderr, "a request ended with %s\n", ibv_wc_status_str(wc.status));
    REQUIRE(wc.status == IBV_WC_SUCCESS);
    return wc;
}

void post_receive(ibv_qp *qp, uint64_t wr_id, const ibv_mr *mr, uint64_t offset, uint32_t length)
{
    ibv_sge sge{};
    if (mr != nullptr)
        sge = {.addr = reinterpret_cast<uintptr_t>(mr->addr) + offset, .length = length, .lkey = mr->lkey};
    ibv_recv_wr wr = {.wr_id = wr_id, .next = nullptr, .sg_list = &sge, .num_sge = mr != nullptr ? 1 : 0};
    ibv_recv_wr *bad = nullptr;
    REQUIRE(ibv_post_recv(qp, &wr, &bad) == 0);
}

void post_receive(ibv_srq *srq, uint64_t wr_id, const ibv_mr *mr, uint64_t offset, uint32_t length)
{
    ibv_sge sge = {
        .addr = reinterpret_cast<uintptr_t>(mr->addr) + offset, .length = length, .lkey = mr->lkey};
    ibv_recv_wr wr = {.wr_id = wr_id, .next = nullptr, .sg_list = &sge, .num_sge = 1};
    ibv_recv_wr *bad = nullptr;
    REQUIRE(ibv_post_srq_recv(srq, &wr, &bad) == 0);
}

int post(ibv_qp *qp, ibv_wr_opcode opcode, uint64_t wr_id, const ibv_mr *mr, uint64_t offset, uint32_t length,
         const Place &to, unsigned flags, uint32_t imm)
{
    ibv_sge sge{};
    if (mr != nullptr)
        sge = {.addr = reinterpret_cast<uintptr_t>(mr->addr) + offset, .length = length, .lkey = mr->lkey};
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.sg_list = &sge;
    wr.num_sge = mr != nullptr ? 1 : 0;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.imm_data = imm;
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = to.address;
        wr.wr.atomic.rkey = to.rkey;
        wr.wr.atomic.compare_add = imm;
        wr.wr.atomic.swap = imm + 1;
    } else {
        wr.wr.rdma.remote_addr = to.address;
        wr.wr.rdma.rkey = to.rkey;
    }
    ibv_send_wr *bad = nullptr;
    return ibv_post_send(qp, &wr, &bad);
}

uint8_t pattern(uint64_t seed, uint64_t position)
{
    const uint64_t mixed = (seed * 0x9e37'79b9'7f4a'7c15 + position) * 0xff51'afd7'ed55'8ccd;
    return static_cast<uint8_t>(mixed >> 56);
}

void fill(void *memory, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; ++i)
        static_cast<uint8_t *>(memory)[i] = pattern(seed, i);
}

size_t mismatch(const void *memory, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; ++i)
        if (static_cast<const uint8_t *>(memory)[i] != pattern(seed, i))
            return i;
    return size;
}

uint64_t Random::next()
{
    state_ += 0x9e37'79b9'7f4a'7c15;
    uint64_t mixed = (state_ ^ state_ >> 30) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
    return mixed ^ mixed >> 31;
}

}  // namespace processes
