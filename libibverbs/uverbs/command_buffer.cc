// SPDX-License-Identifier: BSD-2-Clause
// ioctl commands that drivers put together.
#include "uverbs/command_buffer.hh"

#include <algorithm>

#include "uverbs/scratch.hh"

namespace verbs::uverbs {
namespace {

/// What the 16-bit length in the header can express.
constexpr size_t kMaxAttributes = (UINT16_MAX - sizeof(ib_uverbs_ioctl_hdr)) / sizeof(ib_uverbs_attr);

size_t own_attribute_count(const ibv_command_buffer &buffer)
{
    return static_cast<size_t>(buffer.next_attr - buffer.hdr.attrs);
}

void set_count(ib_uverbs_ioctl_hdr &header, size_t count)
{
    header.num_attrs = static_cast<uint16_t>(count);
    header.length = static_cast<uint16_t>(sizeof header + count * sizeof(ib_uverbs_attr));
    header.reserved1 = 0;
    header.reserved2 = 0;
}

}  // namespace

size_t attribute_count(const ibv_command_buffer *chain)
{
    size_t count = 0;
    for (; chain != nullptr; chain = chain->next)
        count += own_attribute_count(*chain);
    return count;
}

Status issue_with(Channel &channel, ib_uverbs_ioctl_hdr &header, ibv_command_buffer *chain)
{
    size_t own = header.num_attrs;
    size_t total = own + attribute_count(chain);
    if (total > kMaxAttributes)
        return EINVAL;
    for (const ibv_command_buffer *buffer = chain; buffer != nullptr; buffer = buffer->next) {
        if (buffer->buffer_error)
            return EINVAL;
    }
    if (chain == nullptr) {
        set_count(header, total);
        return channel.ioctl(header);
    }

    Scratch whole(sizeof header + total * sizeof(ib_uverbs_attr));
    if (whole.bytes() == nullptr)
        return ENOMEM;
    auto &command = *reinterpret_cast<ib_uverbs_ioctl_hdr *>(whole.bytes());
    command.object_id = header.object_id;
    command.method_id = header.method_id;
    set_count(command, total);
    ib_uverbs_attr *end = std::copy_n(header.attrs, own, command.attrs);
    for (const ibv_command_buffer *buffer = chain; buffer != nullptr; buffer = buffer->next)
        end = std::copy_n(buffer->hdr.attrs, own_attribute_count(*buffer), end);

    Status status = channel.ioctl(command);
    if (!status)
        return status;
    const ib_uverbs_attr *from = command.attrs;
    std::copy_n(from, own, header.attrs);
    from += own;
    for (ibv_command_buffer *buffer = chain; buffer != nullptr; buffer = buffer->next) {
        size_t count = own_attribute_count(*buffer);
        std::copy_n(from, count, buffer->hdr.attrs);
        from += count;
    }
    return {};
}

Status issue(Channel &channel, ibv_command_buffer &chain)
{
    size_t own = own_attribute_count(chain);
    if (chain.buffer_error || own > kMaxAttributes)
        return EINVAL;
    chain.hdr.num_attrs = static_cast<uint16_t>(own);
    return issue_with(channel, chain.hdr, chain.next);
}

}  // namespace verbs::uverbs
