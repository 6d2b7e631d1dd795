// SPDX-License-Identifier: BSD-2-Clause
// Two hosts for a test: network namespaces joined by a pair of veth interfaces, and processes in them.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace hosts {

/// The kinds of address that both hosts have: 10.7.0.1 and .2, fd07::1 and ::2, fe80::1 and ::2.
enum class Address : uint8_t { kIpv4, kGlobal, kLinkLocal };

/// Makes the hosts, once for the test program. Where that is not allowed, `reason` says why.
bool make(std::string &reason);
/// Runs a command of a shell on a host. Gives its exit status.
int shell(int host, const std::string &command);

/// A process on a host, as its function sees it.
class Side {
public:
    Side(int host, int index, int socket);

    int host() const { return host_; }    ///< 0 or 1
    int index() const { return index_; }  ///< of the pair that the process is in
    /// Opens the device above this host's end of the veth.
    ibv_context *open() const;

    /// Gives a value to the other process of the pair for one of its own. Sleeps, so that the library's own thread must do
    /// what there is to do.
    template <class Value>
    Value exchange(const Value &own) const
    {
        static_assert(std::is_trivially_copyable_v<Value>);
        Value other{};
        swap(&own, &other, sizeof own);
        return other;
    }
    /// Waits until the other process is there too.
    void meet() const { exchange('m'); }

private:
    void swap(const void *own, void *other, size_t size) const;

    int host_, index_, socket_;
};

using Program = std::function<void(Side &)>;

/// Runs `first` on host 0 and `second` on host 1, `pairs` times at once, to the end. What fails there fails the test.
/// `second` may end by a signal, if that is `signal`.
void run(const Program &first, const Program &second, int pairs = 1, int signal = 0);

/// A test that is skipped where there are no hosts.
class Test : public testing::Test {
protected:
    void SetUp() override
    {
        if (std::string reason; !make(reason))
            GTEST_SKIP() << reason;
    }
};

/// The index of an address of the device; -1: it has none.
int gid_index(ibv_context *context, Address kind);

/// A QP with what belongs to it, connected to the one that the other process makes.
class Port {
public:
    struct Options {
        ibv_qp_type type = IBV_QPT_RC;
        ibv_mtu mtu = IBV_MTU_1024;
        Address address = Address::kIpv4;
        size_t size = size_t{3} << 20;  ///< bytes of memory
        bool shares_receives = false;
        uint32_t tags = 0;  ///< of an SRQ that matches so many; 0: it matches none
        bool uses_events = false;
        uint8_t timeout = 17, retry_count = 7, rnr_retry = 7, min_rnr_timer = 12;
        uint32_t depth = 64;
        uint32_t first_psn = 0xfffff0;
    };
    /// What the other process has.
    struct Remote {
        uint64_t address;
        uint32_t rkey, qp_num, psn;
        ibv_gid gid;
    };
    static constexpr uint32_t kQkey = 0x11223344;

    Port(Side &side, const Options &options);
    Port(const Port &) = delete;
    Port &operator=(const Port &) = delete;
    ~Port();

    uint8_t *at(size_t offset) { return memory.data() + offset; }
    ibv_sge sge(size_t offset, size_t length)
    {
        return {reinterpret_cast<uintptr_t>(at(offset)), static_cast<uint32_t>(length), mr->lkey};
    }
    void post_receive(size_t offset, size_t length);
    /// Posts a signalled request for `length` bytes at `offset`; of the other's memory, those at `remote_offset`.
    void post(ibv_wr_opcode opcode, size_t offset, size_t length, size_t remote_offset,
              const std::function<void(ibv_send_wr &)> &change = {});
    /// The next completion of sends or receives.
    ibv_wc wait_sent() { return wait(send_cq); }
    ibv_wc wait_received() { return wait(receive_cq); }
    ibv_wc wait(ibv_cq *cq);
    void expect_sent(ibv_wc_status status = IBV_WC_SUCCESS);
    ibv_qp_state state() const;

    /// The two of an RC QP, as ibv_wr_* has them.
    ibv_qp_ex *ex() const { return ibv_qp_to_qp_ex(qp); }

    Side &side;
    Options options;
    std::vector<uint8_t> memory;
    ibv_context *context;
    ibv_pd *pd;
    ibv_mr *mr;
    ibv_comp_channel *channel;
    ibv_cq *send_cq, *receive_cq;
    ibv_srq *srq;
    ibv_qp *qp;
    ibv_ah *ah;
    Remote remote;
};

/// Bytes that tell where they are and of which turn.
void fill(uint8_t *bytes, size_t length, uint32_t turn);
/// Whether they are those of fill().
bool is_filled(const uint8_t *bytes, size_t length, uint32_t turn);

}  // namespace hosts
