// SPDX-License-Identifier: BSD-2-Clause
// madvise(2) for mappings of any page size.
#include "fork/advice.hh"

#include <sys/mman.h>
#include <unistd.h>

namespace verbs::fork {
namespace {

constexpr uintptr_t kLargestPage = uintptr_t{16} << 30;

constexpr uintptr_t round_down(uintptr_t address, uintptr_t unit)
{
    return address & ~(unit - 1);
}
constexpr uintptr_t round_up(uintptr_t address, uintptr_t unit)
{
    return round_down(address + unit - 1, unit);
}

uintptr_t base_page_size()
{
    return static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
}

int advise(PageRange range, int advice)
{
    return madvise(reinterpret_cast<void *>(range.begin), range.end - range.begin, advice) == 0 ? 0 : errno;
}

}  // namespace

Status probe_dontfork()
{
    size_t size = base_page_size();
    void *page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return Status::from_errno();
    Status status(madvise(page, size, MADV_DONTFORK) == 0 ? 0 : errno);
    munmap(page, size);
    return status;
}

// The kernel refuses with EINVAL to treat a part of a page differently. So the page size of a mapping is the
// first at which it does not, which takes fewer system calls than reading it from the list of all mappings.
Advice withhold(PageRange range)
{
    for (uintptr_t unit = base_page_size(); unit <= kLargestPage; unit *= 2) {
        PageRange wide{round_down(range.begin, unit), round_up(range.end, unit)};
        if (wide.end < range.end)
            break;
        if (int error = advise(wide, MADV_DONTFORK); error != EINVAL)
            return {wide, error};
    }
    return {range, EINVAL};
}

Advice give_back(PageRange range)
{
    for (uintptr_t unit = base_page_size(); unit <= kLargestPage; unit *= 2) {
        PageRange narrow{round_up(range.begin, unit), round_down(range.end, unit)};
        if (narrow.begin < range.begin || narrow.begin >= narrow.end)
            break;
        if (advise(narrow, MADV_DOFORK) != EINVAL)
            return {narrow, Status()};
    }
    return {range, EINVAL};
}

}  // namespace verbs::fork
