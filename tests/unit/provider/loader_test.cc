// SPDX-License-Identifier: BSD-2-Clause
// Loading plugins that work, and those that do not.
#include "provider/loader.hh"

#include <gtest/gtest.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

#include "fake_tree.hh"
#include "provider/recognise.hh"
#include "provider/registry.hh"

namespace verbs::provider {
namespace {

bool is_registered(const char *name)
{
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next)
        if (driver->ops->name != nullptr && strcmp(driver->ops->name, name) == 0)
            return true;
    return false;
}

class ProviderLoader : public testing::Test {
protected:
    ProviderLoader()
    {
        unsetenv("VERBS_LOG_LEVEL");
        unsetenv("IBV_SHOW_WARNINGS");
        places_.provider_directories[0] = PLUGINS;
    }

    ~ProviderLoader() override
    {
        // What has no release is refused here, and bothers nobody's devices later.
        testing::internal::CaptureStderr();
        recognise_registered(Loader());
        testing::internal::GetCapturedStderr();
    }

    /// Loads, and gives what was said about it.
    std::string load(const std::string &name, bool expected)
    {
        testing::internal::CaptureStderr();
        EXPECT_EQ(load_plugin(name.c_str(), places_), expected) << name;
        return testing::internal::GetCapturedStderr();
    }

    /// Expects one line that contains `text`.
    static void expect_line(const std::string &output, const std::string &text)
    {
        EXPECT_EQ(output.find("libibverbs: Warning: "), 0u) << output;
        EXPECT_EQ(output.find('\n'), output.size() - 1) << output;
        EXPECT_NE(output.find(text), std::string::npos) << output;
    }

    /// Loads what `next` gives until it gives nothing.
    template <class Next>
    static void load_each(const Loader &loader, Next next)
    {
        while (NamedProvider *provider = next()) {
            loader.load(*provider);
            provider->tried = true;
        }
    }
    static void load_for(const Loader &loader, uint32_t driver_id)
    {
        load_each(loader, [&] { return loader.next_for(driver_id); });
    }
    static void load_all(const Loader &loader)
    {
        load_each(loader, [&] { return loader.next(); });
    }

    test::FakeTree tree_;
    Places places_;
};

TEST_F(ProviderLoader, ByName)
{
    EXPECT_EQ(load("good", true), "");
    EXPECT_TRUE(is_registered("good"));
    EXPECT_EQ(load("good", true), "") << "it is there already, and has registered";
}

TEST_F(ProviderLoader, ByPath)
{
    EXPECT_EQ(load(PLUGINS "/libgood", true), "");
    EXPECT_EQ(load(PLUGINS "/libgood" ENDING, true), "");
    expect_line(load("/nowhere/libgood", false), "/nowhere/libgood-rdmav");
}

TEST_F(ProviderLoader, TheFirstDirectoryThatHasItWins)
{
    places_.provider_directories[0] = tree_.root();
    places_.provider_directories[1] = PLUGINS;
    EXPECT_EQ(load("good", true), "");
    tree_.file("libgood" ENDING, "broken");
    expect_line(load("good", false), tree_.path("libgood" ENDING));
}

TEST_F(ProviderLoader, MissingFilesAreMentionedOnRequest)
{
    EXPECT_EQ(load("nosuch", false), "");
    setenv("IBV_SHOW_WARNINGS", "", 1);
    expect_line(load("nosuch", false), "libnosuch" ENDING);
}

TEST_F(ProviderLoader, NoPlugins)
{
    places_.provider_directories[0] = tree_.root();
    tree_.file("libtext" ENDING, "just text\n");
    tree_.file("libnothing" ENDING, "");
    tree_.directory("libfolder" ENDING);
    tree_.link("libloop" ENDING, "libloop" ENDING);
    ASSERT_EQ(mkfifo(tree_.path("libfifo" ENDING).c_str(), 0600), 0);
    for (const char *name : {"text", "nothing", "folder", "loop", "fifo"})
        expect_line(load(name, false), tree_.path("lib" + std::string(name) + ENDING));
}

TEST_F(ProviderLoader, APluginThatRegistersNothing)
{
    expect_line(load("empty", false), "registers nothing with verbs_register_driver_65");
}

TEST_F(ProviderLoader, APluginThatForwardsToAnotherObject)
{
    EXPECT_EQ(load("forwards", true), "");
    EXPECT_TRUE(is_registered("behind"));
    EXPECT_EQ(load("forwards", true), "") << "as a thread finds it that comes second";
}

TEST_F(ProviderLoader, APluginThatListsDevicesBeforeItRegisters)
{
    EXPECT_EQ(load("early", true), "");
    EXPECT_TRUE(is_registered("early"));
}

TEST_F(ProviderLoader, APluginForAnotherInterface)
{
    expect_line(load("foreign", false), "verbs_register_driver_7");
    EXPECT_FALSE(is_registered("foreign"));
}

TEST_F(ProviderLoader, WhatRegistersNothingUsable)
{
    const struct {
        const char *name, *flaw;
    } broken[] = {{"null_ops", "registers nothing"},
                  {"wild_ops", "in no loaded object"},
                  {"nameless", "has no name"},
                  {"empty_name", "has no name"},
                  {"wild_name", "has no name"},
                  {"no_ops", "lacks alloc_device or alloc_context"},
                  {"wild_table", "match table is in no loaded object"},
                  {"wild_pattern", "a pattern that is no text"}};
    for (const auto &[name, flaw] : broken) {
        SCOPED_TRACE(name);
        const Registration *first = registered_drivers();
        expect_line(load(name, false), flaw);
        EXPECT_EQ(registered_drivers(), first);
        EXPECT_FALSE(is_registered(name));
        expect_line(load(name, false), flaw);
    }
}

TEST_F(ProviderLoader, TheSameProviderTwice)
{
    EXPECT_EQ(load("good", true), "");
    EXPECT_EQ(load("good_again", false), "") << "who has a copy need not hear of it every time";
    setenv("IBV_SHOW_WARNINGS", "", 1);
    expect_line(load("good_again", false), "provider good is registered by " PLUGINS "/libgood" ENDING);
}

TEST_F(ProviderLoader, AFileThatCannotBeRead)
{
    tree_.link("libunreadable" ENDING, "/proc/self/mem");
    places_.provider_directories[0] = tree_.root();
    expect_line(load("unreadable", false), "libunreadable" ENDING);
}

TEST_F(ProviderLoader, PluginsOfEachNumberNewestFirst)
{
    const char *numbers[] = {"64", "59", "57"};
    for (const char *number : numbers) {
        SCOPED_TRACE(number);
        const std::string directory = std::string(PLUGINS "/") + number;
        places_.provider_directories[0] = directory.c_str();
        EXPECT_EQ(load("number", true), "");
        const std::string name = std::string("number") + number;
        EXPECT_TRUE(is_registered(name.c_str()));
    }
    places_.provider_directories[0] = PLUGINS "/57";
    places_.provider_directories[1] = PLUGINS "/59";
    tree_.file("libnumber-rdmav64.so", "broken");
    places_.provider_directories[2] = tree_.root();
    expect_line(load("number", false), "libnumber-rdmav64.so");
    EXPECT_EQ(load("number-rdmav57", true), "");
}

TEST_F(ProviderLoader, ReleasesThatConfigurationTells)
{
    tree_.file("a.driver", "driver mlx5\ndriver efa-rdmav34 release 50\n");
    tree_.file("b.driver", "driver mlx5 release 45\ndriver /opt/libhns release 62\n");
    places_.config_directories[0] = tree_.root();
    Loader loader;
    ASSERT_TRUE(loader.start(places_));
    EXPECT_EQ(loader.release_of("mlx5", 34), 45);
    EXPECT_EQ(loader.release_of("mlx5", 59), 45);
    EXPECT_EQ(loader.release_of("efa", 34), 50);
    EXPECT_EQ(loader.release_of("efa", 59), 0);
    EXPECT_EQ(loader.release_of("hns", 59), 62);
    EXPECT_EQ(loader.release_of("mlx4", 34), 0);
    EXPECT_EQ(loader.release_of("/usr/lib/libmlx5-rdmav34.so", 34), 45);
}

TEST_F(ProviderLoader, PluginsOfAbi34)
{
    places_.provider_directories[1] = PLUGINS "/older";
    EXPECT_EQ(load("older", true), "");
    ASSERT_TRUE(is_registered("older34"));
    EXPECT_EQ(load(PLUGINS "/older/libolder", true), "");
    EXPECT_EQ(load(PLUGINS "/older/libolder-rdmav34", true), "");
    EXPECT_EQ(load(PLUGINS "/older/libolder-rdmav34.so", true), "");
    expect_line(load(PLUGINS "/older/libolder" ENDING, false), "there is no such file");
}

TEST_F(ProviderLoader, OursWinsWhereverItIs)
{
    places_.provider_directories[0] = PLUGINS "/older";
    places_.provider_directories[1] = PLUGINS;
    EXPECT_EQ(load("both", true), "");
    EXPECT_TRUE(is_registered("both65"));
    EXPECT_FALSE(is_registered("both34"));
}

TEST_F(ProviderLoader, UnlessTheNameSaysWhich)
{
    places_.provider_directories[1] = PLUGINS "/older";
    EXPECT_EQ(load("chosen-rdmav34", true), "");
    EXPECT_TRUE(is_registered("chosen34"));
    EXPECT_FALSE(is_registered("chosen65"));
    setenv("IBV_SHOW_WARNINGS", "", 1);
    expect_line(load("good-rdmav34", false), "libgood-rdmav34.so");
}

TEST_F(ProviderLoader, NamesThatSayWhichComeFirst)
{
    tree_.file("a.driver", "driver erdma\n");
    tree_.file("b.driver", "driver erdma-rdmav34\n");
    places_.config_directories[0] = tree_.root();
    places_.provider_directories[1] = PLUGINS "/older";
    Loader loader;
    ASSERT_TRUE(loader.start(places_));
    load_for(loader, RDMA_DRIVER_ERDMA);
    std::string order;
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next)
        if (driver->ops->name != nullptr && strncmp(driver->ops->name, "erdma", 5) == 0)
            order.append(driver->ops->name).append(" ").append(std::to_string(driver->abi)).append(" ");
    EXPECT_EQ(order, "erdma34 34 erdma65 65 ");
}

TEST_F(ProviderLoader, LoadsWhatTheKernelDriverNeeds)
{
    tree_.file("all.driver", "driver rxe\ndriver spare\n");
    places_.config_directories[0] = tree_.root();
    Loader loader;
    ASSERT_TRUE(loader.start(places_));
    EXPECT_FALSE(is_registered("rxe"));
    load_for(loader, RDMA_DRIVER_MLX5);
    load_for(loader, RDMA_DRIVER_UNKNOWN);
    load_for(loader, 12345);
    EXPECT_FALSE(is_registered("rxe"));
    load_for(loader, RDMA_DRIVER_RXE);
    EXPECT_TRUE(is_registered("rxe"));
    EXPECT_FALSE(is_registered("spare"));
    load_all(loader);
    EXPECT_TRUE(is_registered("spare"));
}

TEST_F(ProviderLoader, TheEnvironmentComesFirst)
{
    tree_.file("siw.driver", "driver siw\n");
    places_.config_directories[0] = tree_.root();
    places_.environment = PLUGINS "/libpreferred";
    Loader loader;
    ASSERT_TRUE(loader.start(places_));
    load_each(loader, [&] { return loader.next_of_environment(); });
    EXPECT_TRUE(is_registered("preferred"));
    EXPECT_FALSE(is_registered("siw"));
}

TEST_F(ProviderLoader, TriesEachOnce)
{
    tree_.file("d/broken.driver", "driver broken\n");
    tree_.file("libbroken" ENDING, "broken");
    std::string config = tree_.path("d");
    places_.config_directories[0] = config.c_str();
    places_.provider_directories[0] = tree_.root();
    Loader loader;
    ASSERT_TRUE(loader.start(places_));
    testing::internal::CaptureStderr();
    load_all(loader);
    load_all(loader);
    expect_line(testing::internal::GetCapturedStderr(), "libbroken" ENDING);
}

TEST_F(ProviderLoader, APathIsNamedAfterItsFile)
{
    tree_.file("siw.driver", "driver " PLUGINS "/libsiw\n");
    places_.config_directories[0] = tree_.root();
    Loader loader;
    ASSERT_TRUE(loader.start(places_));
    load_for(loader, RDMA_DRIVER_SIW);
    EXPECT_TRUE(is_registered("siw"));
}

TEST(ProviderFor, KernelDrivers)
{
    EXPECT_STREQ(provider_for(RDMA_DRIVER_RXE), "rxe");
    EXPECT_STREQ(provider_for(RDMA_DRIVER_HFI1), "hfi1verbs");
    EXPECT_EQ(provider_for(RDMA_DRIVER_UNKNOWN), nullptr);
    EXPECT_EQ(provider_for(RDMA_DRIVER_USNIC), nullptr);
}

}  // namespace
}  // namespace verbs::provider

/// The plugin "early" calls this before it registers: it is in the middle of being loaded.
extern "C" __attribute__((visibility("default"))) void load_early_from_plugin()
{
    verbs::provider::Places places;
    places.provider_directories[0] = PLUGINS;
    verbs::provider::load_plugin("early", places);
}
