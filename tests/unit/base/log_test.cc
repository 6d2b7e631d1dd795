// SPDX-License-Identifier: BSD-2-Clause
// What the verbs log writes, and where.
#include "base/log.hh"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "fake_tree.hh"

namespace verbs {
namespace {

/// Runs `body` in a child, where the environment has not been read yet, and expects it to return true.
template <class Body>
void in_child(Body body)
{
    EXPECT_EXIT(_exit(body() ? 0 : 1), testing::ExitedWithCode(0), "");
}

class Log : public testing::Test {
protected:
    Log()
    {
        unsetenv("VERBS_LOG_FILE");
        unsetenv("VERBS_LOG_LEVEL");
    }

    std::string written(const char *name = "log") const
    {
        std::ifstream in(tree_.path(name));
        return {std::istreambuf_iterator<char>(in), {}};
    }

    void log_to(const char *name, const char *level = "2") const
    {
        setenv("VERBS_LOG_FILE", tree_.path(name).c_str(), 1);
        setenv("VERBS_LOG_LEVEL", level, 1);
    }

    test::FakeTree tree_;
};

TEST_F(Log, IsSilentUnlessAsked)
{
    setenv("VERBS_LOG_FILE", tree_.path("log").c_str(), 1);
    EXPECT_EXIT(
        {
            log(LogLevel::kError, "something");
            _exit(log_enabled(LogLevel::kError) ? 1 : 0);
        },
        testing::ExitedWithCode(0), "^$");
    EXPECT_NE(access(tree_.path("log").c_str(), F_OK), 0) << "no file without a line";
}

TEST_F(Log, WritesLinesUpToTheLevelToStderr)
{
    setenv("VERBS_LOG_LEVEL", "2", 1);
    EXPECT_EXIT(
        {
            errno = EXDEV;
            log(LogLevel::kWarning, "%d devices", 3);
            log(LogLevel::kInfo, "more");
            log(LogLevel::kError, "with a newline\n");
            _exit(errno == EXDEV ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^libibverbs: 3 devices\nlibibverbs: with a newline\n$");
}

TEST_F(Log, GoesToTheFile)
{
    log_to("log");
    in_child([] {
        log(LogLevel::kError, "one");
        log(LogLevel::kError, "two");
        return true;
    });
    EXPECT_EQ(written(), "libibverbs: one\nlibibverbs: two\n");
}

TEST_F(Log, ARelativeFileStaysWhereItWas)
{
    setenv("VERBS_LOG_FILE", "log", 1);
    setenv("VERBS_LOG_LEVEL", "1", 1);
    in_child([this] {
        if (chdir(tree_.root()) != 0)
            return false;
        log(LogLevel::kError, "one");
        if (chdir("/") != 0)
            return false;
        log(LogLevel::kError, "two");
        return true;
    });
    EXPECT_EQ(written(), "libibverbs: one\nlibibverbs: two\n");
}

/// Daemons close every descriptor and open their own under the same numbers.
TEST_F(Log, NeverWritesIntoTheProgramsOwnFiles)
{
    log_to("log");
    in_child([this] {
        log(LogLevel::kError, "one");
        for (int fd = 0; fd < 64; ++fd)
            close(fd);
        for (int fd = 0; fd < 8; ++fd)
            if (open(tree_.path("own").c_str(), O_RDWR | O_CREAT, 0600) != fd)
                return false;
        log(LogLevel::kError, "two");
        return true;
    });
    EXPECT_EQ(written(), "libibverbs: one\nlibibverbs: two\n");
    EXPECT_EQ(written("own"), "");
}

TEST_F(Log, KeepsNoDescriptor)
{
    log_to("log");
    in_child([] {
        int next = dup(STDERR_FILENO);
        close(next);
        log(LogLevel::kError, "one");
        return dup(STDERR_FILENO) == next;
    });
}

TEST_F(Log, LongLinesAreCut)
{
    log_to("log");
    in_child([] {
        log(LogLevel::kError, "%s", std::string(5000, 'x').c_str());
        return true;
    });
    EXPECT_EQ(written().size(), 1023u);
    EXPECT_EQ(written().back(), '\n');
}

TEST_F(Log, LinesOfThreadsStayWhole)
{
    log_to("log");
    in_child([] {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([] {
                for (int line = 0; line < 50; ++line)
                    log(LogLevel::kError, "0123456789");
            });
        for (std::thread &thread : threads)
            thread.join();
        return true;
    });
    std::string expected;
    for (int line = 0; line < 200; ++line)
        expected += "libibverbs: 0123456789\n";
    EXPECT_EQ(written(), expected);
}

TEST_F(Log, AFileThatCannotBeOpenedLeavesStderr)
{
    setenv("VERBS_LOG_FILE", tree_.path("no/such/directory").c_str(), 1);
    setenv("VERBS_LOG_LEVEL", "1", 1);
    EXPECT_EXIT(
        {
            log(LogLevel::kError, "one");
            _exit(0);
        },
        testing::ExitedWithCode(0), "^libibverbs: one\n$");
}

}  // namespace
}  // namespace verbs
