// SPDX-License-Identifier: BSD-2-Clause
// Tables of commands with the bytes that the kernel has to get: each form of each command is compared with them.
#pragma once

#include <gtest/gtest.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>

#include "base/result.hh"
#include "fake_kernel.hh"
#include "uverbs/attributes.hh"
#include "uverbs/channel.hh"

namespace verbs::uverbs::test {

constexpr uint32_t kExtended = IB_USER_VERBS_CMD_FLAG_EXTENDED;

/// A command and what the kernel gets in each form; empty where it has no such form.
struct Command {
    const char *name;
    std::function<int(Channel &)> issue;  ///< 0 or an errno value
    std::string method;                   ///< by its ioctl method
    std::string invoked;                  ///< as a write command that an ioctl carries
    std::string written;                  ///< as a write command
};

inline std::ostream &operator<<(std::ostream &stream, const Command &command)
{
    return stream << command.name;
}

/// All of them are put through the tests of commands_test.cc:
///     INSTANTIATE_TEST_SUITE_P(Mr, Commands, testing::ValuesIn(kCommands), command_name);
class Commands : public testing::TestWithParam<Command> {
protected:
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
};

inline std::string command_name(const testing::TestParamInfo<Command> &info)
{
    return info.param.name;
}

/// What a driver adds to a command: eight bytes each way.
inline uint64_t driver_request = 0xd7d6d5d4d3d2d1d0;
inline uint64_t driver_answer;
inline const DriverData kDriverData = {&driver_request, sizeof driver_request, &driver_answer,
                                       sizeof driver_answer};
inline const DriverData kDriverRequest = {&driver_request, sizeof driver_request, nullptr, 0};

/// A driver's buffer with room for attributes.
template <size_t kCapacity>
struct CommandBuffer {
    CommandBuffer()
    {
        buffer.next_attr = buffer.hdr.attrs;
        buffer.last_attr = buffer.hdr.attrs + kCapacity;
    }
    CommandBuffer(const CommandBuffer &) = delete;
    CommandBuffer &operator=(const CommandBuffer &) = delete;

    ib_uverbs_attr &add(uint16_t id, uint16_t size)
    {
        *buffer.next_attr = {.attr_id = id, .len = size, .flags = UVERBS_ATTR_F_MANDATORY};
        return *buffer.next_attr++;
    }
    ib_uverbs_attr &operator[](size_t i) { return buffer.hdr.attrs[i]; }

private:
    alignas(8) std::byte storage_[sizeof(ibv_command_buffer) + kCapacity * sizeof(ib_uverbs_attr)] = {};

public:
    ibv_command_buffer &buffer = *reinterpret_cast<ibv_command_buffer *>(storage_);
};

/// The attributes that a driver links to a command: two, one with room for an answer.
struct DriverAttributes : CommandBuffer<2> {
    DriverAttributes()
    {
        add(0x1004, 4).data = 0xabc;
        add(0x1005, 4).data = reinterpret_cast<uintptr_t>(&answer);
    }

    uint32_t answer = 0;
};

}  // namespace verbs::uverbs::test
