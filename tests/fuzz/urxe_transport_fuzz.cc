// SPDX-License-Identifier: BSD-2-Clause
// A requester and a responder of RC that get any packets in any order: they keep to their contract with their
// host.
//
// The input is steps: a byte that says what happens, and for packets a byte with their PSN in relation to the
// one that is expected, a byte with their size in units of four, and their bytes, of which the PSN is replaced.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "transport/requester.hh"
#include "transport/responder.hh"
#include "wire/packet.hh"

namespace {

using namespace urxe;
using transport::Op;
using transport::Request;

void require(bool condition)
{
    if (!condition)
        abort();
}

constexpr uint64_t kAddress = 0x1000;
constexpr uint32_t kRkey = 1;
constexpr uint32_t kFirstPsn = 0xfffff0;

class Host {
public:
    std::span<uint8_t> buffer(const Request *)
    {
        has_room_ = link_room != 0;
        return has_room_ ? std::span<uint8_t>(room_) : std::span<uint8_t>();
    }
    void send(size_t size)
    {
        require(has_room_);
        has_room_ = false;
        --link_room;
        wire::Packet packet{};
        require(wire::parse({room_, size}, packet) == wire::Reason::kNone);
    }

    const Request &request(uint32_t index)
    {
        require(index >= completed && index < posted);
        return requests[index % std::size(requests)];
    }
    ibv_wc_status gather(uint32_t index, uint32_t offset, std::span<uint8_t> out)
    {
        require(!out.empty() && offset + uint64_t{out.size()} <= request(index).length);
        std::memset(out.data(), 0x5a, out.size());
        return IBV_WC_SUCCESS;
    }
    ibv_wc_status scatter(uint32_t index, uint32_t offset, std::span<const uint8_t> bytes)
    {
        require(index == completed && offset == scattered_);
        require(!bytes.empty() && offset + uint64_t{bytes.size()} <= request(index).length);
        scattered_ += static_cast<uint32_t>(bytes.size());
        return IBV_WC_SUCCESS;
    }
    ibv_wc_status execute(uint32_t) { return IBV_WC_SUCCESS; }
    void complete(uint32_t index, ibv_wc_status status, uint32_t)
    {
        require(index == completed && index < posted && !has_failed_);
        scattered_ = 0;
        ++completed;
        has_failed_ = status != IBV_WC_SUCCESS;
    }

    uint32_t lost() { return lost_++ / 2; }
    void count(transport::Counter) {}
    bool use_queue(uint32_t number) { return number % 2 == 0; }
    bool take_receive()
    {
        require(!has_receive_);
        if (receives == 0)
            return false;
        --receives;
        has_receive_ = true;
        return true;
    }
    ibv_wc_status fill_receive(uint32_t offset, std::span<const uint8_t> bytes)
    {
        require(has_receive_ && !bytes.empty());
        if (offset + uint64_t{bytes.size()} > sizeof receive_)
            return IBV_WC_LOC_LEN_ERR;
        std::memcpy(receive_ + offset, bytes.data(), bytes.size());
        return IBV_WC_SUCCESS;
    }
    void finish_receive(const transport::Receipt &receipt)
    {
        require(has_receive_);
        require(receipt.is_write || receipt.byte_count <= sizeof receive_);
        has_receive_ = false;
    }
    bool remote_check(uint32_t rkey, uint64_t address, uint32_t length, int)
    {
        require(length != 0);
        return is_permitted(rkey, address, length);
    }
    bool remote_write(uint32_t rkey, uint64_t address, std::span<const uint8_t> bytes)
    {
        require(!bytes.empty());
        if (!is_permitted(rkey, address, bytes.size()))
            return false;
        std::memcpy(memory_ + (address - kAddress), bytes.data(), bytes.size());
        return true;
    }
    bool remote_read(uint32_t rkey, uint64_t address, std::span<uint8_t> out)
    {
        require(!out.empty());
        if (!is_permitted(rkey, address, out.size()))
            return false;
        std::memcpy(out.data(), memory_ + (address - kAddress), out.size());
        return true;
    }
    bool remote_atomic(Op, const wire::AtomicEth &atomic, uint64_t &original)
    {
        require(atomic.address % 8 == 0);
        original = 0;
        return is_permitted(atomic.rkey, atomic.address, 8);
    }
    bool remote_atomic_write(uint32_t rkey, uint64_t address, std::span<const uint8_t, 8> bytes)
    {
        require(address % 8 == 0);
        return remote_write(rkey, address, bytes);
    }
    bool remote_flush(const wire::Reth &reth, const wire::Feth &) { return reth.rkey == kRkey; }
    void remote_done(bool, bool, uint32_t) {}
    bool invalidate(uint32_t rkey) { return rkey != 0; }
    void failed(wire::NakCode, bool)
    {
        require(!has_fault_);
        has_fault_ = true;
    }

    Request requests[8] = {};
    uint32_t posted = 0;
    uint32_t completed = 0;
    uint32_t receives = 0;
    uint32_t link_room = 1000;

private:
    static bool is_permitted(uint32_t rkey, uint64_t address, uint64_t length)
    {
        return rkey == kRkey && address >= kAddress && address - kAddress <= sizeof memory_ &&
               length <= sizeof memory_ - (address - kAddress);
    }

    uint8_t room_[wire::kMaxPacketSize];
    bool has_room_ = false;
    bool has_receive_ = false;
    bool has_failed_ = false;
    uint32_t lost_ = 0;
    bool has_fault_ = false;
    uint32_t scattered_ = 0;
    uint8_t receive_[600];
    uint8_t memory_[4096] = {};
};

/// What is left of the input.
struct Input {
    std::span<const uint8_t> rest;

    uint8_t byte()
    {
        if (rest.empty())
            return 0;
        const uint8_t first = rest[0];
        rest = rest.subspan(1);
        return first;
    }
    std::span<const uint8_t> bytes(size_t size)
    {
        const std::span<const uint8_t> first = rest.first(std::min(size, rest.size()));
        rest = rest.subspan(first.size());
        return first;
    }
};

void post(Host &host, transport::Requester &requester, uint8_t kind)
{
    if (host.posted - host.completed == std::size(host.requests) || requester.failed())
        return;
    Request &request = host.requests[host.posted++ % std::size(host.requests)];
    request = {
        .op = static_cast<Op>(kind & 7), .fence = (kind & 8) != 0, .quiet = (kind & 0x10) != 0, .length = 8};
    if (request.op == Op::kSend || request.op == Op::kWrite || request.op == Op::kRead)
        request.length = (kind >> 4) * 100u;
    requester.post();
}

/// Packets of the input are made those of the transport.
void run(wire::Transport transport, const uint8_t *data, size_t size)
{
    constexpr int kAccess =
        IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL;
    Host host;
    transport::Requester requester({.transport = transport,
                                    .mtu = 256,
                                    .first_psn = kFirstPsn,
                                    .timeout_ns = 1000,
                                    .retry_count = 7,
                                    .rnr_retry = 7,
                                    .max_rd_atomic = 3},
                                   host);
    transport::Responder responder({.transport = transport,
                                    .mtu = 256,
                                    .first_psn = kFirstPsn,
                                    .max_dest_rd_atomic = 3,
                                    .access = kAccess},
                                   host);
    uint64_t now = 0;
    Input input{{data, size}};
    while (!input.rest.empty()) {
        const uint8_t step = input.byte();
        switch (step >> 6) {
            case 0:
                post(host, requester, input.byte());
                host.receives += step & 1;
                break;
            case 1:
                host.link_room = (step & 1) != 0 ? 1000 : step & 0x1f;
                now += (step & 2) != 0 ? 1000 : 10;
                requester.progress(now);
                responder.progress();
                break;
            default: {
                uint8_t bytes[4 * 255] = {};
                const auto distance = static_cast<int8_t>(input.byte());
                const std::span<const uint8_t> given = input.bytes(size_t{input.byte()} * 4);
                std::copy(given.begin(), given.end(), bytes);
                wire::Packet packet{};
                bytes[0] = static_cast<uint8_t>(bytes[0] | static_cast<unsigned>(transport));
                const bool is_response = wire::opcode_info(bytes[0]).response;
                if (given.size() >= wire::kBthSize) {
                    const uint32_t near = is_response ? kFirstPsn : responder.expected_psn();
                    wire::store_big<3>(bytes + 9, wire::psn_add(near, distance));
                }
                const wire::Reason reason = wire::parse({bytes, given.size()}, packet);
                if (reason == wire::Reason::kNone && is_response)
                    requester.receive(packet, now);
                else if (reason == wire::Reason::kNone)
                    responder.receive(packet);
                else if (reason != wire::Reason::kShort)
                    responder.receive_malformed(packet.bth);
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run(wire::Transport::kRc, data, size);
    run(wire::Transport::kXrc, data, size);
    return 0;
}
