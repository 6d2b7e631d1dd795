// SPDX-License-Identifier: BSD-2-Clause
// Provider configuration: any bytes give names that are usable as names, and lists likewise.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "provider/config.hh"

namespace {

void require(bool condition)
{
    if (!condition)
        abort();
}

void check(const verbs::provider::ProviderNames &names)
{
    for (const verbs::provider::NamedProvider *one = names.first(); one != nullptr; one = one->next) {
        require(one->name[0] != '\0');
        require(one->name[0] == '/' || strchr(one->name, '/') == nullptr);
        require(strpbrk(one->name, "\n\r\t") == nullptr);
        require(!one->tried);
        for (const verbs::provider::NamedProvider *other = one->next; other != nullptr; other = other->next)
            require(strcmp(one->name, other->name) != 0);
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    setenv("VERBS_LOG_LEVEL", "2", 1);
    setenv("VERBS_LOG_FILE", "/dev/null", 1);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int initialised = LLVMFuzzerInitialize(nullptr, nullptr);
    static_cast<void>(initialised);
    std::string_view text(reinterpret_cast<const char *>(data), size);
    verbs::provider::ProviderNames from_file;
    require(static_cast<bool>(verbs::provider::parse_config(text, "fuzzed", from_file)));
    check(from_file);
    verbs::provider::ProviderNames from_list;
    require(static_cast<bool>(verbs::provider::parse_provider_list(text, from_list)));
    check(from_list);
    return 0;
}
