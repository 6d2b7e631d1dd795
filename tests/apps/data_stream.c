/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream on a reliable connection, both ways at once: SENDs, WRITEs (with and without immediate data) and READs in an order
 * that both sides know beforehand. Each byte is checked, and that each request completes once, in its turn. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "data.h"

enum {
    kSlots = 16,           /* requests at once */
    kRun = kSlots / 2,     /* of so many requests one at least takes a receive */
    kMessage = 128 * 1024, /* the largest message */
    kSources = 1 << 20,    /* bytes that the peer reads from */
    /* The memory: what is sent, what is read into, what the peer reads, what arrives by SEND and by WRITE, the numbers. */
    kOut = 0,
    kIn = kOut + kSlots * kMessage,
    kSource = kIn + kSlots * kMessage,
    kReceived = kRegion,
    kWritten = kReceived + kSlots * kMessage,
    kMine = kWritten + kSlots * kMessage,
    kTheirs = kMine + 8,
    kPatience = 120 /* seconds without progress */
};
_Static_assert(kSource + kSources <= kRegion && kTheirs + 8 <= 2 * kRegion, "it has room");

static const uint64_t kSourceSeed = 1, kNumberId = UINT64_MAX;

/* The requests of one side, one after the other. */
struct plan {
    uint64_t random, seed, amount;
    uint64_t bytes;  /* of the requests so far */
    uint32_t number; /* of the request that comes next */
};

struct request {
    enum ibv_wr_opcode opcode;
    uint32_t number, length;
    uint32_t place; /* of a READ, in the source */
    uint64_t seed;
};

static struct plan plan_of(bool client, uint64_t amount)
{
    const uint64_t seed = client ? 2 : 3;
    return (struct plan){.random = seed, .seed = seed << 40, .amount = amount};
}

static bool is_over(const struct plan *plan)
{
    return plan->bytes >= plan->amount;
}

static uint32_t draw(struct plan *plan)
{
    plan->random = plan->random * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(plan->random >> 33);
}

static struct request next(struct plan *plan)
{
    static const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
                                                 IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ};
    struct request request = {.opcode = opcodes[draw(plan) % (sizeof(opcodes) / sizeof(opcodes[0]))]};
    request.length = 1 + draw(plan) % (draw(plan) % 4 == 0 ? 4096 : kMessage);
    request.place = draw(plan) % (kSources - kMessage);
    request.number = plan->number++;
    request.seed = plan->seed + request.number;
    plan->bytes += request.length;
    /* The target learns by receives that WRITEs are there. */
    if (plan->number % kRun == 0 || is_over(plan))
        request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    return request;
}

/* What this side asks of the other. */
struct requester {
    struct plan plan;
    struct request posted[kSlots];
    uint32_t completed;
    uint32_t numbers; /* told to the peer, not completed yet */
};

/* What the other asks of this side. */
struct target {
    struct plan plan;
    uint32_t received;  /* receives that completed */
    uint32_t looked_at; /* requests up to the last that took a receive: their slots are free again */
    uint32_t told;      /* what the peer knows of that */
};

static uint8_t *slot(const struct data *data, size_t area, uint32_t number)
{
    return data->memory + area + (size_t)(number % kSlots) * kMessage;
}

static void check(const uint8_t *memory, size_t place, const struct request *request, uint64_t seed)
{
    const size_t wrong = first_wrong(memory, place, request->length, seed);
    REQUIRE(wrong == request->length, "request %u (opcode %d) of %u bytes: byte %zu differs", request->number,
            (int)request->opcode, request->length, wrong);
}

/* ---- this side's requests ------------------------------------------------------------------------------------ */

static void post_next(struct data *data, struct requester *mine)
{
    const struct request request = next(&mine->plan);
    struct ibv_send_wr wr = {
        .wr_id = request.number, .opcode = request.opcode, .imm_data = htonl(request.number)};
    uint8_t *memory = slot(data, kOut, request.number);
    size_t target = (size_t)(slot(data, kWritten, request.number) - data->memory);
    if (request.opcode == IBV_WR_RDMA_READ) {
        memory = slot(data, kIn, request.number);
        memset(memory, 0, request.length);
        target = kSource + request.place;
    } else {
        fill(memory, request.length, request.seed);
    }
    wr.wr.rdma.rkey = data->theirs.rkey;
    wr.wr.rdma.remote_addr = data->theirs.address + target;
    mine->posted[request.number % kSlots] = request;
    post_send(data, &wr, memory, request.length);
}

static void complete(struct data *data, struct requester *mine, const struct ibv_wc *wc)
{
    if (wc->wr_id == kNumberId) {
        REQUIRE(mine->numbers-- > 0, "a WRITE completes twice");
        return;
    }
    REQUIRE(wc->wr_id == mine->completed && mine->completed < mine->plan.number,
            "request %llu completes, %u of %u have", (unsigned long long)wc->wr_id, mine->completed,
            mine->plan.number);
    const struct request *request = &mine->posted[mine->completed++ % kSlots];
    if (request->opcode == IBV_WR_RDMA_READ)
        check(slot(data, kIn, request->number), request->place, request, kSourceSeed);
}

/* How many of this side's requests the peer has looked at. It writes that number twice, since nobody promises that eight
 * bytes arrive at once. */
static uint32_t looked_at_by_peer(const struct data *data, uint32_t before)
{
    const volatile uint32_t *number = (const volatile uint32_t *)(data->memory + kTheirs);
    const uint32_t first = number[0], second = ~number[1];
    return first == second ? first : before;
}

/* ---- the peer's requests ------------------------------------------------------------------------------------- */

static void post_receive_for(struct data *data, uint32_t number)
{
    uint8_t *memory = slot(data, kReceived, number);
    memset(memory, 0, kMessage);
    post_receive(data, number, memory, kMessage);
}

static void receive(struct data *data, struct target *theirs, const struct ibv_wc *wc)
{
    REQUIRE(!is_over(&theirs->plan), "a message comes that nobody sent");
    REQUIRE(wc->wr_id == theirs->received, "receive %llu completes where %u should",
            (unsigned long long)wc->wr_id, theirs->received);
    struct request request = next(&theirs->plan);
    for (; request.opcode == IBV_WR_RDMA_WRITE || request.opcode == IBV_WR_RDMA_READ;
         request = next(&theirs->plan))
        if (request.opcode == IBV_WR_RDMA_WRITE)
            check(slot(data, kWritten, request.number), 0, &request, request.seed);
    const bool is_write = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    REQUIRE(wc->opcode == (is_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV), "request %u", request.number);
    REQUIRE(wc->byte_len == request.length, "request %u: %u bytes came instead of %u", request.number,
            wc->byte_len, request.length);
    REQUIRE(request.opcode == IBV_WR_SEND || ntohl(wc->imm_data) == request.number,
            "request %u: immediate data %u", request.number, ntohl(wc->imm_data));
    check(is_write ? slot(data, kWritten, request.number) : slot(data, kReceived, theirs->received), 0,
          &request, request.seed);
    theirs->looked_at = request.number + 1;
    post_receive_for(data, kSlots + theirs->received++);
}

static void tell_looked_at(struct data *data, struct requester *mine, struct target *theirs)
{
    struct ibv_send_wr wr = {.wr_id = kNumberId, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_INLINE};
    const uint32_t numbers[2] = {theirs->looked_at, ~theirs->looked_at};
    memcpy(data->memory + kMine, numbers, sizeof(numbers));
    wr.wr.rdma.rkey = data->theirs.rkey;
    wr.wr.rdma.remote_addr = data->theirs.address + kTheirs;
    post_send(data, &wr, data->memory + kMine, sizeof(numbers));
    theirs->told = theirs->looked_at;
    ++mine->numbers;
}

/* ---- the stream ---------------------------------------------------------------------------------------------- */

static void nothing_more(struct data *data)
{
    struct ibv_wc wc;
    REQUIRE(!poll_within(data->send_cq, &wc, 0.2), "a completion of no request: %llu",
            (unsigned long long)wc.wr_id);
    REQUIRE(!poll_within(data->receive_cq, &wc, 0.2), "a message comes that nobody sent");
}

void run_stream(struct data *data, uint64_t amount)
{
    struct requester mine = {.plan = plan_of(data->is_client, amount)};
    struct target theirs = {.plan = plan_of(!data->is_client, amount)};
    memset(data->memory, 0, 2 * (size_t)kRegion);
    fill(data->memory + kSource, kSources, kSourceSeed);
    for (uint32_t i = 0; i < kSlots; ++i)
        post_receive_for(data, i);
    meet(data->peer);

    const double start = now();
    double progress = start;
    uint64_t mentioned = 0;
    uint32_t peer_has = 0;
    for (;;) {
        struct ibv_wc wc;
        bool idle = true;
        peer_has = looked_at_by_peer(data, peer_has);
        REQUIRE(peer_has <= mine.plan.number, "the peer has looked at %u requests of %u", peer_has,
                mine.plan.number);
        while (!is_over(&mine.plan) && mine.plan.number - peer_has < kSlots &&
               mine.plan.number - mine.completed < kSlots) {
            post_next(data, &mine);
            idle = false;
        }
        while (poll_within(data->send_cq, &wc, 0)) {
            complete(data, &mine, &wc);
            idle = false;
        }
        while (poll_within(data->receive_cq, &wc, 0)) {
            receive(data, &theirs, &wc);
            idle = false;
        }
        if (theirs.looked_at - theirs.told >= kRun / 2)
            tell_looked_at(data, &mine, &theirs);
        if (is_over(&mine.plan) && is_over(&theirs.plan) && mine.completed == mine.plan.number &&
            mine.numbers == 0)
            break;
        if (!idle)
            progress = now();
        REQUIRE(!idle || now() - progress < kPatience,
                "no progress: %u of %u requests completed, %u looked at by the peer, %u receives",
                mine.completed, mine.plan.number, peer_has, theirs.received);
        if (mine.plan.bytes - mentioned >= 64 << 20) {
            mentioned = mine.plan.bytes;
            fprintf(stderr, "%llu MiB posted, %.0f s\n", (unsigned long long)mentioned >> 20, now() - start);
        }
    }
    const double seconds = now() - start;
    meet(data->peer);
    nothing_more(data);
    printf(
        "%u requests of %llu bytes sent, written and read, %u messages received: each byte right, each "
        "completion once; "
        "%.1f s, %.1f MB/s each way\n",
        mine.plan.number, (unsigned long long)mine.plan.bytes, theirs.received, seconds,
        (double)mine.plan.bytes / seconds / 1e6);
}
