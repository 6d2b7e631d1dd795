// SPDX-License-Identifier: BSD-2-Clause
// The question to RDMA netlink.
#include "fork/copy_on_fork.hh"

#include <rdma/rdma_netlink.h>

#include "base/netlink_attributes.hh"
#include "base/rdma_netlink.hh"

namespace verbs::fork {
namespace {

Status take_system(std::span<const std::byte> answer, void *copies)
{
    std::optional<NetlinkAttributes> attributes = NetlinkAttributes::of(answer);
    *static_cast<bool *>(copies) =
        attributes && attributes->number<uint8_t>(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK).value_or(0) != 0;
    return {};
}

}  // namespace

bool kernel_copies_pinned_pages()
{
    Result<RdmaNetlink> kernel = RdmaNetlink::open();
    if (!kernel)
        return false;
    nlmsghdr question = {};
    question.nlmsg_len = sizeof question;
    question.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET);
    bool copies = false;
    return kernel->ask(question, take_system, &copies) && copies;
}

}  // namespace verbs::fork
