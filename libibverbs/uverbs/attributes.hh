// SPDX-License-Identifier: BSD-2-Clause
// An ioctl command under construction: the header and its attributes, on the stack, without allocation.
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "uverbs/channel.hh"
#include "uverbs/command_buffer.hh"

namespace verbs::uverbs {

/// What a driver adds to a command: its request and room for its answer. The library does not look inside.
struct DriverData {
    const void *in = nullptr;
    size_t in_size = 0;
    void *out = nullptr;
    size_t out_size = 0;
};

/// Attributes are added in the order of the calls; the capacity is known at compile time by the method's own list.
template <size_t kCapacity>
class Attributes {
public:
    explicit Attributes(Method method) : method_(method) {}
    Attributes(const Attributes &) = delete;  // result_ points into the object
    Attributes &operator=(const Attributes &) = delete;

    /// A value that goes to the kernel.
    template <class T>
    [[gnu::always_inline]] Attributes &in(uint16_t id, const T &value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return in_bytes(id, &value, sizeof value);
    }

    /// Bytes that go to the kernel; up to eight travel inside the attribute. They stay valid until issue().
    [[gnu::always_inline]] Attributes &in_bytes(uint16_t id, const void *bytes, size_t size)
    {
        ib_uverbs_attr &attr = add(id, size);
        if (size > sizeof attr.data)
            attr.data = reinterpret_cast<uintptr_t>(bytes);
        else if (size != 0)
            std::memcpy(&attr.data, bytes, size);
        return *this;
    }

    /// A constant of a kernel enum or a set of flags, which the kernel reads as 64 bits.
    [[gnu::always_inline]] Attributes &constant(uint16_t id, uint64_t value) { return in(id, value); }

    /// A place for the kernel to write `value` to.
    template <class T>
    [[gnu::always_inline]] Attributes &out(uint16_t id, T &value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        return out_bytes(id, &value, sizeof value);
    }
    [[gnu::always_inline]] Attributes &out_bytes(uint16_t id, void *bytes, size_t size)
    {
        add(id, size).data = reinterpret_cast<uintptr_t>(bytes);
        return *this;
    }

    /// An object that the kernel knows by `handle`.
    [[gnu::always_inline]] Attributes &object(uint16_t id, uint32_t handle)
    {
        add(id, 0).data = handle;
        return *this;
    }

    /// The object that the command makes; result() is its handle (or file descriptor).
    [[gnu::always_inline]] Attributes &new_object(uint16_t id)
    {
        result_ = &add(id, 0);
        return *this;
    }

    /// Bytes of the kind that `element` says, one of a kernel enum.
    Attributes &enum_in(uint16_t id, uint8_t element, const void *bytes, size_t size)
    {
        in_bytes(id, bytes, size);
        last().attr_data.enum_data.elem_id = element;
        return *this;
    }

    [[gnu::always_inline]] Attributes &file(uint16_t id, int fd)
    {
        add(id, 0).data_s64 = fd;
        return *this;
    }

    /// Where events of the new object go; nowhere if the context has no such file (-1).
    Attributes &event_file(uint16_t id, int fd) { return fd >= 0 ? file(id, fd) : *this; }

    /// The last attribute may be ignored by a kernel that does not know it.
    Attributes &optional()
    {
        last().flags = 0;
        return *this;
    }

    Attributes &driver(const DriverData &data)
    {
        if (data.in_size != 0)
            in_bytes(UVERBS_ATTR_UHW_IN, data.in, data.in_size);
        if (data.out_size != 0)
            out_bytes(UVERBS_ATTR_UHW_OUT, data.out, data.out_size);
        return *this;
    }

    /// EINVAL, without asking the kernel: more attributes, or longer ones, than a command can have.
    Status issue(Channel &channel) { return fits() ? channel.ioctl(fill_header(), method_) : Status(EINVAL); }

    /// The same with the attributes that a driver adds; null for none.
    Status issue(Channel &channel, ibv_command_buffer *driver)
    {
        return driver != nullptr && fits() ? issue_with(channel, fill_header(), driver) : issue(channel);
    }

    uint32_t result() const { return static_cast<uint32_t>(result_->data); }

private:
    ib_uverbs_ioctl_hdr &header() { return *reinterpret_cast<ib_uverbs_ioctl_hdr *>(storage_); }
    ib_uverbs_attr &last() { return header().attrs[std::min(count_ - 1, kCapacity)]; }
    bool fits() const { return count_ <= kCapacity && fits_; }

    ib_uverbs_ioctl_hdr &fill_header()
    {
        header() = {};
        header().length =
            static_cast<uint16_t>(sizeof(ib_uverbs_ioctl_hdr) + count_ * sizeof(ib_uverbs_attr));
        header().object_id = method_.object;
        header().method_id = method_.id;
        header().num_attrs = static_cast<uint16_t>(count_);
        return header();
    }

    // Inline, so that sizes and places that are known to the compiler cost nothing.
    [[gnu::always_inline]] ib_uverbs_attr &add(uint16_t id, size_t size)
    {
        // One place more than the capacity takes what does not fit.
        ib_uverbs_attr &attr = header().attrs[std::min(count_, kCapacity)];
        ++count_;
        fits_ = fits_ && size <= UINT16_MAX;
        attr.attr_id = id;
        attr.len = static_cast<uint16_t>(size);
        attr.flags = UVERBS_ATTR_F_MANDATORY;
        attr.attr_data.reserved = 0;
        attr.data = 0;
        return attr;
    }

    Method method_;
    size_t count_ = 0;  // of all that were added, whether they fit or not
    bool fits_ = true;  // each in the length that an attribute can have
    const ib_uverbs_attr *result_ = nullptr;
    alignas(ib_uverbs_ioctl_hdr)
        std::byte storage_[sizeof(ib_uverbs_ioctl_hdr) + (kCapacity + 1) * sizeof(ib_uverbs_attr)];
};

}  // namespace verbs::uverbs
