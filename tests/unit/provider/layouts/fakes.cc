// SPDX-License-Identifier: BSD-2-Clause
// Fake providers of foreign releases, loaded by the library, and what a verb has to do on their devices.
#include "fakes.hh"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace verbs::test {

const Release kReleases[8] = {{36, 34, 648, 76}, {44, 34, 648, 76}, {45, 34, 648, 76}, {54, 34, 648, 76},
                              {57, 57, 648, 76}, {59, 59, 672, 79}, {62, 59, 680, 81}, {64, 64, 696, 83}};

FakeTree &fake_sysfs()
{
    static FakeTree tree;
    return tree;
}

std::span<const Fake> load_fakes(std::span<const Release> releases)
{
    static Fake fakes[std::size(kReleases)];
    FakeTree &sysfs = fake_sysfs();
    std::string plugins;
    for (const Release &release : releases) {
        sysfs.device("fake" + std::to_string(release.number), release.number, "1:3");
        plugins += PLUGINS "/" + std::to_string(release.number) + "/libfake:";
    }
    setenv("SYSFS_PATH", sysfs.root(), 1);
    setenv("IBV_DRIVERS", plugins.c_str(), 1);
    setenv("VERBS_LOG_LEVEL", "1", 1);
    setenv("VERBS_LOG_FILE", sysfs.path("log").c_str(), 1);
    int count = 0;
    // It stays: what is not in a list need not be there.
    static ibv_device **const list = ibv_get_device_list(&count);
    EXPECT_EQ(static_cast<size_t>(count), releases.size());
    size_t found = 0;
    for (const Release &release : releases) {
        const std::string number = std::to_string(release.number);
        ibv_device *device = nullptr;
        for (int i = 0; i < count; ++i)
            if ("fake" + number == ibv_get_device_name(list[i]))
                device = list[i];
        const std::string path =
            PLUGINS "/" + number + "/libfake-rdmav" + std::to_string(release.abi) + ".so";
        void *plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
        auto *provider = plugin != nullptr ? static_cast<fake *>(dlsym(plugin, "the_fake")) : nullptr;
        EXPECT_NE(provider, nullptr) << path << " was not loaded";
        EXPECT_NE(device, nullptr) << "of release " << number;
        if (provider == nullptr || device == nullptr)
            return {};
        fakes[found++] = {&release, provider, device};
    }
    return {fakes, found};
}

int slot_of(const fake &provider, const char *op)
{
    int slot = 0;
    while (slot < provider.ops_count && strcmp(op, provider.names[slot]) != 0)
        ++slot;
    return slot;
}

void expect_reaches_its_slot(fake &provider, const Verb &verb, ibv_context *context)
{
    SCOPED_TRACE(verb.op);
    int slot = slot_of(provider, verb.op);
    if (slot == provider.ops_count && strcmp(verb.op, "reg_mr_ex") == 0)
        slot = slot_of(provider, "reg_mr");  // does what it can
    if (slot == provider.ops_count) {
        expect_unsupported(provider, verb, context);
        return;
    }
    Objects objects(context);
    alignas(16) char made[1024] = {};
    provider.answers[slot] =
        verb.answer == Answer::kPointer ? made : reinterpret_cast<void *>(intptr_t{1000} + slot);
    provider.called = -1;
    intptr_t result = verb.call(objects);
    EXPECT_EQ(provider.called, slot) << "reached "
                                     << (provider.called < 0 ? "nothing" : provider.names[provider.called]);
    if (verb.answer == Answer::kNumber) {
        EXPECT_EQ(static_cast<int>(result), 1000 + slot);
    } else if (verb.answer == Answer::kPointer) {
        EXPECT_EQ(result, reinterpret_cast<intptr_t>(made));
    } else {
        EXPECT_EQ(result, 0);
    }
}

void expect_unsupported(fake &provider, const Verb &verb, ibv_context *context)
{
    SCOPED_TRACE(verb.op);
    Objects objects(context);
    provider.called = -1;
    errno = 0;
    intptr_t result = verb.call(objects);
    EXPECT_EQ(provider.called, -1);
    if (strcmp(verb.op, "query_qp_data_in_order") == 0) {
        EXPECT_EQ(result, 0) << "there is no way to fail: nothing is known to be in order";
    } else if (strcmp(verb.op, "dm_export_dmabuf_fd") == 0) {
        EXPECT_EQ(static_cast<int>(result), -1);
        EXPECT_EQ(errno, EOPNOTSUPP);
    } else if (verb.answer == Answer::kNumber) {
        EXPECT_EQ(static_cast<int>(result), EOPNOTSUPP);
    } else if (verb.answer == Answer::kPointer) {
        EXPECT_EQ(result, 0);
        EXPECT_EQ(errno, EOPNOTSUPP);
    }
}

}  // namespace verbs::test
