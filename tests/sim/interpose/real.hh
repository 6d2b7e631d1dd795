// SPDX-License-Identifier: BSD-2-Clause
// libc's own functions, behind those that this library puts in front of them.
#pragma once

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace sim {

/// The next definition of a function after this library's; looked up once.
template <class Function>
class Real {
public:
    explicit constexpr Real(const char *name) : name_(name) {}
    Function *get()
    {
        Function *function = __atomic_load_n(&function_, __ATOMIC_ACQUIRE);
        if (function == nullptr) {
            function = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name_));
            __atomic_store_n(&function_, function, __ATOMIC_RELEASE);
        }
        return function;
    }

private:
    const char *name_;
    Function *function_ = nullptr;
};

template <class Type>
struct PlainFunction;
template <class Result, class... Arguments>
struct PlainFunction<Result(Arguments...)> {
    using type = Result(Arguments...);
};
template <class Result, class... Arguments>
struct PlainFunction<Result(Arguments..., ...)> {
    using type = Result(Arguments..., ...);
};
template <class Result, class... Arguments>
struct PlainFunction<Result(Arguments...) noexcept> {
    using type = Result(Arguments...);
};
template <class Result, class... Arguments>
struct PlainFunction<Result(Arguments..., ...) noexcept> {
    using type = Result(Arguments..., ...);
};

}  // namespace sim

/// REAL(open)(path, flags): libc's open.
#define REAL(function)                                                                              \
    ([]() {                                                                                         \
        static constinit sim::Real<sim::PlainFunction<decltype(::function)>::type> real(#function); \
        return real.get();                                                                          \
    }())
