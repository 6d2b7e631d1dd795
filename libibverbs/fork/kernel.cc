// SPDX-License-Identifier: BSD-2-Clause
// RDMA netlink's answer on copy-on-fork; madvise, for mappings of any page size.
#include "fork/kernel.hh"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <rdma/rdma_netlink.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.hh"

namespace verbs::fork {
namespace {

constexpr uintptr_t kLargestPage = uintptr_t{16} << 30;

struct FreeSocket {
    void operator()(nl_sock *socket) const { nl_socket_free(socket); }
};

constexpr uintptr_t round_down(uintptr_t address, uintptr_t unit)
{
    return address & ~(unit - 1);
}
constexpr uintptr_t round_up(uintptr_t address, uintptr_t unit)
{
    return round_down(address + unit - 1, unit);
}

uintptr_t base_page_size()
{
    return static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
}

int advise(PageRange range, int advice)
{
    return madvise(reinterpret_cast<void *>(range.begin), range.end - range.begin, advice) == 0 ? 0 : errno;
}

}  // namespace

bool kernel_copies_pinned_pages()
{
    std::unique_ptr<nl_sock, FreeSocket> socket(nl_socket_alloc());
    if (!socket)
        return false;
    nl_socket_disable_auto_ack(socket.get());
    if (nl_connect(socket.get(), NETLINK_RDMA) < 0)
        return false;
    constexpr int kType = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET);
    if (nl_send_simple(socket.get(), kType, 0, nullptr, 0) < 0)
        return false;

    sockaddr_nl sender{};
    unsigned char *memory = nullptr;
    int length = nl_recv(socket.get(), &sender, &memory, nullptr);
    Allocated<unsigned char> reply(memory);
    auto *header = reinterpret_cast<nlmsghdr *>(memory);
    if (length <= 0 || nlmsg_ok(header, length) == 0 || header->nlmsg_type != kType)
        return false;
    nlattr *copies = nlmsg_find_attr(header, 0, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK);
    return copies != nullptr && nla_len(copies) >= 1 && nla_get_u8(copies) != 0;
}

Status probe_dontfork()
{
    size_t size = base_page_size();
    void *page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return Status::from_errno();
    Status status(madvise(page, size, MADV_DONTFORK) == 0 ? 0 : errno);
    munmap(page, size);
    return status;
}

// The kernel refuses with EINVAL to treat a part of a page differently. So the page size of a mapping is the
// first at which it does not, which takes fewer system calls than reading it from the list of all mappings.
Advice withhold(PageRange range)
{
    for (uintptr_t unit = base_page_size(); unit <= kLargestPage; unit *= 2) {
        PageRange wide{round_down(range.begin, unit), round_up(range.end, unit)};
        if (wide.end < range.end)
            break;
        if (int error = advise(wide, MADV_DONTFORK); error != EINVAL)
            return {wide, error};
    }
    return {range, EINVAL};
}

Advice give_back(PageRange range)
{
    for (uintptr_t unit = base_page_size(); unit <= kLargestPage; unit *= 2) {
        PageRange narrow{round_up(range.begin, unit), round_down(range.end, unit)};
        if (narrow.begin < range.begin || narrow.begin >= narrow.end)
            break;
        if (advise(narrow, MADV_DOFORK) != EINVAL)
            return {narrow, Status()};
    }
    return {range, EINVAL};
}

}  // namespace verbs::fork
