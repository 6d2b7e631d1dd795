// SPDX-License-Identifier: BSD-2-Clause
// The attributes of a netlink message.
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace verbs {

/// Looks attributes up in one whole message, header included and aligned as netlink aligns it. Each lookup walks them:
/// messages have a dozen. What is cut short is not there.
class NetlinkAttributes {
public:
    /// Nothing where the message is shorter than its header says.
    static std::optional<NetlinkAttributes> of(std::span<const std::byte> message)
    {
        nlmsghdr header;
        if (message.size() < sizeof header)
            return std::nullopt;
        std::memcpy(&header, message.data(), sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > message.size())
            return std::nullopt;
        return NetlinkAttributes(message.subspan(NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN));
    }

    template <class T>
    std::optional<T> number(uint16_t type) const
    {
        std::span<const std::byte> found = find(type);
        T value;
        if (found.size() < sizeof value)
            return std::nullopt;
        std::memcpy(&value, found.data(), sizeof value);
        return value;
    }

    /// Copies a name that is a single component of a path.
    bool name(uint16_t type, std::span<char> out) const
    {
        std::span<const std::byte> found = find(type);
        if (found.empty())
            return false;
        size_t length = strnlen(reinterpret_cast<const char *>(found.data()), found.size());
        if (length == 0 || length >= out.size() || std::memchr(found.data(), '/', length) != nullptr)
            return false;
        std::memcpy(out.data(), found.data(), length);
        out[length] = '\0';
        return out[0] != '.';
    }

private:
    explicit NetlinkAttributes(std::span<const std::byte> payload) : payload_(payload) {}

    std::span<const std::byte> find(uint16_t type) const
    {
        for (std::span<const std::byte> rest = payload_; rest.size() >= sizeof(nlattr);) {
            nlattr attribute;
            std::memcpy(&attribute, rest.data(), sizeof attribute);
            if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > rest.size())
                break;
            if ((attribute.nla_type & NLA_TYPE_MASK) == type)
                return rest.subspan(NLA_HDRLEN, attribute.nla_len - static_cast<size_t>(NLA_HDRLEN));
            size_t step = NLA_ALIGN(static_cast<size_t>(attribute.nla_len));
            rest = rest.subspan(step < rest.size() ? step : rest.size());
        }
        return {};
    }

    std::span<const std::byte> payload_;
};

}  // namespace verbs
