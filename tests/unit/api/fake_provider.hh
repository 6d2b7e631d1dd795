// SPDX-License-Identifier: BSD-2-Clause
// A provider in the test: ops that note what they get and answer what the test wants, and memory regions of a
// fake kernel.
#pragma once

#include <map>
#include <string>

#include "fake_context.hh"

namespace verbs::test {

/// Tests with a context whose ops are all the provider's (`set_all_ops`), only those for memory
/// (`set_memory_ops`), or none of them.
class FakeProvider : public FakeContext {
protected:
    ~FakeProvider() override { called.clear(); }

    void set_all_ops();
    void set_memory_ops(bool has_reg_mr_ex);

public:
    // What the ops got, and what they answer.
    static inline std::string called;  ///< the last op, with its arguments
    static inline int answer = 0;      ///< an errno value
    static inline ibv_mr_init_attr registration{};
    static inline int dmabuf_fd = -1;  ///< of buffers
};

}  // namespace verbs::test
