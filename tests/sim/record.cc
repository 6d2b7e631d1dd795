// SPDX-License-Identifier: BSD-2-Clause
// The record of commands.
#include "record.hh"

#include <errno.h>
#include <stdio.h>

#include <algorithm>

#include "interpose/real.hh"
#include "names.hh"

namespace sim {
namespace {

/// Descriptor of the record; -1: none is wanted.
int record_fd()
{
    static const int kFd = [] {
        const char *path = getenv("VERBS_SIM_RECORD");
        if (path == nullptr || *path == '\0')
            return -1;
        const int fd = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0) {
            fprintf(stderr, "verbs_sim: VERBS_SIM_RECORD: %s: %s\n", path, strerrordesc_np(errno));
            _exit(126);
        }
        // Out of the way of programs that count or choose their descriptors.
        const int high = REAL(fcntl)(fd, F_DUPFD_CLOEXEC, 900);
        if (high < 0)
            return fd;
        REAL(close)(fd);
        return high;
    }();
    return kFd;
}

void append(const std::string &text)
{
    const int saved = errno;
    (void)!REAL(write)(record_fd(), text.data(), text.size());
    errno = saved;
}

/// Addresses of programs differ from run to run.
bool is_address(uint64_t value)
{
    return value >= 0x10000000000 && value < 0x800000000000;
}

std::string hex(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

/// The bytes in groups of eight. Requests may hold addresses, which differ from run to run.
std::string bytes_text(const std::byte *bytes, size_t size, bool is_request)
{
    std::string text;
    for (size_t i = 0; i < size; i += 8) {
        const size_t step = std::min<size_t>(8, size - i);
        uint64_t word = 0;
        memcpy(&word, bytes + i, step);
        text += text.empty() ? "" : " ";
        if (is_request && step == 8 && word >= 0x550000000000 && is_address(word)) {
            text += "PTR";
            continue;
        }
        for (size_t byte = 0; byte < step; ++byte) {
            char two[3];
            snprintf(two, sizeof two, "%02x", static_cast<unsigned>(bytes[i + byte]));
            text += two;
        }
    }
    return text.empty() ? "-" : text;
}

uint64_t number_at(const std::byte *bytes, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, bytes, std::min<size_t>(size, sizeof value));
    return value;
}

/// Empty: not to be shown.
std::string value_text(const std::byte *bytes, size_t size, Show show, bool is_request, uint64_t &start)
{
    const uint64_t value = number_at(bytes, size);
    switch (show) {
        case Show::kHidden:
            return "";
        case Show::kReserved:
            if (std::all_of(bytes, bytes + size, [](std::byte byte) { return byte == std::byte{}; }))
                return "";
            return bytes_text(bytes, size, is_request);
        case Show::kHandle:
            return std::to_string(
                static_cast<int64_t>(size == 4 ? static_cast<int32_t>(value) : static_cast<int64_t>(value)));
        case Show::kFd:
            return static_cast<int32_t>(value) < 0 ? std::to_string(static_cast<int32_t>(value)) : "FD";
        case Show::kPointer:
            start = value;
            return value != 0 ? "PTR" : "0";
        case Show::kIova:
            if (value == start && value != 0)
                return "START";
            return is_address(value) ? "PTR" : hex(value);
        case Show::kHex:
            if (size <= sizeof value)
                return is_request && is_address(value) ? "PTR" : hex(value);
            [[fallthrough]];
        case Show::kBytes:
            return bytes_text(bytes, size, is_request);
    }
    return "";
}

}  // namespace

Record::Record(Call &call) : call_(call), is_wanted_(record_fd() >= 0)
{
    if (is_wanted_)
        call.is_ioctl() ? ioctl_request() : request();
}

void Record::add(const char *mark, const char *name, const std::string &value)
{
    if (!value.empty())
        text_ += std::string("  ") + mark + name + " " + value + "\n";
}

void Record::request()
{
    for (const Field &field : call_.write_method->request)
        if (field.offset + field.size <= call_.core_in.size)
            add("", field.name,
                value_text(call_.core_in.bytes + field.offset, field.size, field.show, true, start_));
    if (call_.driver_in.size != 0)
        add("", "driver_in", bytes_text(call_.driver_in.bytes, call_.driver_in.size, true));
}

void Record::answer()
{
    for (const Field &field : call_.write_method->response)
        if (call_.core_out.is_written && field.offset + field.size <= call_.core_out.size)
            add("> ", field.name,
                value_text(call_.core_out.bytes + field.offset, field.size, field.show, false, start_));
    if (call_.driver_out.is_written && call_.driver_out.size != 0)
        add("> ", "driver_out", bytes_text(call_.driver_out.bytes, call_.driver_out.size, false));
}

void Record::ioctl_request()
{
    for (const Attribute &wanted : call_.ioctl_method->attributes) {
        const ib_uverbs_attr *attr = call_.attribute(wanted.id);
        if (attr == nullptr)
            continue;
        const auto *data = attr->len <= sizeof attr->data ? reinterpret_cast<const std::byte *>(&attr->data)
                                                          : reinterpret_cast<const std::byte *>(attr->data);
        switch (wanted.kind) {
            case Kind::kIn:
            case Kind::kConst:
            case Kind::kFlags:
                add("", wanted.name, value_text(data, attr->len, wanted.show, true, start_));
                break;
            case Kind::kEnum:
                add("", wanted.name,
                    std::to_string(attr->attr_data.enum_data.elem_id) + " " +
                        bytes_text(data, attr->len, true));
                break;
            case Kind::kObject:
            case Kind::kDestroyed:
                add("", wanted.name, std::to_string(attr->data));
                break;
            case Kind::kObjects: {
                std::string list;
                for (size_t i = 0; i + 4 <= attr->len; i += 4)
                    list += (i != 0 ? " " : "") + std::to_string(number_at(data + i, 4));
                add("", wanted.name, list.empty() ? "-" : list);
                break;
            }
            case Kind::kFd:
            case Kind::kRawFd:
                add("", wanted.name, attr->data_s64 < 0 ? std::to_string(attr->data_s64) : "FD");
                break;
            case Kind::kOut:
            case Kind::kNew:
            case Kind::kNewFd:
                break;
        }
    }
    if (call_.driver_in.size != 0)
        add("", "driver_in", bytes_text(call_.driver_in.bytes, call_.driver_in.size, true));
}

void Record::ioctl_answer()
{
    for (const Attribute &wanted : call_.ioctl_method->attributes) {
        const ib_uverbs_attr *attr = call_.attribute(wanted.id);
        if (attr == nullptr)
            continue;
        if (wanted.kind == Kind::kNew)
            add("> ", wanted.name, std::to_string(attr->data));
        else if (wanted.kind == Kind::kNewFd)
            add("> ", wanted.name, "FD");
        else if (wanted.kind == Kind::kOut && (attr->flags & UVERBS_ATTR_F_VALID_OUTPUT) != 0)
            add("> ", wanted.name,
                value_text(reinterpret_cast<const std::byte *>(attr->data), attr->len, wanted.show, false,
                           start_));
    }
    if (call_.driver_out.is_written && call_.driver_out.size != 0)
        add("> ", "driver_out", bytes_text(call_.driver_out.bytes, call_.driver_out.size, false));
}

void Record::finish(int error)
{
    if (!is_wanted_)
        return;
    if (error == 0)
        call_.is_ioctl() ? ioctl_answer() : answer();
    append(std::string(call_.name()) + " = " + (error == 0 ? "0" : std::string(errno_name(error))) + " via " +
           call_.way + "\n" + text_);
}

void record_refused(const char *way, const std::string &name, int error)
{
    if (record_fd() >= 0)
        append("? " + name + " = " + std::string(errno_name(error)) + " via " + way + "\n");
}

}  // namespace sim
