/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of all sizes from 1 byte to 8 MiB, one at a time, first from the client and then from the server. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "data.h"

enum { kUntouched = 0xa5, kAttempts = 20, kMostOffset = 61, kHasNeighbours = 256 * 1024 };

enum operation { kSend, kSendImm, kWrite, kWriteImm, kRead, kOperations };

static const struct {
    const char *name;
    enum ibv_wr_opcode opcode;
    bool takes_receive, has_imm, is_write;
} operations[kOperations] = {
    [kSend] = {"SEND", IBV_WR_SEND, true, false, false},
    [kSendImm] = {"SEND with immediate", IBV_WR_SEND_WITH_IMM, true, true, false},
    [kWrite] = {"WRITE", IBV_WR_RDMA_WRITE, false, false, true},
    [kWriteImm] = {"WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, true, true, true},
    [kRead] = {"READ", IBV_WR_RDMA_READ, false, false, false},
};

/* One message: what is sent lies at an odd place, what arrives at another. */
struct message {
    enum operation operation;
    uint32_t length, seed;
    size_t from, to;
};

static bool is_reliable(const struct data *data)
{
    return data->type == IBV_QPT_RC || data->type == IBV_QPT_XRC_SEND;
}

/* Whether the operation's outcome is told by nothing but the memory. Unacknowledged WRITEs may be under way still. */
static bool is_offered(const struct data *data, enum operation operation)
{
    if (data->type == IBV_QPT_UD)
        return operation == kSend || operation == kSendImm;
    return is_reliable(data) || operation == kSend || operation == kSendImm || operation == kWriteImm;
}

static uint8_t *from(const struct data *data, const struct message *message)
{
    return data->memory + message->from;
}

static uint8_t *to(const struct data *data, const struct message *message)
{
    return data->memory + kRegion + kGuard + message->to;
}

static void prepare_target(const struct data *data, const struct message *message)
{
    memset(to(data, message) - kGuard, kUntouched, message->length + 2 * (size_t)kGuard);
}

static void check_target(const struct data *data, const struct message *message, size_t header)
{
    const char *name = operations[message->operation].name;
    const uint8_t *memory = to(data, message);
    const size_t wrong = first_wrong(memory, 0, message->length, message->seed);
    REQUIRE(wrong == message->length, "%s %s of %u bytes: byte %zu differs", data->type_name, name,
            message->length, wrong);
    for (size_t i = 0; i < kGuard; ++i)
        REQUIRE((memory[i - kGuard] == kUntouched || i >= kGuard - header) &&
                    memory[message->length + i] == kUntouched,
                "%s %s of %u bytes: something beside it was written", data->type_name, name, message->length);
}

static void post(struct data *data, const struct message *message)
{
    struct ibv_send_wr wr = {.wr_id = message->seed,
                             .opcode = operations[message->operation].opcode,
                             .imm_data = htonl(message->seed)};
    uint8_t *memory = message->operation == kRead ? to(data, message) : from(data, message);
    const struct message theirs = *message;
    const ptrdiff_t offset =
        (message->operation == kRead ? from(data, &theirs) : to(data, &theirs)) - data->memory;
    wr.wr.rdma.remote_addr = data->theirs.address + (uint64_t)offset;
    wr.wr.rdma.rkey = data->theirs.rkey;
    if (data->type == IBV_QPT_UD)
        memset(&wr.wr, 0, sizeof(wr.wr));
    post_send(data, &wr, memory, message->length);
    struct ibv_wc wc;
    REQUIRE(poll_within(data->send_cq, &wc, 30), "%s of %u bytes does not complete",
            operations[message->operation].name, message->length);
    REQUIRE(wc.wr_id == message->seed, "it completes another request");
}

/* Whether the message came. */
static bool take(struct data *data, const struct message *message)
{
    struct ibv_wc wc;
    const bool has_imm = operations[message->operation].has_imm,
               is_write = operations[message->operation].is_write;
    const size_t header = data->type == IBV_QPT_UD ? kGrh : 0;
    if (!poll_within(data->receive_cq, &wc, is_reliable(data) ? 30 : 0.5))
        return false;
    REQUIRE(wc.wr_id == message->seed, "it completes another receive");
    REQUIRE(wc.opcode == (is_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV), "opcode %d", (int)wc.opcode);
    REQUIRE(wc.byte_len == message->length + header, "%u bytes came instead of %u", wc.byte_len,
            message->length);
    REQUIRE(((wc.wc_flags & IBV_WC_WITH_IMM) != 0) == has_imm, "flags %x", (unsigned)wc.wc_flags);
    REQUIRE(!has_imm || wc.imm_data == htonl(message->seed), "immediate data %x", ntohl(wc.imm_data));
    check_target(data, message, header);
    return true;
}

static void as_requester(struct data *data, const struct message *message)
{
    const bool is_read = message->operation == kRead;
    if (is_read)
        prepare_target(data, message);
    else
        fill(from(data, message), message->length, message->seed);
    meet(data->peer);
    if (is_read) {
        post(data, message);
        check_target(data, message, 0);
        meet(data->peer);
        return;
    }
    for (int attempt = 0;; ++attempt) {
        post(data, message);
        if (exchange(data->peer, 0) != 0)
            return;
        REQUIRE(!is_reliable(data), "%s of %u bytes did not arrive", operations[message->operation].name,
                message->length);
        REQUIRE(attempt < kAttempts, "%s of %u bytes was lost %d times in a row",
                operations[message->operation].name, message->length, attempt);
        ++data->lost;
    }
}

static void as_responder(struct data *data, const struct message *message)
{
    const bool is_read = message->operation == kRead;
    const uint32_t header = data->type == IBV_QPT_UD ? kGrh : 0;
    if (is_read) {
        fill(from(data, message), message->length, message->seed);
        meet(data->peer);
        meet(data->peer);
        return;
    }
    prepare_target(data, message);
    if (operations[message->operation].takes_receive)
        post_receive(data, message->seed, to(data, message) - header, message->length + header);
    meet(data->peer);
    if (!operations[message->operation].takes_receive) {
        /* Here the requester's completion says that all is there, and the exchange that it has it. */
        exchange(data->peer, 1);
        check_target(data, message, 0);
        return;
    }
    while (!take(data, message))
        exchange(data->peer, 0);
    exchange(data->peer, 1);
}

void run_sizes(struct data *data)
{
    const uint32_t mtu = data->mine.mtu < data->theirs.mtu ? data->mine.mtu : data->theirs.mtu;
    const uint32_t largest = data->type == IBV_QPT_UD ? 128u << mtu : kLargest;
    uint32_t seed = 0, messages = 0;
    for (enum operation operation = 0; operation < kOperations; ++operation) {
        if (!is_offered(data, operation))
            continue;
        /* Each power of two and, of the smaller ones, its neighbours. */
        for (uint32_t power = 1; power <= largest; power *= 2) {
            const uint32_t around = power >= 4 && power <= kHasNeighbours ? 1 : 0;
            for (uint32_t length = power - around; length <= power + around && length <= largest; ++length) {
                for (int turn = 0; turn < 2; ++turn) {
                    ++seed;
                    const struct message message = {.operation = operation,
                                                    .length = length,
                                                    .seed = seed,
                                                    .from = seed % kMostOffset,
                                                    .to = seed * 7 % kMostOffset};
                    if (data->is_client == (turn == 0))
                        as_requester(data, &message);
                    else
                        as_responder(data, &message);
                    ++messages;
                }
            }
        }
    }
    struct ibv_wc wc;
    REQUIRE(ibv_poll_cq(data->send_cq, 1, &wc) == 0 && ibv_poll_cq(data->receive_cq, 1, &wc) == 0,
            "there are completions of nothing");
    printf("%s: %u messages of 1 to %u bytes, each byte as it was sent; %u sent again\n", data->type_name,
           messages, largest, data->lost);
}
