// SPDX-License-Identifier: BSD-2-Clause
// Work queues and receive-side scaling between two hosts.
#include "raw/frame.hh"
#include "raw/toeplitz.hh"
#include "raw_port.hh"

namespace {

using frames::Bytes;
using hosts::kSlot;
using hosts::RawPort;
using hosts::Side;
using hosts::Steer;

constexpr uint16_t kPort = 9;

class WorkQueues : public hosts::Test {};

/// Each frame comes to the queue that its hash says.
TEST_F(WorkQueues, GetFramesByTheirHash)
{
    constexpr size_t kQueues = 4, kEntries = 8, kCount = 64;
    const auto frame_of = [](size_t number) {
        const auto source = static_cast<uint16_t>(1000 + number * 77);
        return frames::ethernet(
            0x86dd, frames::ipv6(IPPROTO_UDP, "fd09::1", "fd09::2", frames::udp(source, kPort, Bytes(40))));
    };
    hosts::run(
        [&](Side &side) {
            RawPort port(side);
            for (size_t i = 0; i < kCount; ++i) {
                side.meet();
                port.send(frame_of(i));
            }
            side.meet();
        },
        [&](Side &side) {
            RawPort port(side);
            ibv_wq *queues[kQueues], *table_queues[kEntries];
            for (ibv_wq *&wq : queues) {
                ibv_wq_init_attr init{};
                init.wq_type = IBV_WQT_RQ;
                init.max_wr = kCount;
                init.max_sge = 1;
                init.pd = port.pd;
                init.cq = port.cq;
                wq = ibv_create_wq(port.context, &init);
                ASSERT_NE(wq, nullptr);
                ibv_wq_attr attr{};
                attr.attr_mask = IBV_WQ_ATTR_STATE;
                attr.wq_state = IBV_WQS_RDY;
                ASSERT_EQ(ibv_modify_wq(wq, &attr), 0);
                ibv_sge sge = {reinterpret_cast<uintptr_t>(port.slot(0)), kSlot, port.mr->lkey};
                ibv_recv_wr request{}, *bad = nullptr;
                request.sg_list = &sge;
                request.num_sge = 1;
                for (size_t i = 0; i < kCount; ++i)
                    ASSERT_EQ(ibv_post_wq_recv(wq, &request, &bad), 0);
            }
            for (size_t i = 0; i < kEntries; ++i)
                table_queues[i] = queues[i * i % kQueues];
            ibv_rwq_ind_table_init_attr table_init{};
            table_init.log_ind_tbl_size = 3;
            table_init.ind_tbl = table_queues;
            ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(port.context, &table_init);
            ASSERT_NE(table, nullptr);
            uint8_t key[urxe::raw::kHashKey];
            hosts::fill(key, sizeof key, 3);
            ibv_qp_init_attr_ex init{};
            init.qp_type = IBV_QPT_RAW_PACKET;
            init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
            init.pd = port.pd;
            init.rwq_ind_tbl = table;
            const uint64_t fields = IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_SRC_PORT_UDP;
            init.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, sizeof key, key, fields};
            ibv_qp *qp = ibv_create_qp_ex(port.context, &init);
            ASSERT_NE(qp, nullptr);
            {
                const Steer steer(qp, kPort);
                for (size_t i = 0; i < kCount; ++i) {
                    side.meet();
                    const ibv_wc completion = port.wait();
                    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
                    const uint32_t hash = urxe::raw::frame_hash(key, fields, urxe::raw::parse(frame_of(i)));
                    EXPECT_EQ(completion.qp_num, table_queues[hash % kEntries]->wq_num);
                }
            }
            side.meet();
            ibv_qp_attr attr{};
            attr.qp_state = IBV_QPS_ERR;
            EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EOPNOTSUPP);
            EXPECT_EQ(ibv_destroy_qp(qp), 0);
            EXPECT_EQ(ibv_destroy_rwq_ind_table(table), 0);
            for (ibv_wq *wq : queues)
                EXPECT_EQ(ibv_destroy_wq(wq), 0);
        });
}

}  // namespace
