// SPDX-License-Identifier: BSD-2-Clause
// Commands that have the form of the write interface.
#include "uverbs/write_command.hh"

#include <cstring>

namespace verbs::uverbs {
namespace {

constexpr Method kInvokeWrite = {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE};

void copy(std::byte *to, const void *from, size_t size)
{
    if (size != 0)
        std::memcpy(to, from, size);
}

Status invoke_by_ioctl(Channel &channel, const WriteCommand &command, const DriverData &driver)
{
    Attributes<5> attributes(kInvokeWrite);
    attributes.constant(UVERBS_ATTR_WRITE_CMD, command.command)
        .in_bytes(UVERBS_ATTR_CORE_IN, command.request, command.request_size);
    if (command.response_size != 0)
        attributes.out_bytes(UVERBS_ATTR_CORE_OUT, command.response, command.response_size);
    return attributes.driver(driver).issue(channel);
}

Status invoke_by_write(Channel &channel, const WriteCommand &command, const DriverData &driver)
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

}  // namespace

Status execute(Channel &channel, const WriteCommand &command, const DriverData &driver)
{
    if (channel.offers(kInvokeWrite)) {
        Status status = invoke_by_ioctl(channel, command, driver);
        if (channel.offers(kInvokeWrite))
            return status;
    }
    return invoke_by_write(channel, command, driver);
}

Status execute_on_data_path(Channel &channel, const WriteCommand &command)
{
    Status status = invoke_by_write(channel, command, {});
    bool refused = status.error() == EACCES || status.error() == ENOSYS;
    return refused && channel.offers(kInvokeWrite) ? invoke_by_ioctl(channel, command, {}) : status;
}

}  // namespace verbs::uverbs
