// SPDX-License-Identifier: BSD-2-Clause
// Reading single attributes: what is cut, what does not fit, what is not there.
#include "discovery/sysfs_file.hh"

#include <gtest/gtest.h>

#include <string_view>

#include "fake_tree.hh"

namespace verbs::discovery {
namespace {

class SysfsFile : public testing::Test {
protected:
    Result<size_t> read(const char *text, size_t size)
    {
        tree_.file("attribute", text);
        std::fill(std::begin(buffer_), std::end(buffer_), '#');
        return read_sysfs_file(tree_.root(), "attribute", std::span(buffer_).first(size));
    }

    test::FakeTree tree_;
    char buffer_[64];
};

TEST_F(SysfsFile, CutsOneNewlineAndTerminates)
{
    Result<size_t> length = read("rxe0\n", 64);
    ASSERT_TRUE(length);
    EXPECT_EQ(*length, 4u);
    EXPECT_STREQ(buffer_, "rxe0");

    length = read("two\n\n", 64);
    ASSERT_TRUE(length);
    EXPECT_EQ(*length, 4u);
    EXPECT_STREQ(buffer_, "two\n");
}

TEST_F(SysfsFile, FillsTheBufferToTheLastByte)
{
    Result<size_t> length = read("abc\n", 4);
    ASSERT_TRUE(length);
    EXPECT_EQ(*length, 3u);
    EXPECT_STREQ(buffer_, "abc");
    length = read("abc", 4);
    ASSERT_TRUE(length);
    EXPECT_EQ(*length, 3u);
    EXPECT_STREQ(buffer_, "abc");
    EXPECT_EQ(buffer_[4], '#');
}

TEST_F(SysfsFile, RefusesWhatDoesNotFit)
{
    EXPECT_EQ(read("abc", 3).error(), EOVERFLOW);
    EXPECT_EQ(buffer_[3], '#');
    EXPECT_EQ(read("a long text", 4).error(), EOVERFLOW);
    EXPECT_EQ(read("abc", 0).error(), EOVERFLOW);
    EXPECT_EQ(buffer_[0], '#');
}

TEST_F(SysfsFile, EmptyIsText)
{
    Result<size_t> length = read("", 64);
    ASSERT_TRUE(length);
    EXPECT_EQ(*length, 0u);
    EXPECT_STREQ(buffer_, "");
    length = read("\n", 64);
    ASSERT_TRUE(length);
    EXPECT_STREQ(buffer_, "");
}

TEST_F(SysfsFile, KeepsTheErrorOfTheFile)
{
    EXPECT_EQ(read_sysfs_file(tree_.root(), "missing", buffer_).error(), ENOENT);
    EXPECT_EQ(read_sysfs_file(tree_.root(), nullptr, buffer_).error(), EISDIR);
    std::string endless(5000, 'x');
    EXPECT_EQ(read_sysfs_file(tree_.root(), endless.c_str(), buffer_).error(), ENAMETOOLONG);
}

TEST_F(SysfsFile, ReadsNumbers)
{
    tree_.file("decimal", "42\n");
    tree_.file("hexadecimal", "0x15b3\n");
    tree_.file("named", "1: CA\n");
    tree_.file("words", "none\n");
    tree_.file("huge", "99999999999999999999999\n");
    EXPECT_EQ(*read_sysfs_number(tree_.root(), "decimal"), 42u);
    EXPECT_EQ(*read_sysfs_number(tree_.root(), "hexadecimal"), 0x15b3u);
    EXPECT_EQ(*read_sysfs_number(tree_.root(), "named", 10), 1u);
    EXPECT_EQ(read_sysfs_number(tree_.root(), "words").error(), EINVAL);
    EXPECT_EQ(read_sysfs_number(tree_.root(), "huge").error(), EINVAL);
    EXPECT_EQ(read_sysfs_number(tree_.root(), "missing").error(), ENOENT);
}

TEST(SysfsRoot, ComesFromTheEnvironmentOnce)
{
    setenv("SYSFS_PATH", "/elsewhere/sys///", 1);
    EXPECT_STREQ(sysfs_root(), "/elsewhere/sys");
    setenv("SYSFS_PATH", "/third", 1);
    EXPECT_STREQ(sysfs_root(), "/elsewhere/sys");
    EXPECT_EQ(sysfs_root(), sysfs_root());
}

}  // namespace
}  // namespace verbs::discovery
