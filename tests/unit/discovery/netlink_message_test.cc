// SPDX-License-Identifier: BSD-2-Clause
// Answers of a Linux 6.1 kernel for an rxe device, whole and damaged.
#include "discovery/netlink_message.hh"

#include <endian.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace verbs::discovery {
namespace {

static_assert(BYTE_ORDER == LITTLE_ENDIAN, "the recorded answers are those of a little-endian machine");

constexpr char kDevice[] =
    "\x08\x00\x01\x00\x00\x00\x00\x00"                  // DEV_INDEX 0
    "\x09\x00\x02\x00rxe0\x00\x00\x00\x00"              // DEV_NAME
    "\x08\x00\x03\x00\x01\x00\x00\x00"                  // PORT_INDEX 1
    "\x0c\x00\x04\x00\x76\x3c\x22\x01\x00\x00\x00\x00"  // CAP_FLAGS
    "\x0c\x00\x06\x00\x56\x34\x12\xfe\xff\x00\x54\x50"  // NODE_GUID
    "\x0c\x00\x07\x00\x56\x34\x12\xfe\xff\x00\x54\x50"  // SYS_IMAGE_GUID
    "\x05\x00\x0e\x00\x01\x00\x00\x00"                  // DEV_NODE_TYPE
    "\x05\x00\x54\x00\x00\x00\x00\x00"                  // DEV_DIM
    "\x09\x00\x43\x00roce\x00\x00\x00";                 // DEV_PROTOCOL (the literal adds its last zero)
constexpr char kCharacterDevice[] =
    "\x08\x00\x49\x00\x0e\x00\x00\x00"                  // UVERBS_DRIVER_ID
    "\x0c\x00\x48\x00\xc0\xe7\x00\x00\x00\x00\x00\x00"  // CHARDEV
    "\x0c\x00\x47\x00\x02\x00\x00\x00\x00\x00\x00\x00"  // CHARDEV_ABI
    "\x0c\x00\x46\x00uverbs0";                          // CHARDEV_NAME

/// A message: a header, and attributes behind it.
class Message {
public:
    Message() { bytes_.resize(NLMSG_HDRLEN); }

    template <size_t N>
    static Message recorded(const char (&payload)[N])
    {
        Message message;
        message.append(payload, N);
        return message;
    }

    Message &add(uint16_t type, const void *data, size_t size)
    {
        nlattr attribute = {static_cast<uint16_t>(NLA_HDRLEN + size), type};
        append(&attribute, sizeof attribute);
        append(data, size);
        bytes_.resize(NLMSG_ALIGN(bytes_.size()));
        return *this;
    }
    Message &add(uint16_t type, uint32_t value) { return add(type, &value, sizeof value); }
    Message &add64(uint16_t type, uint64_t value) { return add(type, &value, sizeof value); }
    Message &add(uint16_t type, const std::string &value)
    {
        return add(type, value.c_str(), value.size() + 1);
    }

    std::vector<std::byte> bytes() const
    {
        std::vector<std::byte> result = bytes_;
        nlmsghdr header = {};
        header.nlmsg_len = static_cast<uint32_t>(result.size());
        memcpy(result.data(), &header, sizeof header);
        return result;
    }

private:
    void append(const void *data, size_t size)
    {
        const auto *first = static_cast<const std::byte *>(data);
        bytes_.insert(bytes_.end(), first, first + size);
    }

    std::vector<std::byte> bytes_;
};

TEST(NetlinkMessage, Device)
{
    verbs_sysfs_dev device{};
    ASSERT_EQ(parse_device(Message::recorded(kDevice).bytes(), device).error(), 0);
    EXPECT_EQ(device.ibdev_idx, 0);
    EXPECT_STREQ(device.ibdev_name, "rxe0");
    EXPECT_EQ(device.num_ports, 1u);
    EXPECT_EQ(device.node_type, IBV_NODE_CA);
    EXPECT_EQ(device.node_guid, 0x505400fffe123456u);
    EXPECT_EQ(device.flags, unsigned{VSYSFS_READ_NODE_GUID});
}

TEST(NetlinkMessage, CharacterDevice)
{
    verbs_sysfs_dev device{};
    ASSERT_EQ(parse_character_device(Message::recorded(kCharacterDevice).bytes(), device).error(), 0);
    EXPECT_STREQ(device.sysfs_name, "uverbs0");
    EXPECT_EQ(device.sysfs_cdev, makedev(231, 192));
    EXPECT_EQ(device.abi_ver, 2u);
    EXPECT_EQ(device.driver_id, uint32_t{RDMA_DRIVER_RXE});
}

TEST(NetlinkMessage, MinorNumbersAbove255)
{
    verbs_sysfs_dev device{};
    Message message;
    message.add64(RDMA_NLDEV_ATTR_CHARDEV, (0x123u & 0xffu) | 511u << 8 | (0x123u & ~0xffu) << 12);
    message.add64(RDMA_NLDEV_ATTR_CHARDEV_ABI, 1).add(RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs99");
    ASSERT_EQ(parse_character_device(message.bytes(), device).error(), 0);
    EXPECT_EQ(device.sysfs_cdev, makedev(511, 0x123));
    EXPECT_EQ(device.driver_id, uint32_t{RDMA_DRIVER_UNKNOWN});
}

TEST(NetlinkMessage, OldKernelsSendLess)
{
    verbs_sysfs_dev device{};
    Message message;
    message.add(RDMA_NLDEV_ATTR_DEV_INDEX, 3u).add(RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
    ASSERT_EQ(parse_device(message.bytes(), device).error(), 0);
    EXPECT_EQ(device.ibdev_idx, 3);
    EXPECT_EQ(device.flags, 0u);
    EXPECT_EQ(device.node_type, 0);
}

TEST(NetlinkMessage, UnknownNodeTypesAreUnknown)
{
    verbs_sysfs_dev device{};
    uint8_t type = 200;
    Message message;
    message.add(RDMA_NLDEV_ATTR_DEV_INDEX, 0u).add(RDMA_NLDEV_ATTR_DEV_NAME, "new0");
    message.add(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, &type, sizeof type);
    ASSERT_EQ(parse_device(message.bytes(), device).error(), 0);
    EXPECT_EQ(device.node_type, IBV_NODE_UNKNOWN);
}

TEST(NetlinkMessage, NamesMustBeNames)
{
    for (const std::string &name :
         {std::string(), std::string(".."), std::string("../x"), std::string("a/b"), std::string(64, 'n')}) {
        verbs_sysfs_dev device{};
        Message message;
        message.add(RDMA_NLDEV_ATTR_DEV_INDEX, 0u).add(RDMA_NLDEV_ATTR_DEV_NAME, name);
        EXPECT_EQ(parse_device(message.bytes(), device).error(), EBADMSG) << name;
        EXPECT_STREQ(device.ibdev_name, "");
    }
    verbs_sysfs_dev device{};
    Message message;
    message.add(RDMA_NLDEV_ATTR_DEV_INDEX, 0u).add(RDMA_NLDEV_ATTR_DEV_NAME, std::string(63, 'n'));
    EXPECT_TRUE(parse_device(message.bytes(), device));
    EXPECT_EQ(strlen(device.ibdev_name), 63u);
}

TEST(NetlinkMessage, NamesNeedNoZeroAtTheEnd)
{
    verbs_sysfs_dev device{};
    Message message;
    message.add(RDMA_NLDEV_ATTR_DEV_INDEX, 0u).add(RDMA_NLDEV_ATTR_DEV_NAME, "rxe7", 4);
    ASSERT_EQ(parse_device(message.bytes(), device).error(), 0);
    EXPECT_STREQ(device.ibdev_name, "rxe7");
}

TEST(NetlinkMessage, WhatIsNeededMustBeThere)
{
    verbs_sysfs_dev device{};
    EXPECT_EQ(parse_device(Message().bytes(), device).error(), EBADMSG);
    EXPECT_EQ(parse_device(Message().add(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0").bytes(), device).error(), EBADMSG);
    EXPECT_EQ(parse_device(Message().add(RDMA_NLDEV_ATTR_DEV_INDEX, 1u).bytes(), device).error(), EBADMSG);
    EXPECT_EQ(parse_character_device(Message().bytes(), device).error(), EBADMSG);
    verbs_sysfs_dev untouched{};
    EXPECT_EQ(memcmp(&device, &untouched, sizeof device), 0);
}

TEST(NetlinkMessage, IndicesThatAreNoIndices)
{
    verbs_sysfs_dev device{};
    Message message;
    message.add(RDMA_NLDEV_ATTR_DEV_INDEX, 0x80000000u).add(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
    EXPECT_EQ(parse_device(message.bytes(), device).error(), EBADMSG);
}

/// Copies to memory of exactly that size, so that a sanitizer sees each byte that is read beyond it.
void parse_exactly(const std::vector<std::byte> &bytes)
{
    verbs_sysfs_dev device{};
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    copy.shrink_to_fit();
    for (auto *parse : {parse_device, parse_character_device})
        EXPECT_TRUE(parse(copy, device).error() == 0 || parse(copy, device).error() == EBADMSG);
    EXPECT_LT(strnlen(device.ibdev_name, sizeof device.ibdev_name), sizeof device.ibdev_name);
    EXPECT_LT(strnlen(device.sysfs_name, sizeof device.sysfs_name), sizeof device.sysfs_name);
}

TEST(NetlinkMessage, CutShort)
{
    for (const Message &message : {Message::recorded(kDevice), Message::recorded(kCharacterDevice)}) {
        std::vector<std::byte> whole = message.bytes();
        for (size_t size = 0; size < whole.size(); ++size) {
            // As the kernel would not send it, with the length of the whole; and with a length that agrees.
            std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
            verbs_sysfs_dev device{};
            EXPECT_EQ(parse_device(cut, device).error(), EBADMSG);
            EXPECT_EQ(parse_character_device(cut, device).error(), EBADMSG);
            auto length = static_cast<uint32_t>(size);
            if (size >= sizeof length)
                memcpy(cut.data(), &length, sizeof length);
            parse_exactly(cut);
        }
    }
}

TEST(NetlinkMessage, EveryByteDamaged)
{
    for (const Message &message : {Message::recorded(kDevice), Message::recorded(kCharacterDevice)}) {
        std::vector<std::byte> whole = message.bytes();
        for (size_t i = 0; i < whole.size(); ++i) {
            for (int value : {0, 1, 3, 4, 5, 0x7f, 0x80, 0xff}) {
                std::vector<std::byte> damaged = whole;
                damaged[i] = std::byte(value);
                parse_exactly(damaged);
            }
        }
    }
}

}  // namespace
}  // namespace verbs::discovery
