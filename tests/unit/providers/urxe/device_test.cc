// SPDX-License-Identifier: BSD-2-Clause
// Devices above the loopback interface: when they appear, and what they and their ports tell.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::vector<std::string> device_names(const char *which)
{
    if (which != nullptr)
        setenv("URXE", which, 1);
    else
        unsetenv("URXE");
    std::vector<std::string> names;
    int count = -1;
    ibv_device **list = ibv_get_device_list(&count);
    if (list == nullptr)
        return names;
    for (int i = 0; i < count; ++i)
        if (std::strncmp(ibv_get_device_name(list[i]), "urxe_", 5) == 0)
            names.emplace_back(ibv_get_device_name(list[i]));
    EXPECT_EQ(list[count], nullptr);
    ibv_free_device_list(list);
    return names;
}

using Names = std::vector<std::string>;

TEST(Devices, AppearOnlyWhenAskedFor)
{
    EXPECT_EQ(device_names(nullptr), Names{});
    EXPECT_EQ(device_names(""), Names{});
    EXPECT_EQ(device_names("lo"), Names{"urxe_lo"});
    EXPECT_EQ(device_names(nullptr), Names{});
}

TEST(Devices, AreNamedByInterfaces)
{
    EXPECT_EQ(device_names("lo,"), Names{"urxe_lo"});
    testing::internal::CaptureStderr();
    EXPECT_EQ(device_names("lo,lo"), Names{"urxe_lo"});
    EXPECT_EQ(device_names("nosuch,lo"), Names{"urxe_lo"});
    EXPECT_EQ(device_names("a_name_that_is_far_too_long_for_a_network_interface"), Names{});
    testing::internal::GetCapturedStderr();
    const Names all = device_names("auto");
    EXPECT_NE(std::find(all.begin(), all.end(), "urxe_lo"), all.end());
}

class Loopback : public testing::Test {
protected:
    void SetUp() override
    {
        setenv("URXE", "lo", 1);
        int count = 0;
        ibv_device **list = ibv_get_device_list(&count);
        ASSERT_NE(list, nullptr);
        for (int i = 0; i < count; ++i)
            if (std::strcmp(ibv_get_device_name(list[i]), "urxe_lo") == 0)
                context_ = ibv_open_device(list[i]);
        ibv_free_device_list(list);
        ASSERT_NE(context_, nullptr) << strerror(errno);
    }
    void TearDown() override
    {
        if (context_ != nullptr) {
            EXPECT_EQ(ibv_close_device(context_), 0);
        }
    }

    ibv_context *context_ = nullptr;
};

TEST_F(Loopback, Device)
{
    ibv_device_attr_ex attr;
    std::memset(&attr, 0x5a, sizeof attr);
    ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
    EXPECT_EQ(attr.orig_attr.phys_port_cnt, 1);
    EXPECT_EQ(attr.orig_attr.node_guid, ibv_get_device_guid(context_->device));
    EXPECT_NE(attr.orig_attr.node_guid, 0u);
    EXPECT_GT(attr.orig_attr.max_qp, 10000);
    EXPECT_EQ(attr.orig_attr.atomic_cap, IBV_ATOMIC_HCA);
    EXPECT_EQ(context_->device->transport_type, IBV_TRANSPORT_IB);
    EXPECT_EQ(ibv_get_device_index(context_->device), -1);
}

TEST_F(Loopback, Port)
{
    ibv_port_attr attr;
    std::memset(&attr, 0x5a, sizeof attr);
    ASSERT_EQ(ibv_query_port(context_, 1, &attr), 0);
    EXPECT_EQ(attr.link_layer, IBV_LINK_LAYER_ETHERNET);
    EXPECT_EQ(attr.pkey_tbl_len, 1);
    EXPECT_EQ(attr.lid, 0);
    EXPECT_EQ(ibv_query_port(context_, 0, &attr), EINVAL);
    EXPECT_EQ(ibv_query_port(context_, 2, &attr), EINVAL);
}

TEST_F(Loopback, PKeys)
{
    __be16 pkey = 0;
    EXPECT_EQ(ibv_query_pkey(context_, 1, 0, &pkey), 0);
    EXPECT_EQ(pkey, htons(0xffff));
    EXPECT_EQ(ibv_query_pkey(context_, 1, 1, &pkey), -1);
    EXPECT_EQ(ibv_query_pkey(context_, 2, 0, &pkey), -1);
    EXPECT_EQ(ibv_get_pkey_index(context_, 1, htons(0xffff)), 0);
    EXPECT_EQ(ibv_get_pkey_index(context_, 1, htons(0x1234)), -1);
}

/// The interface's addresses in GID form, sorted.
std::vector<std::string> addresses_of_loopback()
{
    std::vector<std::string> result;
    ifaddrs *first = nullptr;
    EXPECT_EQ(getifaddrs(&first), 0);
    for (const ifaddrs *entry = first; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr || std::strcmp(entry->ifa_name, "lo") != 0)
            continue;
        std::string gid(16, '\0');
        if (entry->ifa_addr->sa_family == AF_INET6) {
            std::memcpy(gid.data(), &reinterpret_cast<sockaddr_in6 *>(entry->ifa_addr)->sin6_addr, 16);
        } else if (entry->ifa_addr->sa_family == AF_INET) {
            gid[10] = gid[11] = '\xff';
            std::memcpy(gid.data() + 12, &reinterpret_cast<sockaddr_in *>(entry->ifa_addr)->sin_addr, 4);
        } else {
            continue;
        }
        result.push_back(gid);
    }
    freeifaddrs(first);
    std::sort(result.begin(), result.end());
    return result;
}

TEST_F(Loopback, GidsAreTheInterfacesAddresses)
{
    ibv_gid_entry entries[64];
    const ssize_t count = ibv_query_gid_table(context_, entries, 64, 0);
    ASSERT_GE(count, 0) << strerror(static_cast<int>(-count));
    std::vector<std::string> gids;
    for (ssize_t i = 0; i < count; ++i) {
        gids.emplace_back(reinterpret_cast<const char *>(entries[i].gid.raw), 16);
        EXPECT_EQ(entries[i].gid_type, uint32_t{IBV_GID_TYPE_ROCE_V2});
        EXPECT_EQ(entries[i].ndev_ifindex, if_nametoindex("lo"));
        EXPECT_EQ(entries[i].port_num, 1u);
        ibv_gid_entry one;
        EXPECT_EQ(ibv_query_gid_ex(context_, 1, entries[i].gid_index, &one, 0), 0);
        EXPECT_EQ(std::memcmp(&one, &entries[i], sizeof one), 0);
        ibv_gid gid;
        EXPECT_EQ(ibv_query_gid(context_, 1, static_cast<int>(entries[i].gid_index), &gid), 0);
        EXPECT_EQ(std::memcmp(&gid, &one.gid, sizeof gid), 0);
    }
    std::sort(gids.begin(), gids.end());
    EXPECT_EQ(gids, addresses_of_loopback());
}

TEST_F(Loopback, GidsThatAreNotThere)
{
    ibv_gid_entry entry;
    ibv_gid gid;
    std::memset(&gid, 0x5a, sizeof gid);
    EXPECT_EQ(ibv_query_gid(context_, 1, 63, &gid), 0) << "an empty entry is the zero GID";
    EXPECT_EQ(gid.global.interface_id | gid.global.subnet_prefix, 0u);
    EXPECT_EQ(ibv_query_gid_ex(context_, 1, 63, &entry, 0), ENODATA);
    EXPECT_EQ(ibv_query_gid_ex(context_, 1, 64, &entry, 0), EINVAL);
    EXPECT_EQ(ibv_query_gid_ex(context_, 2, 0, &entry, 0), EINVAL);
    EXPECT_EQ(ibv_query_gid(context_, 1, 64, &gid), -1);
    EXPECT_EQ(ibv_query_gid(context_, 1, -1, &gid), -1);
}

TEST_F(Loopback, ProtectionDomain)
{
    ibv_pd *pd = ibv_alloc_pd(context_);
    ASSERT_NE(pd, nullptr);
    EXPECT_EQ(pd->context, context_);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(Loopback, WhatIsNotThereIsNotSupported)
{
    errno = 0;
    ibv_flow_action_esp_attr attr{};
    EXPECT_EQ(ibv_create_flow_action_esp(context_, &attr), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
