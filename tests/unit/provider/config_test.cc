// SPDX-License-Identifier: BSD-2-Clause
// Which providers configuration names: the grammar, damaged files, directories, lists.
#include "provider/config.hh"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "fake_tree.hh"

namespace verbs::provider {
namespace {

using Names = std::vector<std::string>;

Names names_in(const ProviderNames &names)
{
    Names result;
    for (const NamedProvider *name = names.first(); name != nullptr; name = name->next)
        result.emplace_back(name->name);
    return result;
}

/// What a call says on stderr, as lines.
class Warnings {
public:
    Warnings()
    {
        unsetenv("VERBS_LOG_LEVEL");
        unsetenv("IBV_SHOW_WARNINGS");
        testing::internal::CaptureStderr();
    }
    ~Warnings()
    {
        if (!taken_)
            testing::internal::GetCapturedStderr();
    }
    Names take()
    {
        taken_ = true;
        Names lines;
        std::string text = testing::internal::GetCapturedStderr();
        for (size_t start = 0; start < text.size();) {
            size_t end = text.find('\n', start);
            lines.push_back(text.substr(start, end - start));
            start = end == std::string::npos ? text.size() : end + 1;
        }
        return lines;
    }

private:
    bool taken_ = false;
};

Names parse(std::string_view text)
{
    ProviderNames names;
    EXPECT_TRUE(parse_config(text, "x.driver", names));
    return names_in(names);
}

TEST(Config, Directives)
{
    Warnings warnings;
    EXPECT_EQ(parse("driver rxe\n"), (Names{"rxe"}));
    EXPECT_EQ(parse("driver rxe"), (Names{"rxe"}));
    EXPECT_EQ(parse("driver a\ndriver b\n"), (Names{"a", "b"}));
    EXPECT_EQ(parse("\tdriver \t rxe\t\n"), (Names{"rxe"}));
    EXPECT_EQ(parse("driver rxe # the software device\n"), (Names{"rxe"}));
    EXPECT_EQ(parse("driver /opt/verbs/libx\n"), (Names{"/opt/verbs/libx"}));
    EXPECT_EQ(parse("driver rxe\r\ndriver siw\r\n"), (Names{"rxe", "siw"}));
    EXPECT_EQ(warnings.take(), Names{});
}

TEST(Config, CommentsAndBlankLines)
{
    Warnings warnings;
    EXPECT_EQ(parse(""), Names{});
    EXPECT_EQ(parse("\n\n \t\r\n"), Names{});
    EXPECT_EQ(parse("# driver a\n  # driver b\n#driver c\ndriver d\n"), (Names{"d"}));
    EXPECT_EQ(warnings.take(), Names{});
}

TEST(Config, EachProviderOnce)
{
    EXPECT_EQ(parse("driver b\ndriver a\ndriver b\n"), (Names{"b", "a"}));
}

TEST(Config, BadLinesCostOneWarningPerFile)
{
    Warnings warnings;
    EXPECT_EQ(parse("driver a\nDRIVER b\ndrivers c\ndriver=d\ndriver\ndriver rel/e\ndriver f\n"),
              (Names{"a", "f"}));
    Names lines = warnings.take();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].find("libibverbs: Warning: x.driver line 2: 'DRIVER b' is ignored"), 0u) << lines[0];
}

TEST(Config, GarbageIsShownAsText)
{
    Warnings warnings;
    EXPECT_EQ(parse(std::string_view("\x7f\x45LF\0\x01\x1b[31m\ndriver a\0b\ndriver c\n", 31)), (Names{"c"}));
    Names lines = warnings.take();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("line 1: '?ELF???[31m'"), std::string::npos) << lines[0];
}

TEST(Config, EndlessNamesAreNoNames)
{
    Warnings warnings;
    EXPECT_EQ(parse("driver " + std::string(100000, 'x') + "\ndriver a\n"), (Names{"a"}));
    EXPECT_EQ(warnings.take().size(), 1u);
}

TEST(Config, DirectoriesHaveNoRulesForNames)
{
    Warnings warnings;
    test::FakeTree tree;
    tree.file("b.driver", "driver b\n");
    tree.file("a.driver", "driver a\n");
    tree.file(".hidden", "driver hidden\n");
    tree.file("notes.txt", "driver text\n");
    tree.file("target/linked", "driver linked\n");
    tree.link("z.driver", "target/linked");
    tree.directory("d.driver");
    ProviderNames names;
    EXPECT_TRUE(read_config_directory(tree.root(), names));
    EXPECT_EQ(names_in(names), (Names{"hidden", "a", "b", "text", "linked"}));
    EXPECT_EQ(warnings.take(), Names{});
}

TEST(Config, WhatCannotBeReadIsLeftOut)
{
    Warnings warnings;
    test::FakeTree tree;
    tree.link("dangling.driver", "nowhere");
    tree.link("loop.driver", "loop.driver");
    ASSERT_EQ(mkfifo(tree.path("fifo.driver").c_str(), 0600), 0);
    tree.file("huge.driver", std::string((1 << 20) + 1, '\n'));
    tree.file("z.driver", "driver z\n");
    ProviderNames names;
    EXPECT_TRUE(read_config_directory(tree.root(), names));
    EXPECT_EQ(names_in(names), (Names{"z"}));
    EXPECT_EQ(warnings.take().size(), 3u) << "one for each but the FIFO, which is no configuration";
}

TEST(Config, ADirectoryThatIsNotThereIsEmpty)
{
    Warnings warnings;
    test::FakeTree tree;
    ProviderNames names;
    EXPECT_TRUE(read_config_directory(tree.path("nowhere").c_str(), names));
    EXPECT_EQ(warnings.take(), Names{});
}

TEST(Config, AFileInPlaceOfTheDirectory)
{
    Warnings warnings;
    test::FakeTree tree;
    tree.file("libibverbs.d", "driver rxe\n");
    ProviderNames names;
    EXPECT_TRUE(read_config_directory(tree.path("libibverbs.d").c_str(), names));
    EXPECT_EQ(names_in(names), Names{});
    EXPECT_EQ(warnings.take().size(), 1u);
}

TEST(Config, Releases)
{
    Warnings warnings;
    ProviderNames names;
    EXPECT_TRUE(
        parse_config("driver mlx5\ndriver mlx4 release 45 # by hand\ndriver mlx5 release 50\n"
                     "driver mlx4 release 56\ndriver rxe # release 7\n",
                     "file", names));
    EXPECT_EQ(names_in(names), (Names{"mlx5", "mlx4", "rxe"}));
    EXPECT_EQ(names.first()->release, 50) << "which the first line left open";
    EXPECT_EQ(names.first()->next->release, 45);
    EXPECT_EQ(names.first()->next->next->release, 0);
    EXPECT_EQ(warnings.take(), Names{});
}

TEST(Config, ReleasesThatAreNone)
{
    for (const char *line :
         {"driver a release", "driver a release x", "driver a release 45.0", "driver a release -1",
          "driver a release 0", "driver a release 99999999999", "driver a release # 45"}) {
        Warnings warnings;
        ProviderNames names;
        EXPECT_TRUE(parse_config(line, "file", names));
        EXPECT_EQ(names_in(names), (Names{"a"})) << "which is needed all the same";
        EXPECT_EQ(names.first()->release, 0) << line;
        EXPECT_EQ(warnings.take().size(), 1u) << line;
    }
}

TEST(Config, Lists)
{
    Warnings warnings;
    ProviderNames names;
    EXPECT_TRUE(parse_provider_list("rxe:siw;/opt/libx::rxe;", names));
    EXPECT_EQ(names_in(names), (Names{"rxe", "siw", "/opt/libx"}));
    EXPECT_EQ(warnings.take(), Names{});
}

TEST(Config, ListsWithRelativePaths)
{
    Warnings warnings;
    ProviderNames names;
    EXPECT_TRUE(parse_provider_list("../evil:rxe", names));
    EXPECT_EQ(names_in(names), (Names{"rxe"}));
    EXPECT_EQ(warnings.take().size(), 1u);
}

}  // namespace
}  // namespace verbs::provider
