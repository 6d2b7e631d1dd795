// SPDX-License-Identifier: BSD-2-Clause
// Address handles: the kernel resolves the path, and either keeps it under a number or leaves it to the WQE.
#include "ah.hh"

#include <cstring>

#include "common/extended.hh"
#include "common/memory.hh"

namespace rxe {
namespace {

/// Whether a GID is an IPv4 address: ::ffff:a.b.c.d, as of RoCEv2 (IBTA annex A17).
bool is_ipv4(const ibv_gid &gid)
{
    static constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::memcmp(gid.raw, kPrefix, sizeof(kPrefix)) == 0;
}

template <class Address>
void set_address(Address &address, const ibv_gid &gid, bool ipv4)
{
    if (ipv4) {
        address._sockaddr_in.sin_family = AF_INET;
        std::memcpy(&address._sockaddr_in.sin_addr, gid.raw + 12, 4);
    } else {
        address._sockaddr_in6.sin6_family = AF_INET6;
        std::memcpy(&address._sockaddr_in6.sin6_addr, gid.raw, 16);
    }
}

/// Fills the vector for drivers that read it from the WQE; 0 or an errno value.
int vector_fill(rxe_av &vector, ibv_context *context, const ibv_ah_attr &attr)
{
    ibv_gid source;
    if (ibv_query_gid(context, attr.port_num, attr.grh.sgid_index, &source) != 0)
        return errno;
    const bool ipv4 = is_ipv4(source);
    vector.port_num = attr.port_num;
    vector.network_type = ipv4 ? RXE_NETWORK_TYPE_IPV4 : RXE_NETWORK_TYPE_IPV6;
    std::memcpy(vector.grh.dgid.raw, attr.grh.dgid.raw, sizeof(vector.grh.dgid.raw));
    vector.grh.flow_label = attr.grh.flow_label;
    vector.grh.sgid_index = attr.grh.sgid_index;
    vector.grh.hop_limit = attr.grh.hop_limit;
    vector.grh.traffic_class = attr.grh.traffic_class;
    set_address(vector.sgid_addr, source, ipv4);
    set_address(vector.dgid_addr, attr.grh.dgid, ipv4);
    return 0;
}

}  // namespace

ibv_ah *ah_create(ibv_pd *pd, ibv_ah_attr *attr)
{
    auto ah = common::allocate<Ah>();
    if (!ah)
        return nullptr;
    common::Extended<ib_uverbs_create_ah_resp, rxe_create_ah_resp> response;
    int error = ibv_cmd_create_ah(pd, &ah->base, attr, response.core(), response.size());
    if (error != 0)
        return common::null_with(error);
    ah->number = response.driver().ah_num;
    if (ah->number == 0) {
        error = vector_fill(ah->vector, pd->context, *attr);
        if (error != 0) {
            ibv_cmd_destroy_ah(&ah->base);
            return common::null_with(error);
        }
    }
    return &ah.release()->base;
}

int ah_destroy(ibv_ah *ah)
{
    const int error = ibv_cmd_destroy_ah(ah);
    if (error == 0)
        std::free(ah);
    return error;
}

}  // namespace rxe
