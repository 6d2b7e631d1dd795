// SPDX-License-Identifier: BSD-2-Clause
// Structs of the kernel's interface that go on with a driver's own part.
#pragma once

#include <cstddef>
#include <cstring>

namespace common {

/// Zeroed memory for a `Core` with a `Driver` right behind it, as commands to the kernel and its answers have it.
template <class Core, class Driver>
class Extended {
public:
    Core *core() { return reinterpret_cast<Core *>(memory_); }
    size_t size() const { return sizeof(memory_); }

    Driver driver() const
    {
        Driver driver;
        std::memcpy(&driver, memory_ + sizeof(Core), sizeof(driver));
        return driver;
    }
    void set_driver(const Driver &driver) { std::memcpy(memory_ + sizeof(Core), &driver, sizeof(driver)); }

private:
    alignas(8) char memory_[sizeof(Core) + sizeof(Driver)] = {};
};

}  // namespace common
