// SPDX-License-Identifier: BSD-2-Clause
// Of which release a foreign provider is, and when that is not to be told.
#include "provider/recognise.hh"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fake_tree.hh"

namespace verbs::provider {
namespace {

TEST(ReleaseInName, IsTheThirdNumber)
{
    EXPECT_EQ(release_in_name("libmlx5.so.1.24.44.0"), 44);
    EXPECT_EQ(release_in_name("/usr/lib/libefa.so.1.3.56.1"), 56);
    for (const char *name : {"libmlx5-rdmav34.so", "libmlx5.so.1", "libmlx5.so.1.24", "libmlx5.so.1.24.44",
                             "libmlx5.so.1.24.44.0.1", "libmlx5.so.1.24.x.0", "libmlx5.so.1.24.44.0x", "",
                             "a.44.0/libmlx5", "libmlx5.so.1.2.0.0", "libmlx5.so.1.2.99999999999.0"})
        EXPECT_EQ(release_in_name(name), 0) << name;
}

class Recognise : public testing::Test {
protected:
    Recognise()
    {
        unsetenv("VERBS_LOG_LEVEL");
        plugin_ = tree_.path("libfoo-rdmav34.so");
        evidence_.file = plugin_.c_str();
        tree_.file("libfoo-rdmav34.so", "");
    }

    /// The releases of the layout: "45 to 49".
    std::string recognised()
    {
        testing::internal::CaptureStderr();
        const Layout *layout = recognise(evidence_);
        output_ = testing::internal::GetCapturedStderr();
        if (layout == nullptr) {
            EXPECT_EQ(output_.find("libibverbs: Warning: provider foo ("), 0u) << output_;
            EXPECT_EQ(output_.find('\n'), output_.size() - 1) << output_;
            return "refused";
        }
        EXPECT_EQ(output_, "");
        EXPECT_EQ(layout->abi, evidence_.abi);
        return std::to_string(layout->first_release) + " to " + std::to_string(layout->last_release);
    }
    void expect_told(const char *text) { EXPECT_NE(output_.find(text), std::string::npos) << output_; }

    test::FakeTree tree_;
    std::string plugin_;
    std::string output_;
    Evidence evidence_ = {.name = "foo", .abi = 34};
};

TEST_F(Recognise, ANumberOfOneLayout)
{
    evidence_.abi = 57;
    EXPECT_EQ(recognised(), "57 to 58");
    evidence_.abi = 64;
    evidence_.file = nullptr;
    EXPECT_EQ(recognised(), "64 to 64");
}

TEST_F(Recognise, NothingTells)
{
    EXPECT_EQ(recognised(), "refused");
    expect_told("releases 36 to 56");
    expect_told("'driver foo release N'");
    evidence_.file = nullptr;
    evidence_.abi = 59;
    EXPECT_EQ(recognised(), "refused");
    expect_told("releases 59 to 63");
}

TEST_F(Recognise, ByItsImports)
{
    evidence_.abi = 59;
    evidence_.newest = "ibv_cmd_query_port_speed";
    evidence_.oldest_release = 62;
    EXPECT_EQ(recognised(), "62 to 63");
}

TEST_F(Recognise, ByItsFile)
{
    evidence_.configured = 50;
    for (const auto &[release, expected] : {std::pair("36", "36 to 43"),
                                            {"43", "36 to 43"},
                                            {"44", "44 to 44"},
                                            {"45", "45 to 49"},
                                            {"50", "50 to 53"},
                                            {"54", "54 to 56"},
                                            {"56", "54 to 56"}}) {
        const std::string name = std::string("libfoo.so.1.2.") + release + ".0";
        tree_.file(name, "");
        tree_.link(std::string("in") + release, name);
        const std::string link = tree_.path(std::string("in") + release);
        evidence_.file = link.c_str();
        EXPECT_EQ(recognised(), expected);
    }
    tree_.file("libfoo.so.1.2.35.0", "");
    const std::string older = tree_.path("libfoo.so.1.2.35.0");
    evidence_.file = older.c_str();
    EXPECT_EQ(recognised(), "refused");
    expect_told(
        "it is of release 35 by the name of its file, but number 34 is known as that of releases 36 "
        "to 56");
}

TEST_F(Recognise, ByConfiguration)
{
    tree_.link("libbar-rdmav34.so", "../libbar.so.1.0.44.0");
    evidence_.configured = 50;
    EXPECT_EQ(recognised(), "50 to 53");
    evidence_.configured = 59;
    EXPECT_EQ(recognised(), "refused");
    expect_told("by configuration");
}

TEST_F(Recognise, ByItsNeighbours)
{
    tree_.link("libbar-rdmav34.so", "../libbar.so.1.0.44.0");
    tree_.link("libbaz-rdmav59.so", "../libbaz.so.1.0.60.0");
    tree_.link("libqux-rdmav34.so", "libqux.so.1");
    tree_.file("libplain-rdmav34.so", "");
    EXPECT_EQ(recognised(), "44 to 44");
    evidence_.abi = 59;
    EXPECT_EQ(recognised(), "59 to 61");
}

TEST_F(Recognise, NeighboursThatDisagreeTellNothing)
{
    tree_.link("libbar-rdmav34.so", "../libbar.so.1.0.44.0");
    tree_.link("libbaz-rdmav34.so", "../libbaz.so.1.0.50.0");
    EXPECT_EQ(recognised(), "refused");
    expect_told("nothing tells");
}

TEST_F(Recognise, WhatItImportsIsThere)
{
    evidence_.newest = "ibv_wr_opcode_str";
    evidence_.oldest_release = 45;
    tree_.link("libbar-rdmav34.so", "../libbar.so.1.0.44.0");
    EXPECT_EQ(recognised(), "refused");
    expect_told("calls ibv_wr_opcode_str");
    evidence_.configured = 45;
    EXPECT_EQ(recognised(), "45 to 49");
}

}  // namespace
}  // namespace verbs::provider
