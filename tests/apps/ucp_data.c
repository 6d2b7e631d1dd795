/* SPDX-License-Identifier: BSD-2-Clause */
/* ucp_data: two processes of UCX send, put and get all sizes up to 16 MiB, both ways, and check every byte. Which transports and
 * devices there are UCX's environment tells. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

#include "peer.h"

enum { kLargest = 16 << 20, kGuard = 64, kUntouched = 0xa5, kHasNeighbours = 64 * 1024, kAdds = 100 };

/* Remote memory: what is put there, what is got from there, a counter. */
enum { kPut = 0, kGet = kLargest + 2 * kGuard, kCounter = kGet + kLargest, kRemote = kCounter + 8 };

static int peer;
static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h endpoint;
static ucp_mem_h memory_handle;
static ucp_rkey_h rkey;
static uint8_t *local, *remote; /* remote: what the peer reaches here */
static uint64_t peer_address;   /* of the same there */

static void ok(ucs_status_t status, const char *what)
{
    REQUIRE(status == UCS_OK, "%s: %s", what, ucs_status_string(status));
}

/* Until the peer is here too, with progress for what it asks meanwhile. */
static void wait_for_peer(void)
{
    char byte = 0;
    REQUIRE(send(peer, &byte, 1, MSG_NOSIGNAL) == 1, "the peer has gone");
    const double end = now() + 60;
    ssize_t got;
    while ((got = recv(peer, &byte, 1, MSG_DONTWAIT)) < 0) {
        REQUIRE(now() < end, "the peer is silent");
        ucp_worker_progress(worker);
    }
    REQUIRE(got == 1, "the peer has gone");
}

static void finish(ucs_status_ptr_t request, const char *what)
{
    if (request == NULL)
        return;
    REQUIRE(!UCS_PTR_IS_ERR(request), "%s: %s", what, ucs_status_string(UCS_PTR_STATUS(request)));
    const double end = now() + 60;
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        REQUIRE(now() < end, "%s does not end", what);
        ucp_worker_progress(worker);
    }
    ok(status, what);
    ucp_request_free(request);
}

static const ucp_request_param_t plain;

static void flush(void)
{
    finish(ucp_ep_flush_nbx(endpoint, &plain), "flush");
}

/* Exchanges a blob. The caller frees what it gets. */
static void *exchange_blob(const void *mine, size_t size)
{
    const uint32_t length = exchange(peer, (uint32_t)size);
    const size_t larger = length > size ? length : size;
    uint8_t *out = calloc(1, larger), *in = malloc(larger);
    REQUIRE(out != NULL && in != NULL, "memory");
    memcpy(out, mine, size);
    tell(peer, out, in, larger);
    free(out);
    return in;
}

static void open_all(void)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO64};
    ok(ucp_init(&params, NULL, &context), "ucp_init");
    const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                               .thread_mode = UCS_THREAD_MODE_SINGLE};
    ok(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");

    ucp_address_t *address;
    size_t length;
    ok(ucp_worker_get_address(worker, &address, &length), "ucp_worker_get_address");
    void *peer_worker = exchange_blob(address, length);
    ucp_worker_release_address(worker, address);
    const ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                       .address = peer_worker};
    ok(ucp_ep_create(worker, &ep_params, &endpoint), "ucp_ep_create");
    free(peer_worker);

    local = malloc(kLargest + 2 * kGuard);
    remote = calloc(1, kRemote);
    REQUIRE(local != NULL && remote != NULL, "memory");
    const ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = remote,
        .length = kRemote};
    ok(ucp_mem_map(context, &map, &memory_handle), "ucp_mem_map");
    void *packed;
    ok(ucp_rkey_pack(context, memory_handle, &packed, &length), "ucp_rkey_pack");
    void *peer_key = exchange_blob(packed, length);
    ucp_rkey_buffer_release(packed);
    ok(ucp_ep_rkey_unpack(endpoint, peer_key, &rkey), "ucp_ep_rkey_unpack");
    free(peer_key);
    const uint64_t mine = (uintptr_t)remote;
    tell(peer, &mine, &peer_address, sizeof(mine));
}

static void close_all(void)
{
    flush();
    wait_for_peer();
    ucp_rkey_destroy(rkey);
    finish(ucp_ep_close_nbx(endpoint, &plain), "ucp_ep_close");
    wait_for_peer();
    ok(ucp_mem_unmap(context, memory_handle), "ucp_mem_unmap");
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    free(local);
    free(remote);
}

static void prepare(uint8_t *memory, size_t length)
{
    memset(memory, kUntouched, length + 2 * (size_t)kGuard);
}

/* `memory` with the guards around it. */
static void check(const char *what, const uint8_t *memory, size_t length, uint64_t seed)
{
    const size_t wrong = first_wrong(memory + kGuard, 0, length, seed);
    REQUIRE(wrong == length, "%s of %zu bytes: byte %zu differs", what, length, wrong);
    for (size_t i = 0; i < kGuard; ++i)
        REQUIRE(memory[i] == kUntouched && memory[kGuard + length + i] == kUntouched,
                "%s of %zu bytes: something beside it was written", what, length);
}

static void tag(bool sends, size_t length, uint64_t seed)
{
    if (sends) {
        fill(local, length, seed);
        finish(ucp_tag_send_nbx(endpoint, local, length, seed, &plain), "sending");
    } else {
        prepare(local, length);
        finish(ucp_tag_recv_nbx(worker, local + kGuard, length, seed, UINT64_MAX, &plain), "receiving");
        check("a message", local, length, seed);
    }
    wait_for_peer();
}

static void put(bool asks, size_t length, uint64_t seed)
{
    if (!asks)
        prepare(remote + kPut, length);
    wait_for_peer();
    if (asks) {
        fill(local, length, seed);
        finish(ucp_put_nbx(endpoint, local, length, peer_address + kPut + kGuard, rkey, &plain), "putting");
        flush();
    }
    wait_for_peer();
    if (!asks)
        check("a put", remote + kPut, length, seed);
}

static void get(bool asks, size_t length, uint64_t seed)
{
    if (!asks)
        fill(remote + kGet, length, seed);
    wait_for_peer();
    if (asks) {
        prepare(local, length);
        finish(ucp_get_nbx(endpoint, local + kGuard, length, peer_address + kGet, rkey, &plain), "getting");
        flush();
        check("a get", local, length, seed);
    }
    wait_for_peer();
}

/* Both add to the server's counter, and to the client's, at the same time. */
static void add(void)
{
    for (int i = 0; i < kAdds; ++i) {
        uint64_t one = 1, before = UINT64_MAX;
        const ucp_request_param_t fetch = {
            .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
            .datatype = ucp_dt_make_contig(8),
            .reply_buffer = &before};
        finish(ucp_atomic_op_nbx(endpoint, UCP_ATOMIC_OP_ADD, &one, 1, peer_address + kCounter, rkey, &fetch),
               "adding");
        REQUIRE(before == (uint64_t)i, "the counter was %llu and not %d", (unsigned long long)before, i);
    }
    flush();
    wait_for_peer();
    uint64_t sum;
    memcpy(&sum, remote + kCounter, sizeof(sum));
    REQUIRE(sum == kAdds, "the counter says %llu", (unsigned long long)sum);
}

int main(int argc, char **argv)
{
    const char *port = "18515";
    int option;
    while ((option = getopt(argc, argv, "p:h")) != -1) {
        if (option == 'p') {
            port = optarg;
            continue;
        }
        fprintf(option == 'h' ? stdout : stderr,
                "usage: ucp_data [-p PORT] [HOST]\n"
                "Two processes of UCX; the one with a HOST connects to the other.\n");
        return option == 'h' ? 0 : 2;
    }
    const bool is_client = optind < argc;
    peer = connect_to(is_client ? argv[optind] : NULL, port);
    open_all();

    static void (*const operations[])(bool, size_t, uint64_t) = {tag, put, get};
    uint64_t seed = 0;
    for (size_t operation = 0; operation < sizeof(operations) / sizeof(operations[0]); ++operation)
        for (size_t power = 1; power <= kLargest; power *= 2) {
            const size_t around = power >= 4 && power <= kHasNeighbours ? 1 : 0;
            for (size_t length = power - around; length <= power + around; ++length)
                for (int turn = 0; turn < 2; ++turn)
                    operations[operation](is_client == (turn == 0), length, ++seed);
        }
    add();
    close_all();
    printf("%llu messages, puts and gets of 1 to %d bytes, each byte as it was sent\n",
           (unsigned long long)seed, kLargest);
    close(peer);
    return 0;
}
