/* SPDX-License-Identifier: BSD-2-Clause */
/* What two processes on urxe get done, next to what the kernel does for them without verbs: the same work in turn, in one
 * run. Prints a line per row: name, nanoseconds on urxe, nanoseconds without, or 0; medians of the rounds, and then the
 * lowest and highest of each. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 7, kLarge = 1 << 20, kDepth = 128, kAhead = 32, kManyQps = 10000, kManyMrs = 100000 };

/* What the two tell each other. */
static struct shared {
    struct side {
        uint32_t qpn, rkey, buffer_rkey;
        uint64_t address, buffer_address;
        union ibv_gid gid;
        pid_t pid;
    } side[2];
    atomic_uint arrived;
    atomic_uint goes;
    int events[2];
    struct {
        _Alignas(128) char bytes[64];
    } message[2]; /* to each side */
} * shared;

static int me;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_comp_channel *channel;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char *memory, *buffer;
static int gid_index;
static int datagrams = -1, stream = -1; /* sockets to the other side, where that is in another namespace */

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench_urxe: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Both are here. */
static void meet(void)
{
    const unsigned turn = atomic_load(&shared->goes);
    if (atomic_fetch_add(&shared->arrived, 1) == 1) {
        atomic_store(&shared->arrived, 0);
        atomic_fetch_add(&shared->goes, 1);
    }
    while (atomic_load(&shared->goes) == turn)
        sched_yield();
}

static struct side *other(void)
{
    return &shared->side[1 - me];
}

static struct ibv_qp *make_qp(void)
{
    struct ibv_qp_init_attr attr = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .cap = {.max_send_wr = kDepth,
                                            .max_recv_wr = kDepth,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1,
                                            .max_inline_data = 64},
                                    .qp_type = IBV_QPT_RC};
    struct ibv_qp *made = ibv_create_qp(pd, &attr);
    if (made == NULL)
        die("ibv_create_qp: %s", strerror(errno));
    return made;
}

static void connect_qp(struct ibv_qp *made, uint32_t qpn, const union ibv_gid *gid)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
    if (ibv_modify_qp(made, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
        die("INIT");
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_4096,
        .dest_qp_num = qpn,
        .max_dest_rd_atomic = 16,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1,
                    .port_num = 1,
                    .grh = {.dgid = *gid, .hop_limit = 64, .sgid_index = (uint8_t)gid_index}}};
    if (ibv_modify_qp(made, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0)
        die("RTR");
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 16};
    if (ibv_modify_qp(made, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC) != 0)
        die("RTS");
}

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

static void open_device(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    if (list == NULL || list[0] == NULL)
        die("there is no device: set URXE=lo");
    context = ibv_open_device(list[0]);
    if (context == NULL)
        die("ibv_open_device: %s", strerror(errno));
    ibv_free_device_list(list);
    pd = ibv_alloc_pd(context);
    channel = ibv_create_comp_channel(context);
    cq = ibv_create_cq(context, 2 * kDepth, NULL, channel, 0);
    memory = mmap(NULL, 2 * kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, 2 * kLarge);
    mr = ibv_reg_mr(pd, memory, 2 * kLarge,
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    if (pd == NULL || channel == NULL || cq == NULL || mr == NULL)
        die("objects: %s", strerror(errno));
    struct ibv_buf *buf;
    buffer = ibv_alloc_buf(pd, 4096, &buf);
    if (buffer == NULL)
        die("ibv_alloc_buf: %s", strerror(errno));
    struct ibv_mr *buffer_mr =
        ibv_reg_buf_mr(pd, buf, buffer, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (buffer_mr == NULL)
        die("ibv_reg_buf_mr: %s", strerror(errno));
    qp = make_qp();
    struct side *mine = &shared->side[me];
    mine->qpn = qp->qp_num;
    mine->rkey = mr->rkey;
    mine->address = (uintptr_t)memory;
    mine->buffer_rkey = buffer_mr->rkey;
    mine->buffer_address = (uintptr_t)buffer;
    mine->pid = getpid();
    /* An IPv4 address, which bare sockets can have too. */
    while (ibv_query_gid(context, 1, gid_index, &mine->gid) != 0 ||
           memcmp(mine->gid.raw, mapped, sizeof mapped) != 0)
        if (++gid_index == 64)
            die("there is no IPv4 GID");
    meet();
    connect_qp(qp, other()->qpn, &other()->gid);
    meet();
}

static void post_recv(void)
{
    struct ibv_sge sge = {.addr = (uintptr_t)memory + kLarge, .length = 64, .lkey = mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
    if (ibv_post_recv(qp, &wr, &bad) != 0)
        die("ibv_post_recv");
}

static void post(struct ibv_qp *to, enum ibv_wr_opcode opcode, uint32_t length, uint32_t lkey, unsigned flags)
{
    struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = length, .lkey = lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = flags}, *bad;
    wr.wr.rdma.remote_addr = other()->address;
    wr.wr.rdma.rkey = other()->rkey;
    const int error = ibv_post_send(to, &wr, &bad);
    if (error != 0)
        die("ibv_post_send: %s", strerror(error));
}

static void check(const struct ibv_wc *wc)
{
    if (wc->status != IBV_WC_SUCCESS)
        die("a completion says %s", ibv_wc_status_str(wc->status));
}

static unsigned poll_some(int most)
{
    struct ibv_wc wc[16];
    const int count = ibv_poll_cq(cq, most, wc);
    for (int i = 0; i < count; ++i)
        check(&wc[i]);
    return (unsigned)(count < 0 ? 0 : count);
}

static void poll_either(unsigned *received, unsigned *sent)
{
    struct ibv_wc wc;
    if (ibv_poll_cq(cq, 1, &wc) <= 0)
        return;
    check(&wc);
    ++*(wc.opcode == IBV_WC_RECV ? received : sent);
}

static void wait_for_one(void)
{
    while (poll_some(1) == 0) {
    }
}

/* ---- the rows: each returns nanoseconds per operation, as side 0 sees it ---------------------------------------------- */

/* Receives are posted ahead, as programs do. */
static void post_recvs(unsigned n)
{
    for (unsigned i = 0; i < kAhead && i < n; ++i)
        post_recv();
}

enum { kUnsignaled = 63 }; /* requests before one whose completion gives them all their places back */

static void send_message(unsigned number)
{
    post(qp, IBV_WR_SEND, 64, mr->lkey,
         IBV_SEND_INLINE | (number % (kUnsignaled + 1) == kUnsignaled ? IBV_SEND_SIGNALED : 0));
}

static double send_latency(unsigned n)
{
    unsigned received = 0, sent = 0;
    post_recvs(n);
    meet();
    const uint64_t start = now();
    for (unsigned i = 0; i < n; ++i) {
        if (me == 0)
            send_message(i);
        while (received == i)
            poll_either(&received, &sent);
        if (i + kAhead < n)
            post_recv();
        if (me == 1)
            send_message(i);
    }
    const uint64_t end = now();
    while (sent < n / (kUnsignaled + 1))
        poll_either(&received, &sent);
    meet();
    return (double)(end - start) / n / 2;
}

/* The two processes write to each other's memory in turn, and watch their own. */
static double ping_pong(unsigned n, char *watched, void (*write_other)(char value))
{
    volatile char *mine = watched + 7;
    *mine = 0;
    meet();
    const uint64_t start = now();
    for (unsigned i = 1; i <= n; ++i) {
        const char value = (char)(i % 100 + 1);
        if (me == 0)
            write_other(value);
        while (*mine != value) {
        }
        if (me == 1)
            write_other(value);
    }
    const uint64_t end = now();
    meet();
    return (double)(end - start) / n / 2;
}

static char *source(void)
{
    return memory + kLarge;
}

static void write_to(uint64_t address, uint32_t rkey, char value)
{
    static unsigned count;
    memset(source(), value, 8);
    struct ibv_sge sge = {.addr = (uintptr_t)source(), .length = 8, .lkey = mr->lkey};
    const bool is_signaled = ++count % 64 == 0;
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = is_signaled ? IBV_SEND_SIGNALED : 0},
                       *bad;
    wr.wr.rdma.remote_addr = address;
    wr.wr.rdma.rkey = rkey;
    if (ibv_post_send(qp, &wr, &bad) != 0)
        die("ibv_post_send");
    if (is_signaled)
        wait_for_one();
}

static void write_by_verbs(char value)
{
    write_to(other()->address, other()->rkey, value);
}

static void write_buffer(char value)
{
    write_to(other()->buffer_address, other()->buffer_rkey, value);
}

static void write_by_kernel(char value)
{
    memset(source(), value, 8);
    struct iovec from = {source(), 8}, to = {(void *)(uintptr_t)other()->address, 8};
    if (process_vm_writev(other()->pid, &from, 1, &to, 1, 0) != 8)
        die("process_vm_writev: %s", strerror(errno));
}

/* What the two processors do without anything in between: a message of 64 bytes in memory that both map. */
static void write_shared(char value)
{
    memset(source(), value, 64);
    memcpy(shared->message[1 - me].bytes, source(), 64);
}

static double shared_latency(unsigned n)
{
    return ping_pong(n, shared->message[me].bytes, write_shared);
}

static double write_latency(unsigned n)
{
    return ping_pong(n, memory, write_by_verbs);
}

static double buffer_latency(unsigned n)
{
    return ping_pong(n, buffer, write_buffer);
}

static double write_latency_bare(unsigned n)
{
    return ping_pong(n, memory, write_by_kernel);
}

static double large(unsigned n, enum ibv_wr_opcode opcode)
{
    meet();
    const uint64_t start = now();
    if (me == 0)
        for (unsigned i = 0; i < n; ++i) {
            post(qp, opcode, kLarge, mr->lkey, IBV_SEND_SIGNALED);
            wait_for_one();
        }
    const uint64_t end = now();
    meet();
    return (double)(end - start) / n;
}

static double large_bare(unsigned n, bool writes)
{
    meet();
    const uint64_t start = now();
    if (me == 0)
        for (unsigned i = 0; i < n; ++i) {
            struct iovec mine = {memory, kLarge}, theirs = {(void *)(uintptr_t)other()->address, kLarge};
            if ((writes ? process_vm_writev : process_vm_readv)(other()->pid, &mine, 1, &theirs, 1, 0) !=
                kLarge)
                die("process_vm_*: %s", strerror(errno));
        }
    const uint64_t end = now();
    meet();
    return (double)(end - start) / n;
}

static double large_write(unsigned n)
{
    return large(n, IBV_WR_RDMA_WRITE);
}
static double large_read(unsigned n)
{
    return large(n, IBV_WR_RDMA_READ);
}
static double large_write_bare(unsigned n)
{
    return large_bare(n, true);
}
static double large_read_bare(unsigned n)
{
    return large_bare(n, false);
}

/* One side sends as fast as the other takes. */
static double message_rate(unsigned n)
{
    /* What was posted before without a completion has its place back then. */
    post(qp, IBV_WR_RDMA_WRITE, 0, mr->lkey, IBV_SEND_SIGNALED);
    wait_for_one();
    if (me == 1)
        for (int i = 0; i < kDepth; ++i)
            post_recv();
    meet();
    const uint64_t start = now();
    if (me == 0) {
        for (unsigned i = 0, free = kDepth; i < n; ++i) {
            const bool is_signaled = i % 32 == 31;
            while (free == 0)
                free += 32 * poll_some(4);
            post(qp, IBV_WR_SEND, 64, mr->lkey, IBV_SEND_INLINE | (is_signaled ? IBV_SEND_SIGNALED : 0));
            --free;
        }
    } else {
        for (unsigned got = 0; got < n;) {
            const unsigned some = poll_some(16);
            for (unsigned i = 0; i < some; ++i)
                if (got + i + kDepth < n)
                    post_recv();
            got += some;
        }
    }
    meet();
    const uint64_t end = now();
    if (me == 0)
        while (poll_some(16) != 0) {
        }
    meet();
    return (double)(end - start) / n;
}

/* The queue is armed, and is again afterwards. */
static void sleep_until_one(void)
{
    while (poll_some(1) == 0) {
        struct ibv_cq *which;
        void *user;
        if (ibv_get_cq_event(channel, &which, &user) != 0)
            die("ibv_get_cq_event");
        ibv_ack_cq_events(which, 1);
        ibv_req_notify_cq(cq, 0);
    }
}

static double event_latency(unsigned n)
{
    post_recv();
    ibv_req_notify_cq(cq, 0);
    meet();
    const uint64_t start = now();
    for (unsigned i = 0; i < n; ++i) {
        if (me == 0)
            post(qp, IBV_WR_SEND, 64, mr->lkey, IBV_SEND_INLINE);
        sleep_until_one();
        if (i + 1 < n)
            post_recv();
        if (me == 1)
            post(qp, IBV_WR_SEND, 64, mr->lkey, IBV_SEND_INLINE);
        if (i % 64 == 63)
            post(qp, IBV_WR_RDMA_WRITE, 0, mr->lkey, IBV_SEND_SIGNALED), sleep_until_one();
    }
    const uint64_t end = now();
    meet();
    return (double)(end - start) / n / 2;
}

static double event_latency_bare(unsigned n)
{
    uint64_t value = 1;
    meet();
    const uint64_t start = now();
    for (unsigned i = 0; i < n; ++i) {
        if (me == 0 && write(shared->events[1], &value, sizeof value) != sizeof value)
            die("write");
        if (read(shared->events[me], &value, sizeof value) != sizeof value)
            die("read");
        if (me == 1 && write(shared->events[0], &value, sizeof value) != sizeof value)
            die("write");
    }
    const uint64_t end = now();
    meet();
    return (double)(end - start) / n / 2;
}

/* ---- rows across two network namespaces ------------------------------------------------------------------------------- */

static struct sockaddr_in address_of(int side, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    memcpy(&address.sin_addr, shared->side[side].gid.raw + 12, 4);
    return address;
}

static void open_sockets(void)
{
    const struct sockaddr_in mine = address_of(me, 5001), theirs = address_of(1 - me, 5001);
    datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(datagrams, (const struct sockaddr *)&mine, sizeof mine) != 0)
        die("bind: %s", strerror(errno));
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (me == 1 &&
        (bind(listener, (const struct sockaddr *)&mine, sizeof mine) != 0 || listen(listener, 1) != 0))
        die("listen: %s", strerror(errno));
    meet();
    if (connect(datagrams, (const struct sockaddr *)&theirs, sizeof theirs) != 0)
        die("connect: %s", strerror(errno));
    if (me == 1)
        stream = accept(listener, NULL, NULL);
    else if (connect(stream = listener, (const struct sockaddr *)&theirs, sizeof theirs) != 0)
        die("connect: %s", strerror(errno));
    meet();
}

static double datagram_ping_pong(unsigned n, int flags)
{
    char message[64] = {0};
    meet();
    const uint64_t start = now();
    for (unsigned i = 0; i < n; ++i) {
        if (me == 0 && send(datagrams, message, sizeof message, 0) < 0)
            die("send: %s", strerror(errno));
        while (recv(datagrams, message, sizeof message, flags) < 0)
            if (errno != EAGAIN)
                die("recv: %s", strerror(errno));
        if (me == 1 && send(datagrams, message, sizeof message, 0) < 0)
            die("send: %s", strerror(errno));
    }
    const uint64_t end = now();
    meet();
    return (double)(end - start) / n / 2;
}

static double datagram_latency_bare(unsigned n)
{
    return datagram_ping_pong(n, MSG_DONTWAIT);
}

static double datagram_event_latency_bare(unsigned n)
{
    return datagram_ping_pong(n, 0);
}

/* Some are under way at any time. */
/* The target sleeps meanwhile, as ib_write_bw's does. */
static double many_writes(unsigned n)
{
    enum { kUnderWay = 8 };
    uint64_t value = 1;
    meet();
    const uint64_t start = now();
    if (me == 0)
        for (unsigned posted = 0, done = 0; done < n; done += poll_some(4))
            for (; posted < n && posted - done < kUnderWay; ++posted)
                post(qp, IBV_WR_RDMA_WRITE, kLarge, mr->lkey, IBV_SEND_SIGNALED);
    const uint64_t end = now();
    if ((me == 0 ? write(shared->events[1], &value, sizeof value)
                 : read(shared->events[1], &value, sizeof value)) != sizeof value)
        die("eventfd: %s", strerror(errno));
    meet();
    return (double)(end - start) / n;
}

static double stream_bare(unsigned n)
{
    meet();
    const uint64_t start = now();
    for (uint64_t left = (uint64_t)n * kLarge; left > 0;) {
        const size_t size = left < kLarge ? left : kLarge;
        const ssize_t count = me == 0 ? send(stream, memory, size, 0) : recv(stream, memory, size, 0);
        if (count <= 0)
            die("stream: %s", strerror(errno));
        left -= (uint64_t)count;
    }
    meet();
    const uint64_t end = now();
    meet();
    return (double)(end - start) / n;
}

/* ---- the table ------------------------------------------------------------------------------------------------------ */

static int compare(const void *left, const void *right)
{
    const double difference = *(const double *)left - *(const double *)right;
    return difference < 0 ? -1 : difference > 0;
}

static const char *only = "";

static void row(const char *name, unsigned n, double (*ours)(unsigned), double (*bare)(unsigned))
{
    double times[2][kRounds] = {{0}};
    if (strncmp(name, only, strlen(only)) != 0)
        return;
    for (int round = 0; round < kRounds; ++round) {
        times[0][round] = ours(n);
        times[1][round] = bare == NULL ? 0 : bare(n);
    }
    qsort(times[0], kRounds, sizeof times[0][0], compare);
    qsort(times[1], kRounds, sizeof times[1][0], compare);
    if (me == 0) {
        printf("%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", name, times[0][kRounds / 2], times[1][kRounds / 2],
               times[0][0], times[0][kRounds - 1], times[1][0], times[1][kRounds - 1]);
        fflush(stdout);
    }
}

/* Many objects stay while the rows run again. */
static void add_many(void)
{
    for (int i = 0; i < kManyMrs; ++i)
        if (ibv_reg_mr(pd, memory, 64, IBV_ACCESS_LOCAL_WRITE) == NULL)
            die("ibv_reg_mr: %s", strerror(errno));
    for (int i = 0; i < kManyQps; ++i)
        make_qp();
    meet();
}

static void usage(int status)
{
    fprintf(status == 0 ? stdout : stderr,
            "usage: bench_urxe [--scale N] [--row PREFIX] [--namespace FILE]\n\n"
            "Two processes on the first device that URXE names. --scale multiplies how often each operation "
            "is done, --row\n"
            "is how the names of rows begin that are wanted. With --namespace one of them is in that network "
            "namespace\n"
            "(/proc/PID/ns/net), and the rows are those of packets.\n");
    exit(status);
}

int main(int argc, char **argv)
{
    unsigned scale = 1;
    const char *namespace = NULL;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0)
            usage(0);
        if (i + 1 == argc)
            usage(2);
        if (strcmp(argv[i], "--scale") == 0)
            scale = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--row") == 0)
            only = argv[++i];
        else if (strcmp(argv[i], "--namespace") == 0)
        namespace = argv[++i];
        else usage(2);
    }
    if (scale == 0)
        usage(2);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared->events[0] = eventfd(0, 0);
    shared->events[1] = eventfd(0, 0);
    const pid_t child = fork();
    me = child == 0;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (namespace != NULL && setns(open(namespace, O_RDONLY), CLONE_NEWNET) != 0)
            die("%s: %s", namespace, strerror(errno));
    }
    open_device();
    if (namespace != NULL) {
        open_sockets();
        row("packets: send 64 B, half round trip", 6400 * scale, send_latency, datagram_latency_bare);
        row("packets: send 64 B with events, half round trip", 960 * scale, event_latency,
            datagram_event_latency_bare);
        row("packets: write 1 MiB, several at once", 200 * scale, many_writes, stream_bare);
    } else {
        row("send 64 B, half round trip", 19200 * scale, send_latency, shared_latency);
        row("write 8 B, half round trip", 6400 * scale, write_latency, write_latency_bare);
        row("write 8 B to a buffer, half round trip", 6400 * scale, buffer_latency, shared_latency);
        row("write 1 MiB", 200 * scale, large_write, large_write_bare);
        row("read 1 MiB", 200 * scale, large_read, large_read_bare);
        row("send 64 B inline, each", 200000 * scale, message_rate, NULL);
        row("send 64 B with events, half round trip", 1920 * scale, event_latency, event_latency_bare);
        add_many();
        row("send 64 B, among many objects", 19200 * scale, send_latency, NULL);
        row("write 8 B, among many objects", 6400 * scale, write_latency, write_latency_bare);
    }
    fflush(NULL);
    if (me == 1)
        _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    return status != 0;
}
