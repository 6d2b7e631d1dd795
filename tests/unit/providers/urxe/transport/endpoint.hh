// SPDX-License-Identifier: BSD-2-Clause
// A host of a requester and a responder, with memory, queues and a link that tests look into, and which sees to
// it that both keep to their contract.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transport/requester.hh"
#include "transport/responder.hh"
#include "wire/packet.hh"

namespace urxe::transport::test {

using Bytes = std::vector<uint8_t>;

/// Memory that others may reach: one region.
struct Memory {
    uint64_t address = 0x7000'0000'1000;
    uint32_t rkey = 0x1234;
    int access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
                 IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT;
    Bytes bytes = Bytes(16384);

    uint8_t *at(uint32_t key, uint64_t where, uint64_t length, int wanted);
    uint64_t number(size_t offset) const;
};

/// A request that was posted, and its local data.
struct Posted {
    Request request;
    Bytes local;
    bool local_fails = false;
};

struct Completion {
    uint32_t index;
    ibv_wc_status status;
    uint32_t byte_count;

    bool operator==(const Completion &) const = default;
};

/// A receive that is over, and what it holds.
struct Received {
    Receipt receipt;
    Bytes bytes;
};

/// A WRITE or a READ of the peer that is over.
struct Done {
    bool is_write, is_success;
    uint32_t length;

    bool operator==(const Done &) const = default;
};

class Endpoint {
public:
    static constexpr RequesterConfig kRequester = {.transport = wire::Transport::kRc,
                                                   .own_qpn = 0x11,
                                                   .dest_qpn = 0x22,
                                                   .pkey = 0xffff,
                                                   .mtu = 256,
                                                   .first_psn = 100,
                                                   .timeout_ns = 1000,
                                                   .retry_count = 3,
                                                   .rnr_retry = 2,
                                                   .max_rd_atomic = 4};
    static constexpr ResponderConfig kResponder = {
        .transport = wire::Transport::kRc,
        .dest_qpn = 0x22,
        .pkey = 0xffff,
        .mtu = 256,
        .first_psn = 100,
        .qkey = 0x80010000,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer = 1,
        .access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
                  IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT};

    explicit Endpoint(const RequesterConfig &requester_config = kRequester,
                      const ResponderConfig &responder_config = kResponder, Memory *shared = nullptr)
        : memory(shared != nullptr ? *shared : own_memory),
          requester(requester_config, *this),
          responder(responder_config, *this)
    {
    }
    Endpoint(const Endpoint &) = delete;

    uint32_t post(const Request &request, Bytes local = {});
    void post_receive(size_t capacity) { receives.push_back(capacity); }

    /// The packets that were sent since the last call.
    std::vector<Bytes> take_sent();

    // The host of both.
    std::span<uint8_t> buffer(const Request *request);
    void send(size_t size);
    const Request &request(uint32_t index);
    ibv_wc_status gather(uint32_t index, uint32_t offset, std::span<uint8_t> out);
    ibv_wc_status scatter(uint32_t index, uint32_t offset, std::span<const uint8_t> bytes);
    ibv_wc_status execute(uint32_t index);
    void complete(uint32_t index, ibv_wc_status status, uint32_t byte_count);
    bool use_queue(uint32_t number);
    bool take_receive();
    ibv_wc_status fill_receive(uint32_t offset, std::span<const uint8_t> bytes);
    void finish_receive(const Receipt &receipt);
    bool remote_check(uint32_t rkey, uint64_t address, uint32_t length, int access);
    bool remote_write(uint32_t rkey, uint64_t address, std::span<const uint8_t> bytes);
    bool remote_read(uint32_t rkey, uint64_t address, std::span<uint8_t> out);
    bool remote_atomic(Op op, const wire::AtomicEth &atomic, uint64_t &original);
    bool remote_atomic_write(uint32_t rkey, uint64_t address, std::span<const uint8_t, 8> bytes);
    bool remote_flush(const wire::Reth &reth, const wire::Feth &feth);
    void remote_done(bool is_write, bool is_success, uint32_t length)
    {
        done.push_back({is_write, is_success, length});
    }
    bool invalidate(uint32_t rkey);
    void failed(wire::NakCode code, bool told);
    uint32_t lost() const { return lost_packets; }
    void count(Counter counter) { ++counts[static_cast<size_t>(counter)]; }
    unsigned counted(Counter counter) const { return counts[static_cast<size_t>(counter)]; }

    Memory own_memory;
    Memory &memory;
    std::deque<Posted> posted;
    std::vector<uint32_t> executed;
    ibv_wc_status execute_status = IBV_WC_SUCCESS;
    std::vector<Completion> completions;
    std::deque<size_t> receives;  // capacities
    std::optional<Bytes> receive;
    ibv_wc_status fill_status = IBV_WC_SUCCESS;
    std::vector<Received> received;
    uint32_t queue = 0;                 // the one that was named last
    std::vector<uint32_t> read_queues;  // named for each piece that was read
    uint32_t srqn = 0;                  // the shared receive queue that exists; 0: each does
    uint32_t atomics = 0;
    uint32_t flushes = 0;
    std::vector<uint32_t> invalidated;
    std::optional<uint32_t> not_invalidated;
    std::vector<Done> done;
    std::optional<wire::NakCode> fault;
    bool fault_told = false;
    uint32_t lost_packets = 0;    // what lost() says
    size_t link_room = SIZE_MAX;  // packets
    std::vector<Bytes> sent;
    std::array<unsigned, kCounters> counts{};
    std::string violation;  // the first breach of the contract

    Requester requester;
    Responder responder;

private:
    void require(bool condition, const char *what);

    std::array<uint8_t, wire::kMaxPacketSize> room_;
    bool has_room_ = false;
    std::map<uint32_t, uint32_t> scattered_;  // bytes, by request
};

}  // namespace urxe::transport::test
