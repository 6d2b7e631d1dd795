// SPDX-License-Identifier: BSD-2-Clause
// Objects that a peer works on beyond plain regions: memory windows, XRC receive queues, paged memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "world.hh"

namespace processes {
namespace {

using Memory = std::vector<uint8_t>;

uint64_t address_of(const void *memory)
{
    return reinterpret_cast<uintptr_t>(memory);
}

/// How the one request that the peer carries out ends.
ibv_wc_status outcome(ibv_qp *qp, ibv_wr_opcode opcode, const ibv_mr *mr, uint32_t length, const Place &to)
{
    REQUIRE(post(qp, opcode, 1, mr, 0, length, to) == 0);
    return poll(qp->send_cq, 1)[0].status;
}

// ---- completion counters --------------------------------------------------------------------------------------------

constexpr uint32_t kCounted = IBV_QP_ATTACH_COMP_CNTR_OP_RECV | IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ |
                              IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE;

TEST(CompletionCounters, CountWhatPeersDo)
{
    const auto target = [](Link &link) {
        Device device;
        Memory memory(4096);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        ibv_comp_cntr *counters[2];
        for (const ibv_comp_cntr_type type : {IBV_COMP_CNTR_TYPE_WRS, IBV_COMP_CNTR_TYPE_BYTES}) {
            ibv_comp_cntr_init_attr attr = {.comp_mask = 0, .type = type, .flags = 0};
            counters[type] = ibv_create_comp_cntr(device.context(), &attr);
            REQUIRE(counters[type] != nullptr);
        }
        ibv_cq *cq = ibv_create_cq(device.context(), 16, nullptr, nullptr, 0);
        REQUIRE(cq != nullptr);
        for (ibv_comp_cntr *counter : counters) {
            ibv_qp_init_attr init{};
            init.send_cq = init.recv_cq = cq;
            init.cap = {.max_send_wr = 1,
                        .max_recv_wr = 4,
                        .max_send_sge = 1,
                        .max_recv_sge = 1,
                        .max_inline_data = 0};
            init.qp_type = IBV_QPT_RC;
            ibv_qp *qp = ibv_create_qp(device.pd(), &init);
            REQUIRE(qp != nullptr);
            ibv_qp_attach_comp_cntr_attr attach = {.comp_mask = 0, .op_mask = kCounted};
            REQUIRE(ibv_qp_attach_comp_cntr(qp, counter, &attach) == 0);
            device.join(qp, link);
            post_receive(qp, 0, mr, 0, 100);
            post_receive(qp, 0, mr, 0, 0);
            link.send(Place{address_of(memory.data()), mr->rkey});
            link.meet();  // All is done.
            uint64_t value = 0, failures = 0;
            REQUIRE(ibv_read_comp_cntr(counter, &value) == 0 &&
                    ibv_read_err_comp_cntr(counter, &failures) == 0);
            // A SEND, a WRITE, one with immediate data, which is both, a READ.
            REQUIRE(value == (counter == counters[0] ? 5 : 10 + 200 + 2 * 50 + 4000));
            REQUIRE(failures == 1);
            REQUIRE(ibv_destroy_comp_cntr(counter) == EBUSY);
            REQUIRE(ibv_destroy_qp(qp) == 0 && ibv_destroy_comp_cntr(counter) == 0);
        }
        REQUIRE(ibv_destroy_cq(cq) == 0);
    };
    const auto source = [](Link &link) {
        Device device;
        Memory memory(4096);
        ibv_mr *mr = device.mr(memory.data(), memory.size());
        ibv_cq *cq = device.cq();
        for (int i = 0; i < 2; ++i) {
            ibv_qp *qp = device.qp(cq);
            device.join(qp, link);
            const auto place = link.receive<Place>();
            REQUIRE(outcome(qp, IBV_WR_SEND, mr, 10, place) == IBV_WC_SUCCESS);
            REQUIRE(outcome(qp, IBV_WR_RDMA_WRITE, mr, 200, place) == IBV_WC_SUCCESS);
            REQUIRE(outcome(qp, IBV_WR_RDMA_WRITE_WITH_IMM, mr, 50, place) == IBV_WC_SUCCESS);
            REQUIRE(outcome(qp, IBV_WR_RDMA_READ, mr, 4000, place) == IBV_WC_SUCCESS);
            REQUIRE(outcome(qp, IBV_WR_RDMA_READ, mr, 1, {place.address - 1, place.rkey}) ==
                    IBV_WC_REM_ACCESS_ERR);
            link.meet();
        }
    };
    World::run(target, source);
}

// ---- windows --------------------------------------------------------------------------------------------------------

struct Window {
    ibv_mw *mw;
    uint32_t key;
};

Window bind(const Device &device, ibv_qp *qp, ibv_mr *mr, ibv_mw *mw, uint32_t key)
{
    if (mw == nullptr) {
        mw = ibv_alloc_mw(device.pd(), IBV_MW_TYPE_2);
        REQUIRE(mw != nullptr);
        key = ibv_inc_rkey(mw->rkey);
    }
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_BIND_MW;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.bind_mw = {.mw = mw,
                  .rkey = key,
                  .bind_info = {.mr = mr,
                                .addr = address_of(mr->addr),
                                .length = 100,
                                .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
    REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
    REQUIRE(poll_one(qp->send_cq).opcode == IBV_WC_BIND_MW);
    return {mw, key};
}

void owns_window(Link &link)
{
    Device device;
    Memory memory(4096);
    ibv_qp *qp = device.qp(device.cq());
    ibv_mr *mr = device.mr(memory.data(), memory.size(), kAllAccess | IBV_ACCESS_MW_BIND);
    device.join(qp, link);
    Window window = bind(device, qp, mr, nullptr, 0);
    for (int round = 0; round < 20; ++round) {
        memory[0] = 0;
        post_receive(qp, 7, mr, 1000, 8);
        link.send(Place{address_of(memory.data()), window.key});
        const ibv_wc wc = poll_one(qp->recv_cq);
        REQUIRE(wc.opcode == IBV_WC_RECV && (wc.wc_flags & IBV_WC_WITH_INV) != 0);
        REQUIRE(wc.invalidated_rkey == window.key);
        REQUIRE(memory[0] == 5);
        // It is free to be bound again at once.
        window.mw->rkey = window.key;
        window = bind(device, qp, mr, window.mw, ibv_inc_rkey(window.key));
    }
    // The peer takes a key away; before anybody has polled, it is of no use any more.
    post_receive(qp, 8, mr, 1000, 8);
    link.send(Place{address_of(memory.data()), window.key});
    link.meet();
    REQUIRE(poll(qp->recv_cq, 1)[0].status == IBV_WC_SUCCESS);
    REQUIRE(memory[0] == 5);
    link.meet();
    REQUIRE(ibv_dealloc_mw(window.mw) == 0);
}

void uses_window(Link &link)
{
    Device device;
    Memory memory(4096, 5);
    ibv_qp *qp = device.qp(device.cq());
    ibv_mr *mr = device.mr(memory.data(), memory.size());
    device.join(qp, link);
    const auto invalidate = [&](const Place &place) {
        REQUIRE(outcome(qp, IBV_WR_RDMA_WRITE, mr, 100, place) == IBV_WC_SUCCESS);
        ibv_sge sge = {.addr = address_of(memory.data()), .length = 8, .lkey = mr->lkey};
        ibv_send_wr wr{}, *bad = nullptr;
        wr.opcode = IBV_WR_SEND_WITH_INV;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.invalidate_rkey = place.rkey;
        REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
        REQUIRE(poll_one(qp->send_cq).opcode == IBV_WC_SEND);
    };
    for (int round = 0; round < 20; ++round)
        invalidate(link.receive<Place>());
    const auto place = link.receive<Place>();
    invalidate(place);
    REQUIRE(outcome(qp, IBV_WR_RDMA_WRITE, mr, 8, place) == IBV_WC_REM_ACCESS_ERR);
    link.meet();
    link.meet();
}

TEST(Windows, InvalidatedByAPeer)
{
    World::run(owns_window, uses_window);
}

// ---- XRC ------------------------------------------------------------------------------------------------------------

struct XrcTarget {
    Address receiver;
    uint32_t srqs[2];
};

void serves_queues(Link &link)
{
    Device device;
    Memory memory(8192);
    ibv_mr *mr = device.mr(memory.data(), memory.size());
    ibv_xrcd_init_attr domain = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
    ibv_xrcd *xrcd = ibv_open_xrcd(device.context(), &domain);
    REQUIRE(xrcd != nullptr);
    ibv_cq *cqs[2] = {device.cq(), device.cq()};
    ibv_srq *srqs[2];
    XrcTarget target{};
    for (int i = 0; i < 2; ++i) {
        ibv_srq_init_attr_ex attr{};
        attr.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
        attr.comp_mask =
            IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
        attr.srq_type = IBV_SRQT_XRC;
        attr.pd = device.pd();
        attr.xrcd = xrcd;
        attr.cq = cqs[i];
        srqs[i] = ibv_create_srq_ex(device.context(), &attr);
        REQUIRE(srqs[i] != nullptr && ibv_get_srq_num(srqs[i], &target.srqs[i]) == 0);
    }
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_XRC_RECV;
    init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    init.xrcd = xrcd;
    ibv_qp *qp = ibv_create_qp_ex(device.context(), &init);
    REQUIRE(qp != nullptr);
    target.receiver = device.address(qp);
    const auto sender = link.receive<Address>();
    link.send(target);
    Device::to_init(qp);
    device.to_rtr(qp, sender);
    for (uint64_t round = 0; round < 50; ++round) {
        const size_t to = round % 2;
        post_receive(srqs[to], round, mr, 0, 4096);
        link.meet();
        const ibv_wc wc = poll_one(cqs[to]);
        REQUIRE(wc.wr_id == round && wc.qp_num == qp->qp_num && wc.src_qp == sender.qp_num);
        REQUIRE(mismatch(memory.data(), wc.byte_len, round) == wc.byte_len);
    }
    link.meet();
    REQUIRE(ibv_destroy_qp(qp) == 0);
    for (ibv_srq *srq : srqs)
        REQUIRE(ibv_destroy_srq(srq) == 0);
    REQUIRE(ibv_close_xrcd(xrcd) == 0);
}

void sends_to_queues(Link &link)
{
    Device device;
    Memory memory(4096);
    ibv_mr *mr = device.mr(memory.data(), memory.size());
    ibv_qp *qp = device.qp(device.cq(), {.type = IBV_QPT_XRC_SEND});
    link.send(device.address(qp));
    const auto target = link.receive<XrcTarget>();
    device.connect(qp, target.receiver);
    for (uint64_t round = 0; round < 50; ++round) {
        const uint32_t length = round % 4 < 2 ? 100 : 4096;
        fill(memory.data(), length, round);
        ibv_sge sge = {.addr = address_of(memory.data()), .length = length, .lkey = mr->lkey};
        ibv_send_wr wr{}, *bad = nullptr;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.qp_type.xrc.remote_srqn = target.srqs[round % 2];
        link.meet();
        REQUIRE(ibv_post_send(qp, &wr, &bad) == 0);
        poll_one(qp->send_cq);
    }
    link.meet();
}

TEST(Xrc, QueuesOfAPeer)
{
    World::run(serves_queues, sends_to_queues);
}

TEST(Xrc, QueuesOfAPeerWhereTheKernelRefusesCopies)
{
    World::run(serves_queues, [](Link &link) {
        refuse_copies();
        sends_to_queues(link);
    });
}

// ---- paged memory ---------------------------------------------------------------------------------------------------

void has_pages(Link &link)
{
    Device device;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    auto *pages = static_cast<char *>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pages != MAP_FAILED);
    ibv_mr *mr = device.mr(pages, 2 * page, kAllAccess | IBV_ACCESS_ON_DEMAND);
    REQUIRE(munmap(pages + page, page) == 0);
    for (const uint32_t length : {16U, 2000U}) {
        // Writing to, and receiving into, what is not there.
        ibv_qp *written = device.qp(device.cq()), *received = device.qp(device.cq());
        device.join(written, link);
        link.send(Place{address_of(pages + page), mr->rkey});
        device.join(received, link);
        post_receive(received, 3, mr, page, length);
        link.send(length);
        const ibv_wc wc = poll(received->recv_cq, 1)[0];
        REQUIRE(wc.wr_id == 3 && wc.status == IBV_WC_LOC_PROT_ERR);
        link.meet();
    }
    link.send(Place{address_of(pages), mr->rkey});
    ibv_qp *good = device.qp(device.cq());
    device.join(good, link);
    link.meet();
    REQUIRE(pages[0] == 5);
}

void touches_pages(Link &link)
{
    Device device;
    Memory memory(4096, 5);
    ibv_mr *mr = device.mr(memory.data(), memory.size());
    for (int round = 0; round < 2; ++round) {
        ibv_qp *writer = device.qp(device.cq()), *sender = device.qp(device.cq());
        device.join(writer, link);
        REQUIRE(outcome(writer, IBV_WR_RDMA_WRITE, mr, 8, link.receive<Place>()) == IBV_WC_REM_OP_ERR);
        device.join(sender, link);
        const auto length = link.receive<uint32_t>();
        REQUIRE(outcome(sender, IBV_WR_SEND, mr, length, {}) == IBV_WC_REM_OP_ERR);
        link.meet();
    }
    const auto place = link.receive<Place>();
    ibv_qp *qp = device.qp(device.cq());
    device.join(qp, link);
    REQUIRE(outcome(qp, IBV_WR_RDMA_WRITE, mr, 8, place) == IBV_WC_SUCCESS);
    link.meet();
}

TEST(PagedMemory, OfAPeer)
{
    World::run(has_pages, touches_pages);
}

}  // namespace
}  // namespace processes
