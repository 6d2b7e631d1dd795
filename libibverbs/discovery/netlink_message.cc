// SPDX-License-Identifier: BSD-2-Clause
// Answers of RDMA netlink, taken apart.
#include "discovery/netlink_message.hh"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <cstring>
#include <optional>

#include "discovery/node_type.hh"

namespace verbs::discovery {
namespace {

/// The attributes of a message. Each lookup walks them: messages have a dozen.
class Attributes {
public:
    static std::optional<Attributes> of(std::span<const std::byte> message)
    {
        nlmsghdr header;
        if (message.size() < sizeof header)
            return std::nullopt;
        memcpy(&header, message.data(), sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > message.size())
            return std::nullopt;
        return Attributes(message.subspan(NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN));
    }

    template <class T>
    std::optional<T> number(uint16_t type) const
    {
        std::span<const std::byte> found = find(type);
        T value;
        if (found.size() < sizeof value)
            return std::nullopt;
        memcpy(&value, found.data(), sizeof value);
        return value;
    }

    /// Copies a name that is a single component of a path.
    bool name(uint16_t type, std::span<char> out) const
    {
        std::span<const std::byte> found = find(type);
        if (found.empty())
            return false;
        size_t length = strnlen(reinterpret_cast<const char *>(found.data()), found.size());
        if (length == 0 || length >= out.size() || memchr(found.data(), '/', length) != nullptr)
            return false;
        memcpy(out.data(), found.data(), length);
        out[length] = '\0';
        return out[0] != '.';
    }

private:
    explicit Attributes(std::span<const std::byte> payload) : payload_(payload) {}

    std::span<const std::byte> find(uint16_t type) const
    {
        for (std::span<const std::byte> rest = payload_; rest.size() >= sizeof(nlattr);) {
            nlattr attribute;
            memcpy(&attribute, rest.data(), sizeof attribute);
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

}  // namespace

Status parse_device(std::span<const std::byte> message, verbs_sysfs_dev &device)
{
    std::optional<Attributes> attributes = Attributes::of(message);
    if (!attributes)
        return EBADMSG;
    char name[sizeof device.ibdev_name];
    std::optional<uint32_t> index = attributes->number<uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX);
    if (!index || *index > INT32_MAX || !attributes->name(RDMA_NLDEV_ATTR_DEV_NAME, name))
        return EBADMSG;

    memcpy(device.ibdev_name, name, sizeof name);
    device.ibdev_idx = static_cast<int>(*index);
    if (std::optional<uint32_t> ports = attributes->number<uint32_t>(RDMA_NLDEV_ATTR_PORT_INDEX))
        device.num_ports = *ports;
    if (std::optional<uint8_t> type = attributes->number<uint8_t>(RDMA_NLDEV_ATTR_DEV_NODE_TYPE))
        device.node_type = node_type_of(*type);
    if (std::optional<uint64_t> guid = attributes->number<uint64_t>(RDMA_NLDEV_ATTR_NODE_GUID)) {
        device.node_guid = *guid;
        device.flags |= VSYSFS_READ_NODE_GUID;
    }
    return {};
}

Status parse_character_device(std::span<const std::byte> message, verbs_sysfs_dev &device)
{
    std::optional<Attributes> attributes = Attributes::of(message);
    if (!attributes)
        return EBADMSG;
    char name[sizeof device.sysfs_name];
    std::optional<uint64_t> number = attributes->number<uint64_t>(RDMA_NLDEV_ATTR_CHARDEV);
    std::optional<uint64_t> abi = attributes->number<uint64_t>(RDMA_NLDEV_ATTR_CHARDEV_ABI);
    if (!number || !abi || !attributes->name(RDMA_NLDEV_ATTR_CHARDEV_NAME, name))
        return EBADMSG;

    memcpy(device.sysfs_name, name, sizeof name);
    // The kernel's encoding of device numbers is what glibc's dev_t extends.
    device.sysfs_cdev = static_cast<dev_t>(*number);
    device.abi_ver = static_cast<uint32_t>(*abi);
    if (std::optional<uint32_t> driver = attributes->number<uint32_t>(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID))
        device.driver_id = *driver;
    return {};
}

}  // namespace verbs::discovery
