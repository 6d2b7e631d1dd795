// SPDX-License-Identifier: BSD-2-Clause
// A context with one port, and the GID table that the verbs under test see of it.
#pragma once

#include <infiniband/driver.h>

#include <memory>
#include <string>
#include <vector>

#include "provider/context.hh"

namespace verbs::test {

ibv_gid gid(const std::string &address);

/// Only one at a time. Entries without a type are empty.
class FakePort {
public:
    explicit FakePort(uint8_t link_layer = IBV_LINK_LAYER_ETHERNET);
    FakePort(const FakePort &) = delete;
    FakePort &operator=(const FakePort &) = delete;
    ~FakePort();

    ibv_context *context() { return &vctx_.context; }
    ibv_pd *pd() { return &pd_; }

    /// Appends an entry to the table; an IPv4 address stands for its mapped GID.
    void add_gid(const std::string &address, ibv_gid_type type, const std::string &interface = "");
    void add_empty_gid();

    static constexpr uint8_t kPort = 1;

    std::vector<ibv_gid_entry> gids;           ///< gid_index UINT32_MAX: empty
    std::vector<ibv_ah_attr> address_handles;  ///< what ibv_create_ah was asked for
    int gid_error = 0;                         ///< what reading the table fails with

private:
    ibv_device device_ = {};
    verbs_context vctx_ = {};
    std::unique_ptr<verbs_ex_private> private_;
    ibv_pd pd_ = {};
};

}  // namespace verbs::test
