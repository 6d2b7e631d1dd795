// SPDX-License-Identifier: BSD-2-Clause
// The functions that a provider calls, as far as siw does, for one fake kernel.
#include "fake_kernel.hh"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "siw/context.hh"

namespace siw::test {
namespace {

FakeKernel *current = nullptr;
verbs_context_ops current_ops;

}  // namespace

FakeKernel &kernel()
{
    return *current;
}

FakeKernel::FakeKernel() : fd_(memfd_create("rings", 0))
{
    current = this;
    // Longer than all rings together: pages of a memory file cost nothing before they are touched.
    if (fd_ < 0 || ftruncate(fd_, off_t{SIW_UOBJ_MAX_KEY} + 1) != 0)
        std::abort();
}

FakeKernel::~FakeKernel()
{
    for (const Ring &ring : rings_)
        munmap(ring.memory, ring.size);
    close(fd_);
    current = nullptr;
}

uint64_t FakeKernel::make_ring(size_t bytes)
{
    const uint64_t key = next_key_;
    const size_t size = (bytes + 4095) & ~size_t{4095};
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(key));
    if (memory == MAP_FAILED)
        std::abort();
    rings_.push_back({static_cast<uint8_t *>(memory), size});
    next_key_ += size;
    if (lacks_rings)
        return SIW_INVAL_UOBJ_KEY;
    return breaks_mmap ? 1 : key;  // not a page: mmap refuses
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

SiwTest::SiwTest()
{
    context_ = context_alloc(nullptr, kernel_.fd(), nullptr);
    pd_ = ops().alloc_pd(&context_->context);
    cq_ = ops().create_cq(&context_->context, 15, nullptr, 0);
}

SiwTest::~SiwTest()
{
    destroy_qps();
    EXPECT_EQ(ops().destroy_cq(cq_), 0);
    EXPECT_EQ(ops().dealloc_pd(pd_), 0);
    ops().free_context(&context_->context);
}

const verbs_context_ops &SiwTest::ops() const
{
    return current_ops;
}

ibv_qp *SiwTest::make_qp(uint64_t send_ops, ibv_srq *srq)
{
    ibv_qp_init_attr_ex attr{};
    attr.send_cq = attr.recv_cq = cq_;
    attr.srq = srq;
    attr.cap = {7, 7, 4, 4, 64};
    attr.qp_type = IBV_QPT_RC;
    attr.comp_mask =
        uint32_t{IBV_QP_INIT_ATTR_PD} | (send_ops != 0 ? uint32_t{IBV_QP_INIT_ATTR_SEND_OPS_FLAGS} : 0);
    attr.pd = pd_;
    attr.send_ops_flags = send_ops;
    ibv_qp *qp = ops().create_qp_ex(&context_->context, &attr);
    if (qp != nullptr)
        qps_.push_back(qp);
    return qp;
}

void SiwTest::destroy_qps()
{
    for (ibv_qp *qp : qps_)
        EXPECT_EQ(ops().destroy_qp(qp), 0);
    qps_.clear();
}

std::string words(const void *memory, size_t size)
{
    std::string text;
    for (size_t offset = 0; offset < size; offset += 4) {
        uint32_t value;
        std::memcpy(&value, static_cast<const uint8_t *>(memory) + offset, sizeof(value));
        char line[32];
        std::snprintf(line, sizeof(line), "%4zu: %08x\n", offset, value);
        if (value != 0)
            text += line;
    }
    return text;
}

std::string words(std::initializer_list<Word> list)
{
    std::vector<uint8_t> memory(1024);
    for (const Word &word : list)
        std::memcpy(memory.data() + word.offset, &word.value, sizeof(word.value));
    return words(memory.data(), memory.size());
}

}  // namespace siw::test

using siw::test::kernel;

namespace {

/// Puts the driver's part of an answer behind that of the core.
template <class Core, class Driver>
void answer(Core *response, size_t size, const Driver &driver)
{
    ASSERT_EQ(size, sizeof(Core) + sizeof(Driver));
    std::memcpy(reinterpret_cast<char *>(response) + sizeof(Core), &driver, sizeof(driver));
}

siw_uresp_create_cq make_cq(uint32_t cqe)
{
    siw_uresp_create_cq driver{};
    driver.cq_id = 7;
    driver.num_cqe = std::bit_ceil(cqe);
    driver.cq_key = kernel().make_ring(driver.num_cqe * sizeof(siw_cqe) + sizeof(siw_cq_ctrl));
    return driver;
}

}  // namespace

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

void verbs_set_ops(verbs_context *, const verbs_context_ops *ops)
{
    siw::test::current_ops = *ops;
}

int ibv_cmd_get_context(verbs_context *, struct ibv_get_context *, size_t, ibv_fd_arr *,
                        ib_uverbs_get_context_resp *response, size_t size)
{
    const int error = kernel().run("get_context");
    if (error == 0)
        answer(response, size, siw_uresp_alloc_ctx{});
    return error;
}

int ibv_cmd_query_device_any(ibv_context *, const ibv_query_device_ex_input *, ibv_device_attr_ex *, size_t,
                             ib_uverbs_ex_query_device_resp *response, size_t *)
{
    const int error = kernel().run("query_device");
    if (error == 0)
        response->base.fw_ver = kernel().firmware;
    return error;
}

int ibv_cmd_query_port(ibv_context *, uint8_t, ibv_port_attr *, struct ibv_query_port *, size_t)
{
    return kernel().run("query_port");
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

int ibv_cmd_reg_mr(ibv_pd *, void *, size_t, uint64_t, int, verbs_mr *mr, struct ibv_reg_mr *command,
                   size_t command_size, ib_uverbs_reg_mr_resp *response, size_t size)
{
    const int error = kernel().run("reg_mr");
    if (error != 0)
        return error;
    EXPECT_EQ(command_size, sizeof(*command) + sizeof(siw_ureq_reg_mr));
    std::memcpy(&kernel().reg_mr, command + 1, sizeof(siw_ureq_reg_mr));
    answer(response, size, siw_uresp_reg_mr{.stag = 0x77, .pad = 0});
    mr->ibv_mr.lkey = mr->ibv_mr.rkey = 0x77;
    return 0;
}

int ibv_cmd_dereg_mr(verbs_mr *)
{
    return kernel().run("dereg_mr");
}

int ibv_cmd_create_cq(ibv_context *context, int cqe, ibv_comp_channel *, int, ibv_cq *cq,
                      struct ibv_create_cq *, size_t, ib_uverbs_create_cq_resp *response, size_t size)
{
    const int error = kernel().run("create_cq");
    if (error != 0)
        return error;
    answer(response, size, make_cq(static_cast<uint32_t>(cqe)));
    cq->context = context;
    return 0;
}

int ibv_cmd_create_cq_ex(ibv_context *context, const ibv_cq_init_attr_ex *attr, verbs_create_cq_prov_attr *,
                         verbs_cq *cq, struct ibv_create_cq_ex *, size_t,
                         ib_uverbs_ex_create_cq_resp *response, size_t size, uint32_t)
{
    const int error = kernel().run("create_cq");
    if (error != 0)
        return error;
    answer(response, size, make_cq(attr->cqe));
    cq->cq.context = context;
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
    siw_uresp_create_srq driver{};
    driver.num_rqe = std::bit_ceil(attr->attr.max_wr);
    driver.srq_key = kernel().make_ring(driver.num_rqe * sizeof(siw_rqe));
    answer(response, size, driver);
    srq->context = pd->context;
    return 0;
}

int ibv_cmd_modify_srq(ibv_srq *, ibv_srq_attr *, int, struct ibv_modify_srq *, size_t)
{
    return kernel().run("modify_srq");
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
    siw_uresp_create_qp driver{};
    driver.qp_id = 0x12;
    driver.num_sqe = std::bit_ceil(attr->cap.max_send_wr);
    driver.sq_key = kernel().make_ring(driver.num_sqe * sizeof(siw_sqe));
    driver.rq_key = SIW_INVAL_UOBJ_KEY;
    if (attr->srq == nullptr) {
        driver.num_rqe = std::bit_ceil(attr->cap.max_recv_wr);
        driver.rq_key = kernel().make_ring(driver.num_rqe * sizeof(siw_rqe));
    }
    answer(response, size, driver);
    qp->qp.context = context;
    qp->qp.srq = attr->srq;
    return 0;
}

int ibv_cmd_query_qp(ibv_qp *, ibv_qp_attr *, int, ibv_qp_init_attr *, struct ibv_query_qp *, size_t)
{
    return kernel().run("query_qp");
}

int ibv_cmd_modify_qp(ibv_qp *, ibv_qp_attr *, int, struct ibv_modify_qp *, size_t)
{
    return kernel().run("modify_qp");
}

int ibv_cmd_destroy_qp(ibv_qp *)
{
    return kernel().run("destroy_qp");
}

int ibv_cmd_post_send(ibv_qp *, ibv_send_wr *wr, ibv_send_wr **)
{
    EXPECT_EQ(wr, nullptr);
    return kernel().run("doorbell");
}
