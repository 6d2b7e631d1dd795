// SPDX-License-Identifier: BSD-2-Clause
// Devices as the kernel lists them over RDMA netlink.
#include "discovery/netlink.hh"

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/stat.h>

#include <climits>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "discovery/netlink_message.hh"
#include "discovery/path.hh"

namespace verbs::discovery {
namespace {

/// Devices that come or go in the middle make the kernel mark its list as interrupted; then it is asked again.
constexpr int kAttempts = 5;

/// The most bytes of a dump that the kernel sends at once.
constexpr size_t kMaxMessage = 16384;

struct FreeSocket {
    void operator()(nl_sock *socket) const { nl_socket_free(socket); }
};
struct FreeMessage {
    void operator()(nl_msg *message) const { nlmsg_free(message); }
};
using Socket = std::unique_ptr<nl_sock, FreeSocket>;
using Message = std::unique_ptr<nl_msg, FreeMessage>;

std::span<const std::byte> bytes_of(nl_msg *message)
{
    const nlmsghdr *header = nlmsg_hdr(message);
    return {reinterpret_cast<const std::byte *>(header), header->nlmsg_len};
}

/// One command and what came of it.
struct Exchange {
    Status (*take)(std::span<const std::byte> answer, Exchange &exchange);
    DeviceChain *devices = nullptr;     ///< where a dump goes
    verbs_sysfs_dev *device = nullptr;  ///< whom a single answer is about
    Status status{};
    bool answered = false;
};

int on_answer(nl_msg *message, void *argument)
{
    auto &exchange = *static_cast<Exchange *>(argument);
    exchange.answered = true;
    if (exchange.status)
        exchange.status = exchange.take(bytes_of(message), exchange);
    return NL_OK;
}

int on_error(sockaddr_nl *, nlmsgerr *error, void *argument)
{
    auto &exchange = *static_cast<Exchange *>(argument);
    if (exchange.status)
        exchange.status = Status(error->error != 0 ? -error->error : EIO);
    return NL_STOP;
}

/// libnl's own error codes, where the kernel gave none.
Status status_of(int nl_error)
{
    switch (-nl_error) {
        case NLE_NOMEM:
            return ENOMEM;
        case NLE_PERM:
            return EPERM;
        case NLE_NOACCESS:
            return EACCES;
        case NLE_PROTO_MISMATCH:
            return EPROTONOSUPPORT;
        case NLE_AF_NOSUPPORT:
            return EAFNOSUPPORT;
        case NLE_DUMP_INTR:
            return EAGAIN;
        default:
            return EIO;
    }
}

Status exchange_with_kernel(nl_sock *socket, nl_msg *command, Exchange &exchange)
{
    nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, on_answer, &exchange);
    nl_socket_modify_err_cb(socket, NL_CB_CUSTOM, on_error, &exchange);
    int error = nl_send_auto(socket, command);
    if (error >= 0)
        error = nl_recvmsgs_default(socket);
    if (!exchange.status)
        return exchange.status;
    return error < 0 ? status_of(error) : Status();
}

Message command_message(int command, int flags)
{
    return Message(nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags));
}

Status take_device(std::span<const std::byte> answer, Exchange &exchange)
{
    Allocated<verbs_sysfs_dev> device = allocate<verbs_sysfs_dev>();
    if (!device)
        return ENOMEM;
    Status status = parse_device(answer, *device);
    if (status)
        exchange.devices->insert(std::move(device));
    return status;
}

Status take_character_device(std::span<const std::byte> answer, Exchange &exchange)
{
    return parse_character_device(answer, *exchange.device);
}

Status list(nl_sock *socket, DeviceChain &devices)
{
    Status status;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        devices.clear();
        Message command = command_message(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
        if (!command)
            return ENOMEM;
        Exchange exchange{.take = take_device, .devices = &devices};
        status = exchange_with_kernel(socket, command.get(), exchange);
        if (status.error() != EAGAIN)
            break;
    }
    return status;
}

Status find_character_device(nl_sock *socket, verbs_sysfs_dev &device)
{
    Message command = command_message(RDMA_NLDEV_CMD_GET_CHARDEV, 0);
    if (!command ||
        nla_put_u32(command.get(), RDMA_NLDEV_ATTR_DEV_INDEX, static_cast<uint32_t>(device.ibdev_idx)) < 0 ||
        nla_put_string(command.get(), RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs") < 0)
        return ENOMEM;
    Exchange exchange{.take = take_character_device, .device = &device};
    Status status = exchange_with_kernel(socket, command.get(), exchange);
    if (status && !exchange.answered)
        return EBADMSG;
    return status;
}

/// Whether the character device of a known device is still there: the same number in a node of the same age.
bool is_as_known(const verbs_sysfs_dev &known, const char *dev_root)
{
    ErrnoGuard keep;
    char path[PATH_MAX];
    struct stat node;
    return known.time_created.tv_sec != 0 && join_path(path, {dev_root, "/infiniband/", known.sysfs_name}) &&
           stat(path, &node) == 0 && S_ISCHR(node.st_mode) && node.st_rdev == known.sysfs_cdev &&
           node.st_mtim.tv_sec == known.time_created.tv_sec &&
           node.st_mtim.tv_nsec == known.time_created.tv_nsec;
}

Status add_character_device(nl_sock *socket, const KnownDevices &known, const char *dev_root,
                            verbs_sysfs_dev &device)
{
    const verbs_sysfs_dev *same = known.find != nullptr ? known.find(known.table, device) : nullptr;
    if (same == nullptr || !is_as_known(*same, dev_root))
        return find_character_device(socket, device);
    memcpy(device.sysfs_name, same->sysfs_name, sizeof device.sysfs_name);
    device.sysfs_cdev = same->sysfs_cdev;
    device.abi_ver = same->abi_ver;
    device.driver_id = same->driver_id;
    device.time_created = same->time_created;
    return {};
}

/// The devices of one list that have a character device.
Result<DeviceChain> list_with_uverbs(nl_sock *socket, const KnownDevices &known, const char *dev_root)
{
    DeviceChain found;
    if (Status status = list(socket, found); !status)
        return status;
    DeviceChain with_uverbs;
    while (Allocated<verbs_sysfs_dev> device = found.pop_front()) {
        Status status = add_character_device(socket, known, dev_root, *device);
        if (status.error() == EOPNOTSUPP)
            continue;  // a device without a user interface
        if (!status)
            return status;
        with_uverbs.insert(std::move(device));
    }
    return with_uverbs;
}

}  // namespace

Result<DeviceChain> netlink_devices(const KnownDevices &known, const char *dev_root)
{
    Socket socket(nl_socket_alloc());
    if (!socket)
        return Status(ENOMEM);
    if (int error = nl_connect(socket.get(), NETLINK_RDMA); error < 0)
        return status_of(error);
    nl_socket_disable_auto_ack(socket.get());
    // Without a look at each message's size beforehand: the kernel's own are no longer than this.
    nl_socket_disable_msg_peek(socket.get());
    if (int error = nl_socket_set_msg_buf_size(socket.get(), kMaxMessage); error < 0)
        return status_of(error);

    // A device may go between the list and the question about it (EINVAL): then the list is old, so once more.
    Result<DeviceChain> found = Status(EINVAL);
    for (int attempt = 0; attempt < kAttempts && found.error() == EINVAL; ++attempt)
        found = list_with_uverbs(socket.get(), known, dev_root);
    return found;
}

}  // namespace verbs::discovery
