// SPDX-License-Identifier: BSD-2-Clause
// Messages of another host that are matched with tags.
#include <endian.h>
#include <infiniband/tm_types.h>

#include <cstring>

#include "hosts.hh"

namespace {

using hosts::Port;
using hosts::Side;

class Tags : public hosts::Test {};

constexpr size_t kHeader = sizeof(ibv_tmh);
constexpr size_t kSlot = 4096;
constexpr uint32_t kMessages = 40;
const Port::Options kSender = {.mtu = IBV_MTU_256};
const Port::Options kTarget = {.mtu = IBV_MTU_256, .tags = kMessages};

/// From none to more than ten packets.
size_t length_of(uint32_t number)
{
    return number * 137 % 3000;
}

void put_header(Port &port, size_t offset, uint8_t opcode, uint64_t tag)
{
    const ibv_tmh header = {.opcode = opcode, .reserved = {}, .app_ctx = 0, .tag = htobe64(tag)};
    std::memcpy(port.at(offset), &header, sizeof header);
}

void add(Port &port, uint64_t tag, size_t offset, size_t length)
{
    ibv_sge sge = port.sge(offset, length);
    ibv_ops_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_TAG_ADD;
    wr.tm.add = {.recv_wr_id = tag, .sg_list = &sge, .num_sge = 1, .tag = tag, .mask = ~uint64_t{0}};
    ASSERT_EQ(ibv_post_srq_ops(port.srq, &wr, &bad), 0);
}

/// Waits for the message of a tag, which is told of twice if it takes more than one packet.
ibv_wc wait_matched(Port &port, size_t length)
{
    ibv_wc completion = port.wait_received();
    EXPECT_EQ(completion.wc_flags & IBV_WC_TM_MATCH, unsigned{IBV_WC_TM_MATCH});
    const bool is_long = (completion.wc_flags & IBV_WC_TM_DATA_VALID) == 0;
    EXPECT_EQ(is_long, kHeader + length > 256);
    if (!is_long)
        return completion;
    EXPECT_EQ(completion.opcode, IBV_WC_TM_RECV);
    const uint64_t wr_id = completion.wr_id;
    completion = port.wait_received();
    EXPECT_EQ(completion.wr_id, wr_id);
    return completion;
}

TEST_F(Tags, TakeMessagesOfAnotherHost)
{
    hosts::run(
        [](Side &side) {
            Port port(side, kSender);
            side.meet();
            for (uint32_t i = 0; i < kMessages; ++i) {
                put_header(port, i * kSlot, IBV_TMH_EAGER, i);
                hosts::fill(port.at(i * kSlot + kHeader), length_of(i), i);
                port.post(IBV_WR_SEND, i * kSlot, kHeader + length_of(i), 0);
            }
            for (uint32_t i = 0; i < kMessages; ++i)
                port.expect_sent();
            side.meet();
        },
        [](Side &side) {
            Port port(side, kTarget);
            // Every other one has a tag.
            for (uint32_t i = 0; i < kMessages; ++i)
                if (i % 2 == 0)
                    add(port, i, i * kSlot, kSlot);
                else
                    port.post_receive(i * kSlot, kSlot);
            side.meet();
            for (uint32_t i = 0; i < kMessages; ++i) {
                const bool is_tagged = i % 2 == 0;
                const size_t header = is_tagged ? 0 : kHeader;
                const ibv_wc completion = is_tagged ? wait_matched(port, length_of(i)) : port.wait_received();
                EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
                EXPECT_EQ(completion.opcode, is_tagged ? IBV_WC_TM_RECV : IBV_WC_RECV);
                EXPECT_EQ(completion.byte_len, header + length_of(i));
                EXPECT_TRUE(hosts::is_filled(port.at(i * kSlot + header), length_of(i), i));
                EXPECT_EQ(*port.at(i * kSlot + header + length_of(i)), 0);
            }
            side.meet();
        });
}

TEST_F(Tags, FetchFromAnotherHost)
{
    static constexpr size_t kLength = 50000, kFinish = 100000;
    hosts::run(
        [](Side &side) {
            Port port(side, kSender);
            hosts::fill(port.at(0), kLength, 1);
            port.post_receive(kFinish, 32);
            side.meet();
            put_header(port, kLength, IBV_TMH_RNDV, 5);
            const ibv_rvh where = {.va = htobe64(reinterpret_cast<uintptr_t>(port.at(0))),
                                   .rkey = htobe32(port.mr->rkey),
                                   .len = htobe32(kLength)};
            std::memcpy(port.at(kLength + kHeader), &where, sizeof where);
            // With more behind it than a packet holds.
            port.post(IBV_WR_SEND, kLength, 600, 0);
            port.expect_sent();
            const ibv_wc finish = port.wait_received();
            EXPECT_EQ(finish.status, IBV_WC_SUCCESS);
            EXPECT_EQ(finish.byte_len, 32u);
            EXPECT_EQ(*port.at(kFinish), IBV_TMH_FIN);
            EXPECT_EQ(std::memcmp(port.at(kFinish + 1), port.at(kLength + 1), 31), 0);
            side.meet();
        },
        [](Side &side) {
            Port port(side, kTarget);
            add(port, 5, 0, kLength);
            side.meet();
            EXPECT_EQ(port.wait_received().wc_flags, unsigned{IBV_WC_TM_MATCH});
            const ibv_wc completion = port.wait_received();
            EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
            EXPECT_EQ(completion.wc_flags, unsigned{IBV_WC_TM_DATA_VALID});
            EXPECT_EQ(completion.byte_len, kLength);
            EXPECT_TRUE(hosts::is_filled(port.at(0), kLength, 1));
            side.meet();
        });
}

TEST_F(Tags, TakeNoMoreThanTheyHaveRoomFor)
{
    hosts::run(
        [](Side &side) {
            Port port(side, kSender);
            side.meet();
            put_header(port, 0, IBV_TMH_EAGER, 5);
            hosts::fill(port.at(kHeader), 1000, 1);
            port.post(IBV_WR_SEND, 0, kHeader + 1000, 0);
            port.expect_sent(IBV_WC_REM_INV_REQ_ERR);
            side.meet();
        },
        [](Side &side) {
            Port port(side, kTarget);
            add(port, 5, 0, 999);
            side.meet();
            EXPECT_EQ(port.wait_received().wc_flags, unsigned{IBV_WC_TM_MATCH});
            const ibv_wc completion = port.wait_received();
            EXPECT_EQ(completion.wr_id, 5u);
            EXPECT_EQ(completion.status, IBV_WC_LOC_LEN_ERR);
            EXPECT_EQ(*port.at(999), 0);
            side.meet();
        });
}

TEST_F(Tags, LeaveToReceivesWhatHasNone)
{
    hosts::run(
        [](Side &side) {
            Port port(side, kSender);
            side.meet();
            std::memset(port.at(0), IBV_TMH_EAGER, kHeader);
            for (const size_t length : {size_t{0}, size_t{1}, kHeader - 1}) {
                port.post(IBV_WR_SEND, 0, length, 0);
                port.expect_sent();
            }
            put_header(port, 0, IBV_TMH_NO_TAG, 5);
            port.post(IBV_WR_SEND, 0, 600, 0);
            port.expect_sent();
            side.meet();
        },
        [](Side &side) {
            Port port(side, kTarget);
            add(port, 5, 4 * kSlot, kSlot);
            for (size_t i = 0; i < 4; ++i)
                port.post_receive(i * kSlot, kSlot);
            side.meet();
            for (const size_t length : {size_t{0}, size_t{1}, kHeader - 1, size_t{600}}) {
                const ibv_wc completion = port.wait_received();
                EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
                EXPECT_EQ(completion.opcode, IBV_WC_TM_NO_TAG);
                EXPECT_EQ(completion.byte_len, length);
            }
            side.meet();
        });
}

}  // namespace
