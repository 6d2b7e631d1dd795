// SPDX-License-Identifier: BSD-2-Clause
// Allocations that fail on demand: a library of its own, for memory checkers have allocators of theirs. It
// asks libverbs_sim.so, which is preloaded beside it.
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

extern "C" {

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

}  // extern "C"

namespace {

using Ask = int (*)(const void *caller);

/// Whether the allocation that the caller asks for is to fail.
bool fails(const void *caller)
{
    static Ask ask = nullptr;
    static thread_local bool is_inside = false;
    if (is_inside)
        return false;
    is_inside = true;
    if (ask == nullptr)
        ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "verbs_sim_malloc_fault"));
    const int error = ask != nullptr ? ask(caller) : 0;
    is_inside = false;
    if (error != 0)
        errno = error;
    return error != 0;
}

}  // namespace

#define SIM_ALLOCATOR extern "C" __attribute__((visibility("default")))

/// Tells tests that allocations can fail.
SIM_ALLOCATOR void verbs_sim_is_malloc_preloaded() {}

SIM_ALLOCATOR void *malloc(size_t size) noexcept
{
    return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}

SIM_ALLOCATOR void *calloc(size_t count, size_t size) noexcept
{
    return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}

SIM_ALLOCATOR void *realloc(void *memory, size_t size) noexcept
{
    return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}

SIM_ALLOCATOR char *strdup(const char *text) noexcept
{
    const size_t size = strlen(text) + 1;
    void *copy = fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
    return copy != nullptr ? static_cast<char *>(memcpy(copy, text, size)) : nullptr;
}

SIM_ALLOCATOR char *strndup(const char *text, size_t most) noexcept
{
    const size_t length = strnlen(text, most);
    auto *copy =
        static_cast<char *>(fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(length + 1));
    if (copy == nullptr)
        return nullptr;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

SIM_ALLOCATOR void *memalign(size_t alignment, size_t size) noexcept
{
    return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}

SIM_ALLOCATOR void *aligned_alloc(size_t alignment, size_t size) noexcept
{
    return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}

SIM_ALLOCATOR int posix_memalign(void **memory, size_t alignment, size_t size) noexcept
{
    if (fails(__builtin_return_address(0)))
        return ENOMEM;
    void *allocated = __libc_memalign(alignment, size);
    if (allocated == nullptr)
        return ENOMEM;
    *memory = allocated;
    return 0;
}
