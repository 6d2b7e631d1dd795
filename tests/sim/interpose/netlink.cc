// SPDX-License-Identifier: BSD-2-Clause
// RDMA netlink: the kernel's answers about devices.
#include "interpose/netlink.hh"

#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/un.h>

#include <algorithm>
#include <string>
#include <vector>

#include "interpose/descriptors.hh"
#include "interpose/real.hh"
#include "session.hh"

namespace sim {
namespace {

constexpr size_t kMostBytes = 4096;  // of the messages that come in one piece

/// A netlink message under construction.
class Message {
public:
    Message(const nlmsghdr &request, uint16_t type, uint16_t flags)
    {
        const nlmsghdr header = {.nlmsg_len = 0,
                                 .nlmsg_type = type,
                                 .nlmsg_flags = flags,
                                 .nlmsg_seq = request.nlmsg_seq,
                                 .nlmsg_pid = request.nlmsg_pid};
        append(&header, sizeof header);
    }

    template <class T>
    Message &add(uint16_t id, const T &value)
    {
        return add_bytes(id, &value, sizeof value);
    }
    Message &add(uint16_t id, const std::string &text)
    {
        return add_bytes(id, text.c_str(), text.size() + 1);
    }

    template <class T>
    Message &add_plain(const T &value)
    {
        append(&value, sizeof value);
        return *this;
    }

    const std::vector<std::byte> &finish()
    {
        const auto length = static_cast<uint32_t>(bytes_.size());
        memcpy(bytes_.data(), &length, sizeof length);
        bytes_.resize(NLMSG_ALIGN(bytes_.size()));
        return bytes_;
    }

private:
    Message &add_bytes(uint16_t id, const void *value, size_t size)
    {
        const nlattr attr = {.nla_len = static_cast<uint16_t>(sizeof attr + size), .nla_type = id};
        append(&attr, sizeof attr);
        append(value, size);
        bytes_.resize(NLMSG_ALIGN(bytes_.size()));
        return *this;
    }
    void append(const void *bytes, size_t size)
    {
        const auto *from = static_cast<const std::byte *>(bytes);
        bytes_.insert(bytes_.end(), from, from + size);
    }

    std::vector<std::byte> bytes_;
};

void deliver(int fd, const std::vector<std::byte> &bytes)
{
    if (!bytes.empty())
        (void)!REAL(send)(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void answer_error(int fd, const nlmsghdr &request, int error)
{
    Message message(request, NLMSG_ERROR, 0);
    message.add_plain(-error).add_plain(request);
    deliver(fd, message.finish());
}

void fill_device(Message &message, const Device &device)
{
    message.add(RDMA_NLDEV_ATTR_DEV_INDEX, Session::get().state_of(device).index.load())
        .add(RDMA_NLDEV_ATTR_DEV_NAME, device.name)
        .add(RDMA_NLDEV_ATTR_PORT_INDEX, static_cast<uint32_t>(device.ports.size()))
        .add(RDMA_NLDEV_ATTR_CAP_FLAGS, uint64_t{device.attributes.device_cap_flags_ex});
    if (!device.firmware.empty())
        message.add(RDMA_NLDEV_ATTR_FW_VERSION, device.firmware);
    message.add(RDMA_NLDEV_ATTR_NODE_GUID, device.node_guid)
        .add(RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, device.sys_image_guid)
        .add(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, device.node_type);
}

std::vector<const Device *> present_devices()
{
    Session &session = Session::get();
    std::vector<const Device *> devices;
    for (const Device &device : session.description().devices)
        if (session.is_present(device))
            devices.push_back(&device);
    std::sort(devices.begin(), devices.end(), [&](const Device *left, const Device *right) {
        return session.state_of(*left).index.load() < session.state_of(*right).index.load();
    });
    return devices;
}

/// The attributes of a request that the commands here look at.
struct Asked {
    bool has_index = false;
    uint32_t index = 0;
    std::string type;
};

Asked read_attributes(const std::byte *bytes, size_t size)
{
    Asked asked;
    while (size >= sizeof(nlattr)) {
        nlattr attr;
        memcpy(&attr, bytes, sizeof attr);
        if (attr.nla_len < sizeof attr || attr.nla_len > size)
            break;
        const std::byte *value = bytes + sizeof attr;
        const size_t length = attr.nla_len - sizeof attr;
        if ((attr.nla_type & NLA_TYPE_MASK) == RDMA_NLDEV_ATTR_DEV_INDEX && length == sizeof asked.index) {
            asked.has_index = true;
            memcpy(&asked.index, value, sizeof asked.index);
        } else if ((attr.nla_type & NLA_TYPE_MASK) == RDMA_NLDEV_ATTR_CHARDEV_TYPE) {
            const auto *text = reinterpret_cast<const char *>(value);
            asked.type.assign(text, strnlen(text, length));
        }
        const size_t step = std::min<size_t>(size, NLMSG_ALIGN(attr.nla_len));
        bytes += step;
        size -= step;
    }
    return asked;
}

const Device *find_device(const Asked &asked)
{
    if (asked.has_index)
        for (const Device *device : present_devices())
            if (Session::get().state_of(*device).index.load() == asked.index)
                return device;
    return nullptr;
}

void dump_devices(int fd, const nlmsghdr &request)
{
    std::vector<std::byte> batch;
    for (const Device *device : present_devices()) {
        Message message(request, request.nlmsg_type, NLM_F_MULTI);
        fill_device(message, *device);
        const std::vector<std::byte> &bytes = message.finish();
        if (batch.size() + bytes.size() > kMostBytes) {
            deliver(fd, batch);
            batch.clear();
        }
        batch.insert(batch.end(), bytes.begin(), bytes.end());
    }
    deliver(fd, batch);
    Message done(request, NLMSG_DONE, NLM_F_MULTI);
    done.add_plain(0);
    deliver(fd, done.finish());
}

void answer_device(int fd, const nlmsghdr &request, const Asked &asked)
{
    const Device *device = find_device(asked);
    if (device == nullptr)
        return answer_error(fd, request, EINVAL);
    Message message(request, request.nlmsg_type, 0);
    fill_device(message, *device);
    deliver(fd, message.finish());
}

void answer_character_device(int fd, const nlmsghdr &request, const Asked &asked)
{
    const Device *device = find_device(asked);
    if (device == nullptr)
        return answer_error(fd, request, EINVAL);
    if (asked.type != "uverbs")
        return answer_error(fd, request, EOPNOTSUPP);
    const uint64_t minor = kFirstMinor + device->uverbs;
    Message message(request, request.nlmsg_type, 0);
    message
        .add(RDMA_NLDEV_ATTR_CHARDEV,
             (minor & 0xff) | uint64_t{kMajor} << 8 | (minor & ~uint64_t{0xff}) << 12)
        .add(RDMA_NLDEV_ATTR_CHARDEV_ABI, uint64_t{device->abi_version})
        .add(RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs" + std::to_string(device->uverbs))
        .add(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, device->driver_id);
    deliver(fd, message.finish());
}

void answer_system(int fd, const nlmsghdr &request)
{
    Message message(request, request.nlmsg_type, 0);
    message.add(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, uint8_t{1});
    if (Session::get().description().copy_on_fork)
        message.add(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, uint8_t{1});
    deliver(fd, message.finish());
}

void answer(int fd, const nlmsghdr &request, const std::byte *attributes, size_t size)
{
    if (RDMA_NL_GET_CLIENT(request.nlmsg_type) != RDMA_NL_NLDEV)
        return answer_error(fd, request, EINVAL);
    const Asked asked = read_attributes(attributes, size);
    switch (RDMA_NL_GET_OP(request.nlmsg_type)) {
        case RDMA_NLDEV_CMD_GET:
            if ((request.nlmsg_flags & NLM_F_DUMP) != 0)
                return dump_devices(fd, request);
            return answer_device(fd, request, asked);
        case RDMA_NLDEV_CMD_GET_CHARDEV:
            return answer_character_device(fd, request, asked);
        case RDMA_NLDEV_CMD_SYS_GET:
            return answer_system(fd, request);
        default:
            return answer_error(fd, request, EINVAL);
    }
}

}  // namespace

int netlink_open(int type)
{
    const Description &description = Session::get().description();
    if (description.netlink_errno != 0 || !description.has_uverbs) {
        errno = description.netlink_errno != 0 ? description.netlink_errno : EPROTONOSUPPORT;
        return -1;
    }
    // A datagram socket that is connected to itself: what is answered waits in it, and it can be polled.
    const int fd = REAL(socket)(AF_UNIX, SOCK_DGRAM | (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)), 0);
    if (fd < 0)
        return -1;
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    socklen_t length = sizeof own.sun_family;
    if (REAL(bind)(fd, reinterpret_cast<sockaddr *>(&own), length) != 0 ||
        (length = sizeof own, REAL(getsockname)(fd, reinterpret_cast<sockaddr *>(&own), &length)) != 0 ||
        REAL(connect)(fd, reinterpret_cast<sockaddr *>(&own), length) != 0) {
        const int error = errno;
        REAL(close)(fd);
        errno = error;
        return -1;
    }
    Descriptors::get().set(fd, Descriptors::Kind::kNetlink);
    return fd;
}

ssize_t netlink_send(int fd, const void *buffer, size_t size)
{
    const auto *bytes = static_cast<const std::byte *>(buffer);
    size_t rest = size;
    while (rest >= sizeof(nlmsghdr)) {
        nlmsghdr header;
        memcpy(&header, bytes, sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > rest)
            break;
        answer(fd, header, bytes + sizeof header, header.nlmsg_len - sizeof header);
        const size_t step = std::min<size_t>(rest, NLMSG_ALIGN(header.nlmsg_len));
        bytes += step;
        rest -= step;
    }
    return static_cast<ssize_t>(size);
}

}  // namespace sim
