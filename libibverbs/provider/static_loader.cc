// SPDX-License-Identifier: BSD-2-Clause
// The loader of the static library: its providers are linked in, and register themselves before main.
//
// A plugin would bring the shared library with it, and be known to that one alone.
#include "provider/loader.hh"
#include "provider/places.hh"
#include "provider/recognise.hh"

namespace verbs::provider {

Places process_places()
{
    return {};
}

bool load_plugin(const char *, const Places &)
{
    return false;
}

Status Loader::start(const Places &)
{
    after_environment_ = nullptr;
    return {};
}

NamedProvider *Loader::next_of_environment() const
{
    return nullptr;
}

NamedProvider *Loader::next_for(uint32_t) const
{
    return nullptr;
}

NamedProvider *Loader::next() const
{
    return nullptr;
}

NamedProvider *Loader::next_userspace() const
{
    return nullptr;
}

int Loader::release_of(const char *, int) const
{
    return 0;
}

void recognise_registered(const Loader &) {}

const char *Loader::which_of(const char *) const
{
    return nullptr;
}

}  // namespace verbs::provider
