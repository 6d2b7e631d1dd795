// SPDX-License-Identifier: BSD-2-Clause
// The functions that a provider calls, as far as rxe does, for one fake kernel.
#include "fake_kernel.hh"

#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rxe/context.hh"

namespace rxe::test {
namespace {

FakeKernel *current = nullptr;
verbs_context_ops current_ops;

constexpr uint32_t kQpHandle = 0x51;

}  // namespace

FakeKernel &kernel()
{
    return *current;
}

FakeKernel::FakeKernel() : fd_(memfd_create("rings", 0))
{
    current = this;
    // Longer than all rings together: pages of a memory file cost nothing before they are touched.
    if (fd_ < 0 || ftruncate(fd_, off_t{1} << 32) != 0)
        std::abort();
}

FakeKernel::~FakeKernel()
{
    for (const Ring &ring : rings_)
        munmap(ring.buf,
               sizeof(*ring.buf) + ((ring.buf->index_mask + size_t{1}) << ring.buf->log2_elem_size));
    close(fd_);
    current = nullptr;
}

mminfo FakeKernel::make_ring(uint32_t entries, size_t size)
{
    const uint32_t slots = std::bit_ceil(entries + 1);
    const size_t element = std::bit_ceil(std::max<size_t>(size, 64));
    const size_t bytes = (sizeof(rxe_queue_buf) + slots * element + 4095) & ~size_t{4095};
    // Not through mmap(), which may have to fail for the provider.
    auto *memory = reinterpret_cast<void *>(
        syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, next_offset_));
    if (memory == MAP_FAILED)
        std::abort();
    auto *buf = static_cast<rxe_queue_buf *>(memory);
    std::memset(memory, 0, sizeof(*buf));
    std::memset(buf->data, 0xee, slots * element);
    buf->log2_elem_size = static_cast<uint32_t>(std::countr_zero(element));
    buf->index_mask = slots - 1;
    rings_.push_back({buf});
    mminfo info{};
    info.offset = breaks_mmap ? 1 : next_offset_;  // not a page: mmap refuses
    info.size = static_cast<uint32_t>(bytes);
    next_offset_ += bytes;
    return info;
}

int FakeKernel::run(const char *command)
{
    const std::lock_guard guard(lock_);
    ++counts_[command];
    const auto failure = failures_.find(command);
    if (failure == failures_.end())
        return 0;
    const int error = failure->second;
    failures_.erase(failure);
    return error;
}

int FakeKernel::count(const char *command) const
{
    const std::lock_guard guard(lock_);
    const auto found = counts_.find(command);
    return found == counts_.end() ? 0 : found->second;
}

RxeTest::RxeTest()
{
    reopen();
}

RxeTest::~RxeTest()
{
    destroy_qps();
    EXPECT_EQ(ops().destroy_cq(cq_), 0);
    EXPECT_EQ(ops().dealloc_pd(pd_), 0);
    ops().free_context(&context_->context);
}

void RxeTest::reopen()
{
    if (context_ != nullptr) {
        destroy_qps();
        ops().destroy_cq(cq_);
        ops().dealloc_pd(pd_);
        ops().free_context(&context_->context);
    }
    context_ = context_alloc(nullptr, kernel_.fd(), nullptr);
    pd_ = ops().alloc_pd(&context_->context);
    cq_ = ops().create_cq(&context_->context, 15, nullptr, 0);
}

const verbs_context_ops &RxeTest::ops() const
{
    return current_ops;
}

ibv_qp *RxeTest::make_qp(ibv_qp_type type, uint64_t send_ops, ibv_srq *srq)
{
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.srq = srq;
    attr.cap = {7, 7, 4, 4, 64};
    attr.qp_type = type;
    attr.comp_mask =
        uint32_t{IBV_QP_INIT_ATTR_PD} | (send_ops != 0 ? uint32_t{IBV_QP_INIT_ATTR_SEND_OPS_FLAGS} : 0);
    attr.pd = pd_;
    attr.send_ops_flags = send_ops;
    ibv_qp *qp = ops().create_qp_ex(&context_->context, &attr);
    if (qp != nullptr) {
        qp->state = IBV_QPS_RTS;
        qps_.push_back(qp);
    }
    return qp;
}

void RxeTest::destroy_qps()
{
    for (ibv_qp *qp : qps_)
        EXPECT_EQ(ops().destroy_qp(qp), 0);
    qps_.clear();
}

std::string words(const uint8_t *memory, size_t size)
{
    std::string text;
    for (size_t offset = 0; offset < size; offset += 4) {
        uint32_t value;
        std::memcpy(&value, memory + offset, sizeof(value));
        char line[32];
        std::snprintf(line, sizeof(line), "%4zu: %08x\n", offset, value);
        if (value != 0)
            text += line;
    }
    return text;
}

std::string connected_words(const uint8_t *wqe, size_t size)
{
    std::vector<uint8_t> copy(wqe, wqe + size);
    std::fill_n(copy.begin() + offsetof(rxe_send_wqe, wr.wr.ud.av), sizeof(rxe_av), uint8_t{0});
    return words(copy.data(), copy.size());
}

std::string words(std::initializer_list<Word> list)
{
    std::vector<uint8_t> memory(1024);
    for (const Word &word : list)
        std::memcpy(memory.data() + word.offset, &word.value, sizeof(word.value));
    return words(memory.data(), memory.size());
}

}  // namespace rxe::test

using rxe::test::kernel;

namespace {

/// Puts the driver's part of an answer behind that of the core.
template <class Core, class Driver>
void answer(Core *response, size_t size, const Driver &driver)
{
    ASSERT_EQ(size, sizeof(Core) + sizeof(Driver));
    std::memcpy(reinterpret_cast<char *>(response) + sizeof(Core), &driver, sizeof(driver));
}

uint32_t capacity()
{
    return kernel().ring().buf->index_mask;
}

}  // namespace

extern "C" void *mmap(void *addr, size_t length, int protection, int flags, int fd, off_t offset) noexcept
{
    if (rxe::test::current != nullptr && fd == kernel().fd() && kernel().failing_mmaps > 0) {
        --kernel().failing_mmaps;
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void *>(syscall(SYS_mmap, addr, length, protection, flags, fd, offset));
}

// The doorbell is the one command that the provider writes itself.
extern "C" ssize_t write(int fd, const void *buffer, size_t size)
{
    if (rxe::test::current == nullptr || fd != kernel().fd())
        return syscall(SYS_write, fd, buffer, size);
    struct {
        ib_uverbs_cmd_hdr header;
        ib_uverbs_post_send request;
    } command;
    EXPECT_EQ(size, sizeof(command));
    std::memcpy(&command, buffer, sizeof(command));
    EXPECT_EQ(command.header.command, uint32_t{IB_USER_VERBS_CMD_POST_SEND});
    EXPECT_EQ(command.header.in_words * 4u, size);
    EXPECT_EQ(command.header.out_words * 4u, sizeof(ib_uverbs_post_send_resp));
    EXPECT_EQ(command.request.qp_handle, rxe::test::kQpHandle);
    EXPECT_EQ(command.request.wr_count + command.request.sge_count, 0u);
    EXPECT_EQ(command.request.wqe_size, sizeof(ib_uverbs_send_wr));
    const int error = kernel().run("doorbell");
    if (error == rxe::test::kShortWrite)
        return static_cast<ssize_t>(size) - 4;
    if (error != 0) {
        errno = error;
        return -1;
    }
    // Several threads may ring at once.
    const auto response = reinterpret_cast<uint32_t *>(command.request.response);
    std::atomic_ref(*response).store(0, std::memory_order_relaxed);
    return static_cast<ssize_t>(size);
}

void __verbs_log(verbs_context *, uint32_t level, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    std::vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    kernel().logged = std::to_string(level) + ' ' + line;
}

int ibv_cmd_query_context(ibv_context *context, ibv_command_buffer *)
{
    const int error = kernel().run("query_context");
    if (error == 0)
        context->num_comp_vectors = 3;
    return error;
}

int ibv_cmd_query_port_speed(ibv_context *, uint32_t, uint64_t *port_speed)
{
    *port_speed = 1000;
    return kernel().run("query_port_speed");
}

int ibv_cmd_advise_mr(ibv_pd *pd, ibv_advise_mr_advice, uint32_t, ibv_sge *, uint32_t)
{
    const int error = kernel().run("advise_mr");
    if (error != 0)
        return error;
    return pd->handle == 1 ? EOPNOTSUPP : ENOENT;
}

int ibv_cmd_query_mr(ibv_pd *pd, verbs_mr *mr, uint32_t handle)
{
    mr->ibv_mr = {.context = pd->context,
                  .pd = pd,
                  .addr = nullptr,
                  .length = 5000,
                  .handle = handle,
                  .lkey = 0x77,
                  .rkey = 0x78};
    mr->mr_type = IBV_MR_TYPE_IMPORTED_MR;
    return kernel().run("query_mr");
}

int ibv_cmd_reg_dmabuf_mr(ibv_pd *, uint64_t, size_t, uint64_t, int, int, verbs_mr *, ibv_command_buffer *)
{
    return kernel().run("reg_dmabuf_mr");
}

void verbs_register_driver_65(const verbs_device_ops *) {}

void *_verbs_init_and_alloc_context(ibv_device *device, int cmd_fd, size_t size, verbs_context *offset,
                                    uint32_t)
{
    EXPECT_EQ(offset, nullptr);
    auto *context = static_cast<verbs_context *>(std::calloc(1, size));
    context->context.device = device;
    context->context.cmd_fd = cmd_fd;
    return context;
}

void verbs_uninit_context(verbs_context *)
{
    kernel().run("uninit_context");
}

void verbs_set_ops(verbs_context *context, const verbs_context_ops *ops)
{
    rxe::test::current_ops = *ops;
    context->context.ops.bind_mw = ops->bind_mw;
    context->context.ops.post_send = ops->post_send;
}

int ibv_cmd_get_context(verbs_context *, struct ibv_get_context *, size_t, ibv_fd_arr *,
                        ib_uverbs_get_context_resp *, size_t)
{
    return kernel().run("get_context");
}

int ibv_cmd_query_device_any(ibv_context *, const ibv_query_device_ex_input *, ibv_device_attr_ex *attr,
                             size_t attr_size, ib_uverbs_ex_query_device_resp *response, size_t *)
{
    const int error = kernel().run("query_device");
    if (error != 0)
        return error;
    if (attr_size >= sizeof(*attr))
        attr->device_cap_flags_ex = kernel().capabilities;
    if (response != nullptr)
        response->base.fw_ver = kernel().firmware;
    return 0;
}

int ibv_cmd_query_port(ibv_context *, uint8_t, ibv_port_attr *, struct ibv_query_port *, size_t)
{
    return kernel().run("query_port");
}

int ibv_query_gid(ibv_context *, uint8_t, int index, union ibv_gid *gid)
{
    errno = kernel().run("query_gid");
    if (errno != 0)
        return -1;
    *gid = {};
    if (index == 0) {
        gid->raw[0] = 0xfe;
        gid->raw[1] = 0x80;
        gid->raw[15] = 1;
    } else {
        const uint8_t ipv4[] = {0xff, 0xff, 10, 0, 0, 1};
        std::memcpy(gid->raw + 10, ipv4, sizeof(ipv4));
    }
    return 0;
}

int ibv_cmd_alloc_pd(ibv_context *context, ibv_pd *pd, struct ibv_alloc_pd *, size_t,
                     ib_uverbs_alloc_pd_resp *, size_t)
{
    pd->context = context;
    return kernel().run("alloc_pd");
}

int ibv_cmd_dealloc_pd(ibv_pd *)
{
    return kernel().run("dealloc_pd");
}

int ibv_cmd_reg_mr(ibv_pd *pd, void *addr, size_t length, uint64_t, int, verbs_mr *mr, struct ibv_reg_mr *,
                   size_t, ib_uverbs_reg_mr_resp *, size_t)
{
    mr->ibv_mr = {.context = pd->context,
                  .pd = pd,
                  .addr = addr,
                  .length = length,
                  .handle = 0,
                  .lkey = 0x77,
                  .rkey = 0x77};
    return kernel().run("reg_mr");
}

int ibv_cmd_rereg_mr(verbs_mr *, uint32_t, void *, size_t, uint64_t, int, ibv_pd *, struct ibv_rereg_mr *,
                     size_t, ib_uverbs_rereg_mr_resp *, size_t)
{
    return kernel().run("rereg_mr");
}

int ibv_cmd_dereg_mr(verbs_mr *)
{
    return kernel().run("dereg_mr");
}

int ibv_cmd_alloc_mw(ibv_pd *pd, ibv_mw_type type, ibv_mw *mw, struct ibv_alloc_mw *, size_t,
                     ib_uverbs_alloc_mw_resp *, size_t)
{
    *mw = {.context = pd->context, .pd = pd, .rkey = 0x800001fe, .handle = 0, .type = type};
    return kernel().run("alloc_mw");
}

int ibv_cmd_dealloc_mw(ibv_mw *)
{
    return kernel().run("dealloc_mw");
}

int ibv_cmd_create_cq(ibv_context *context, int cqe, ibv_comp_channel *, int, ibv_cq *cq,
                      struct ibv_create_cq *, size_t, ib_uverbs_create_cq_resp *response, size_t size)
{
    const int error = kernel().run("create_cq");
    if (error != 0)
        return error;
    const rxe_create_cq_resp driver{.mi =
                                        kernel().make_ring(static_cast<uint32_t>(cqe), sizeof(ib_uverbs_wc))};
    answer(response, size, driver);
    cq->context = context;
    cq->cqe = static_cast<int>(capacity());
    return 0;
}

int ibv_cmd_create_cq_ex(ibv_context *context, const ibv_cq_init_attr_ex *attr, verbs_create_cq_prov_attr *,
                         verbs_cq *cq, struct ibv_create_cq_ex *, size_t,
                         ib_uverbs_ex_create_cq_resp *response, size_t size, uint32_t)
{
    const int error = kernel().run("create_cq");
    if (error != 0)
        return error;
    const rxe_create_cq_resp driver{.mi = kernel().make_ring(attr->cqe, sizeof(ib_uverbs_wc))};
    answer(response, size, driver);
    cq->cq.context = context;
    cq->cq.cqe = static_cast<int>(capacity());
    return 0;
}

int ibv_cmd_req_notify_cq(ibv_cq *, int)
{
    return kernel().run("req_notify_cq");
}

int ibv_cmd_resize_cq(ibv_cq *cq, int cqe, struct ibv_resize_cq *, size_t, ib_uverbs_resize_cq_resp *response,
                      size_t size)
{
    const int error = kernel().run("resize_cq");
    if (error != 0)
        return error;
    const rxe::test::Ring old = kernel().ring();
    const rxe_resize_cq_resp driver{.mi =
                                        kernel().make_ring(static_cast<uint32_t>(cqe), sizeof(ib_uverbs_wc))};
    const rxe::test::Ring ring = kernel().ring();
    while (old.buf->consumer_index != old.buf->producer_index) {
        std::memcpy(ring.element(ring.buf->producer_index++), old.element(old.buf->consumer_index), 64);
        old.buf->consumer_index = (old.buf->consumer_index + 1) & old.buf->index_mask;
    }
    answer(response, size, driver);
    cq->cqe = static_cast<int>(capacity());
    return 0;
}

int ibv_cmd_destroy_cq(ibv_cq *)
{
    return kernel().run("destroy_cq");
}

int ibv_cmd_create_srq(ibv_pd *pd, ibv_srq *srq, ibv_srq_init_attr *attr, struct ibv_create_srq *, size_t,
                       ib_uverbs_create_srq_resp *response, size_t size)
{
    const int error = kernel().run("create_srq");
    if (error != 0)
        return error;
    rxe_create_srq_resp driver{};
    driver.mi =
        kernel().make_ring(attr->attr.max_wr, sizeof(rxe_recv_wqe) + attr->attr.max_sge * sizeof(rxe_sge));
    driver.srq_num = 0x20001;
    answer(response, size, driver);
    srq->context = pd->context;
    srq->pd = pd;
    return 0;
}

int ibv_cmd_modify_srq(ibv_srq *, ibv_srq_attr *attr, int attr_mask, struct ibv_modify_srq *command,
                       size_t size)
{
    EXPECT_EQ(size, sizeof(struct ibv_modify_srq) + sizeof(rxe_modify_srq_cmd));
    std::memcpy(&kernel().modify_srq, command + 1, sizeof(rxe_modify_srq_cmd));
    const int error = kernel().run("modify_srq");
    if (error == 0 && (attr_mask & IBV_SRQ_MAX_WR) != 0) {
        const mminfo info = kernel().make_ring(attr->max_wr, 128);
        std::memcpy(reinterpret_cast<void *>(kernel().modify_srq.mmap_info_addr), &info, sizeof(info));
    }
    return error;
}

int ibv_cmd_query_srq(ibv_srq *, ibv_srq_attr *, struct ibv_query_srq *, size_t)
{
    return kernel().run("query_srq");
}

int ibv_cmd_destroy_srq(ibv_srq *)
{
    return kernel().run("destroy_srq");
}

int ibv_cmd_create_qp_ex(ibv_context *context, verbs_qp *qp, ibv_qp_init_attr_ex *attr,
                         struct ibv_create_qp *, size_t, ib_uverbs_create_qp_resp *response, size_t size)
{
    const int error = kernel().run("create_qp");
    if (error != 0)
        return error;
    rxe_create_qp_resp driver{};
    const size_t data = std::max<size_t>(attr->cap.max_send_sge * sizeof(rxe_sge), attr->cap.max_inline_data);
    if (attr->srq == nullptr) {
        driver.rq_mi = kernel().make_ring(attr->cap.max_recv_wr,
                                          sizeof(rxe_recv_wqe) + attr->cap.max_recv_sge * sizeof(rxe_sge));
        attr->cap.max_recv_wr = capacity();
    }
    driver.sq_mi = kernel().make_ring(attr->cap.max_send_wr, sizeof(rxe_send_wqe) + data);
    attr->cap.max_send_wr = capacity();
    attr->cap.max_send_sge = static_cast<uint32_t>(data / sizeof(rxe_sge));
    attr->cap.max_inline_data = static_cast<uint32_t>(data);
    answer(response, size, driver);
    qp->qp.context = context;
    qp->qp.pd = attr->pd;
    qp->qp.srq = attr->srq;
    qp->qp.qp_type = attr->qp_type;
    qp->qp.handle = rxe::test::kQpHandle;
    return 0;
}

int ibv_cmd_query_qp(ibv_qp *, ibv_qp_attr *, int, ibv_qp_init_attr *, struct ibv_query_qp *, size_t)
{
    return kernel().run("query_qp");
}

int ibv_cmd_modify_qp(ibv_qp *, ibv_qp_attr *attr, int, struct ibv_modify_qp *, size_t)
{
    kernel().modify_qp = *attr;
    return kernel().run("modify_qp");
}

int ibv_cmd_destroy_qp(ibv_qp *)
{
    return kernel().run("destroy_qp");
}

int ibv_cmd_post_send(ibv_qp *, ibv_send_wr *wr, ibv_send_wr **)
{
    EXPECT_EQ(wr, nullptr);
    return kernel().run("doorbell of the library");
}

int ibv_cmd_create_ah(ibv_pd *pd, ibv_ah *ah, ibv_ah_attr *, ib_uverbs_create_ah_resp *response, size_t size)
{
    const int error = kernel().run("create_ah");
    if (error != 0)
        return error;
    ah->context = pd->context;
    ah->pd = pd;
    if (kernel().numbers_ahs)
        answer(response, size, rxe_create_ah_resp{.ah_num = 5, .reserved = 0});
    return 0;
}

int ibv_cmd_destroy_ah(ibv_ah *)
{
    return kernel().run("destroy_ah");
}

int ibv_cmd_attach_mcast(ibv_qp *, const union ibv_gid *, uint16_t)
{
    return kernel().run("attach_mcast");
}

int ibv_cmd_detach_mcast(ibv_qp *, const union ibv_gid *, uint16_t)
{
    return kernel().run("detach_mcast");
}
