// SPDX-License-Identifier: BSD-2-Clause
// Which providers there are: the grammar of configuration files, and reading them.
#include "provider/config.hh"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/unique_fd.hh"
#include "provider/warning.hh"

namespace verbs::provider {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr off_t kMaxFileSize = off_t{1} << 20;

/// Takes everything in front of the first of `separators` off `text`, and that separator too.
std::string_view take_until(std::string_view &text, std::string_view separators)
{
    size_t end = text.find_first_of(separators);
    std::string_view taken(text.data(), end == text.npos ? text.size() : end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return taken;
}

std::string_view take_word(std::string_view &line)
{
    size_t start = line.find_first_not_of(kBlanks);
    line.remove_prefix(start == line.npos ? line.size() : start);
    return take_until(line, kBlanks);
}

bool is_provider_name(std::string_view name)
{
    if (name.empty() || name.size() >= PATH_MAX)
        return false;
    for (char c : name)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
            return false;
    return name.front() == '/' || name.find('/') == name.npos;
}

std::optional<int> release_number(std::string_view word)
{
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number <= 0)
        return std::nullopt;
    return number;
}

void warn_of_line(const char *file, size_t number, std::string_view line)
{
    char shown[48];
    size_t length = line.size() < sizeof shown ? line.size() : sizeof shown - 1;
    for (size_t i = 0; i < length; ++i)
        shown[i] = line[i] >= ' ' && line[i] < 0x7f ? line[i] : '?';
    shown[length] = '\0';
    warn(Audience::kEverybody,
         "%s line %zu: '%s' is ignored; a line is 'driver NAME' or 'driver /PATH', "
         "a number behind 'release' there, or a comment after '#'",
         file, number, shown);
}

Status read_config_file(const char *path, ProviderNames &names)
{
    // Non-blocking: a FIFO must not hold the program up until it turns out not to be a regular file.
    UniqueFd file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info;
    if (!file || fstat(file.get(), &info) != 0) {
        warn(Audience::kEverybody, "%s cannot be read: %s", path, strerrordesc_np(errno));
        return {};
    }
    if (!S_ISREG(info.st_mode))
        return {};
    if (info.st_size > kMaxFileSize) {
        warn(Audience::kEverybody, "%s is ignored: %lld bytes are no provider configuration", path,
             static_cast<long long>(info.st_size));
        return {};
    }
    auto size = static_cast<size_t>(info.st_size);
    Allocated<char> text(static_cast<char *>(malloc(size + 1)));
    if (!text)
        return ENOMEM;
    size_t length = 0;
    while (length < size) {
        ssize_t got = read(file.get(), text.get() + length, size - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            warn(Audience::kEverybody, "%s cannot be read: %s", path, strerrordesc_np(errno));
        if (got <= 0)
            break;
        length += static_cast<size_t>(got);
    }
    return parse_config({text.get(), length}, path, names);
}

/// The names in a directory, sorted.
class Entries {
public:
    explicit Entries(const char *directory) : count_(scandir(directory, &entries_, nullptr, alphasort)) {}
    Entries(const Entries &) = delete;
    Entries &operator=(const Entries &) = delete;
    ~Entries()
    {
        for (int i = 0; i < count_; ++i)
            free(entries_[i]);
        free(entries_);
    }
    int count() const { return count_; }
    const char *name(int i) const { return entries_[i]->d_name; }

private:
    dirent **entries_ = nullptr;
    int count_;
};

}  // namespace

ProviderNames::~ProviderNames()
{
    while (first_ != nullptr)
        free(std::exchange(first_, first_->next));
}

Status ProviderNames::add(std::string_view name, int release)
{
    return add(name, false, {}, release);
}

Status ProviderNames::add_userspace(std::string_view name, std::string_view which)
{
    return add(name, true, which, 0);
}

Status ProviderNames::add(std::string_view name, bool is_userspace, std::string_view which, int release)
{
    NamedProvider **link = &first_;
    for (; *link != nullptr; link = &(*link)->next)
        if (name == (*link)->name) {
            if ((*link)->release == 0)
                (*link)->release = release;
            return {};
        }
    auto *added =
        static_cast<NamedProvider *>(calloc(1, sizeof(NamedProvider) + name.size() + which.size() + 1));
    if (added == nullptr)
        return ENOMEM;
    memcpy(added->name, name.data(), name.size());
    char *behind_name = added->name + name.size() + 1;
    which.copy(behind_name, which.size());
    added->which = behind_name;
    added->is_userspace = is_userspace;
    added->release = release;
    *link = added;
    return {};
}

Status parse_config(std::string_view text, const char *file, ProviderNames &names)
{
    bool warned = false;
    for (size_t number = 1; !text.empty(); ++number) {
        std::string_view line = take_until(text, "\n");
        std::string_view rest = line;
        std::string_view directive = take_word(rest);
        if (directive.empty() || directive.front() == '#')
            continue;
        std::string_view name = take_word(rest);
        if (directive == "driver" && is_provider_name(name)) {
            const std::string_view kind = take_word(rest);
            std::string_view which = kind.empty() ? kind : take_word(rest);
            if (which.starts_with('#'))
                which = {};
            const std::optional<int> release = kind == "release" ? release_number(which) : 0;
            if (!release && !std::exchange(warned, true))
                warn_of_line(file, number, line);
            if (Status status = kind == "userspace" ? names.add_userspace(name, which)
                                                    : names.add(name, release.value_or(0));
                !status)
                return status;
        } else if (!std::exchange(warned, true)) {
            warn_of_line(file, number, line);
        }
    }
    return {};
}

Status read_config_directory(const char *directory, ProviderNames &names)
{
    Entries entries(directory);
    if (entries.count() < 0) {
        if (errno == ENOMEM)
            return ENOMEM;
        if (errno != ENOENT)
            warn(Audience::kEverybody, "the provider configuration in %s cannot be read: %s", directory,
                 strerrordesc_np(errno));
        return {};
    }
    for (int i = 0; i < entries.count(); ++i) {
        char path[PATH_MAX];
        if (strcmp(entries.name(i), ".") == 0 || strcmp(entries.name(i), "..") == 0 ||
            snprintf(path, sizeof path, "%s/%s", directory, entries.name(i)) >= static_cast<int>(sizeof path))
            continue;
        if (Status status = read_config_file(path, names); !status)
            return status;
    }
    return {};
}

Status parse_provider_list(std::string_view list, ProviderNames &names)
{
    while (!list.empty()) {
        std::string_view name = take_until(list, ":;");
        if (name.empty())
            continue;
        if (!is_provider_name(name)) {
            warn(Audience::kEverybody, "provider '%.*s' is ignored: it must be a name or an absolute path",
                 static_cast<int>(name.size()), name.data());
            continue;
        }
        if (Status status = names.add(name); !status)
            return status;
    }
    return {};
}

}  // namespace verbs::provider
