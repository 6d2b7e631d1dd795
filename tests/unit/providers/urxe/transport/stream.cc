// SPDX-License-Identifier: BSD-2-Clause
// Random requests, and a model of what they do.
#include "stream.hh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace urxe::transport::test {

void Stream::start(unsigned requests)
{
    uint64_t time = 0;
    for (; requests > 0; --requests) {
        time += world_.below(3) == 0 ? world_.below(20'000) : 0;
        world_.after(time, [this] {
            post();
            if (world_.chance(70))
                world_.progress(from_);
        });
    }
    world_.after(time, [this] { world_.progress(from_); });
}

void Stream::check() const
{
    ASSERT_EQ(from_.violation, "");
    ASSERT_EQ(to_.violation, "");
    ASSERT_FALSE(to_.fault);
    ASSERT_EQ(from_.completions.size(), from_.posted.size());
    for (const Completion &completion : from_.completions)
        ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
    check_results();
    ASSERT_EQ(from_.executed, locals_);
    ASSERT_EQ(to_.received.size(), expected_.size());
    check_receives(expected_.size());
    ASSERT_EQ(std::memcmp(to_.memory.bytes.data() + base_, shadow_.data(), shadow_.size()), 0);
    ASSERT_EQ(to_.atomics, atomics_);
    ASSERT_GE(to_.flushes, flushes_);
    ASSERT_EQ(to_.invalidated.size(), invalidations_);
}

void Stream::check_broken(bool is_lossy) const
{
    ASSERT_EQ(from_.violation, "");
    ASSERT_EQ(to_.violation, "");
    ASSERT_TRUE(from_.requester.failed());
    ASSERT_FALSE(from_.completions.empty());
    const Completion &last = from_.completions.back();
    ASSERT_LE(last.index, flawed_);
    for (size_t i = 0; i < last.index; ++i)
        ASSERT_EQ(from_.completions[i].status, IBV_WC_SUCCESS);
    check_results();
    check_receives(std::min(expected_.size(), to_.received.size()));
    if (is_lossy && last.status == IBV_WC_RETRY_EXC_ERR)
        return;
    ASSERT_EQ(last, (Completion{flawed_, flaw_status_, 0}));
    ASSERT_EQ(to_.fault.has_value(), flaw_ != Flaw::kLocal);
    ASSERT_EQ(to_.received.size(), expected_.size() + (flaw_ == Flaw::kReceive ? 1 : 0));
    if (flaw_ == Flaw::kReceive) {
        ASSERT_EQ(to_.received.back().receipt.status, IBV_WC_LOC_LEN_ERR);
    }
    ASSERT_EQ(std::memcmp(to_.memory.bytes.data() + base_, shadow_.data(), shadow_.size()), 0);
    ASSERT_EQ(to_.atomics, atomics_);
}

/// The byte counts of all completions, and what those of reads and atomics brought.
void Stream::check_results() const
{
    for (const Completion &completion : from_.completions) {
        if (completion.status != IBV_WC_SUCCESS)
            continue;
        const Posted &posted = from_.posted[completion.index];
        ASSERT_EQ(completion.byte_count, posted.request.length);
        if (const auto found = results_.find(completion.index); found != results_.end()) {
            ASSERT_EQ(posted.local, found->second) << "read or atomic " << completion.index;
        }
    }
}

void Stream::check_receives(size_t count) const
{
    for (size_t i = 0; i < count; ++i) {
        const Receipt &receipt = to_.received[i].receipt;
        const Receipt &expected = expected_[i].receipt;
        ASSERT_EQ(receipt.status, IBV_WC_SUCCESS);
        ASSERT_EQ(receipt.is_write, expected.is_write);
        ASSERT_EQ(receipt.extra, expected.extra);
        ASSERT_EQ(receipt.extra_value, expected.extra_value);
        ASSERT_EQ(receipt.solicited, expected.solicited);
        ASSERT_EQ(receipt.byte_count, expected.byte_count);
        if (!receipt.is_write) {
            ASSERT_EQ(to_.received[i].bytes, expected_[i].bytes) << "receive " << i;
        }
    }
}

uint32_t Stream::length()
{
    switch (world_.below(12)) {
        case 0:
            return 0;
        case 1:
            return static_cast<uint32_t>(config_.mtu * (1 + world_.below(4)));
        case 2:
            return static_cast<uint32_t>(world_.chance(20) ? world_.below(kRegion) : config_.mtu + 1);
        default:
            return static_cast<uint32_t>(world_.below(uint64_t{config_.mtu} * 5));
    }
}

Bytes Stream::data(size_t size)
{
    Bytes bytes(size);
    uint64_t number = 0;
    for (size_t i = 0; i < size; ++i, number >>= 8) {
        if (i % 8 == 0)
            number = world_.below(UINT64_MAX);
        bytes[i] = static_cast<uint8_t>(number);
    }
    return bytes;
}

/// Whether a read was posted that may be answered, or answered again, after what is posted now: a program that
/// overwrites what it reads has to fence (IBTA 10.8.3.3).
bool Stream::is_reading() const
{
    for (size_t i = from_.completions.size(); i < from_.posted.size(); ++i)
        if (from_.posted[i].request.op == Op::kRead)
            return true;
    return false;
}

void Stream::expect_receive(const Request &request, const Bytes &bytes)
{
    expected_.push_back({{.status = IBV_WC_SUCCESS,
                          .is_write = request.op == Op::kWrite,
                          .extra = request.extra,
                          .solicited = request.solicited,
                          .byte_count = request.length,
                          .extra_value = request.extra_value},
                         bytes});
    // Some receives are there before the message, some after.
    world_.after(world_.chance(70) ? 0 : world_.below(100'000), [this] { to_.post_receive(kRegion); });
}

void Stream::send(Request &request, uint32_t index, Bytes &local)
{
    request.op = Op::kSend;
    request.solicited = world_.chance(30);
    request.extra = static_cast<Extra>(world_.below(3));
    if (request.extra != Extra::kNone)
        request.extra_value = 0x1000 + index;
    if (request.extra == Extra::kInvalidate)
        ++invalidations_;
    local = data(request.length);
    expect_receive(request, local);
}

/// What the request writes, to the shadow as well.
Bytes Stream::write(Request &request)
{
    Bytes local = data(request.length);
    request.fence |= is_reading();
    const auto offset = static_cast<ptrdiff_t>(request.address - to_.memory.address - base_);
    std::copy(local.begin(), local.end(), shadow_.begin() + offset);
    return local;
}

void Stream::count(Request &request, uint32_t index)
{
    request.length = 8;
    ++atomics_;
    if (world_.chance(30)) {
        request.op = Op::kFetchAdd;
        request.address = to_.memory.address + shared_;
        request.swap_or_add = world_.below(1000);
        added_ += request.swap_or_add;
        return;
    }
    request.address = to_.memory.address + base_ + kRegion;
    uint8_t *counter = shadow_.data() + kRegion;
    uint64_t value = 0;
    std::memcpy(&value, counter, sizeof value);
    results_[index] = Bytes(counter, counter + sizeof value);
    request.op = world_.chance(50) ? Op::kFetchAdd : Op::kCompareSwap;
    request.swap_or_add = world_.below(UINT64_MAX);
    request.compare = world_.chance(70) ? value : value + 1;
    if (request.op == Op::kFetchAdd)
        value += request.swap_or_add;
    else if (request.compare == value)
        value = request.swap_or_add;
    std::memcpy(counter, &value, sizeof value);
}

void Stream::post()
{
    const auto index = static_cast<uint32_t>(from_.posted.size());
    if (index >= flawed_)
        return post_flawed();
    const uint64_t offset = world_.below(kRegion);
    Request request{};
    request.rkey = to_.memory.rkey;
    request.address = to_.memory.address + base_ + offset;
    request.length = static_cast<uint32_t>(std::min<uint64_t>(length(), kRegion - offset));
    request.srqn = 7;
    request.fence = world_.chance(10);
    request.quiet = world_.chance(50);
    Bytes local;
    switch (world_.below(10)) {
        case 0:
        case 1:
        case 2:
            send(request, index, local);
            break;
        case 3:
        case 4:
            request.op = Op::kWrite;
            local = write(request);
            if (world_.chance(40)) {
                request.solicited = world_.chance(30);
                request.extra = Extra::kImmediate;
                request.extra_value = 0x2000 + index;
                expect_receive(request, {});
            }
            break;
        case 5:
        case 6: {
            request.op = Op::kRead;
            const auto at = shadow_.begin() + static_cast<ptrdiff_t>(offset);
            results_[index] = Bytes(at, at + request.length);
            break;
        }
        case 7:
            count(request, index);
            break;
        case 8:
            request.op = Op::kAtomicWrite;
            request.length = 8;
            request.address -= offset % 8;
            local = write(request);
            break;
        default:
            if (world_.chance(50)) {
                request.op = Op::kFlush;
                request.placement = wire::kPlacementGlobal;
                ++flushes_;
            } else {
                request.op = Op::kLocal;
                request.length = 0;
                locals_.push_back(index);
            }
    }
    from_.post(request, std::move(local));
}

void Stream::post_flawed()
{
    if (from_.posted.size() > flawed_ + 1 || from_.requester.failed())
        return;
    Request request{.op = Op::kWrite, .length = 300, .rkey = to_.memory.rkey, .address = to_.memory.address};
    if (from_.posted.size() == flawed_) {
        switch (flaw_) {
            case Flaw::kKey:
                ++request.rkey;
                flaw_status_ = IBV_WC_REM_ACCESS_ERR;
                break;
            case Flaw::kRange:
                request.op = Op::kRead;
                request.address += to_.memory.bytes.size() - 299;
                flaw_status_ = IBV_WC_REM_ACCESS_ERR;
                break;
            case Flaw::kAlignment:
                request = {
                    .op = Op::kFetchAdd, .length = 8, .rkey = request.rkey, .address = request.address + 4};
                flaw_status_ = IBV_WC_REM_INV_REQ_ERR;
                break;
            case Flaw::kLocal:
                flaw_status_ = IBV_WC_LOC_PROT_ERR;
                break;
            case Flaw::kReceive:
                request.op = Op::kSend;
                request.length = kRegion + 1;
                flaw_status_ = IBV_WC_REM_INV_REQ_ERR;
                to_.post_receive(kRegion);
                break;
        }
    }
    const uint32_t index = from_.post(request);
    from_.posted[index].local_fails = index == flawed_ && flaw_ == Flaw::kLocal;
}

}  // namespace urxe::transport::test
