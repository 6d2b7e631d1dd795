// SPDX-License-Identifier: BSD-2-Clause
// Memory to put a command together in.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/memory.hh"

namespace verbs::uverbs {

/// Zeroed bytes, on the stack as long as they are few; 8-byte aligned as every command structure wants it.
class Scratch {
public:
    explicit Scratch(size_t size)
    {
        if (size > sizeof small_) {
            large_.reset(static_cast<std::byte *>(std::calloc(1, size)));
            bytes_ = large_.get();
        } else {
            std::memset(small_, 0, size);
        }
    }

    /// Null when there was no memory.
    std::byte *bytes() { return bytes_; }

private:
    alignas(8) std::byte small_[512];
    Allocated<std::byte> large_;
    std::byte *bytes_ = small_;
};

}  // namespace verbs::uverbs
