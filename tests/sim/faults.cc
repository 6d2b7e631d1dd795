// SPDX-License-Identifier: BSD-2-Clause
// Faults on demand.
#include "faults.hh"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "names.hh"

namespace sim {
namespace {

constexpr std::string_view kLibcNames[] = {"open",  "close",   "fcntl",  "ioctl",  "write",   "read",
                                           "mmap",  "poll",    "socket", "bind",   "sendmsg", "recvmsg",
                                           "fopen", "opendir", "stat",   "malloc", "madvise"};
static_assert(std::size(kLibcNames) == static_cast<size_t>(LibcCall::kCount));

struct Fault {
    bool is_command = false;
    LibcCall call = LibcCall::kOpen;
    std::string way;      ///< of a command: "ioctl", "write", or any
    std::string command;  ///< OBJECT/METHOD
    uint64_t first = 1;   ///< which of the calls fail, from 1
    uint64_t last = UINT64_MAX;
    int error = 0;
    uint64_t seen = 0;
};

struct State {
    std::mutex lock;
    std::vector<Fault> faults;
    std::atomic<bool> has_commands = false;
    std::atomic<bool> has_calls = false;
    std::atomic<uint64_t> counts[static_cast<size_t>(LibcCall::kCount)] = {};
    std::atomic<bool> is_read = false;
};

State &state()
{
    // Never destroyed: other threads and exit handlers may still call.
    static State *const kState = new State;
    return *kState;
}

bool parse_places(std::string_view text, Fault &fault)
{
    if (text == "*")
        return true;
    const bool and_after = text.ends_with('+');
    if (and_after)
        text.remove_suffix(1);
    if (!parse_number(text, fault.first) || fault.first == 0)
        return false;
    if (!and_after)
        fault.last = fault.first;
    return true;
}

bool parse_command(std::string_view kind, std::string_view what, Fault &fault)
{
    const size_t mark = what.find('#');
    fault.is_command = true;
    fault.way = kind == "command" ? "" : kind;
    fault.command = what.substr(0, mark);
    return mark == what.npos || parse_places(what.substr(mark + 1), fault);
}

bool parse_fault(std::string_view text, Fault &fault)
{
    const size_t first = text.find(':');
    const size_t second = text.rfind(':');
    if (first == text.npos || first == second)
        return false;
    const std::string_view kind = text.substr(0, first);
    const std::string_view what = text.substr(first + 1, second - first - 1);
    fault.error = errno_of(text.substr(second + 1));
    if (fault.error == 0)
        return false;
    if (what.find('/') != what.npos)
        return (kind == "command" || kind == "ioctl" || kind == "write") && parse_command(kind, what, fault);
    const auto *const name = std::find(std::begin(kLibcNames), std::end(kLibcNames), kind);
    fault.call = static_cast<LibcCall>(name - std::begin(kLibcNames));
    return name != std::end(kLibcNames) && parse_places(what, fault);
}

bool parse_faults(std::string_view text, std::vector<Fault> &faults)
{
    while (!text.empty()) {
        const size_t end = text.find_first_of(", ");
        if (end != 0 && !parse_fault(text.substr(0, end), faults.emplace_back()))
            return false;
        text = end == text.npos ? "" : text.substr(end + 1);
    }
    return true;
}

void read_environment()
{
    static std::once_flag once;
    std::call_once(once, [] {
        const char *text = getenv("VERBS_SIM_FAIL");
        if (text != nullptr && set_faults(text) != 0) {
            fprintf(stderr, "verbs_sim: VERBS_SIM_FAIL: '%s' is not understood; see sim.h\n", text);
            _exit(126);
        }
        state().is_read.store(true);
    });
}

bool is_of_library(std::string_view name)
{
    const size_t slash = name.rfind('/');
    if (slash != name.npos)
        name.remove_prefix(slash + 1);
    // A sanitizer's runtime stands between the library and libc; little else in a test goes through it.
    return name.starts_with("libibverbs.so") || name.starts_with("libnl-") ||
           name.starts_with("libasan.so") || name.find("-rdmav") != name.npos;
}

/// Where the last callers were, so that most calls need no search.
struct Range {
    std::atomic<uintptr_t> start = 0;
    std::atomic<uintptr_t> end = 0;
};
Range known[8];
std::atomic<unsigned> next_known = 0;

struct Search {
    uintptr_t address;
    bool is_found = false;
    uintptr_t start = 0;
    uintptr_t end = 0;
};

bool comes_from_library(const void *caller)
{
    const auto address = reinterpret_cast<uintptr_t>(caller);
    for (const Range &range : known)
        if (address >= range.start.load(std::memory_order_relaxed) &&
            address < range.end.load(std::memory_order_relaxed))
            return true;
    Search search{.address = address};
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *argument) {
            Search &wanted = *static_cast<Search *>(argument);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto &header = info->dlpi_phdr[i];
                const uintptr_t start = info->dlpi_addr + header.p_vaddr;
                if (header.p_type != PT_LOAD || wanted.address < start ||
                    wanted.address >= start + header.p_memsz)
                    continue;
                wanted.is_found = is_of_library(info->dlpi_name);
                wanted.start = start;
                wanted.end = start + header.p_memsz;
                return 1;
            }
            return 0;
        },
        &search);
    if (search.is_found) {
        Range &range = known[next_known.fetch_add(1) % std::size(known)];
        range.start.store(search.start);
        range.end.store(search.end);
    }
    return search.is_found;
}

/// Counts a candidate of the fault; whether it is one that fails.
bool hits(Fault &fault)
{
    ++fault.seen;
    return fault.seen >= fault.first && fault.seen <= fault.last;
}

}  // namespace

int set_faults(std::string_view text)
{
    std::vector<Fault> faults;
    if (!parse_faults(text, faults))
        return EINVAL;
    State &all = state();
    const std::lock_guard guard(all.lock);
    all.faults = std::move(faults);
    all.has_commands.store(
        std::any_of(all.faults.begin(), all.faults.end(), [](const Fault &f) { return f.is_command; }));
    all.has_calls.store(
        std::any_of(all.faults.begin(), all.faults.end(), [](const Fault &f) { return !f.is_command; }));
    return 0;
}

int libc_fault(LibcCall call, const void *caller)
{
    State &all = state();
    if (!all.is_read.load(std::memory_order_acquire))
        read_environment();
    if (!comes_from_library(caller))
        return 0;
    all.counts[static_cast<size_t>(call)].fetch_add(1, std::memory_order_relaxed);
    if (!all.has_calls.load(std::memory_order_relaxed))
        return 0;
    const std::lock_guard guard(all.lock);
    int error = 0;
    for (Fault &fault : all.faults)
        if (!fault.is_command && fault.call == call && hits(fault))
            error = fault.error;
    return error;
}

int command_fault(const Call &call)
{
    State &all = state();
    if (!all.is_read.load(std::memory_order_acquire))
        read_environment();
    if (!all.has_commands.load(std::memory_order_relaxed))
        return 0;
    const std::lock_guard guard(all.lock);
    const std::string_view way = call.way;
    int error = 0;
    for (Fault &fault : all.faults) {
        if (!fault.is_command || fault.command != call.name())
            continue;
        const bool is_ioctl = way == "ioctl" || way == "invoke";
        if (!fault.way.empty() && (fault.way == "ioctl") != is_ioctl)
            continue;
        if (hits(fault))
            error = fault.error;
    }
    return error;
}

uint64_t count_calls(std::string_view kind, bool reset)
{
    const auto *const name = std::find(std::begin(kLibcNames), std::end(kLibcNames), kind);
    if (name == std::end(kLibcNames))
        return UINT64_MAX;
    std::atomic<uint64_t> &count = state().counts[name - std::begin(kLibcNames)];
    return reset ? count.exchange(0) : count.load();
}

}  // namespace sim
