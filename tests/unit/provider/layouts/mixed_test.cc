// SPDX-License-Identifier: BSD-2-Clause
// Devices of all foreign layouts in one process, in use at once.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <vector>

#include "fakes.hh"

namespace verbs::test {
namespace {

TEST(MixedLayouts, EveryVerbOfEveryDevice)
{
    std::span<const Fake> fakes = load_fakes(kReleases);
    ASSERT_EQ(fakes.size(), std::size(kReleases));
    std::vector<ibv_context *> contexts;
    for (const Fake &fake : fakes) {
        fake.provider->ops = "all";
        contexts.push_back(ibv_open_device(fake.device));
        ASSERT_NE(contexts.back(), nullptr) << fake.device->name;
    }
    for (const Verb &verb : kVerbs) {
        for (size_t i = 0; i < fakes.size(); ++i) {
            SCOPED_TRACE(fakes[i].device->name);
            for (const Fake &other : fakes)
                other.provider->called = -1;
            expect_reaches_its_slot(*fakes[i].provider, verb, contexts[i]);
            for (const Fake &other : fakes) {
                EXPECT_TRUE(&other == &fakes[i] || other.provider->called == -1)
                    << "reached " << other.device->name;
            }
        }
    }
    for (size_t i = 0; i < fakes.size(); ++i) {
        SCOPED_TRACE(fakes[i].device->name);
        EXPECT_EQ(verbs_get_ctx(contexts[i])->sz, fakes[i].release->context_size);
        EXPECT_EQ(ibv_close_device(contexts[i]), 0);
        EXPECT_EQ(fakes[i].provider->canaries_hurt, 0);
        EXPECT_EQ(fakes[i].provider->front_written, 0);
    }
}

}  // namespace
}  // namespace verbs::test
