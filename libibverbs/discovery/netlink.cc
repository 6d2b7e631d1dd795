// SPDX-License-Identifier: BSD-2-Clause
// Devices as the kernel lists them over RDMA netlink.
#include "discovery/netlink.hh"

#include <rdma/rdma_netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/rdma_netlink.hh"
#include "discovery/netlink_message.hh"

namespace verbs::discovery {
namespace {

/// Devices that come or go in the middle make the kernel mark its list as interrupted; then it is asked again.
constexpr int kAttempts = 5;

Status take_device(std::span<const std::byte> answer, void *devices)
{
    Allocated<verbs_sysfs_dev> device = allocate<verbs_sysfs_dev>();
    if (!device)
        return ENOMEM;
    Status status = parse_device(answer, *device);
    if (status)
        static_cast<DeviceChain *>(devices)->insert(std::move(device));
    return status;
}

Status take_character_device(std::span<const std::byte> answer, void *device)
{
    return parse_character_device(answer, *static_cast<verbs_sysfs_dev *>(device));
}

Status list(RdmaNetlink &kernel, DeviceChain &devices)
{
    Status status;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        devices.clear();
        nlmsghdr question = {};
        question.nlmsg_len = sizeof question;
        question.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET);
        question.nlmsg_flags = NLM_F_DUMP;
        status = kernel.ask(question, take_device, &devices);
        if (status.error() != EAGAIN)
            break;
    }
    return status;
}

Status find_character_device(RdmaNetlink &kernel, verbs_sysfs_dev &device)
{
    constexpr char kType[] = "uverbs";
    struct {
        nlmsghdr header;
        nlattr index_header;
        uint32_t index;
        nlattr type_header;
        char type[NLA_ALIGN(sizeof kType)];
    } question = {};
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV);
    question.index_header = {.nla_len = NLA_HDRLEN + sizeof question.index,
                             .nla_type = RDMA_NLDEV_ATTR_DEV_INDEX};
    question.index = static_cast<uint32_t>(device.ibdev_idx);
    question.type_header = {.nla_len = NLA_HDRLEN + sizeof kType, .nla_type = RDMA_NLDEV_ATTR_CHARDEV_TYPE};
    memcpy(question.type, kType, sizeof kType);
    return kernel.ask(question.header, take_character_device, &device);
}

/// The devices of one list that have a character device.
Result<DeviceChain> list_with_uverbs(RdmaNetlink &kernel)
{
    DeviceChain found;
    if (Status status = list(kernel, found); !status)
        return status;
    DeviceChain with_uverbs;
    while (Allocated<verbs_sysfs_dev> device = found.pop_front()) {
        Status status = find_character_device(kernel, *device);
        if (status.error() == EOPNOTSUPP)
            continue;  // a device without a user interface
        if (!status)
            return status;
        with_uverbs.insert(std::move(device));
    }
    return with_uverbs;
}

}  // namespace

Result<DeviceChain> netlink_devices()
{
    Result<RdmaNetlink> kernel = RdmaNetlink::open();
    if (!kernel)
        return kernel.status();

    // A device may go between the list and the question about it (EINVAL): then the list is old, so once more.
    Result<DeviceChain> found = Status(EINVAL);
    for (int attempt = 0; attempt < kAttempts && found.error() == EINVAL; ++attempt)
        found = list_with_uverbs(*kernel);
    return found;
}

}  // namespace verbs::discovery
