// SPDX-License-Identifier: BSD-2-Clause
// A provider in the test.
#include "fake_provider.hh"

#include <cstdlib>

namespace verbs::test {
namespace {

int note(const std::string &call)
{
    FakeProvider::called = call;
    return FakeProvider::answer;
}

/// For ops that make an object: `object`, or null and errno.
template <class Object>
Object *made(const std::string &call, Object *object)
{
    errno = note(call);
    return errno == 0 ? object : nullptr;
}

ibv_dmah dmah;
ibv_comp_cntr comp_cntr;
char memory[8192];

const verbs_context_ops kAllOps = {
    .alloc_buf = [](ibv_pd *, size_t length, ibv_buf **buf) -> void * {
        void *addr = made("alloc_buf " + std::to_string(length), memory);
        if (addr != nullptr) {
            *buf = static_cast<ibv_buf *>(std::calloc(1, sizeof(ibv_buf)));
            (*buf)->dmabuf_fd = FakeProvider::dmabuf_fd;
        }
        return addr;
    },
    .alloc_dmah =
        [](ibv_context *, ibv_dmah_init_attr *attr) {
            return made("alloc_dmah " + std::to_string(attr->comp_mask), &dmah);
        },
    .create_comp_cntr =
        [](ibv_context *, ibv_comp_cntr_init_attr *attr) {
            return made("create_comp_cntr " + std::to_string(attr->type), &comp_cntr);
        },
    .dealloc_dmah = [](ibv_dmah *) { return note("dealloc_dmah"); },
    .destroy_comp_cntr = [](ibv_comp_cntr *) { return note("destroy_comp_cntr"); },
    .dm_export_dmabuf_fd =
        [](ibv_dm *) {
            errno = note("dm_export_dmabuf_fd");
            return errno == 0 ? 99 : -1;
        },
    .free_buf =
        [](ibv_buf *buf) {
            note("free_buf");
            std::free(buf);
        },
    .inc_comp_cntr = [](ibv_comp_cntr *,
                        uint64_t amount) { return note("inc_comp_cntr " + std::to_string(amount)); },
    .inc_err_comp_cntr = [](ibv_comp_cntr *,
                            uint64_t amount) { return note("inc_err_comp_cntr " + std::to_string(amount)); },
    .qp_attach_comp_cntr =
        [](ibv_qp *, ibv_comp_cntr *, ibv_qp_attach_comp_cntr_attr *attr) {
            return note("qp_attach_comp_cntr " + std::to_string(attr->op_mask));
        },
    .query_comp_cntr_caps =
        [](ibv_context *, ibv_comp_cntr_caps *caps, size_t size) {
            caps->max_counters = 7;
            caps->max_value = 70;
            return note("query_comp_cntr_caps " + std::to_string(size));
        },
    .query_port_speed =
        [](ibv_context *, uint32_t port_num, uint64_t *port_speed) {
            *port_speed = 4000;
            return note("query_port_speed " + std::to_string(port_num));
        },
    .read_comp_cntr =
        [](ibv_comp_cntr *, uint64_t *value) {
            *value = 1;
            return note("read_comp_cntr");
        },
    .read_err_comp_cntr =
        [](ibv_comp_cntr *, uint64_t *value) {
            *value = 2;
            return note("read_err_comp_cntr");
        },
    .set_comp_cntr = [](ibv_comp_cntr *,
                        uint64_t value) { return note("set_comp_cntr " + std::to_string(value)); },
    .set_err_comp_cntr = [](ibv_comp_cntr *,
                            uint64_t value) { return note("set_err_comp_cntr " + std::to_string(value)); },
};

/// The region that `command` fills, or null and errno.
template <class Command>
ibv_mr *new_mr(Command command)
{
    auto *mr = static_cast<verbs_mr *>(std::calloc(1, sizeof(verbs_mr)));
    int error = command(mr);
    if (error == 0)
        return &mr->ibv_mr;
    std::free(mr);
    errno = error;
    return nullptr;
}

ibv_mr *reg_mr(ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    FakeProvider::called = "reg_mr";
    return new_mr([&](verbs_mr *mr) {
        struct ibv_reg_mr command {};
        ib_uverbs_reg_mr_resp response{};
        return ibv_cmd_reg_mr(pd, addr, length, iova, access, mr, &command, sizeof command, &response,
                              sizeof response);
    });
}

ibv_mr *reg_dmabuf_mr(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    FakeProvider::called = "reg_dmabuf_mr";
    return new_mr([&](verbs_mr *mr) {
        return ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr, nullptr);
    });
}

ibv_mr *reg_mr_ex(ibv_pd *pd, ibv_mr_init_attr *attr)
{
    FakeProvider::called = "reg_mr_ex";
    FakeProvider::registration = *attr;
    return new_mr([&](verbs_mr *mr) { return ibv_cmd_reg_mr_ex(pd, mr, attr); });
}

ibv_mr *alloc_null_mr(ibv_pd *pd)
{
    return new_mr([pd](verbs_mr *mr) {
        mr->ibv_mr.context = pd->context;
        mr->ibv_mr.pd = pd;
        mr->mr_type = IBV_MR_TYPE_NULL_MR;
        mr->ibv_mr.length = SIZE_MAX;
        return 0;
    });
}

ibv_mr *reg_dm_mr(ibv_pd *pd, ibv_dm *dm, uint64_t offset, size_t length, unsigned int access)
{
    return new_mr([&](verbs_mr *mr) {
        return ibv_cmd_reg_dm_mr(pd, reinterpret_cast<verbs_dm *>(dm), offset, length, access, mr, nullptr);
    });
}

int rereg_mr(verbs_mr *mr, int flags, ibv_pd *pd, void *addr, size_t length, int access)
{
    FakeProvider::called = "rereg_mr";
    struct ibv_rereg_mr command {};
    ib_uverbs_rereg_mr_resp response{};
    return ibv_cmd_rereg_mr(mr, static_cast<uint32_t>(flags), addr, length, reinterpret_cast<uintptr_t>(addr),
                            access, pd, &command, sizeof command, &response, sizeof response);
}

int dereg_mr(verbs_mr *mr)
{
    if (FakeProvider::answer != 0)
        return FakeProvider::answer;
    std::free(mr);
    return 0;
}

}  // namespace

void FakeProvider::set_all_ops()
{
    set_ops(kAllOps);
    set_memory_ops(true);
}

void FakeProvider::set_memory_ops(bool has_reg_mr_ex)
{
    set_ops({.alloc_null_mr = alloc_null_mr,
             .dereg_mr = dereg_mr,
             .reg_dm_mr = reg_dm_mr,
             .reg_dmabuf_mr = reg_dmabuf_mr,
             .reg_mr = reg_mr,
             .reg_mr_ex = has_reg_mr_ex ? reg_mr_ex : nullptr,
             .rereg_mr = rereg_mr});
}

}  // namespace verbs::test
