// SPDX-License-Identifier: BSD-2-Clause
// What is common to the ioctl and the write form of commands.
#include "kernel/command.hh"

#include <algorithm>

#include "faults.hh"
#include "kernel/methods.hh"
#include "record.hh"

namespace sim {

void Call::respond_bytes(const void *bytes, size_t size)
{
    size = std::min(size, core_out.size);
    if (size != 0)
        memcpy(core_out.bytes, bytes, size);
    core_out.is_written = true;
}

const ib_uverbs_attr *Call::attribute(uint16_t id) const
{
    if (header == nullptr)
        return nullptr;
    for (uint16_t i = 0; i < header->num_attrs; ++i)
        if (header->attrs[i].attr_id == id)
            return &header->attrs[i];
    return nullptr;
}

void Call::out_bytes(uint16_t id, const void *bytes, size_t size)
{
    auto *attr = const_cast<ib_uverbs_attr *>(attribute(id));
    if (attr == nullptr)
        return;
    memcpy(reinterpret_cast<void *>(attr->data), bytes, std::min<size_t>(size, attr->len));
    attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

void Call::set_new(uint16_t id, uint64_t handle)
{
    if (auto *attr = const_cast<ib_uverbs_attr *>(attribute(id)))
        attr->data = handle;
}

Object *Call::find(uint16_t kind, uint64_t handle)
{
    int error = 0;
    Object *object = file_.find(kind, handle, error);
    if (object == nullptr && error_ == 0)
        error_ = error;
    return object;
}

void Call::respond_driver(const void *bytes, size_t size)
{
    size = std::min(size, driver_out.size);
    if (size != 0)
        memcpy(driver_out.bytes, bytes, size);
    driver_out.is_written = true;
}

std::span<const Methods> all_methods()
{
    static const Methods kAll[] = {context_methods(), port_methods(),     pd_methods(),    mr_methods(),
                                   mw_methods(),      cq_methods(),       event_methods(), qp_methods(),
                                   srq_methods(),     wq_methods(),       ah_methods(),    xrcd_methods(),
                                   flow_methods(),    counters_methods(), dm_methods(),    post_methods()};
    return kAll;
}

const IoctlMethod *find_ioctl_method(uint16_t object, uint16_t method)
{
    for (const Methods &methods : all_methods())
        for (const IoctlMethod &candidate : methods.ioctl)
            if (candidate.object == object && candidate.method == method)
                return &candidate;
    return nullptr;
}

const WriteMethod *find_write_method(uint32_t command)
{
    for (const Methods &methods : all_methods())
        for (const WriteMethod &candidate : methods.write)
            if (candidate.command == command)
                return &candidate;
    return nullptr;
}

int refusal(Call &call)
{
    const std::string_view name = call.name();
    for (const Refusal &refused : call.device().refused) {
        const bool is_object = refused.name.ends_with('/');
        if (is_object ? name.starts_with(refused.name) : name == refused.name)
            return refused.error != 0 ? refused.error : EOPNOTSUPP;
    }
    return 0;
}

int execute(Call &call, int (*run)(Call &), bool needs_context)
{
    const FileLock lock(call.file());
    call.file().set_backing(call.fd());
    ++call.state().commands;
    Record record(call);
    int error = command_fault(call);
    if (error == 0 && call.file().is_disassociated())
        error = EIO;
    if (error == 0 && needs_context && !call.state().has_context)
        error = EINVAL;
    // What a driver lacks, the kernel's ioctl methods find after they have looked up the objects: those see to it.
    if (const int refused = refusal(call);
        error == 0 && (call.ioctl_method == nullptr || refused != EOPNOTSUPP))
        error = refused;
    if (error == 0)
        error = run(call);
    record.finish(error);
    return error;
}

}  // namespace sim
