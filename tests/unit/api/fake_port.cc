// SPDX-License-Identifier: BSD-2-Clause
// What ah_from_wc.cc and eth_l2.cc call, answered from the fake port.
#include "fake_port.hh"

#include <arpa/inet.h>
#include <net/if.h>

#include <cstring>
#include <stdexcept>

namespace verbs::test {
namespace {

FakePort *port = nullptr;
uint8_t link_layer_of_port = IBV_LINK_LAYER_ETHERNET;

int query_port(ibv_context *, uint8_t port_num, ibv_port_attr *attr)
{
    if (port_num != FakePort::kPort)
        return EINVAL;
    attr->link_layer = link_layer_of_port;
    attr->gid_tbl_len = static_cast<int>(port->gids.size());
    return 0;
}

}  // namespace

ibv_gid gid(const std::string &address)
{
    ibv_gid gid;
    std::string ipv6 = address.find(':') == std::string::npos ? "::ffff:" + address : address;
    if (inet_pton(AF_INET6, ipv6.c_str(), gid.raw) != 1)
        throw std::invalid_argument(address);
    return gid;
}

FakePort::FakePort(uint8_t link_layer)
    : private_(new verbs_ex_private{.ops = {}, .channel = uverbs::Channel(-1, 0), .layout = nullptr})
{
    port = this;
    link_layer_of_port = link_layer;
    std::strcpy(device_.name, "fake0");
    private_->ops.query_port = query_port;
    vctx_.priv = private_.get();
    vctx_.context.device = &device_;
    pd_.context = &vctx_.context;
}

FakePort::~FakePort()
{
    port = nullptr;
}

void FakePort::add_gid(const std::string &address, ibv_gid_type type, const std::string &interface)
{
    gids.push_back({.gid = gid(address),
                    .gid_index = static_cast<uint32_t>(gids.size()),
                    .port_num = kPort,
                    .gid_type = type,
                    .ndev_ifindex = if_nametoindex(interface.c_str())});
}

void FakePort::add_empty_gid()
{
    gids.push_back({.gid = {}, .gid_index = UINT32_MAX});
}

}  // namespace verbs::test

using verbs::test::FakePort;
using verbs::test::port;

int _ibv_query_gid_ex(ibv_context *, uint32_t port_num, uint32_t gid_index, ibv_gid_entry *entry, uint32_t,
                      size_t entry_size)
{
    if (port->gid_error != 0)
        return port->gid_error;
    if (port_num != FakePort::kPort || gid_index >= port->gids.size() || entry_size != sizeof *entry)
        return EINVAL;
    if (port->gids[gid_index].gid_index != gid_index)
        return ENODATA;
    *entry = port->gids[gid_index];
    return 0;
}

ibv_ah *ibv_create_ah(ibv_pd *, ibv_ah_attr *attr)
{
    static ibv_ah ah;
    port->address_handles.push_back(*attr);
    return &ah;
}
