// SPDX-License-Identifier: BSD-2-Clause
// The host that tests give to requesters and responders.
#include "endpoint.hh"

#include <algorithm>
#include <cstring>

namespace urxe::transport::test {

uint8_t *Memory::at(uint32_t key, uint64_t where, uint64_t length, int wanted)
{
    const bool is_inside =
        where >= address && where - address <= bytes.size() && length <= bytes.size() - (where - address);
    return key == rkey && (access & wanted) == wanted && is_inside ? bytes.data() + (where - address)
                                                                   : nullptr;
}

uint64_t Memory::number(size_t offset) const
{
    uint64_t number = 0;
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

void Endpoint::require(bool condition, const char *what)
{
    if (!condition && violation.empty())
        violation = what;
}

uint32_t Endpoint::post(const Request &request, Bytes local)
{
    local.resize(std::max<size_t>(local.size(), request.op == Op::kFlush ? 0 : request.length));
    posted.push_back({request, std::move(local)});
    requester.post();
    return static_cast<uint32_t>(posted.size() - 1);
}

std::vector<Bytes> Endpoint::take_sent()
{
    std::vector<Bytes> taken;
    taken.swap(sent);
    return taken;
}

std::span<uint8_t> Endpoint::buffer(const Request *)
{
    has_room_ = sent.size() < link_room;
    // Nothing that was there before may go out.
    room_.fill(0xee);
    return has_room_ ? std::span<uint8_t>(room_) : std::span<uint8_t>();
}

void Endpoint::send(size_t size)
{
    require(has_room_ && size <= room_.size(), "sent without room");
    has_room_ = false;
    sent.emplace_back(room_.begin(), room_.begin() + static_cast<ptrdiff_t>(std::min(size, room_.size())));
    wire::Packet packet{};
    require(wire::parse(sent.back(), packet) == wire::Reason::kNone, "sent a malformed packet");
    require(packet.bth.migrated && packet.bth.pkey == kRequester.pkey, "sent a packet of another path");
}

const Request &Endpoint::request(uint32_t index)
{
    require(index < posted.size() && index >= completions.size(), "asked for a request that is not pending");
    return posted.at(index).request;
}

ibv_wc_status Endpoint::gather(uint32_t index, uint32_t offset, std::span<uint8_t> out)
{
    const Posted &one = posted.at(index);
    require(index >= completions.size(), "gathers for a complete request");
    require(!out.empty() && offset + uint64_t{out.size()} <= one.local.size(), "gathers beyond the message");
    if (one.local_fails)
        return IBV_WC_LOC_PROT_ERR;
    std::memcpy(out.data(), one.local.data() + offset, out.size());
    return IBV_WC_SUCCESS;
}

ibv_wc_status Endpoint::scatter(uint32_t index, uint32_t offset, std::span<const uint8_t> bytes)
{
    Posted &one = posted.at(index);
    require(index == completions.size(), "scatters for a request that is not the oldest");
    require(!bytes.empty() && offset + uint64_t{bytes.size()} <= one.request.length,
            "scatters beyond the message");
    require(offset == scattered_[index], "scatters out of order");
    scattered_[index] += static_cast<uint32_t>(bytes.size());
    if (one.local_fails)
        return IBV_WC_LOC_PROT_ERR;
    std::memcpy(one.local.data() + offset, bytes.data(), bytes.size());
    return IBV_WC_SUCCESS;
}

ibv_wc_status Endpoint::execute(uint32_t index)
{
    require(posted.at(index).request.op == Op::kLocal, "executes what is not local");
    require(executed.empty() || executed.back() < index, "executes twice");
    executed.push_back(index);
    return execute_status;
}

void Endpoint::complete(uint32_t index, ibv_wc_status status, uint32_t byte_count)
{
    require(index == completions.size() && index < posted.size(), "completes out of order");
    require(completions.empty() || completions.back().status == IBV_WC_SUCCESS, "completes after an error");
    completions.push_back({index, status, byte_count});
    if (status != IBV_WC_SUCCESS)
        return;
    const Op op = posted.at(index).request.op;
    if (op == Op::kRead || op == Op::kCompareSwap || op == Op::kFetchAdd)
        require(scattered_[index] == byte_count, "completes before all is there");
}

bool Endpoint::use_queue(uint32_t number)
{
    queue = number;
    return srqn == 0 || srqn == number;
}

bool Endpoint::take_receive()
{
    require(!receive, "takes a second receive");
    if (receives.empty())
        return false;
    receive = Bytes(receives.front());
    receives.pop_front();
    return true;
}

ibv_wc_status Endpoint::fill_receive(uint32_t offset, std::span<const uint8_t> bytes)
{
    require(receive.has_value(), "fills no receive");
    require(!bytes.empty(), "fills nothing");
    if (fill_status != IBV_WC_SUCCESS)
        return fill_status;
    if (!receive || offset > receive->size() || bytes.size() > receive->size() - offset)
        return IBV_WC_LOC_LEN_ERR;
    std::memcpy(receive->data() + offset, bytes.data(), bytes.size());
    return IBV_WC_SUCCESS;
}

void Endpoint::finish_receive(const Receipt &receipt)
{
    require(receive.has_value(), "finishes no receive");
    Bytes bytes = receive.value_or(Bytes());
    receive.reset();
    if (receipt.status == IBV_WC_SUCCESS && !receipt.is_write) {
        require(receipt.byte_count <= bytes.size(), "receives more than fits");
        bytes.resize(std::min<size_t>(receipt.byte_count, bytes.size()));
    }
    received.push_back({receipt, std::move(bytes)});
}

bool Endpoint::remote_check(uint32_t rkey, uint64_t address, uint32_t length, int access)
{
    require(length != 0, "checks an empty range");
    return memory.at(rkey, address, length, access) != nullptr;
}

bool Endpoint::remote_write(uint32_t rkey, uint64_t address, std::span<const uint8_t> bytes)
{
    require(!bytes.empty(), "writes nothing");
    uint8_t *to = memory.at(rkey, address, bytes.size(), IBV_ACCESS_REMOTE_WRITE);
    if (to != nullptr)
        std::memcpy(to, bytes.data(), bytes.size());
    return to != nullptr;
}

bool Endpoint::remote_read(uint32_t rkey, uint64_t address, std::span<uint8_t> out)
{
    require(!out.empty(), "reads nothing");
    read_queues.push_back(queue);
    const uint8_t *from = memory.at(rkey, address, out.size(), IBV_ACCESS_REMOTE_READ);
    if (from != nullptr)
        std::memcpy(out.data(), from, out.size());
    return from != nullptr;
}

bool Endpoint::remote_atomic(Op op, const wire::AtomicEth &atomic, uint64_t &original)
{
    require(atomic.address % 8 == 0, "atomic on an address that is not aligned");
    uint8_t *at = memory.at(atomic.rkey, atomic.address, 8, IBV_ACCESS_REMOTE_ATOMIC);
    if (at == nullptr)
        return false;
    ++atomics;
    std::memcpy(&original, at, sizeof original);
    uint64_t value = original;
    if (op == Op::kFetchAdd)
        value += atomic.swap_or_add;
    else if (value == atomic.compare)
        value = atomic.swap_or_add;
    std::memcpy(at, &value, sizeof value);
    return true;
}

bool Endpoint::remote_atomic_write(uint32_t rkey, uint64_t address, std::span<const uint8_t, 8> bytes)
{
    require(address % 8 == 0, "atomic write to an address that is not aligned");
    return remote_write(rkey, address, bytes);
}

bool Endpoint::remote_flush(const wire::Reth &reth, const wire::Feth &)
{
    flushes += reth.rkey == memory.rkey ? 1 : 0;
    return reth.rkey == memory.rkey;
}

bool Endpoint::invalidate(uint32_t rkey)
{
    if (rkey == not_invalidated)
        return false;
    invalidated.push_back(rkey);
    return true;
}

void Endpoint::failed(wire::NakCode code, bool told)
{
    require(!fault, "fails twice");
    fault = code;
    fault_told = told;
}

}  // namespace urxe::transport::test
