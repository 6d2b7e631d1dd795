// SPDX-License-Identifier: BSD-2-Clause
// Answers of RDMA netlink: any bytes give a device with names that end, or EBADMSG and no device.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "discovery/netlink_message.hh"

namespace {

using Parse = verbs::Status(std::span<const std::byte>, verbs_sysfs_dev &);

void require(bool condition)
{
    if (!condition)
        abort();
}

bool is_name(const char (&name)[IBV_SYSFS_NAME_MAX])
{
    return strnlen(name, sizeof name) < sizeof name && name[0] != '\0' && strchr(name, '/') == nullptr;
}

/// Whether it parsed.
bool parse(Parse *parser, std::span<const std::byte> message, verbs_sysfs_dev &device)
{
    verbs_sysfs_dev untouched{};
    verbs::Status status = parser(message, device);
    if (status)
        return true;
    require(status.error() == EBADMSG);
    require(memcmp(&device, &untouched, sizeof device) == 0);
    return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::span message(reinterpret_cast<const std::byte *>(data), size);
    verbs_sysfs_dev device{};
    if (parse(verbs::discovery::parse_device, message, device))
        require(is_name(device.ibdev_name) && device.ibdev_idx >= 0);
    verbs_sysfs_dev character_device{};
    if (parse(verbs::discovery::parse_character_device, message, character_device))
        require(is_name(character_device.sysfs_name));
    return 0;
}
