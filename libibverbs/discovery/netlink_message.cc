// SPDX-License-Identifier: BSD-2-Clause
// Answers of RDMA netlink, taken apart.
#include "discovery/netlink_message.hh"

#include <rdma/rdma_netlink.h>

#include <cstring>
#include <optional>

#include "base/netlink_attributes.hh"
#include "discovery/node_type.hh"

namespace verbs::discovery {
Status parse_device(std::span<const std::byte> message, verbs_sysfs_dev &device)
{
    std::optional<NetlinkAttributes> attributes = NetlinkAttributes::of(message);
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
    std::optional<NetlinkAttributes> attributes = NetlinkAttributes::of(message);
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
