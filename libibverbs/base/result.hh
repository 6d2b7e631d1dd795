// SPDX-License-Identifier: BSD-2-Clause
// What functions inside the library return: a value or a positive errno, never both.
#pragma once

#include <cerrno>
#include <utility>

namespace verbs {

/// Success, or the positive errno value that says why not.
class [[nodiscard]] Status {
public:
    constexpr Status() = default;

    /// A failure; `error` is a positive errno value. Zero means success, so that errno-style codes convert.
    constexpr Status(int error) : error_(error) {}

    /// The failure that errno tells of right now; EIO where a call failed and left errno at 0.
    static Status from_errno() { return Status(errno != 0 ? errno : EIO); }

    constexpr explicit operator bool() const { return error_ == 0; }
    constexpr int error() const { return error_; }

private:
    int error_ = 0;
};

/// A `T`, or the positive errno value that says why there is none.
template <class T>
class [[nodiscard]] Result {
public:
    constexpr Result(T value) : value_(std::move(value)) {}
    constexpr Result(Status failure) : error_(failure.error()) {}

    constexpr explicit operator bool() const { return error_ == 0; }
    constexpr int error() const { return error_; }
    constexpr Status status() const { return Status(error_); }

    constexpr T &operator*() { return value_; }
    constexpr const T &operator*() const { return value_; }
    constexpr T *operator->() { return &value_; }
    constexpr const T *operator->() const { return &value_; }

private:
    T value_{};
    int error_ = 0;
};

/// Sets errno and gives the null pointer: the last line of a verb that promises "NULL and errno".
inline std::nullptr_t null_with(int error)
{
    errno = error;
    return nullptr;
}

/// Sets errno and gives -1: the last line of a verb that promises "-1 and errno".
inline int minus_one_with(int error)
{
    errno = error;
    return -1;
}

/// Puts errno back at the end of a scope: clean-up and logging never replace the first cause.
class ErrnoGuard {
public:
    ErrnoGuard() = default;
    ErrnoGuard(const ErrnoGuard &) = delete;
    ErrnoGuard &operator=(const ErrnoGuard &) = delete;
    ~ErrnoGuard() { errno = saved_; }

private:
    int saved_ = errno;
};

}  // namespace verbs
