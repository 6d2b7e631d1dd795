// SPDX-License-Identifier: BSD-2-Clause
// Fake providers of foreign releases, loaded by the library, and what a verb has to do on their devices.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <span>

#include "fake.h"
#include "fake_tree.hh"
#include "verbs.hh"

namespace verbs::test {

/// A release whose layout differs from all before it.
struct Release {
    int number;
    int abi;              ///< number of its provider ABI
    size_t context_size;  ///< of its verbs_context
    int ops;
};
extern const Release kReleases[8];

/// A provider built for a release, and its device.
struct Fake {
    const Release *release;
    fake *provider;
    ibv_device *device;
};

/// The providers of some releases, each with the device fakeRELEASE, in the order of the releases. Once per process: the
/// library looks once where sysfs is. Empty where the library did not list them.
std::span<const Fake> load_fakes(std::span<const Release> releases);

/// Where the devices are; also the verbs log (`log`).
FakeTree &fake_sysfs();

/// The op's slot, or the number of ops where the release has no such op.
int slot_of(const fake &provider, const char *op);

/// Calls the verb on a device whose provider has all ops of its release: it reaches the op and gives what that answers, or
/// is not supported.
void expect_reaches_its_slot(fake &provider, const Verb &verb, ibv_context *context);

/// The verb answers as it does where the provider lacks the op.
void expect_unsupported(fake &provider, const Verb &verb, ibv_context *context);

}  // namespace verbs::test
