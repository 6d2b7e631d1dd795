// SPDX-License-Identifier: BSD-2-Clause
// What the verbs that import objects of other processes have in common.
#pragma once

#include <cerrno>

#include "uverbs/channel.hh"

namespace verbs::api {

/// The error of an import: that the kernel does not know the command (two errno values say so, which providers pass
/// on) is the EOPNOTSUPP that verbs promise.
inline int import_error(Status status)
{
    return uverbs::Channel::is_refusal(status) ? EOPNOTSUPP : status.error();
}

/// What a provider imported, or null with the errno that verbs promise.
template <class Object>
Object *imported(Object *object)
{
    if (object == nullptr)
        errno = import_error(Status::from_errno());
    return object;
}

}  // namespace verbs::api
