// SPDX-License-Identifier: BSD-2-Clause
// Commands that have the form of the write interface.
#include "uverbs/write_command.hh"

#include <cstring>

namespace verbs::uverbs {
namespace {

void copy(std::byte *to, const void *from, size_t size)
{
    if (size != 0)
        std::memcpy(to, from, size);
}

}  // namespace

Status execute_by_write(Channel &channel, const WriteCommand &command, const DriverData &driver)
{
    bool extended = (command.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
    size_t header_size = sizeof(ib_uverbs_cmd_hdr) + (extended ? sizeof(ib_uverbs_ex_cmd_hdr) : 0);
    size_t size = header_size + command.request_size + driver.in_size;
    size_t answer_size = command.response_size + driver.out_size;
    Scratch buffer(size);
    Scratch answer(answer_size);
    if (buffer.bytes() == nullptr || answer.bytes() == nullptr)
        return ENOMEM;

    std::byte *request = buffer.bytes() + header_size;
    copy(request, command.request, command.request_size);
    copy(request + command.request_size, driver.in, driver.in_size);
    uint64_t answer_address = answer_size != 0 ? reinterpret_cast<uintptr_t>(answer.bytes()) : 0;

    // Sizes count words: of four bytes over all in the plain form, of eight and apart in the extended one.
    ib_uverbs_cmd_hdr header = {.command = command.command, .in_words = 0, .out_words = 0};
    if (extended) {
        header.in_words = static_cast<uint16_t>(command.request_size / 8);
        header.out_words = static_cast<uint16_t>(command.response_size / 8);
        ib_uverbs_ex_cmd_hdr more = {};
        more.response = answer_address;
        more.provider_in_words = static_cast<uint16_t>(driver.in_size / 8);
        more.provider_out_words = static_cast<uint16_t>(driver.out_size / 8);
        copy(buffer.bytes() + sizeof header, &more, sizeof more);
    } else {
        header.in_words = static_cast<uint16_t>(size / 4);
        header.out_words = static_cast<uint16_t>(answer_size / 4);
        if (command.has_response_address)
            copy(request, &answer_address, sizeof answer_address);
    }
    copy(buffer.bytes(), &header, sizeof header);

    Status status = channel.write(buffer.bytes(), size);
    // On failure too: the answer to a post tells which request was bad.
    if (command.response_size != 0)
        std::memcpy(command.response, answer.bytes(), command.response_size);
    if (status && driver.out_size != 0)
        std::memcpy(driver.out, answer.bytes() + command.response_size, driver.out_size);
    return status;
}

[[gnu::always_inline]] inline Status Invocation::issue(Channel &channel, const DriverData &driver,
                                                       uint64_t in_data)
{
    uint16_t count = header().num_attrs;
    if (driver.in_size != 0)
        set(header().attrs[count++], UVERBS_ATTR_UHW_IN, driver.in_size, in_data);
    if (driver.out_size != 0)
        set(header().attrs[count++], UVERBS_ATTR_UHW_OUT, driver.out_size,
            reinterpret_cast<uintptr_t>(driver.out));
    header().num_attrs = count;
    return issue_alone(channel);
}

/// Apart from the others: a copy of a length that is known only now makes every call of the function that has it dearer.
[[gnu::noinline]] Status Invocation::issue_with_small_request(Channel &channel, const DriverData &driver)
{
    return issue(channel, driver, in_attribute(driver.in, driver.in_size));
}

Status Invocation::issue_with(Channel &channel, const DriverData &driver)
{
    if ((driver.in_size | driver.out_size) > UINT16_MAX)
        return EINVAL;
    uint64_t in_data = reinterpret_cast<uintptr_t>(driver.in);
    if (driver.in_size == sizeof in_data)
        std::memcpy(&in_data, driver.in, sizeof in_data);
    else if (driver.in_size != 0 && driver.in_size < sizeof in_data)
        return issue_with_small_request(channel, driver);
    return issue(channel, driver, in_data);
}

Status execute_on_data_path(Channel &channel, const WriteCommand &command)
{
    return execute_instead_of_write(channel, execute_by_write(channel, command, {}), command);
}

Status execute_instead_of_write(Channel &channel, Status status, const WriteCommand &command)
{
    bool refused = status.error() == EACCES || status.error() == ENOSYS;
    if (!refused || !channel.offers(kInvokeWrite))
        return status;
    if ((command.request_size | command.response_size) > UINT16_MAX)
        return EINVAL;
    return Invocation(command.command, command.request, command.request_size, command.response,
                      command.response_size)
        .issue(channel, {});
}

}  // namespace verbs::uverbs
