// SPDX-License-Identifier: BSD-2-Clause
// The chain of found devices, and what makes two of them the same.
#include <cstddef>
#include <cstring>
#include <utility>

#include "discovery/devices.hh"
#include "discovery/path.hh"
#include "discovery/sysfs_file.hh"

namespace verbs::discovery {
namespace {

verbs_sysfs_dev *device_of(list_node *entry)
{
    static_assert(offsetof(verbs_sysfs_dev, entry) == 0);
    return reinterpret_cast<verbs_sysfs_dev *>(entry);
}

}  // namespace

DeviceChain::DeviceChain(DeviceChain &&other) noexcept : first_(std::exchange(other.first_, nullptr)) {}

DeviceChain &DeviceChain::operator=(DeviceChain &&other) noexcept
{
    if (this != &other) {
        clear();
        first_ = std::exchange(other.first_, nullptr);
    }
    return *this;
}

const verbs_sysfs_dev *DeviceChain::next(const verbs_sysfs_dev &device)
{
    return device_of(device.entry.next);
}

void DeviceChain::insert(Allocated<verbs_sysfs_dev> device, Before *before)
{
    list_node *link = first_ != nullptr ? &first_->entry : nullptr;
    list_node *previous = nullptr;
    while (link != nullptr && (before == nullptr || !before(*device, *device_of(link))))
        previous = std::exchange(link, link->next);

    verbs_sysfs_dev *added = device.release();
    added->entry = {.next = link, .prev = previous};
    if (link != nullptr)
        link->prev = &added->entry;
    if (previous != nullptr)
        previous->next = &added->entry;
    else
        first_ = added;
}

Allocated<verbs_sysfs_dev> DeviceChain::pop_front()
{
    Allocated<verbs_sysfs_dev> front(first_);
    if (front) {
        first_ = device_of(front->entry.next);
        if (first_ != nullptr)
            first_->entry.prev = nullptr;
        front->entry = {};
    }
    return front;
}

void DeviceChain::clear()
{
    while (pop_front())
        continue;
}

void read_modalias(verbs_sysfs_dev &device)
{
    if ((device.flags & VSYSFS_READ_MODALIAS) != 0)
        return;
    device.flags |= VSYSFS_READ_MODALIAS;
    char path[sizeof device.ibdev_path + 32];
    if (!join_path(path, {device.ibdev_path, "/device/modalias"}) ||
        !read_sysfs_file(path, nullptr, device.modalias))
        device.modalias[0] = '\0';
}

bool same_device(const verbs_sysfs_dev &left, const verbs_sysfs_dev &right)
{
    if (strcmp(left.ibdev_name, right.ibdev_name) != 0 || strcmp(left.sysfs_name, right.sysfs_name) != 0 ||
        left.sysfs_cdev != right.sysfs_cdev)
        return false;
    // The kernel's indices are not used again soon; what sysfs has instead is the age of the character
    // device.
    if (left.ibdev_idx >= 0 && right.ibdev_idx >= 0)
        return left.ibdev_idx == right.ibdev_idx;
    return left.time_created.tv_sec == right.time_created.tv_sec &&
           left.time_created.tv_nsec == right.time_created.tv_nsec;
}

}  // namespace verbs::discovery
