// SPDX-License-Identifier: BSD-2-Clause
// Of which release a foreign provider is: gathering what tells it, and judging.
#include "provider/recognise.hh"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.hh"
#include "base/result.hh"
#include "provider/registry.hh"
#include "provider/warning.hh"

namespace verbs::provider {
namespace {

/// Functions that came while the number stayed. For those of which no facts tell the release it is the one after the last
/// that is known to lack them.
constexpr struct Arrival {
    const char *function;
    int release;
} kArrivals[] = {
    {"ibv_wr_opcode_str", 45},
    {"ibv_cmd_create_cq_ex2", 51},
    {"ibv_cmd_export_dmabuf_fd", 62},
    {"ibv_cmd_query_port_speed", 62},
};

/// The release that the links of the number in a directory have in common, or 0.
int release_of_neighbours(std::string_view directory, int abi)
{
    char path[PATH_MAX];
    char ending[24];
    snprintf(ending, sizeof ending, "-rdmav%d.so", abi);
    snprintf(path, sizeof path, "%.*s", static_cast<int>(directory.size()), directory.data());
    DIR *stream = opendir(path);
    if (stream == nullptr)
        return 0;
    int common = 0;
    bool agree = true;
    while (const dirent *entry = readdir(stream)) {
        if (!std::string_view(entry->d_name).ends_with(ending))
            continue;
        ssize_t length = readlinkat(dirfd(stream), entry->d_name, path, sizeof path);
        const int release = length > 0 ? release_in_name({path, static_cast<size_t>(length)}) : 0;
        if (release == 0)
            continue;
        agree = agree && (common == 0 || common == release);
        common = release;
    }
    closedir(stream);
    return agree ? common : 0;
}

/// The release of a provider, and what tells it.
struct Told {
    int release;
    const char *by;
};

Told told_by(const Evidence &evidence)
{
    const std::string_view file = evidence.file != nullptr ? evidence.file : "";
    char real[PATH_MAX];
    if (!file.empty() && realpath(evidence.file, real) != nullptr)
        if (const int release = release_in_name(real); release != 0)
            return {release, "the name of its file"};
    if (evidence.configured != 0)
        return {evidence.configured, "configuration"};
    if (file.find('/') == file.npos)
        return {0, nullptr};
    const std::string_view directory = std::string_view(file.data(), file.rfind('/'));
    if (const int release = release_of_neighbours(directory, evidence.abi); release != 0)
        return {release, "the plugins beside it"};
    if (VERBS_SYSTEM_RELEASE != 0 && directory == VERBS_SYSTEM_PROVIDER_DIR)
        return {VERBS_SYSTEM_RELEASE, "the system's directory"};
    return {0, nullptr};
}

/// What a dynamic section says, as an address: some loaders leave offsets there.
const void *address_of(const link_map &object, ElfW(Addr) value)
{
    return reinterpret_cast<const void *>(value < object.l_addr ? value + object.l_addr : value);
}

/// Finds the function that came last among those that the object imports.
void look_at_imports(const link_map &object, Evidence &evidence)
{
    const ElfW(Sym) *symbols = nullptr;
    const char *names = nullptr;
    const uint32_t *hash = nullptr;
    for (const ElfW(Dyn) *entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
        const void *address = address_of(object, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            symbols = static_cast<const ElfW(Sym) *>(address);
        else if (entry->d_tag == DT_STRTAB)
            names = static_cast<const char *>(address);
        else if (entry->d_tag == DT_GNU_HASH)
            hash = static_cast<const uint32_t *>(address);
    }
    if (symbols == nullptr || names == nullptr || hash == nullptr)
        return;
    // What is imported comes in front of the first symbol that is hashed.
    for (const ElfW(Sym) *symbol = symbols; symbol < symbols + hash[1]; ++symbol)
        for (const Arrival &arrival : kArrivals)
            if (arrival.release > evidence.oldest_release &&
                strcmp(arrival.function, names + symbol->st_name) == 0) {
                evidence.oldest_release = arrival.release;
                evidence.newest = arrival.function;
            }
}

}  // namespace

int release_in_name(std::string_view file)
{
    file.remove_prefix(file.rfind('/') + 1);
    const size_t start = file.find(".so.");
    if (start == file.npos)
        return 0;
    // The interface's version (major, minor), then the release (major, minor).
    const char *at = file.data() + start + 3;
    const char *const end = file.data() + file.size();
    int numbers[4];
    for (int &number : numbers) {
        if (at == end || *at != '.')
            return 0;
        const auto [behind, error] = std::from_chars(at + 1, end, number);
        if (error != std::errc())
            return 0;
        at = behind;
    }
    return at == end && numbers[2] > 0 ? numbers[2] : 0;
}

const Layout *recognise(const Evidence &evidence)
{
    const Layout *only = nullptr;
    size_t candidates = 0;
    int first = INT_MAX;
    int last = 0;
    for (const Layout &layout : kForeignLayouts) {
        if (layout.abi != evidence.abi)
            continue;
        first = std::min(first, layout.first_release);
        last = std::max(last, layout.last_release);
        if (layout.last_release < evidence.oldest_release)
            continue;
        only = &layout;
        ++candidates;
    }
    if (candidates == 1)
        return only;

    const char *file = evidence.file != nullptr ? evidence.file : "in the program";
    const Told told = told_by(evidence);
    if (told.release == 0) {
        warn(Audience::kEverybody,
             "provider %s (%s) is refused: its number %d is that of releases %d to %d, which differ, and "
             "nothing tells "
             "which it was built for; a line 'driver %s release N' in the configuration of providers would",
             evidence.name, file, evidence.abi, first, last, evidence.name);
        return nullptr;
    }
    if (told.release < evidence.oldest_release) {
        warn(Audience::kEverybody,
             "provider %s (%s) is refused: it is of release %d by %s, but calls %s, which that lacks",
             evidence.name, file, told.release, told.by, evidence.newest);
        return nullptr;
    }
    for (const Layout &layout : kForeignLayouts) {
        if (layout.abi != evidence.abi || told.release < layout.first_release ||
            told.release > layout.last_release)
            continue;
        log(LogLevel::kInfo, "provider %s (%s) is of release %d by %s", evidence.name, file, told.release,
            told.by);
        return &layout;
    }
    warn(Audience::kEverybody,
         "provider %s (%s) is refused: it is of release %d by %s, but number %d is known as that of "
         "releases %d to %d",
         evidence.name, file, told.release, told.by, evidence.abi, first, last);
    return nullptr;
}

void recognise_registered(const Loader &loader)
{
    for (const Registration *driver = registered_drivers(); driver != nullptr; driver = driver->next) {
        if (driver->is_judged)
            continue;
        driver->is_judged = true;
        if (driver->layout != nullptr)
            continue;
        Evidence evidence = {.name = driver->ops->name, .abi = driver->abi};
        Dl_info info;
        void *object = nullptr;
        if (dladdr1(driver->ops, &info, &object, RTLD_DL_LINKMAP) != 0 && object != nullptr) {
            evidence.file = info.dli_fname;
            look_at_imports(*static_cast<const link_map *>(object), evidence);
        }
        evidence.configured = loader.release_of(driver->ops->name, driver->abi);
        if (evidence.configured == 0 && evidence.file != nullptr)
            evidence.configured = loader.release_of(evidence.file, driver->abi);
        driver->layout = recognise(evidence);
    }
}

}  // namespace verbs::provider
