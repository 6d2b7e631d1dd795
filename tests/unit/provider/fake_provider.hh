// SPDX-License-Identifier: BSD-2-Clause
// A provider for devices called fakeN, which counts what it is asked for.
#pragma once

#include <infiniband/driver.h>

#include <atomic>

namespace verbs::test {

struct FakeProvider {
    static inline std::atomic<int> allocated{0};
    static inline std::atomic<int> uninitialised{0};
    static inline std::atomic<bool> refuses{false};

    /// Devices that are there now.
    static int alive() { return allocated - uninitialised; }

    /// Makes it known to the registry; once is enough.
    static void register_once();

    static const verbs_device_ops ops;
};

}  // namespace verbs::test
