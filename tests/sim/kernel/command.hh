// SPDX-License-Identifier: BSD-2-Clause
// A command under execution, and the tables that say what commands there are: one entry per method of an
// object, with its ioctl attributes, its write form, or both.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernel/file.hh"

namespace sim {

/// How a value is written in a record.
enum class Show : uint8_t {
    kHex,
    kHandle,   ///< decimal
    kPointer,  ///< an address: PTR, or 0
    kIova,     ///< START where it equals the start of the region
    kFd,       ///< a descriptor: FD, or -1
    kBytes,
    kReserved,  ///< only where it is not zero
    kHidden,
};

enum class Kind : uint8_t {
    kIn,         ///< bytes to the kernel
    kOut,        ///< bytes from the kernel
    kConst,      ///< a value of an enum
    kFlags,      ///< 32 or 64 bits
    kEnum,       ///< bytes of the alternative that elem_id chooses
    kNew,        ///< the handle of the object made
    kObject,     ///< a handle
    kDestroyed,  ///< the handle of the object destroyed
    kObjects,    ///< an array of handles
    kNewFd,
    kFd,     ///< a descriptor of an event channel
    kRawFd,  ///< any descriptor
};

/// An attribute of an ioctl method.
struct Attribute {
    uint16_t id;
    const char *name;
    Kind kind;
    uint16_t object = 0;  ///< UVERBS_OBJECT_* of a handle
    uint16_t least = 0;   ///< bytes
    uint16_t most = 0;
    bool mandatory = true;
    Show show = Show::kHex;
};

/// A member of a request or response of the write interface.
struct Field {
    const char *name;
    uint16_t offset;
    uint16_t size;
    Show show = Show::kHex;
};

class Call;

struct IoctlMethod {
    uint16_t object;
    uint16_t method;
    const char *name;  ///< OBJECT/METHOD
    std::span<const Attribute> attributes;
    int (*run)(Call &call);
    bool is_old = false;  ///< Linux 4.20 has it
    bool needs_context = true;
    uint64_t allowed_flags = 0;
};

struct WriteMethod {
    uint32_t command;  ///< with IB_USER_VERBS_CMD_FLAG_EXTENDED where it is
    const char *name;
    uint16_t request_size;  ///< what the kernel wants at least
    uint16_t response_size;
    std::span<const Field> request;
    std::span<const Field> response;
    int (*run)(Call &call);
    bool has_response_address = true;  ///< plain form: the request starts with it
    bool needs_context = true;
};

/// Memory of the program.
struct UserIn {
    const std::byte *bytes = nullptr;
    size_t size = 0;
};
struct UserOut {
    std::byte *bytes = nullptr;
    size_t size = 0;
    bool is_written = false;
};

class Call {
public:
    Call(File &file, int fd) : file_(file), fd_(fd) {}

    File &file() { return file_; }
    FileState &state() { return file_.state(); }
    const Device &device() { return file_.device(); }
    int fd() const { return fd_; }

    // The write form. A short request counts as filled with zeros, a short response takes what fits.
    template <class T>
    T request() const
    {
        T value{};
        if (core_in.size != 0)
            memcpy(static_cast<void *>(&value), core_in.bytes,
                   core_in.size < sizeof value ? core_in.size : sizeof value);
        return value;
    }
    template <class T>
    void respond(const T &value)
    {
        respond_bytes(&value, sizeof value);
    }
    void respond_bytes(const void *bytes, size_t size);

    // The ioctl form.
    const ib_uverbs_attr *attribute(uint16_t id) const;
    bool has(uint16_t id) const { return attribute(id) != nullptr; }
    /// The value of an input, `otherwise` where it was not given. Shorter ones count as filled with zeros.
    template <class T>
    T in(uint16_t id, T otherwise = {}) const
    {
        const ib_uverbs_attr *attr = attribute(id);
        if (attr == nullptr)
            return otherwise;
        T value{};
        const void *from = attr->len <= sizeof attr->data ? static_cast<const void *>(&attr->data)
                                                          : reinterpret_cast<const void *>(attr->data);
        memcpy(static_cast<void *>(&value), from, attr->len < sizeof value ? attr->len : sizeof value);
        return value;
    }
    uint64_t constant(uint16_t id, uint64_t otherwise = 0) const { return in<uint64_t>(id, otherwise); }
    uint32_t handle(uint16_t id) const
    {
        const ib_uverbs_attr *attr = attribute(id);
        return attr != nullptr ? static_cast<uint32_t>(attr->data) : kNone;
    }
    int descriptor(uint16_t id) const
    {
        const ib_uverbs_attr *attr = attribute(id);
        return attr != nullptr ? static_cast<int>(attr->data_s64) : -1;
    }
    template <class T>
    void out(uint16_t id, const T &value)
    {
        out_bytes(id, &value, sizeof value);
    }
    void out_bytes(uint16_t id, const void *bytes, size_t size);
    void set_new(uint16_t id, uint64_t handle);

    /// Finds an object that the command names; where there is none, error() says why.
    Object *find(uint16_t kind, uint64_t handle);
    int error() const { return error_; }

    /// The driver's part.
    UserIn driver_in;
    UserOut driver_out;
    void respond_driver(const void *bytes, size_t size);

    // Filled by whoever took the command apart.
    UserIn core_in;
    UserOut core_out;
    ib_uverbs_ioctl_hdr *header = nullptr;  ///< null in the write form
    const IoctlMethod *ioctl_method = nullptr;
    const WriteMethod *write_method = nullptr;
    const char *way = "";

    bool is_ioctl() const { return ioctl_method != nullptr; }
    const char *name() const { return is_ioctl() ? ioctl_method->name : write_method->name; }

private:
    File &file_;
    int fd_;
    int error_ = 0;
};

/// The command tables, one pair per file of this folder.
struct Methods {
    std::span<const IoctlMethod> ioctl;
    std::span<const WriteMethod> write;
};
std::span<const Methods> all_methods();
const IoctlMethod *find_ioctl_method(uint16_t object, uint16_t method);
const WriteMethod *find_write_method(uint32_t command);

/// ioctl(fd, request, argument) and write(fd, buffer, size) on a uverbs device: results of the system calls,
/// with errno.
int run_ioctl(File &file, int fd, unsigned long request, void *argument);
ssize_t run_write(File &file, int fd, const void *buffer, size_t size);

/// What both do once a command is taken apart: faults, removed devices, drivers without the method, record.
int execute(Call &call, int (*run)(Call &), bool needs_context);

/// The errno value of what the device's driver lacks, or 0.
int refusal(Call &call);

}  // namespace sim

/// Entries of tables of fields.
#define SIM_FIELD(type, member, ...)                                                 \
    sim::Field                                                                       \
    {                                                                                \
#member, offsetof(type, member),                                             \
            sizeof(static_cast <type *>(nullptr)->member) __VA_OPT__(, ) __VA_ARGS__ \
    }
