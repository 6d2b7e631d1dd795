// SPDX-License-Identifier: BSD-2-Clause
// Messages of another process that are matched with tags, compared with a model of what must become of each.
#include <endian.h>
#include <infiniband/tm_types.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "world.hh"

namespace processes {
namespace {

using Memory = std::vector<uint8_t>;

constexpr uint32_t kHeader = sizeof(ibv_tmh);
constexpr uint32_t kSlot = 1U << 15;  ///< bytes of a buffer
constexpr uint32_t kTags = 8, kReceives = 4;
constexpr uint64_t kReceiveId = 1000;  ///< wr_id of the first receive; those of buffers are their numbers
/// What is around what travels in a completion, with its header and without, and what takes several packets.
constexpr uint32_t kLengths[] = {0, 1, 100, 175, 176, 177, 192, 193, 4080, 4096, 5000, 30000};

/// What one process asks the other to send.
struct Message {
    uint64_t tag;
    uint64_t seed;
    uint32_t length;  ///< without the header
    uint8_t opcode;
    bool is_last;  ///< nothing is sent any more
};

struct Told {
    uint64_t wr_id;
    ibv_wc_status status;
    ibv_wc_opcode opcode;
    unsigned flags;
    uint32_t length;
    ibv_wc_tm_info info;
};

std::optional<Told> take(ibv_cq_ex *cq)
{
    ibv_poll_cq_attr attr{};
    if (ibv_start_poll(cq, &attr) != 0)
        return std::nullopt;
    Told told{.wr_id = cq->wr_id,
              .status = cq->status,
              .opcode = ibv_wc_read_opcode(cq),
              .flags = ibv_wc_read_wc_flags(cq),
              .length = ibv_wc_read_byte_len(cq),
              .info = {}};
    ibv_wc_read_tm_info(cq, &told.info);
    ibv_end_poll(cq);
    return told;
}

Told wait(ibv_cq_ex *cq)
{
    for (const uint64_t begin = now_ms();; pause_since(begin))
        if (const auto told = take(cq); told.has_value())
            return *told;
}

uint32_t app_ctx_of(uint64_t seed)
{
    return static_cast<uint32_t>(seed * 7);
}

/// Sends what it is asked for.
void serve_messages(Link &link)
{
    Device device;
    ibv_qp *qp = device.qp(device.cq());
    device.join(qp, link);
    Memory memory(kHeader + kSlot);
    ibv_mr *mr = device.mr(memory.data(), memory.size());
    for (;;) {
        const auto message = link.receive<Message>();
        if (message.is_last)
            break;
        const ibv_tmh header = {.opcode = message.opcode,
                                .reserved = {},
                                .app_ctx = htobe32(app_ctx_of(message.seed)),
                                .tag = htobe64(message.tag)};
        std::memcpy(memory.data(), &header, sizeof header);
        fill(memory.data() + kHeader, message.length, message.seed);
        REQUIRE(post(qp, IBV_WR_SEND, 1, mr, 0, kHeader + message.length) == 0);
        poll_one(qp->send_cq);
    }
    link.meet();
}

/// Tags of an SRQ and what is known of them.
class Receiver {
public:
    Receiver(Link &link, uint64_t seed) : link_(link), random_(seed)
    {
        cq_ = device_.cq_ex(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_TM_INFO);
        srq_ = device_.tag_srq(ibv_cq_ex_to_cq(cq_), kReceives, {.max_num_tags = kTags, .max_ops = 4});
        qp_ = device_.qp(device_.cq(), {.srq = srq_});
        memory_.resize(size_t{kTags + kReceives} * kSlot);
        mr_ = device_.mr(memory_.data(), memory_.size());
        for (uint32_t i = 0; i < kReceives; ++i)
            post_receive(srq_, kReceiveId + i, mr_, receive_at(i), kSlot);
        device_.join(qp_, link);
    }

    void run(int steps)
    {
        for (int step = 0; step < steps; ++step)
            switch (random_.below(8)) {
                case 0:
                case 1:
                case 2:
                    add();
                    break;
                case 3:
                    remove();
                    break;
                case 4:
                    synchronize();
                    break;
                default:
                    exchange();
                    break;
            }
        link_.send(Message{.tag = 0, .seed = 0, .length = 0, .opcode = 0, .is_last = true});
        REQUIRE(!take(cq_).has_value());
        REQUIRE(matches_ > 50 && unexpected_ > 20 && waits_ > 5);
        link_.meet();
    }

private:
    struct Tag {
        uint64_t tag, mask;
        uint32_t buffer, handle;
        bool takes_part;
    };

    static uint64_t receive_at(uint64_t number) { return (kTags + number) * kSlot; }
    bool is_settled() const { return handled_ == unexpected_; }
    unsigned sync_flag() const { return is_settled() ? 0U : unsigned{IBV_WC_TM_SYNC_REQ}; }
    void settle()
    {
        if (is_settled())
            for (Tag &tag : tags_)
                tag.takes_part = true;
    }

    /// Posts an operation that says how many messages were seen, or an old number, or nothing.
    Told operate(ibv_ops_wr &wr)
    {
        wr.wr_id = ++last_op_;
        wr.flags = IBV_OPS_SIGNALED;
        wr.tm.unexpected_cnt = unexpected_ - (random_.below(6) == 0 ? 1 : 0);
        if (wr.opcode == IBV_WR_TAG_SYNC || random_.below(2) == 0) {
            wr.flags |= IBV_OPS_TM_SYNC;
            handled_ = wr.tm.unexpected_cnt;
        }
        ibv_ops_wr *bad = nullptr;
        REQUIRE(ibv_post_srq_ops(srq_, &wr, &bad) == 0);
        const Told told = wait(cq_);
        REQUIRE(told.wr_id == last_op_);
        return told;
    }

    void add()
    {
        uint32_t buffer = 0;
        while (std::any_of(tags_.begin(), tags_.end(), [&](const Tag &tag) { return tag.buffer == buffer; }))
            ++buffer;
        ibv_sge sge = {.addr = reinterpret_cast<uintptr_t>(memory_.data()) + buffer * uint64_t{kSlot},
                       .length = kSlot,
                       .lkey = mr_->lkey};
        const uint64_t mask = random_.below(3) == 0 ? ~uint64_t{1} : ~uint64_t{0};
        ibv_ops_wr wr{};
        wr.opcode = IBV_WR_TAG_ADD;
        wr.tm.add = {.recv_wr_id = buffer, .sg_list = &sge, .num_sge = 1, .tag = tag() & mask, .mask = mask};
        if (tags_.size() == kTags) {
            ibv_ops_wr *bad = nullptr;
            REQUIRE(ibv_post_srq_ops(srq_, &wr, &bad) == ENOMEM && bad == &wr);
            return;
        }
        const Told told = operate(wr);
        tags_.push_back({wr.tm.add.tag, mask, buffer, wr.tm.handle, false});
        settle();
        waits_ += tags_.back().takes_part ? 0 : 1;
        REQUIRE(told.status == IBV_WC_SUCCESS && told.opcode == IBV_WC_TM_ADD && told.flags == sync_flag());
        handles_.push_back(wr.tm.handle);
    }

    void remove()
    {
        if (handles_.empty())
            return;
        ibv_ops_wr wr{};
        wr.opcode = IBV_WR_TAG_DEL;
        wr.tm.handle = handles_[handles_.size() - 1 - random_.below(std::min<size_t>(handles_.size(), 12))];
        const Told told = operate(wr);
        const size_t removed =
            std::erase_if(tags_, [&](const Tag &tag) { return tag.handle == wr.tm.handle; });
        settle();
        REQUIRE(told.status == (removed == 1 ? IBV_WC_SUCCESS : IBV_WC_TM_ERR));
        REQUIRE(told.opcode == IBV_WC_TM_DEL && told.flags == sync_flag());
    }

    void synchronize()
    {
        ibv_ops_wr wr{};
        wr.opcode = IBV_WR_TAG_SYNC;
        const Told told = operate(wr);
        settle();
        REQUIRE(told.status == IBV_WC_SUCCESS && told.opcode == IBV_WC_TM_SYNC && told.flags == sync_flag());
    }

    uint64_t tag() { return 0xabcd'0000'0000'0000 + random_.below(6); }

    void exchange()
    {
        constexpr uint8_t kOpcodes[] = {
            IBV_TMH_EAGER, IBV_TMH_EAGER, IBV_TMH_EAGER, IBV_TMH_EAGER, IBV_TMH_NO_TAG, IBV_TMH_FIN, 200};
        const Message message = {.tag = tag(),
                                 .seed = ++last_seed_,
                                 .length = kLengths[random_.below(std::size(kLengths))],
                                 .opcode = kOpcodes[random_.below(std::size(kOpcodes))],
                                 .is_last = false};
        fill(memory_.data(), memory_.size(), 0);
        link_.send(message);
        auto match = tags_.end();
        if (message.opcode == IBV_TMH_EAGER)
            match = std::find_if(tags_.begin(), tags_.end(), [&](const Tag &tag) {
                return tag.takes_part && (message.tag & tag.mask) == tag.tag;
            });
        if (match == tags_.end())
            return take_unmatched(message);
        ++matches_;
        Told told = wait(cq_);
        REQUIRE((told.flags & IBV_WC_TM_MATCH) != 0);
        const bool is_long = (told.flags & IBV_WC_TM_DATA_VALID) == 0;
        REQUIRE(is_long == (kHeader + message.length > 4096));
        for (int i = 0; i < (is_long ? 2 : 1); ++i) {
            if (i == 1) {
                told = wait(cq_);
                REQUIRE((told.flags & (IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID)) == IBV_WC_TM_DATA_VALID);
            }
            REQUIRE(told.status == IBV_WC_SUCCESS && told.opcode == IBV_WC_TM_RECV);
            REQUIRE(told.wr_id == match->buffer);
            REQUIRE((told.flags & IBV_WC_TM_SYNC_REQ) == sync_flag());
            REQUIRE(told.info.tag == message.tag && told.info.priv == app_ctx_of(message.seed));
        }
        REQUIRE(told.length == message.length);
        check_memory(match->buffer * uint64_t{kSlot}, 0, message);
        tags_.erase(match);
    }

    void take_unmatched(const Message &message)
    {
        const Told told = wait(cq_);
        REQUIRE(told.status == IBV_WC_SUCCESS && told.length == kHeader + message.length);
        const bool is_unexpected = message.opcode == IBV_TMH_EAGER;
        unexpected_ += is_unexpected ? 1 : 0;
        REQUIRE(told.opcode == (is_unexpected ? IBV_WC_RECV : IBV_WC_TM_NO_TAG));
        REQUIRE(told.flags == sync_flag());
        if (message.opcode != IBV_TMH_NO_TAG)
            REQUIRE(told.info.tag == message.tag && told.info.priv == app_ctx_of(message.seed));
        const uint64_t number = told.wr_id - kReceiveId;
        REQUIRE(number == next_receive_ % kReceives);
        ++next_receive_;
        REQUIRE(memory_[receive_at(number)] == message.opcode);
        check_memory(receive_at(number), kHeader, message);
        post_receive(srq_, told.wr_id, mr_, receive_at(number), kSlot);
    }

    /// The message is `skip` bytes behind a place, and there is nothing else.
    void check_memory(uint64_t place, uint32_t skip, const Message &message) const
    {
        const uint64_t begin = place + skip;
        REQUIRE(mismatch(memory_.data() + begin, message.length, message.seed) == message.length);
        for (uint64_t i = 0; i < memory_.size(); ++i)
            REQUIRE((i >= place && i < begin + message.length) || memory_[i] == pattern(0, i));
    }

    Link &link_;
    Random random_;
    Device device_;
    ibv_cq_ex *cq_;
    ibv_srq *srq_;
    ibv_qp *qp_;
    Memory memory_;
    ibv_mr *mr_;
    std::vector<Tag> tags_;
    std::vector<uint32_t> handles_;
    uint32_t unexpected_ = 0, handled_ = 0;
    uint64_t last_op_ = 100, last_seed_ = 0, next_receive_ = 0;
    int matches_ = 0, waits_ = 0;
};

void match_messages(Link &link)
{
    Receiver(link, 1).run(600);
}

TEST(Tags, TakeMessagesOfAPeer)
{
    World::run(serve_messages, match_messages);
}

TEST(Tags, TakeMessagesOfAPeerByPackets)
{
    World::run(
        [](Link &link) {
            refuse_copies();
            serve_messages(link);
        },
        match_messages);
}

// ---- rendezvous -------------------------------------------------------------------------------------------------------

constexpr uint32_t kFetched[] = {0, 1, 192, 193, 4096, 30000};
constexpr int kRounds = 200;  ///< more than a send queue holds

uint32_t fetched_in(int round)
{
    return kFetched[static_cast<size_t>(round) % std::size(kFetched)];
}

/// Offers data and waits until each is fetched. Has no receive for the message that tells of it, now and then.
void offer(Link &link)
{
    Device device;
    ibv_qp *qp = device.qp(device.cq());
    device.join(qp, link);
    Memory memory(kSlot + 256);
    ibv_mr *mr = device.mr(memory.data(), memory.size());
    struct {
        ibv_tmh tmh;
        ibv_rvh rvh;
    } request{};
    for (int round = 0; round < kRounds; ++round) {
        const uint32_t length = fetched_in(round);
        request.tmh.opcode = IBV_TMH_RNDV;
        request.tmh.tag = htobe64(static_cast<uint64_t>(round));
        request.rvh = {.va = htobe64(reinterpret_cast<uintptr_t>(memory.data())),
                       .rkey = htobe32(mr->rkey),
                       .len = htobe32(length)};
        fill(memory.data(), memory.size(), static_cast<uint64_t>(round));
        std::memcpy(memory.data() + kSlot, &request, sizeof request);
        if (round % 16 != 0)
            post_receive(qp, 7, mr, kSlot + 64, 64);
        REQUIRE(post(qp, IBV_WR_SEND, 1, mr, kSlot, sizeof request) == 0);
        REQUIRE(poll_one(qp->send_cq).opcode == IBV_WC_SEND);
        if (round % 16 == 0) {
            link.meet();  // All is fetched.
            post_receive(qp, 7, mr, kSlot + 64, 64);
        }
        const ibv_wc wc = poll_one(qp->send_cq);
        REQUIRE(wc.wr_id == 7 && wc.byte_len == sizeof request);
        request.tmh.opcode = IBV_TMH_FIN;
        REQUIRE(std::memcmp(memory.data() + kSlot + 64, &request, sizeof request) == 0);
    }
    link.meet();
}

void fetch(Link &link)
{
    Device device;
    ibv_cq *cq = device.cq();
    ibv_srq *srq = device.tag_srq(cq, 1, {.max_num_tags = kRounds, .max_ops = 1});
    ibv_qp *qp = device.qp(device.cq(), {.srq = srq, .depth = 1});
    Memory memory(kSlot);
    ibv_mr *mr = device.mr(memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
    for (int round = 0; round < kRounds; ++round) {
        // In two pieces, of which the second has more room than it needs.
        const auto place = reinterpret_cast<uintptr_t>(memory.data());
        ibv_sge sges[2] = {{.addr = place, .length = 100, .lkey = mr->lkey},
                           {.addr = place + 100, .length = kSlot - 100, .lkey = mr->lkey}};
        ibv_ops_wr wr{}, *bad = nullptr;
        wr.opcode = IBV_WR_TAG_ADD;
        wr.tm.add = {.recv_wr_id = static_cast<uint64_t>(round),
                     .sg_list = sges,
                     .num_sge = 2,
                     .tag = static_cast<uint64_t>(round),
                     .mask = ~uint64_t{0}};
        REQUIRE(ibv_post_srq_ops(srq, &wr, &bad) == 0);
    }
    device.join(qp, link);
    for (int round = 0; round < kRounds; ++round) {
        ibv_wc wc = poll_one(cq);
        REQUIRE(wc.wr_id == static_cast<uint64_t>(round) && wc.wc_flags == IBV_WC_TM_MATCH);
        wc = poll_one(cq);
        REQUIRE(wc.wr_id == static_cast<uint64_t>(round) && wc.wc_flags == IBV_WC_TM_DATA_VALID);
        REQUIRE(wc.opcode == IBV_WC_TM_RECV && wc.byte_len == fetched_in(round));
        REQUIRE(mismatch(memory.data(), wc.byte_len, wc.wr_id) == wc.byte_len);
        if (round % 16 == 0)
            link.meet();
    }
    link.meet();
    ibv_wc none;
    REQUIRE(ibv_poll_cq(qp->send_cq, 1, &none) == 0 && ibv_poll_cq(cq, 1, &none) == 0);
}

TEST(Tags, HaveRequestsFetched)
{
    World::run(offer, fetch);
}

TEST(Tags, HaveRequestsFetchedByPackets)
{
    World::run(
        [](Link &link) {
            refuse_copies();
            offer(link);
        },
        fetch);
}

TEST(Tags, EndWithThePeerThatOfferedThem)
{
    World world;
    World::Pair pair = world.pair();
    const pid_t offers = world.start([&] { offer(pair.left); });
    world.start([&] {
        Link &link = pair.right;
        Device device;
        ibv_cq *cq = device.cq();
        ibv_srq *srq = device.tag_srq(cq, 1, {.max_num_tags = 1, .max_ops = 1});
        ibv_qp *qp = device.qp(device.cq(), {.srq = srq});
        ibv_ops_wr wr{}, *bad = nullptr;
        wr.opcode = IBV_WR_TAG_ADD;
        wr.tm.add.recv_wr_id = 3;
        REQUIRE(ibv_post_srq_ops(srq, &wr, &bad) == 0);
        device.join(qp, link);
        // The request is there, since it was sent, and is looked at when nobody can answer any more.
        link.receive<char>();
        REQUIRE(kill(offers, SIGKILL) == 0);
        const std::vector<ibv_wc> wcs = poll(cq, 1);
        REQUIRE(wcs[0].wr_id == 3);
        if (wcs[0].status == IBV_WC_SUCCESS) {
            const ibv_wc end = poll(cq, 1)[0];
            REQUIRE(end.wr_id == 3 && (end.status == IBV_WC_RETRY_EXC_ERR ||
                                       end.status == IBV_WC_WR_FLUSH_ERR || end.status == IBV_WC_SUCCESS));
        } else {
            REQUIRE(wcs[0].status == IBV_WC_WR_FLUSH_ERR);
        }
        // Its place is free again.
        REQUIRE(ibv_post_srq_ops(srq, &wr, &bad) == 0);
    });
    world.wait(offers, true);
    world.wait_for_all();
}

}  // namespace
}  // namespace processes
