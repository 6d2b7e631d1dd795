// SPDX-License-Identifier: BSD-2-Clause
// Fork protection: whether it is on, and which pages it withholds from children.
#include "fork/range.hh"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/log.hh"
#include "fork/advice.hh"
#include "fork/copy_on_fork.hh"
#include "fork/page_map.hh"

namespace verbs::fork {
namespace {

enum class Phase {
    kUndecided,
    kTooLate,  // memory was registered without protection
    kEnabled,
    kUnneeded,
};

constinit std::atomic<Phase> phase{Phase::kUndecided};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
constinit PageMap pages;
// Each of them keeps memory for one update of the map, so that giving it up needs none.
constinit size_t ranges_in_use = 0;

class Lock {
public:
    Lock() { pthread_mutex_lock(&mutex); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
    ~Lock() { pthread_mutex_unlock(&mutex); }
};

/// Whether ranges are to be tracked. If nobody asked for it so far, it is too late from now on.
bool tracking()
{
    Phase now = phase.load();
    if (now == Phase::kUndecided) [[unlikely]]
        phase.compare_exchange_strong(now, Phase::kTooLate);
    return now == Phase::kEnabled;
}

/// The pages that hold a byte of the range; empty for an empty range.
Result<PageRange> pages_of(void *address, size_t length)
{
    auto begin = reinterpret_cast<uintptr_t>(address);
    uintptr_t mask = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1;
    if (length == 0)
        return PageRange{begin & ~mask, begin & ~mask};
    uintptr_t last = 0;
    if (__builtin_add_overflow(begin, length - 1, &last) || (last | mask) == UINTPTR_MAX)
        return Status(EINVAL);
    return PageRange{begin & ~mask, (last | mask) + 1};
}

bool idle(const PageMap::Run &run)
{
    return run.state.withheld && run.state.uses == 0;
}

// Changes of a page's state.
PageMap::State withheld(PageMap::State state)
{
    return {state.uses, true};
}
PageMap::State used(PageMap::State state)
{
    return {state.uses + 1, true};
}
PageMap::State unused(PageMap::State state)
{
    return {state.uses - (state.uses > 0 ? 1 : 0), state.withheld};
}
PageMap::State given_back(PageMap::State)
{
    return {};
}

/// Gives back the run, which no range uses. Where it shares a huge page with a range in use, that page stays
/// withheld until the other range goes.
void release(PageMap::Run run)
{
    if (!pages.reserve(ranges_in_use + 1))
        return;
    if (Advice advice = give_back({run.begin, run.end}); advice.status)
        pages.update(advice.range.begin, advice.range.end, given_back);
    else if (pages.run_at(run.begin - 1).state.uses == 0 && pages.run_at(run.end).state.uses == 0)
        pages.update(run.begin, run.end, given_back);
}

/// Gives back what is withheld without use in the range and next to it.
void release_idle(PageRange range)
{
    for (uintptr_t at = range.begin; at < range.end;) {
        PageMap::Run run = pages.run_at(at);
        if (idle(run))
            release(run);
        at = run.end;
    }
}

/// Memory for a new range: to withhold pages, to count its use, and to give it up again.
bool reserve_for_use()
{
    return pages.reserve(ranges_in_use + 3);
}

/// Withholds the pages of the range that no other range uses. What `reserve_for_use` sets aside is there before and
/// after it.
Status withhold_unused(PageRange range)
{
    for (uintptr_t at = range.begin; at < range.end;) {
        PageMap::Run run = pages.run_at(at);
        uintptr_t end = std::min(run.end, range.end);
        if (run.state.uses == 0) {
            Advice advice = withhold({at, end});
            pages.update(advice.range.begin, advice.range.end, withheld);
            if (!advice.status)
                return advice.status;
            if (!reserve_for_use())
                return Status(ENOMEM);
        }
        at = end;
    }
    return {};
}

bool asks_for_protection(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value != nullptr && std::strcmp(value, "0") != 0;
}

void follow_environment()
{
    if (!asks_for_protection("IBV_FORK_SAFE") && !asks_for_protection("RDMAV_FORK_SAFE"))
        return;
    Status enabled = enable();
    if (enabled)
        return;
    ErrnoGuard keep;
    errno = enabled.error();
    if (errno == EINVAL)
        log(LogLevel::kWarning,
            "memory was registered before IBV_FORK_SAFE could take effect, so fork is not safe: "
            "list devices or call ibv_fork_init first");
    else
        log(LogLevel::kWarning, "IBV_FORK_SAFE is without effect, so fork is not safe: %m");
}

/// The parts apart from the question whether there is anything to do: most programs never fork.
[[gnu::noinline]] Status use_range(void *address, size_t length)
{
    Result<PageRange> range = pages_of(address, length);
    if (!range || range->begin == range->end)
        return range.status();
    ErrnoGuard keep;
    Lock lock;
    if (!reserve_for_use())
        return Status(ENOMEM);
    if (Status status = withhold_unused(*range); !status) {
        release_idle(*range);
        return status;
    }
    pages.update(range->begin, range->end, used);
    ++ranges_in_use;
    pages.trim(ranges_in_use + 1);
    return {};
}

[[gnu::noinline]] Status give_up_range(void *address, size_t length)
{
    Result<PageRange> range = pages_of(address, length);
    if (!range || range->begin == range->end)
        return range.status();
    ErrnoGuard keep;
    Lock lock;
    // Only a range that was never in use can find nothing set aside.
    if (!pages.reserve(1))
        return Status(ENOMEM);
    pages.update(range->begin, range->end, unused);
    ranges_in_use -= ranges_in_use > 0 ? 1 : 0;
    release_idle(*range);
    pages.trim(ranges_in_use + 1);
    return {};
}

}  // namespace

Status enable()
{
    Lock lock;
    Phase now = phase.load();
    if (now == Phase::kEnabled || now == Phase::kUnneeded)
        return {};
    ErrnoGuard keep;
    if (kernel_copies_pinned_pages()) {
        phase.store(Phase::kUnneeded);
        return {};
    }
    if (now == Phase::kTooLate)
        return Status(EINVAL);
    if (Status possible = probe_dontfork(); !possible)
        return possible;
    return phase.compare_exchange_strong(now, Phase::kEnabled) ? Status() : Status(EINVAL);
}

State state()
{
    switch (phase.load()) {
        case Phase::kEnabled:
            return State::kEnabled;
        case Phase::kUnneeded:
            return State::kUnneeded;
        default:
            ErrnoGuard keep;
            return kernel_copies_pinned_pages() ? State::kUnneeded : State::kDisabled;
    }
}

void enable_from_environment()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, follow_environment);
}

Status dontfork_range(void *address, size_t length)
{
    return tracking() ? use_range(address, length) : Status();
}

Status dofork_range(void *address, size_t length)
{
    return tracking() ? give_up_range(address, length) : Status();
}

}  // namespace verbs::fork
