// SPDX-License-Identifier: BSD-2-Clause
// Processes that a test makes, what they tell each other beside verbs, and the verbs objects that most of them need.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Ends the process of a test, with a failure, unless the condition holds.
#define REQUIRE(condition)                                             \
    do {                                                               \
        if (!(condition))                                              \
            ::processes::fail_process(__FILE__, __LINE__, #condition); \
    } while (false)

namespace processes {

[[noreturn]] void fail_process(const char *file, int line, const char *condition);

/// Deadline against hangs, in milliseconds: nothing that works takes nearly as long.
constexpr int kDeadline = 240'000;

/// A process's end of a socket pair.
class Link {
public:
    explicit Link(int file) : file_(file) {}

    template <class T>
    void send(const T &value)
    {
        send_bytes(&value, sizeof value);
    }
    template <class T>
    T receive()
    {
        T value;
        receive_bytes(&value, sizeof value);
        return value;
    }
    /// Tells the other that this much is done, and waits until it is there too.
    void meet()
    {
        send('m');
        receive<char>();
    }
    /// Whether something, the end included, can be received at once.
    bool has_more() const;
    /// Waits for the other's end to be closed, as a process's death does.
    void wait_for_end();
    int file() const { return file_; }

private:
    void send_bytes(const void *bytes, size_t size);
    void receive_bytes(void *bytes, size_t size);

    int file_;
};

/// The processes of one test. None of them has called a verb before its function is called.
class World {
public:
    World() = default;
    World(const World &) = delete;
    World &operator=(const World &) = delete;
    /// Kills what is left.
    ~World();

    /// Runs a function in a new process, that may use up to `links` links.
    pid_t start(std::function<void()> body);
    /// A new socket pair, which all processes that start later inherit.
    struct Pair {
        Link left, right;
    };
    Pair pair();
    /// Waits until a process has ended. Expects it to have succeeded; or, if `is_killed`, to have died of SIGKILL.
    void wait(pid_t process, bool is_killed = false);
    /// Waits for all that nobody has waited for.
    void wait_for_all();

    /// The commonest case: two processes and a link.
    static void run(const std::function<void(Link &)> &left, const std::function<void(Link &)> &right);

private:
    std::vector<pid_t> running_;
    std::vector<int> files_;
};

/// From now on the kernel refuses this process to copy from and to others, as in many containers.
void refuse_copies();

/// How a QP is found.
struct Address {
    uint32_t qp_num;
    ibv_gid gid;
};

/// A region that a peer may use.
struct Place {
    uint64_t address;
    uint32_t rkey;
};

constexpr int kAllAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr uint32_t kQkey = 0x1234567;

struct QpOptions {
    ibv_qp_type type = IBV_QPT_RC;
    ibv_srq *srq = nullptr;
    uint32_t depth = 128;
    uint32_t sges = 4;
    uint32_t inline_data = 0;
    bool signals_all = true;
    ibv_cq *recv_cq = nullptr;  ///< null: the same as for sends
};

struct PathOptions {
    uint8_t timeout = 18;  ///< about one second
    uint8_t retry_cnt = 7;
    uint8_t rnr_retry = 7;
};

/// An open device with a protection domain. What is made through it is destroyed with it, unless `leaks` is set.
class Device {
public:
    Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    ~Device();

    ibv_context *context() const { return context_; }
    ibv_pd *pd() const { return pd_; }

    ibv_comp_channel *channel();
    ibv_cq *cq(int cqe = 512, ibv_comp_channel *channel = nullptr);
    ibv_cq_ex *cq_ex(uint64_t wc_flags);
    ibv_srq *srq(uint32_t max_wr = 128);
    /// One that matches tags.
    ibv_srq *tag_srq(ibv_cq *cq, uint32_t max_wr, const ibv_tm_cap &cap);
    ibv_qp *qp(ibv_cq *cq, const QpOptions &options = {});
    ibv_mr *mr(void *memory, size_t size, int access = kAllAccess);
    /// Destroys one of them now.
    void destroy(ibv_qp *qp);
    void deregister(ibv_mr *mr);

    Address address(const ibv_qp *qp) const { return {qp->qp_num, gid_}; }
    const ibv_gid &gid() const { return gid_; }

    /// From RESET to RTS.
    void connect(ibv_qp *qp, const Address &to, const PathOptions &options = {}) const;
    /// One step of it.
    static void to_init(ibv_qp *qp);
    void to_rtr(ibv_qp *qp, const Address &to) const;
    static void to_rts(ibv_qp *qp, const PathOptions &options = {});
    /// The same where it may fail: what ibv_modify_qp answered.
    static int try_rts(ibv_qp *qp, const PathOptions &options = {});
    /// Tells the other its address and connects to the one that the other tells.
    Address join(ibv_qp *qp, Link &link, const PathOptions &options = {}) const;
    ibv_ah_attr path_to(const ibv_gid &gid) const;

private:
    ibv_context *context_;
    ibv_pd *pd_;
    ibv_gid gid_;
    std::vector<ibv_comp_channel *> channels_;
    std::vector<ibv_cq *> cqs_;
    std::vector<ibv_srq *> srqs_;
    std::vector<ibv_qp *> qps_;
    std::vector<ibv_mr *> mrs_;
};

/// Opens the device above the loopback interface; null with errno.
ibv_context *open_loopback();

/// Polls until there are so many completions.
std::vector<ibv_wc> poll(ibv_cq *cq, size_t count);
/// Polls one, which must be successful.
ibv_wc poll_one(ibv_cq *cq);
/// Gives way to others, or ends the process if that goes on for too long. Starts from `begin` = now().
uint64_t now_ms();
void pause_since(uint64_t begin);

void post_receive(ibv_qp *qp, uint64_t wr_id, const ibv_mr *mr, uint64_t offset, uint32_t length);
void post_receive(ibv_srq *srq, uint64_t wr_id, const ibv_mr *mr, uint64_t offset, uint32_t length);
/// What ibv_post_send answers to a request with one entry.
int post(ibv_qp *qp, ibv_wr_opcode opcode, uint64_t wr_id, const ibv_mr *mr, uint64_t offset, uint32_t length,
         const Place &to = {}, unsigned flags = IBV_SEND_SIGNALED, uint32_t imm = 0);

/// A byte that differs with each seed and position.
uint8_t pattern(uint64_t seed, uint64_t position);
void fill(void *memory, size_t size, uint64_t seed);
/// Where memory first differs from the pattern; `size`: nowhere.
size_t mismatch(const void *memory, size_t size, uint64_t seed);

/// A small generator whose numbers depend on the seed alone.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
    uint64_t next();
    uint64_t below(uint64_t limit) { return next() % limit; }

private:
    uint64_t state_;
};

}  // namespace processes
