// SPDX-License-Identifier: BSD-2-Clause
// Memory regions: each keeps its pages out of children where fork protection is on.
#include <infiniband/driver.h>
#include <sys/resource.h>

#include <cstring>

#include "api/import.hh"
#include "base/export.hh"
#include "base/log.hh"
#include "fork/range.hh"
#include "provider/context.hh"
#include "provider/userspace.hh"

using verbs::Status;
using verbs::provider::ops;

// The header's macros pick the form by whether optional access flags may be set.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace {

/// Says what to do about the error that users meet most: pinned memory is limited.
[[gnu::noinline, gnu::cold]] void explain_failure(const ibv_pd *pd, size_t length, int error)
{
    if (!verbs::log_enabled(verbs::LogLevel::kError))
        return;
    verbs::ErrnoGuard keep;
    rlimit limit = {};
    const bool pins = verbs::provider::userspace_ops(pd->context) == nullptr;
    if (pins && (error == ENOMEM || error == EPERM) && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY) {
        verbs::log(verbs::LogLevel::kError,
                   "%s: registering %zu bytes failed: the process may pin %llu KiB in all (RLIMIT_MEMLOCK); "
                   "raise it with 'ulimit -l unlimited' or in /etc/security/limits.conf",
                   pd->context->device->name, length, static_cast<unsigned long long>(limit.rlim_cur) / 1024);
    } else {
        verbs::log(verbs::LogLevel::kError, "%s: registering %zu bytes failed: %s", pd->context->device->name,
                   length, strerrordesc_np(error));
    }
}

/// Kernels from before optional access flags refuse them; a program that says "optional" can do without.
unsigned accepted_access(const ibv_pd *pd, unsigned access)
{
    uint64_t supported =
        __atomic_load_n(&verbs_get_device(pd->context->device)->core_support, __ATOMIC_RELAXED);
    bool known = (supported & IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS) != 0;
    return known ? access : access & ~static_cast<unsigned>(IBV_ACCESS_OPTIONAL_RANGE);
}

/// Memory that is paged on demand is not pinned, so that a fork does not part it from the device.
bool is_pinned(int access)
{
    return (access & IBV_ACCESS_ON_DEMAND) == 0;
}

void fill(ibv_mr &mr, ibv_pd &pd, void *addr, size_t length)
{
    mr.context = pd.context;
    mr.pd = &pd;
    mr.addr = addr;
    mr.length = length;
}

/// `register_it` registers memory of this process, which is kept out of children first, where it will be
/// pinned. It gets the access flags that the kernel takes.
template <class Register>
[[gnu::always_inline]] inline ibv_mr *register_protected(ibv_pd *pd, void *addr, size_t length,
                                                         unsigned access, Register register_it)
{
    bool pinned = is_pinned(static_cast<int>(access));
    if (pinned) {
        if (Status status = verbs::fork::dontfork_range(addr, length); !status)
            return verbs::null_with(status.error());
    }
    ibv_mr *mr = register_it(static_cast<int>(accepted_access(pd, access)));
    if (mr == nullptr) {
        verbs::ErrnoGuard keep;
        if (pinned)
            static_cast<void>(verbs::fork::dofork_range(addr, length));
        explain_failure(pd, length, errno);
        return nullptr;
    }
    fill(*mr, *pd, addr, length);
    return mr;
}

[[gnu::always_inline]] inline ibv_mr *register_memory(ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                                      unsigned access)
{
    return register_protected(pd, addr, length, access, [=](int accepted) {
        return ops(pd->context).reg_mr(pd, addr, length, iova, accepted);
    });
}

/// Says where the memory of a buffer is in place of naming the buffer; EINVAL where the rest does not go with
/// it.
Status replace_buffer(const ibv_pd *pd, ibv_mr_init_attr &attr)
{
    if (attr.buf == nullptr)
        return EINVAL;
    const ibv_buf &buf = *attr.buf;
    constexpr uint64_t kExcluded = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET;
    if ((attr.comp_mask & IBV_REG_MR_MASK_ADDR) == 0 || (attr.comp_mask & kExcluded) != 0 || buf.pd != pd)
        return EINVAL;
    uint64_t offset = reinterpret_cast<uintptr_t>(attr.addr) - reinterpret_cast<uintptr_t>(buf.addr);
    if (attr.addr < buf.addr || offset > buf.size || attr.length > buf.size - offset)
        return EINVAL;
    attr.comp_mask &= ~uint64_t{IBV_REG_MR_MASK_BUF};
    if (buf.dmabuf_fd < 0)
        return {};
    if ((attr.comp_mask & IBV_REG_MR_MASK_IOVA) != 0)
        return EINVAL;
    attr.comp_mask ^= IBV_REG_MR_MASK_ADDR | kExcluded | IBV_REG_MR_MASK_IOVA;
    attr.fd = buf.dmabuf_fd;
    attr.fd_offset = offset;
    attr.iova = reinterpret_cast<uintptr_t>(attr.addr);
    return {};
}

}  // namespace

VERBS_EXPORT ibv_mr *ibv_reg_mr(ibv_pd *pd, void *addr, size_t length, int access)
{
    return register_memory(pd, addr, length, reinterpret_cast<uintptr_t>(addr),
                           static_cast<unsigned>(access));
}

VERBS_EXPORT ibv_mr *ibv_reg_mr_iova(ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    return register_memory(pd, addr, length, iova, static_cast<unsigned>(access));
}

VERBS_EXPORT ibv_mr *ibv_reg_mr_iova2(ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                      unsigned int access)
{
    return register_memory(pd, addr, length, iova, access);
}

VERBS_EXPORT ibv_mr *ibv_reg_dmabuf_mr(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                       int access)
{
    // No fork protection: the memory behind the file need not have an address in this process.
    ibv_mr *mr = ops(pd->context).reg_dmabuf_mr(pd, offset, length, iova, fd, access);
    if (mr == nullptr)
        return nullptr;
    fill(*mr, *pd, reinterpret_cast<void *>(static_cast<uintptr_t>(offset)), length);
    return mr;
}

VERBS_EXPORT ibv_mr *ibv_reg_mr_ex(ibv_pd *pd, ibv_mr_init_attr *mr_init_attr)
{
    ibv_mr_init_attr attr = *mr_init_attr;
    bool of_buffer = (attr.comp_mask & IBV_REG_MR_MASK_BUF) != 0;
    if (of_buffer) {
        if (Status status = replace_buffer(pd, attr); !status)
            return verbs::null_with(status.error());
    }
    if ((attr.comp_mask & IBV_REG_MR_MASK_ADDR) != 0)
        return register_protected(pd, attr.addr, attr.length, static_cast<unsigned>(attr.access),
                                  [&](int accepted) {
                                      attr.access = accepted;
                                      return ops(pd->context).reg_mr_ex(pd, &attr);
                                  });
    ibv_mr *mr = ops(pd->context).reg_mr_ex(pd, &attr);
    if (mr != nullptr)
        fill(*mr, *pd,
             of_buffer ? attr.addr : reinterpret_cast<void *>(static_cast<uintptr_t>(attr.fd_offset)),
             attr.length);
    return mr;
}

VERBS_EXPORT int ibv_rereg_mr(ibv_mr *mr, int flags, ibv_pd *pd, void *addr, size_t length, int access)
{
    auto refuse = [](ibv_rereg_mr_err_code code, int error) {
        errno = error;
        return static_cast<int>(code);
    };
    bool changes_translation = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
    if (verbs_get_mr(mr)->mr_type != IBV_MR_TYPE_MR || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0 ||
        (changes_translation && (length == 0 || addr == nullptr)) ||
        ((flags & IBV_REREG_MR_CHANGE_PD) != 0 && pd == nullptr) ||
        (access != 0 && (flags & IBV_REREG_MR_CHANGE_ACCESS) == 0))
        return refuse(IBV_REREG_MR_ERR_INPUT, EINVAL);

    // Which memory the region holds now and will hold, as far as it has to stay out of children.
    bool was_pinned = is_pinned(verbs_get_mr(mr)->access);
    bool will_be_pinned = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? is_pinned(access) : was_pinned;
    void *new_addr = changes_translation ? addr : mr->addr;
    size_t new_length = changes_translation ? length : mr->length;
    bool moves = changes_translation || was_pinned != will_be_pinned;
    if (moves && will_be_pinned) {
        if (Status status = verbs::fork::dontfork_range(new_addr, new_length); !status)
            return refuse(IBV_REREG_MR_ERR_DONT_FORK_NEW, status.error());
    }
    int error = ops(mr->context).rereg_mr(verbs_get_mr(mr), flags, pd, addr, length, access);
    if (error != 0) {
        bool undone = !moves || !will_be_pinned || verbs::fork::dofork_range(new_addr, new_length);
        return refuse(undone ? IBV_REREG_MR_ERR_CMD : IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW, error);
    }
    if ((flags & IBV_REREG_MR_CHANGE_PD) != 0)
        mr->pd = pd;
    if ((flags & IBV_REREG_MR_CHANGE_ACCESS) != 0)
        verbs_get_mr(mr)->access = access;
    void *old_addr = mr->addr;
    size_t old_length = mr->length;
    mr->addr = new_addr;
    mr->length = new_length;
    if (moves && was_pinned) {
        if (Status status = verbs::fork::dofork_range(old_addr, old_length); !status)
            return refuse(IBV_REREG_MR_ERR_DO_FORK_OLD, status.error());
    }
    return 0;
}

VERBS_EXPORT int ibv_dereg_mr(ibv_mr *mr)
{
    void *addr = mr->addr;
    size_t length = mr->length;
    bool protects = verbs_get_mr(mr)->mr_type == IBV_MR_TYPE_MR && is_pinned(verbs_get_mr(mr)->access);
    int error = ops(mr->context).dereg_mr(verbs_get_mr(mr));
    if (error == 0 && protects)
        static_cast<void>(verbs::fork::dofork_range(addr, length));
    return error;
}

VERBS_EXPORT ibv_mr *ibv_import_mr(ibv_pd *pd, uint32_t mr_handle)
{
    return verbs::api::imported(ops(pd->context).import_mr(pd, mr_handle));
}

VERBS_EXPORT void ibv_unimport_mr(ibv_mr *mr)
{
    ops(mr->context).unimport_mr(mr);
}
