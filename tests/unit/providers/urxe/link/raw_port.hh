// SPDX-License-Identifier: BSD-2-Clause
// Raw QPs of tests, and the rules that steer frames to them.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../raw/frames.hh"
#include "hosts.hh"

namespace hosts {

using frames::Bytes;

/// Bytes of memory for each receive.
constexpr size_t kSlot = 9216;

/// A raw QP in RTS with what belongs to it.
struct RawPort {
    explicit RawPort(Side &of, uint32_t depth = 64)
        : side(of),
          memory(kSlot * 64),
          context(side.open()),
          pd(ibv_alloc_pd(context)),
          mr(ibv_reg_mr(pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE)),
          channel(ibv_create_comp_channel(context)),
          cq(ibv_create_cq(context, 256, nullptr, channel, 0))
    {
        ibv_qp_init_attr init{};
        init.send_cq = init.recv_cq = cq;
        init.cap = {.max_send_wr = depth,
                    .max_recv_wr = depth,
                    .max_send_sge = 4,
                    .max_recv_sge = 4,
                    .max_inline_data = 0};
        init.qp_type = IBV_QPT_RAW_PACKET;
        init.sq_sig_all = 1;
        qp = ibv_create_qp(pd, &init);
        EXPECT_NE(qp, nullptr) << std::strerror(errno);
        ibv_qp_attr attr{};
        attr.port_num = 1;
        for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
            attr.qp_state = state;
            EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0)), 0);
        }
        EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0);
    }
    RawPort(const RawPort &) = delete;
    RawPort &operator=(const RawPort &) = delete;
    ~RawPort()
    {
        EXPECT_EQ(ibv_destroy_qp(qp), 0);
        EXPECT_EQ(ibv_destroy_cq(cq), 0);
        EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
        EXPECT_EQ(ibv_dereg_mr(mr), 0);
        EXPECT_EQ(ibv_dealloc_pd(pd), 0);
        EXPECT_EQ(ibv_close_device(context), 0);
    }

    uint8_t *slot(size_t number) { return memory.data() + number * kSlot; }
    void post_receive(size_t number, size_t length = kSlot)
    {
        ibv_sge sge = {reinterpret_cast<uintptr_t>(slot(number)), static_cast<uint32_t>(length), mr->lkey};
        ibv_recv_wr request{}, *bad = nullptr;
        request.wr_id = number;
        request.sg_list = &sge;
        request.num_sge = 1;
        ASSERT_EQ(ibv_post_recv(qp, &request, &bad), 0);
    }
    /// Sends one frame from slot 0 and waits for that.
    void send(const Bytes &frame, unsigned flags = 0, ibv_wc_status expected = IBV_WC_SUCCESS)
    {
        std::copy(frame.begin(), frame.end(), slot(0));
        ibv_sge sge = {reinterpret_cast<uintptr_t>(slot(0)), static_cast<uint32_t>(frame.size()), mr->lkey};
        ibv_send_wr request{}, *bad = nullptr;
        request.sg_list = &sge;
        request.num_sge = 1;
        request.opcode = IBV_WR_SEND;
        request.send_flags = flags;
        ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
        const ibv_wc completion = wait();
        EXPECT_EQ(completion.status, expected);
        EXPECT_EQ(completion.opcode, IBV_WC_SEND);
    }
    /// The next completion; sleeps until it is there.
    ibv_wc wait()
    {
        ibv_wc completion{};
        while (ibv_poll_cq(cq, 1, &completion) == 0) {
            ibv_cq *which;
            void *data;
            EXPECT_EQ(ibv_get_cq_event(channel, &which, &data), 0);
            ibv_ack_cq_events(which, 1);
            EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0);
            if (ibv_poll_cq(cq, 1, &completion) != 0)
                break;
        }
        return completion;
    }
    /// The frame in a receive that has ended well.
    Bytes received(ibv_wc *given = nullptr)
    {
        const ibv_wc completion = wait();
        EXPECT_STREQ(ibv_wc_status_str(completion.status), "success");
        EXPECT_EQ(completion.opcode, IBV_WC_RECV);
        if (given != nullptr)
            *given = completion;
        const uint8_t *bytes = slot(completion.wr_id);
        return {bytes, bytes + completion.byte_len};
    }

    Side &side;
    Bytes memory;
    ibv_context *context;
    ibv_pd *pd;
    ibv_mr *mr;
    ibv_comp_channel *channel;
    ibv_cq *cq;
    ibv_qp *qp;
};

/// A rule of all UDP datagrams (or TCP segments) to a port, as long as it is there.
class Steer {
public:
    Steer(ibv_qp *qp, uint16_t port, uint16_t priority = 0, uint32_t flags = 0,
          ibv_flow_spec_type type = IBV_FLOW_SPEC_UDP)
    {
        struct {
            ibv_flow_attr attr;
            ibv_flow_spec_tcp_udp udp;
        } rule{};
        rule.attr.port = 1;
        rule.attr.num_of_specs = 1;
        rule.attr.priority = priority;
        rule.attr.flags = flags;
        rule.attr.size = sizeof rule;
        rule.udp.type = type;
        rule.udp.size = sizeof rule.udp;
        rule.udp.val.dst_port = htons(port);
        rule.udp.mask.dst_port = 0xffff;
        flow_ = ibv_create_flow(qp, &rule.attr);
        EXPECT_NE(flow_, nullptr) << std::strerror(errno);
    }
    Steer(const Steer &) = delete;
    Steer &operator=(const Steer &) = delete;
    ~Steer() { EXPECT_EQ(ibv_destroy_flow(flow_), 0); }

private:
    ibv_flow *flow_;
};

}  // namespace hosts
