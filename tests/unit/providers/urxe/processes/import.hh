// SPDX-License-Identifier: BSD-2-Clause
// A process that lets others import its objects, and one that does so.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "world.hh"

namespace processes {
constexpr uint64_t kSize = 64 << 10;

/// What the exporter tells, beside its file.
struct Offer {
    uint32_t pd, mr, dm;
    uint32_t lkey, rkey;
    uint64_t address;
};

inline void send_file(Link &link, int file)
{
    union {
        cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control{};
    char byte = 'f';
    iovec text = {.iov_base = &byte, .iov_len = 1};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control.space;
    control.header = {.cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(&control.header), &file, sizeof file);
    REQUIRE(sendmsg(link.file(), &message, 0) == 1);
}

inline int receive_file(Link &link)
{
    union {
        cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control{};
    char byte = 0;
    iovec text = {.iov_base = &byte, .iov_len = 1};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    REQUIRE(recvmsg(link.file(), &message, MSG_CMSG_CLOEXEC) == 1);
    const cmsghdr *header = CMSG_FIRSTHDR(&message);
    REQUIRE(header != nullptr && header->cmsg_type == SCM_RIGHTS);
    int file = -1;
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
    return file;
}

/// A process with a region and device memory.
class Exporter {
public:
    explicit Exporter(int access = kAllAccess)
    {
        ibv_alloc_dm_attr attr{};
        attr.length = kSize;
        dm = ibv_alloc_dm(device.context(), &attr);
        REQUIRE(dm != nullptr);
        mr = device.mr(memory.data(), memory.size(), access);
    }
    ~Exporter()
    {
        if (dm != nullptr)
            REQUIRE(ibv_free_dm(dm) == 0);
    }

    void offer(Link &link) const
    {
        send_file(link, device.context()->cmd_fd);
        link.send(Offer{device.pd()->handle, mr->handle, dm->handle, mr->lkey, mr->rkey,
                        reinterpret_cast<uintptr_t>(memory.data())});
    }

    Device device;
    std::vector<uint8_t> memory = std::vector<uint8_t>(kSize, 0);
    ibv_dm *dm;
    ibv_mr *mr;
};

/// A process with all that an exporter offers, memory of its own in the same domain, and two QPs in that, which are connected.
class Importer {
public:
    explicit Importer(Link &link, ibv_qp_type type = IBV_QPT_RC) : Importer(receive_file(link), link, type) {}
    Importer(int file, Link &link, ibv_qp_type type = IBV_QPT_RC) : offer(link.receive<Offer>())
    {
        context = ibv_import_device(file);
        REQUIRE(context != nullptr && context->cmd_fd == file);
        pd = ibv_import_pd(context, offer.pd);
        REQUIRE(pd != nullptr && pd->context == context);
        mr = ibv_import_mr(pd, offer.mr);
        REQUIRE(mr != nullptr && mr->addr == nullptr && mr->length == kSize);
        REQUIRE(mr->lkey == offer.lkey && mr->rkey == offer.rkey);
        own_mr = ibv_reg_mr(pd, own.data(), own.size(), kAllAccess);
        REQUIRE(own_mr != nullptr);
        cq = ibv_create_cq(context, 64, nullptr, nullptr, 0);
        REQUIRE(cq != nullptr);
        for (ibv_qp *&qp : qps)
            qp = make_qp(type);
    }
    Importer(const Importer &) = delete;
    Importer &operator=(const Importer &) = delete;
    ~Importer()
    {
        for (ibv_qp *qp : qps)
            REQUIRE(ibv_destroy_qp(qp) == 0);
        REQUIRE(ibv_destroy_cq(cq) == 0);
        REQUIRE(ibv_dereg_mr(own_mr) == 0);
        if (mr != nullptr)
            ibv_unimport_mr(mr);
        REQUIRE(ibv_dealloc_pd(pd) == EOPNOTSUPP);
        ibv_unimport_pd(pd);
        REQUIRE(ibv_close_device(context) == 0);
    }

    ibv_qp *make_qp(ibv_qp_type type)
    {
        ibv_qp_init_attr attr{};
        attr.send_cq = attr.recv_cq = cq;
        attr.cap = {
            .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 0};
        attr.qp_type = type;
        ibv_qp *qp = ibv_create_qp(pd, &attr);
        REQUIRE(qp != nullptr);
        return qp;
    }
    /// Connects the two with each other.
    void join()
    {
        ibv_gid gid;
        REQUIRE(ibv_query_gid(context, 1, 0, &gid) == 0);
        for (int i = 0; i < 2; ++i)
            helper.connect(qps[i], {qps[1 - i]->qp_num, gid});
    }
    /// Carries out a request of the first QP; how it ended.
    ibv_wc_status run(ibv_wr_opcode opcode, const ibv_mr *of, uint64_t at, uint32_t length,
                      const Place &to = {}, uint32_t add = 0)
    {
        REQUIRE(post(qps[0], opcode, 7, of, at, length, to, IBV_SEND_SIGNALED, add) == 0);
        const ibv_wc wc = poll(cq, 1).front();
        REQUIRE(wc.wr_id == 7);
        return wc.status;
    }
    Place own_place(uint64_t offset) const
    {
        return {reinterpret_cast<uintptr_t>(own.data()) + offset, own_mr->rkey};
    }
    Place place(uint64_t offset) const { return {offer.address + offset, offer.rkey}; }
    bool has(uint64_t offset, uint64_t length, uint64_t seed) const
    {
        return mismatch(own.data() + offset, length, seed) == length;
    }

    Device helper;  ///< for what has nothing to do with the import
    Offer offer;
    ibv_context *context;
    ibv_pd *pd;
    ibv_mr *mr, *own_mr;
    ibv_cq *cq;
    ibv_qp *qps[2];
    std::vector<uint8_t> own = std::vector<uint8_t>(kSize, 0);
};

inline void export_and_wait(Link &link)
{
    Exporter exporter;
    fill(exporter.memory.data(), 20'000, 1);
    exporter.offer(link);
    link.meet();
}

}  // namespace processes
