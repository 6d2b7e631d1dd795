// SPDX-License-Identifier: BSD-2-Clause
// Texts of enumerations: the golden ones of release 44.0, those that came later, and the stock library's own.
#include <gtest/gtest.h>
#include <infiniband/driver.h>

#include <string>

#include "stock.hh"

namespace {

using verbs::test::stock;

TEST(EnumStrTest, NodeTypes)
{
    EXPECT_STREQ(ibv_node_type_str(IBV_NODE_UNKNOWN), "unknown");
    EXPECT_STREQ(ibv_node_type_str(IBV_NODE_CA), "InfiniBand channel adapter");
    EXPECT_STREQ(ibv_node_type_str(IBV_NODE_RNIC), "iWARP NIC");
    EXPECT_STREQ(ibv_node_type_str(IBV_NODE_UNSPECIFIED), "unspecified");
}

TEST(EnumStrTest, PortStates)
{
    EXPECT_STREQ(ibv_port_state_str(IBV_PORT_NOP), "no state change (NOP)");
    EXPECT_STREQ(ibv_port_state_str(IBV_PORT_ACTIVE), "active");
    EXPECT_STREQ(ibv_port_state_str(IBV_PORT_ACTIVE_DEFER), "active defer");
}

TEST(EnumStrTest, Events)
{
    EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_CQ_ERR), "CQ error");
    EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_PATH_MIG_ERR), "path migration request error");
    EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_WQ_FATAL), "WQ fatal");
    EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_DEVICE_SPEED_CHANGE), "device speed change");
}

TEST(EnumStrTest, CompletionStatuses)
{
    EXPECT_STREQ(ibv_wc_status_str(IBV_WC_SUCCESS), "success");
    EXPECT_STREQ(ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR), "Work Request Flushed Error");
    EXPECT_STREQ(ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR), "transport retry counter exceeded");
    EXPECT_STREQ(ibv_wc_status_str(IBV_WC_TM_RNDV_INCOMPLETE), "TM software rendezvous");
}

TEST(EnumStrTest, WorkRequests)
{
    EXPECT_STREQ(ibv_wr_opcode_str(IBV_WR_RDMA_WRITE), "RDMA write");
    EXPECT_STREQ(ibv_wr_opcode_str(IBV_WR_SEND_WITH_INV), "send with invalidate");
    EXPECT_STREQ(ibv_wr_opcode_str(IBV_WR_ATOMIC_WRITE), "atomic write");
}

TEST(EnumStrTest, ValuesBetweenAndBeyondAreUnknown)
{
    EXPECT_STREQ(ibv_node_type_str(static_cast<ibv_node_type>(0)), "unknown");
    EXPECT_STREQ(ibv_port_state_str(static_cast<ibv_port_state>(6)), "unknown");
    EXPECT_STREQ(ibv_event_type_str(static_cast<ibv_event_type>(21)), "unknown");
    EXPECT_STREQ(ibv_wc_status_str(static_cast<ibv_wc_status>(24)), "unknown");
    EXPECT_STREQ(ibv_wr_opcode_str(static_cast<ibv_wr_opcode>(12)), "unknown");
    EXPECT_STREQ(ibv_wr_opcode_str(static_cast<ibv_wr_opcode>(13)), "unknown");
}

/// Compares the texts of 0 to last with those of the stock library, which knows none beyond.
template <class Enum>
void expect_stock_texts(const char *(*ours)(Enum), const char *name, int last)
{
    auto *theirs = stock(ours, name, "IBVERBS_1.1");
    if (theirs == nullptr)
        GTEST_SKIP() << "the stock library is not installed";
    for (int value = 0; value <= last; ++value)
        EXPECT_STREQ(ours(static_cast<Enum>(value)), theirs(static_cast<Enum>(value)))
            << name << ' ' << value;
}

TEST(EnumStrTest, AgreesWithStock)
{
    expect_stock_texts(ibv_node_type_str, "ibv_node_type_str", 7);
    expect_stock_texts(ibv_port_state_str, "ibv_port_state_str", 7);
    expect_stock_texts(ibv_event_type_str, "ibv_event_type_str", IBV_EVENT_WQ_FATAL);
    expect_stock_texts(ibv_wc_status_str, "ibv_wc_status_str", 31);
}

}  // namespace
