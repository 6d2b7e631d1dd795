// SPDX-License-Identifier: BSD-2-Clause
// Taking ioctl commands apart: what the kernel checks before a method runs.
#include <sys/mman.h>

#include <algorithm>

#include "kernel/command.hh"
#include "kernel/event.hh"
#include "record.hh"
#include "session.hh"

namespace sim {
namespace {

constexpr Attribute kDriverAttributes[] = {
    {UVERBS_ATTR_UHW_IN, "driver_in", Kind::kIn, 0, 0, UINT16_MAX, false, Show::kBytes},
    {UVERBS_ATTR_UHW_OUT, "driver_out", Kind::kOut, 0, 0, UINT16_MAX, false, Show::kBytes},
};

const Attribute *find_attribute(const IoctlMethod &method, uint16_t id)
{
    for (std::span<const Attribute> list : {method.attributes, std::span<const Attribute>(kDriverAttributes)})
        for (const Attribute &attribute : list)
            if (attribute.id == id)
                return &attribute;
    return nullptr;
}

/// The kernel takes a longer structure of a newer program as long as what it does not know is zero.
bool is_zero_behind(const ib_uverbs_attr &attr, size_t known)
{
    if (attr.len <= sizeof attr.data)
        return known >= sizeof attr.data || attr.data >> (8 * known) == 0;
    const auto *bytes = reinterpret_cast<const uint8_t *>(attr.data);
    return std::all_of(bytes + known, bytes + attr.len, [](uint8_t byte) { return byte == 0; });
}

/// Values have their size; structures may be longer than they are known here.
int check_size(const ib_uverbs_attr &attr, const Attribute &wanted)
{
    const bool is_value = wanted.most <= sizeof attr.data && wanted.most == wanted.least;
    if (attr.len < wanted.least || (is_value && attr.len > wanted.most))
        return EINVAL;
    return attr.len > sizeof attr.data && attr.data == 0 ? EFAULT : 0;
}

int check_value(const ib_uverbs_attr &attr, const Attribute &wanted)
{
    if (const int error = check_size(attr, wanted))
        return error;
    return attr.len > wanted.most && !is_zero_behind(attr, wanted.most) ? EOPNOTSUPP : 0;
}

int check_attribute(Call &call, const ib_uverbs_attr &attr, const Attribute &wanted)
{
    if (wanted.kind != Kind::kEnum && attr.attr_data.reserved != 0)
        return EINVAL;
    switch (wanted.kind) {
        case Kind::kIn:
            return check_value(attr, wanted);
        case Kind::kOut:
            if (const int error = check_size(attr, wanted))
                return error;
            return attr.data == 0 && attr.len != 0 ? EFAULT : 0;
        case Kind::kConst:
            return attr.len != sizeof(uint64_t) ? EINVAL : 0;
        case Kind::kFlags:
            return attr.len != sizeof(uint64_t) && attr.len != sizeof(uint32_t) ? EINVAL : 0;
        case Kind::kEnum:
            return check_value(attr, wanted);
        case Kind::kObjects:
            if (attr.len % sizeof(uint32_t) != 0)
                return EINVAL;
            return 0;
        case Kind::kNew:
        case Kind::kNewFd:
            return attr.len != 0 ? EINVAL : 0;
        case Kind::kObject:
        case Kind::kDestroyed:
            if (attr.len != 0)
                return EINVAL;
            return call.find(wanted.object, attr.data) != nullptr ? 0 : call.error();
        case Kind::kFd:
            if (attr.len != 0)
                return EINVAL;
            return channel_of(static_cast<int>(attr.data_s64)) != 0 ? 0 : EBADF;
        case Kind::kRawFd:
            return attr.len != 0 ? EINVAL : 0;
    }
    return EINVAL;
}

int check_attributes(Call &call)
{
    ib_uverbs_ioctl_hdr &header = *call.header;
    const IoctlMethod &method = *call.ioctl_method;
    for (uint16_t i = 0; i < header.num_attrs; ++i) {
        const ib_uverbs_attr &attr = header.attrs[i];
        const Attribute *wanted = find_attribute(method, attr.attr_id);
        if (wanted == nullptr) {
            if ((attr.flags & UVERBS_ATTR_F_MANDATORY) != 0)
                return EPROTONOSUPPORT;
            continue;
        }
        for (uint16_t before = 0; before < i; ++before)
            if (header.attrs[before].attr_id == attr.attr_id)
                return EINVAL;
        if (const int error = check_attribute(call, attr, *wanted))
            return error;
    }
    for (const Attribute &wanted : method.attributes)
        if (wanted.mandatory && !call.has(wanted.id))
            return EINVAL;
    return 0;
}

void find_driver_data(Call &call)
{
    if (const ib_uverbs_attr *attr = call.attribute(UVERBS_ATTR_UHW_IN))
        call.driver_in = {attr->len <= sizeof attr->data ? reinterpret_cast<const std::byte *>(&attr->data)
                                                         : reinterpret_cast<const std::byte *>(attr->data),
                          attr->len};
    if (const ib_uverbs_attr *attr = call.attribute(UVERBS_ATTR_UHW_OUT))
        call.driver_out = {reinterpret_cast<std::byte *>(attr->data), attr->len};
}

/// INVOKE_WRITE is a way to another command, whose name the record and the faults want.
bool is_invoke(const ib_uverbs_ioctl_hdr &header)
{
    return header.object_id == UVERBS_OBJECT_DEVICE && header.method_id == UVERBS_METHOD_INVOKE_WRITE;
}

int invoke(Call &call)
{
    const ib_uverbs_attr *command = call.attribute(UVERBS_ATTR_WRITE_CMD);
    if (command == nullptr || command->len != sizeof(uint64_t))
        return EINVAL;
    const auto number = static_cast<uint32_t>(command->data);
    const WriteMethod *method = find_write_method(number);
    if (method == nullptr)
        return (number & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0 ? EOPNOTSUPP : EINVAL;
    call.ioctl_method = nullptr;
    call.write_method = method;
    call.way = "invoke";
    if (const ib_uverbs_attr *in = call.attribute(UVERBS_ATTR_CORE_IN))
        call.core_in = {in->len <= sizeof in->data ? reinterpret_cast<const std::byte *>(&in->data)
                                                   : reinterpret_cast<const std::byte *>(in->data),
                        in->len};
    if (const ib_uverbs_attr *out = call.attribute(UVERBS_ATTR_CORE_OUT))
        call.core_out = {reinterpret_cast<std::byte *>(out->data), out->len};
    if (call.core_in.size < method->request_size || call.core_out.size < method->response_size) {
        record_refused(call.way, method->name, ENOSPC);
        return ENOSPC;
    }
    const int error = execute(call, method->run, method->needs_context);
    if (error == 0 && call.core_out.is_written)
        if (auto *out = const_cast<ib_uverbs_attr *>(call.attribute(UVERBS_ATTR_CORE_OUT)))
            out->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
    return error;
}

std::string name_of(const ib_uverbs_ioctl_hdr &header)
{
    if (is_invoke(header))
        return "DEVICE/INVOKE_WRITE";
    const IoctlMethod *method = find_ioctl_method(header.object_id, header.method_id);
    return method != nullptr ? method->name
                             : std::to_string(header.object_id) + "/" + std::to_string(header.method_id);
}

int run_header(File &file, int fd, ib_uverbs_ioctl_hdr &header)
{
    if (header.length != sizeof header + header.num_attrs * sizeof header.attrs[0] || header.length > 4096)
        return EINVAL;
    if (header.reserved1 != 0 || header.reserved2 != 0)
        return EPROTONOSUPPORT;
    if (header.driver_id != file.device().driver_id)
        return EINVAL;
    const bool is_old_kernel = Session::get().description().interface == Interface::kOldIoctl;
    Call call(file, fd);
    call.header = &header;
    call.way = "ioctl";
    find_driver_data(call);
    int error = 0;
    if (is_invoke(header)) {
        if (is_old_kernel)
            record_refused(call.way, name_of(header), EPROTONOSUPPORT);
        error = is_old_kernel ? EPROTONOSUPPORT : invoke(call);
    } else {
        const IoctlMethod *method = find_ioctl_method(header.object_id, header.method_id);
        if (method == nullptr || (is_old_kernel && !method->is_old)) {
            record_refused(call.way, name_of(header), EPROTONOSUPPORT);
            return EPROTONOSUPPORT;
        }
        call.ioctl_method = method;
        error = execute(
            call,
            [](Call &checked) {
                if (const int wrong = check_attributes(checked))
                    return wrong;
                if (checked.ioctl_method->needs_context && !checked.state().has_context)
                    return EINVAL;
                if (const int refused = refusal(checked))
                    return refused;
                return checked.ioctl_method->run(checked);
            },
            false);
    }
    if (error == 0 && call.driver_out.is_written)
        if (auto *out = const_cast<ib_uverbs_attr *>(call.attribute(UVERBS_ATTR_UHW_OUT)))
            out->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
    return error;
}

}  // namespace

int run_ioctl(File &file, int fd, unsigned long request, void *argument)
{
    int error = 0;
    if (request != RDMA_VERBS_IOCTL) {
        error = ENOTTY;
    } else if (argument == nullptr) {
        error = EFAULT;
    } else if (Session::get().description().interface == Interface::kWriteOnly) {
        error = ENOTTY;
        record_refused("ioctl", name_of(*static_cast<ib_uverbs_ioctl_hdr *>(argument)), error);
    } else {
        error = run_header(file, fd, *static_cast<ib_uverbs_ioctl_hdr *>(argument));
    }
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

}  // namespace sim
