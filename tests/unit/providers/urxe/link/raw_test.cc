// SPDX-License-Identifier: BSD-2-Clause
// Ethernet frames between two hosts: from raw QPs to raw QPs, from raw QPs to the kernel, and from the kernel to raw QPs.
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "raw/checksum.hh"
#include "raw/frame.hh"
#include "raw_port.hh"

namespace {

using frames::Bytes;
using hosts::RawPort;
using hosts::Side;
using hosts::Steer;

constexpr uint16_t kPort = 9;

class RawFrames : public hosts::Test {};

frames::Mac mac_of(const char *interface)
{
    frames::Mac mac{};
    ifreq request{};
    std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(ioctl(file, SIOCGIFHWADDR, &request), 0);
    close(file);
    std::memcpy(mac.bytes, request.ifr_hwaddr.sa_data, sizeof mac.bytes);
    return mac;
}

int bound_socket(const char *address, uint16_t port, int type = SOCK_DGRAM)
{
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = inet_addr(address);
    const int file = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(file, reinterpret_cast<const sockaddr *>(&name), sizeof name), 0) << std::strerror(errno);
    return file;
}

void send_datagram(int file, const char *address, uint16_t port, const Bytes &payload)
{
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = inet_addr(address);
    EXPECT_EQ(sendto(file, payload.data(), payload.size(), 0, reinterpret_cast<const sockaddr *>(&name),
                     sizeof name),
              static_cast<ssize_t>(payload.size()));
}

TEST_F(RawFrames, ArriveByteForByte)
{
    const Bytes kinds[] = {
        frames::datagram(kPort, 3),
        frames::datagram(kPort, 1400, 7),
        frames::ethernet(0x0800,
                         frames::ipv4(IPPROTO_UDP, "10.9.9.1", "10.9.9.2", frames::udp(1, kPort, {1, 2})),
                         frames::kTo, {{0x8100, 0x2007}}),
        frames::ethernet(0x0800,
                         frames::ipv4(IPPROTO_UDP, "10.9.9.1", "10.9.9.2", frames::udp(1, kPort, {1, 2})),
                         frames::kTo, {{0x88a8, 0x0003}, {0x8100, 0x0004}}),
        frames::ethernet(0x86dd, frames::ipv6(IPPROTO_UDP, "fd09::1", "fd09::2", frames::udp(1, kPort, {5}))),
    };
    hosts::run(
        [&](Side &side) {
            RawPort port(side);
            for (const Bytes &frame : kinds) {
                side.meet();
                port.send(frame);
                side.meet();
            }
        },
        [&](Side &side) {
            RawPort port(side);
            const Steer steer(port.qp, kPort);
            for (const Bytes &frame : kinds) {
                port.post_receive(1);
                side.meet();
                ibv_wc completion;
                EXPECT_EQ(port.received(&completion), frame);
                EXPECT_EQ(completion.wc_flags & IBV_WC_IP_CSUM_OK, 0u);  // They have none.
                side.meet();
            }
        });
}

TEST_F(RawFrames, ComeInOrderHoweverMany)
{
    constexpr uint32_t kCount = 3000, kWindow = 32;
    hosts::run(
        [&](Side &side) {
            RawPort port(side);
            side.meet();
            for (uint32_t i = 0; i < kCount; ++i) {
                port.send(frames::datagram(kPort, 100 + i % 1000, static_cast<uint8_t>(i)));
                if (i % kWindow == kWindow - 1)
                    side.meet();
            }
        },
        [&](Side &side) {
            RawPort port(side);
            const Steer steer(port.qp, kPort);
            for (uint32_t i = 0; i < kWindow; ++i)
                port.post_receive(i);
            side.meet();
            for (uint32_t i = 0; i < kCount; ++i) {
                ibv_wc completion;
                ASSERT_EQ(port.received(&completion),
                          frames::datagram(kPort, 100 + i % 1000, static_cast<uint8_t>(i)));
                port.post_receive(completion.wr_id);
                if (i % kWindow == kWindow - 1)
                    side.meet();
            }
        });
}

TEST_F(RawFrames, HaveChecksumsThatTheKernelTakes)
{
    hosts::run(
        [&](Side &side) {
            RawPort port(side);
            const auto to = side.exchange(frames::Mac{});
            for (size_t length = 0; length < 40; ++length) {
                Bytes frame = frames::datagram(4321, length, static_cast<uint8_t>(length), to);
                // What is there before does not matter; without the flag it does.
                frame[40] = 0x77;
                port.send(frame);
                port.send(frame, IBV_SEND_IP_CSUM);
                side.meet();
            }
        },
        [&](Side &side) {
            const int file = bound_socket("10.7.0.2", 4321);
            side.exchange(mac_of("vb"));
            for (size_t length = 0; length < 40; ++length) {
                uint8_t bytes[100];
                ASSERT_EQ(recv(file, bytes, sizeof bytes, 0), static_cast<ssize_t>(length));
                for (size_t i = 0; i < length; ++i)
                    ASSERT_EQ(bytes[i], static_cast<uint8_t>(length + i));
                side.meet();
            }
            uint8_t byte;
            EXPECT_EQ(recv(file, &byte, 1, MSG_DONTWAIT), -1);
            close(file);
        });
}

TEST_F(RawFrames, OfTheKernelComeWithTheirChecksums)
{
    hosts::run(
        [&](Side &side) {
            const int file = bound_socket("10.7.0.1", 4322);
            side.meet();
            for (uint8_t length = 1; length < 40; ++length) {
                send_datagram(file, "10.7.0.2", kPort, Bytes(length, length));
                side.meet();
            }
            close(file);
        },
        [&](Side &side) {
            RawPort port(side);
            const Steer steer(port.qp, kPort);
            port.post_receive(0);
            side.meet();
            for (uint8_t length = 1; length < 40; ++length) {
                ibv_wc completion;
                Bytes frame = port.received(&completion);
                EXPECT_EQ(completion.wc_flags & IBV_WC_IP_CSUM_OK, unsigned{IBV_WC_IP_CSUM_OK});
                const urxe::raw::Headers headers = urxe::raw::parse(frame);
                EXPECT_EQ(headers.ports.src_port, htons(4322));
                EXPECT_EQ(frame.back(), length);
                const Bytes before = frame;
                set_checksums(frame, headers);
                EXPECT_EQ(frame, before);
                port.post_receive(0);
                side.meet();
            }
        });
}

/// What the kernel of a neighbour sends in one piece comes in as many as fit the wire.
TEST_F(RawFrames, OfATcpStreamFitTheWire)
{
    constexpr size_t kLength = 100'000;
    hosts::run(
        [&](Side &side) {
            side.meet();
            const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            sockaddr_in name{};
            name.sin_family = AF_INET;
            name.sin_port = htons(4323);
            name.sin_addr.s_addr = inet_addr("10.7.0.2");
            ASSERT_EQ(connect(file, reinterpret_cast<const sockaddr *>(&name), sizeof name), 0);
            Bytes data(kLength);
            hosts::fill(data.data(), kLength, 1);
            EXPECT_EQ(send(file, data.data(), kLength, 0), static_cast<ssize_t>(kLength));
            side.meet();
            close(file);
        },
        [&](Side &side) {
            RawPort port(side);
            const Steer steer(port.qp, 4323, 0, 0, IBV_FLOW_SPEC_TCP);
            for (size_t i = 0; i < 64; ++i)
                port.post_receive(i);
            const int listener = bound_socket("10.7.0.2", 4323, SOCK_STREAM);
            ASSERT_EQ(listen(listener, 1), 0);
            side.meet();
            const int file = accept(listener, nullptr, nullptr);
            Bytes data(kLength), expected(kLength);
            hosts::fill(expected.data(), kLength, 1);
            ASSERT_EQ(recv(file, data.data(), kLength, MSG_WAITALL), static_cast<ssize_t>(kLength));
            Bytes seen(kLength);
            uint32_t first = 0;
            for (size_t count = 0; count < kLength;) {
                ibv_wc completion;
                Bytes frame = port.received(&completion);
                ASSERT_LE(frame.size(), 9014u);
                const urxe::raw::Headers headers = urxe::raw::parse(frame);
                const uint8_t *tcp = &frame[headers.transport_at];
                uint32_t sequence;
                std::memcpy(&sequence, tcp + 4, sizeof sequence);
                constexpr uint8_t kSyn = 2;
                port.post_receive(completion.wr_id);
                if ((tcp[13] & kSyn) != 0) {
                    first = ntohl(sequence) + 1;
                    continue;
                }
                const size_t at = headers.transport_at + size_t{4} * (tcp[12] >> 4),
                             offset = ntohl(sequence) - first;
                ASSERT_LE(offset + headers.end - at, kLength);
                std::copy(frame.begin() + static_cast<ptrdiff_t>(at),
                          frame.begin() + static_cast<ptrdiff_t>(headers.end),
                          seen.begin() + static_cast<ptrdiff_t>(offset));
                count += headers.end - at;
                const Bytes before = frame;
                set_checksums(frame, headers);
                EXPECT_EQ(frame, before);
            }
            EXPECT_EQ(data, expected);
            EXPECT_EQ(seen, expected);
            side.meet();
            close(file);
            close(listener);
        });
}

TEST_F(RawFrames, AreLostWithoutAReceiveAndCutForNone)
{
    hosts::run(
        [&](Side &side) {
            RawPort port(side);
            for (uint8_t i = 0; i < 3; ++i) {
                side.meet();
                port.send(frames::datagram(kPort, 100, i));
                side.meet();
            }
            // The interface takes packets of 9000 bytes.
            port.send(Bytes(9014));
            port.send(Bytes(9100), 0, IBV_WC_LOC_LEN_ERR);
        },
        [&](Side &side) {
            RawPort port(side), witness(side);
            const Steer steer(port.qp, kPort, 0, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
            const Steer behind(witness.qp, kPort, 1);
            witness.post_receive(0);
            side.meet();
            // Its turn comes after the other's, who has no receive.
            witness.received();
            side.meet();
            port.post_receive(1, 50);
            port.post_receive(2);
            side.meet();
            const ibv_wc completion = port.wait();
            EXPECT_EQ(completion.status, IBV_WC_LOC_LEN_ERR);
            EXPECT_EQ(completion.wr_id, 1u);
            EXPECT_EQ(*port.slot(1), 0);
            side.meet();
            side.meet();
            EXPECT_EQ(port.received(), frames::datagram(kPort, 100, 2));
            side.meet();
        });
}

TEST_F(RawFrames, ReachSeveralProcesses)
{
    hosts::run(
        [&](Side &side) {
            RawPort port(side);
            side.meet();
            port.send(frames::datagram(static_cast<uint16_t>(100 + side.index()), 60));
            side.meet();
        },
        [&](Side &side) {
            RawPort port(side);
            const Steer steer(port.qp, static_cast<uint16_t>(100 + side.index()));
            port.post_receive(0);
            side.meet();
            EXPECT_EQ(port.received(), frames::datagram(static_cast<uint16_t>(100 + side.index()), 60));
            side.meet();
            ibv_wc none;
            EXPECT_EQ(ibv_poll_cq(port.cq, 1, &none), 0);
        },
        3);
}

TEST_F(RawFrames, StopWhenTheirRuleIsGone)
{
    hosts::run(
        [&](Side &side) {
            RawPort port(side);
            side.meet();
            // The other takes rules and regions away meanwhile.
            for (uint32_t i = 0; i < 2000; ++i)
                port.send(frames::datagram(kPort, 600, static_cast<uint8_t>(i)));
            side.meet();
        },
        [&](Side &side) {
            RawPort port(side);
            side.meet();
            for (int round = 0; round < 50; ++round) {
                Bytes own(600 * 4);
                ibv_mr *mr = ibv_reg_mr(port.pd, own.data(), own.size(), IBV_ACCESS_LOCAL_WRITE);
                ibv_sge sge = {reinterpret_cast<uintptr_t>(own.data()), static_cast<uint32_t>(own.size()),
                               mr->lkey};
                ibv_recv_wr request{}, *bad = nullptr;
                request.sg_list = &sge;
                request.num_sge = 1;
                {
                    const Steer steer(port.qp, kPort);
                    for (int i = 0; i < 4; ++i)
                        ASSERT_EQ(ibv_post_recv(port.qp, &request, &bad), 0);
                    if (round % 2 == 0)
                        sched_yield();
                    if (round % 3 == 0) {
                        ASSERT_EQ(ibv_dereg_mr(mr), 0);
                        mr = nullptr;
                        own = Bytes();
                    }
                }
                ibv_wc completions[8];
                const int count = ibv_poll_cq(port.cq, 8, completions);
                EXPECT_LE(count, 4);
                EXPECT_EQ(ibv_poll_cq(port.cq, 8, completions), 0);
                if (mr != nullptr) {
                    ASSERT_EQ(ibv_dereg_mr(mr), 0);
                }
                // What is left of the receives goes with the queue.
                ibv_qp_attr attr{};
                attr.port_num = 1;
                for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
                    attr.qp_state = state;
                    ASSERT_EQ(ibv_modify_qp(port.qp, &attr,
                                            IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0)),
                              0);
                }
            }
            side.meet();
        });
}

/// Frames for which the interface has no room wait, and those behind them.
TEST_F(RawFrames, WaitForTheInterface)
{
    constexpr uint32_t kCount = 64;
    // What the socket may have under way is less, or what the interface takes.
    for (const char *limit : {"10000000", "30000"}) {
        const std::string slow = "tc qdisc replace dev va root tbf rate 200mbit burst 20kb limit ";
        if (hosts::shell(0, slow + limit + " 2>/dev/null") != 0)
            GTEST_SKIP() << "`tc` is missing, or the kernel has no token buckets";
        hosts::run(
            [&](Side &side) {
                RawPort port(side, kCount);
                side.meet();
                ibv_send_wr requests[kCount]{}, *bad = nullptr;
                ibv_sge pieces[kCount];
                for (uint32_t i = 0; i < kCount; ++i) {
                    const Bytes frame = frames::datagram(kPort, 8900, static_cast<uint8_t>(i));
                    std::copy(frame.begin(), frame.end(), port.slot(i));
                    pieces[i] = {reinterpret_cast<uintptr_t>(port.slot(i)),
                                 static_cast<uint32_t>(frame.size()), port.mr->lkey};
                    requests[i].wr_id = i;
                    requests[i].sg_list = &pieces[i];
                    requests[i].num_sge = 1;
                    requests[i].opcode = IBV_WR_SEND;
                    requests[i].next = i + 1 < kCount ? &requests[i + 1] : nullptr;
                }
                ASSERT_EQ(ibv_post_send(port.qp, requests, &bad), 0);
                for (uint32_t i = 0; i < kCount; ++i) {
                    const ibv_wc completion = port.wait();
                    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
                    EXPECT_EQ(completion.wr_id, i);
                }
                side.meet();
            },
            [&](Side &side) {
                RawPort port(side, kCount);
                const Steer steer(port.qp, kPort);
                for (uint32_t i = 0; i < kCount; ++i)
                    port.post_receive(i);
                side.meet();
                for (uint32_t i = 0; i < kCount; ++i)
                    EXPECT_EQ(port.received(), frames::datagram(kPort, 8900, static_cast<uint8_t>(i)));
                side.meet();
            });
        hosts::shell(0, "tc qdisc del dev va root");
    }
}

/// Takes all capabilities away from the calling process.
void drop_capabilities()
{
    __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct none[2] = {};
    ASSERT_EQ(syscall(SYS_capset, &header, none), 0);
}

TEST_F(RawFrames, NeedARight)
{
    const auto check = [](Side &side) {
        ibv_context *context = side.open();
        ibv_device_attr_ex attr;
        ASSERT_EQ(ibv_query_device_ex(context, nullptr, &attr), 0);
        EXPECT_GT(attr.orig_attr.max_raw_ethy_qp, 0);
        EXPECT_GT(attr.max_wq_type_rq, 0u);
        EXPECT_EQ(attr.raw_packet_caps, unsigned{IBV_RAW_PACKET_CAP_IP_CSUM});
        EXPECT_NE(attr.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING, 0u);
        EXPECT_NE(attr.rss_caps.supported_qpts & 1U << IBV_QPT_RAW_PACKET, 0u);
        drop_capabilities();
        ASSERT_EQ(ibv_query_device_ex(context, nullptr, &attr), 0);
        EXPECT_EQ(attr.orig_attr.max_raw_ethy_qp, 0);
        EXPECT_EQ(attr.max_wq_type_rq, 0u);
        EXPECT_EQ(attr.raw_packet_caps, 0u);
        EXPECT_EQ(attr.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING, 0u);
        EXPECT_EQ(attr.rss_caps.supported_qpts, 0u);
        ibv_pd *pd = ibv_alloc_pd(context);
        ibv_cq *cq = ibv_create_cq(context, 1, nullptr, nullptr, 0);
        ibv_qp_init_attr init{};
        init.send_cq = init.recv_cq = cq;
        init.cap = {
            .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
        init.qp_type = IBV_QPT_RAW_PACKET;
        errno = 0;
        EXPECT_EQ(ibv_create_qp(pd, &init), nullptr);
        EXPECT_EQ(errno, EPERM);
        EXPECT_EQ(ibv_destroy_cq(cq), 0);
        EXPECT_EQ(ibv_dealloc_pd(pd), 0);
        EXPECT_EQ(ibv_close_device(context), 0);
    };
    hosts::run(check, check);
}

}  // namespace
