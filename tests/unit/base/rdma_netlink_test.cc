// SPDX-License-Identifier: BSD-2-Clause
// Questions over RDMA netlink, with this program in the kernel's place: what the kernel answers, what it could answer, and
// what others send.
#include "base/rdma_netlink.hh"

#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/netlink_attributes.hh"

namespace {

/// A piece of an answer, or the error of the call that would receive it.
struct Piece {
    std::vector<std::byte> bytes;
    uint32_t sender = 0;
    int error = 0;
};

struct {
    int socket_error = 0;
    std::vector<int> send_errors;
    std::vector<nlmsghdr> questions;
    std::function<void(const nlmsghdr &)> on_question;
    std::deque<Piece> pieces;
} fake;

std::vector<std::byte> message(uint32_t sequence, uint16_t type, uint16_t flags, const std::string &payload)
{
    const nlmsghdr header = {.nlmsg_len = static_cast<uint32_t>(NLMSG_HDRLEN + payload.size()),
                             .nlmsg_type = type,
                             .nlmsg_flags = flags,
                             .nlmsg_seq = sequence,
                             .nlmsg_pid = 77};
    std::vector<std::byte> bytes(NLMSG_ALIGN(header.nlmsg_len));
    memcpy(bytes.data(), &header, sizeof header);
    memcpy(bytes.data() + NLMSG_HDRLEN, payload.data(), payload.size());
    return bytes;
}

std::string as_payload(int value)
{
    return {reinterpret_cast<const char *>(&value), sizeof value};
}

}  // namespace

extern "C" int socket(int domain, int, int protocol) noexcept
{
    EXPECT_EQ(domain, AF_NETLINK);
    EXPECT_EQ(protocol, NETLINK_RDMA);
    errno = fake.socket_error;
    return fake.socket_error == 0 ? dup(0) : -1;
}

extern "C" ssize_t sendto(int, const void *bytes, size_t size, int, const sockaddr *address, socklen_t)
{
    if (!fake.send_errors.empty()) {
        errno = fake.send_errors.back();
        fake.send_errors.pop_back();
        return -1;
    }
    EXPECT_EQ(address->sa_family, AF_NETLINK);
    nlmsghdr question;
    memcpy(&question, bytes, sizeof question);
    EXPECT_EQ(question.nlmsg_len, size);
    fake.questions.push_back(question);
    fake.on_question(question);
    return static_cast<ssize_t>(size);
}

extern "C" ssize_t recvfrom(int, void *buffer, size_t size, int flags, sockaddr *address, socklen_t *)
{
    if (fake.pieces.empty()) {
        ADD_FAILURE() << "waits for an answer that does not come";
        errno = ETIMEDOUT;
        return -1;
    }
    const Piece piece = fake.pieces.front();
    fake.pieces.pop_front();
    if (piece.error != 0) {
        errno = piece.error;
        return -1;
    }
    EXPECT_EQ(flags, MSG_TRUNC);
    reinterpret_cast<sockaddr_nl *>(address)->nl_pid = piece.sender;
    memcpy(buffer, piece.bytes.data(), std::min(size, piece.bytes.size()));
    return static_cast<ssize_t>(piece.bytes.size());
}

namespace verbs {
namespace {

constexpr uint16_t kQuestion = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET);

class RdmaNetlinkTest : public testing::Test {
protected:
    RdmaNetlinkTest()
    {
        fake = {};
        fake.on_question = [this](const nlmsghdr &question) {
            for (const Answer &answer : answers_) {
                std::vector<std::byte> bytes =
                    message(question.nlmsg_seq - answer.age, answer.type, answer.flags, answer.payload);
                if (answer.joined)
                    fake.pieces.back().bytes.insert(fake.pieces.back().bytes.end(), bytes.begin(),
                                                    bytes.end());
                else
                    fake.pieces.push_back({.bytes = bytes, .sender = answer.sender});
            }
        };
    }

    struct Answer {
        std::string payload;
        uint16_t type = kQuestion;
        uint16_t flags = NLM_F_MULTI;
        uint32_t age = 0;     // of the question that it answers
        uint32_t sender = 0;  // the kernel
        bool joined = false;  // in one piece with the one before
    };

    int ask(uint16_t flags, std::vector<Answer> answers)
    {
        answers_ = std::move(answers);
        taken_.clear();
        nlmsghdr question = {};
        question.nlmsg_len = sizeof question;
        question.nlmsg_type = kQuestion;
        question.nlmsg_flags = flags;
        return kernel_->ask(question, take, this).error();
    }
    int dump(std::vector<Answer> answers) { return ask(NLM_F_DUMP, std::move(answers)); }

    static Status take(std::span<const std::byte> bytes, void *test)
    {
        std::span<const std::byte> payload = bytes.subspan(NLMSG_HDRLEN);
        static_cast<RdmaNetlinkTest *>(test)->taken_ +=
            std::string(reinterpret_cast<const char *>(payload.data()), payload.size());
        return static_cast<RdmaNetlinkTest *>(test)->verdict_;
    }

    static Answer done(int error = 0) { return {as_payload(error), NLMSG_DONE}; }
    static Answer error(int error) { return {as_payload(error), NLMSG_ERROR, 0}; }

    Result<RdmaNetlink> kernel_ = RdmaNetlink::open();
    std::vector<Answer> answers_;
    std::string taken_;
    Status verdict_;
};

TEST_F(RdmaNetlinkTest, TakesEveryMessageOfADump)
{
    EXPECT_EQ(dump({{"one,"}, {.payload = "two ", .joined = true}, {"three"}, done()}), 0);
    EXPECT_EQ(taken_, "one,two three");
    ASSERT_EQ(fake.questions.size(), 1u);
    EXPECT_EQ(fake.questions[0].nlmsg_type, kQuestion);
    EXPECT_EQ(fake.questions[0].nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
}

TEST_F(RdmaNetlinkTest, AnEmptyDumpIsAnAnswer)
{
    EXPECT_EQ(dump({done()}), 0);
    EXPECT_EQ(taken_, "");
}

TEST_F(RdmaNetlinkTest, OneAnswerEndsAPlainQuestion)
{
    EXPECT_EQ(ask(0, {{.payload = "only", .flags = 0}}), 0);
    EXPECT_EQ(taken_, "only");
    EXPECT_EQ(ask(0, {error(0)}), EBADMSG);
    EXPECT_EQ(ask(0, {done()}), EBADMSG);
}

TEST_F(RdmaNetlinkTest, TellsTheKernelsError)
{
    EXPECT_EQ(ask(0, {error(-EOPNOTSUPP)}), EOPNOTSUPP);
    EXPECT_EQ(dump({error(-EINVAL)}), EINVAL);
    EXPECT_EQ(dump({{"one"}, done(-ENOMEM)}), ENOMEM);
    EXPECT_EQ(dump({error(0)}), EBADMSG);
}

TEST_F(RdmaNetlinkTest, TellsThatADumpIsInterrupted)
{
    EXPECT_EQ(dump({{"one"}, {.payload = "two", .flags = NLM_F_MULTI | NLM_F_DUMP_INTR}, done()}), EAGAIN);
    EXPECT_EQ(dump({{"one"}, done()}), 0);
}

TEST_F(RdmaNetlinkTest, LeavesOutWhatIsNoAnswer)
{
    EXPECT_EQ(dump({{.payload = "forged", .sender = 4711},
                    {.payload = "", .type = NLMSG_NOOP},
                    {"genuine"},
                    done()}),
              0);
    EXPECT_EQ(taken_, "genuine");
}

TEST_F(RdmaNetlinkTest, LeavesOutWhatAnEarlierQuestionLeft)
{
    verdict_ = Status(ENOMEM);
    EXPECT_EQ(dump({{"first"}}), ENOMEM);
    verdict_ = Status();
    EXPECT_EQ(dump({{.payload = "stale", .age = 1},
                    {.payload = as_payload(0), .type = NLMSG_DONE, .age = 1},
                    {"fresh"},
                    done()}),
              0);
    EXPECT_EQ(taken_, "fresh");
}

TEST_F(RdmaNetlinkTest, GoesOnAfterSignals)
{
    fake.send_errors = {EINTR};
    fake.pieces = {{.bytes = {}, .error = EINTR}};
    EXPECT_EQ(dump({{"one"}, done()}), 0);
    EXPECT_EQ(taken_, "one");
}

TEST_F(RdmaNetlinkTest, KeepsTheErrorsOfTheSocket)
{
    fake.send_errors = {ENOBUFS};
    EXPECT_EQ(dump({done()}), ENOBUFS);
    fake.pieces = {{.bytes = {}, .error = ENOBUFS}};
    EXPECT_EQ(dump({}), ENOBUFS);
    fake.socket_error = EPROTONOSUPPORT;
    EXPECT_EQ(RdmaNetlink::open().error(), EPROTONOSUPPORT);
}

TEST_F(RdmaNetlinkTest, RefusesWhatIsCutShort)
{
    EXPECT_EQ(dump({{std::string(9000, 'x')}}), EMSGSIZE);
    std::vector<std::byte> whole = message(0, kQuestion, NLM_F_MULTI, "text");
    for (size_t size = 1; size < whole.size(); ++size) {
        fake.pieces = {{.bytes = {whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}}};
        EXPECT_EQ(dump({}), EBADMSG) << size;
    }
    const uint32_t no_length = 3;
    memcpy(whole.data(), &no_length, sizeof no_length);
    fake.pieces = {{.bytes = whole}};
    EXPECT_EQ(dump({}), EBADMSG);
}

}  // namespace
}  // namespace verbs
