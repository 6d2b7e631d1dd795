// SPDX-License-Identifier: BSD-2-Clause
// What the functions in this folder share: finding the driver's parts of a command, waiting for acknowledgements.
#pragma once

#include <infiniband/driver.h>
#include <pthread.h>

#include <cerrno>

#include "base/result.hh"
#include "uverbs/attributes.hh"
#include "uverbs/channel.hh"

namespace verbs::provider_api {

/// The driver's request stands behind the command, its answer behind the response; both may be absent.
template <class Command, class Response>
uverbs::DriverData driver_data(Command *cmd, size_t cmd_size, Response *resp, size_t resp_size)
{
    // Where there is no size, nobody looks at the address.
    bool asks = cmd != nullptr && cmd_size > sizeof *cmd;
    bool answers = resp != nullptr && resp_size > sizeof *resp;
    return {.in = asks ? cmd + 1 : nullptr,
            .in_size = asks ? cmd_size - sizeof *cmd : 0,
            .out = answers ? resp + 1 : nullptr,
            .out_size = answers ? resp_size - sizeof *resp : 0};
}

/// The same for commands without an answer.
template <class Command>
uverbs::DriverData driver_data(Command *cmd, size_t cmd_size)
{
    return driver_data(cmd, cmd_size, static_cast<Command *>(nullptr), 0);
}

/// Writes the common part of an answer, which stands in front of the driver's, where the provider has room
/// for it: whatever form the command had, the provider finds there what the kernel said.
template <class Response>
void give_answer(Response *resp, size_t resp_size, const Response &answer)
{
    if (resp != nullptr && resp_size >= sizeof answer)
        *resp = answer;
}

/// Blocks until `acknowledged()` holds: the contract of the destroy verbs, for events that were reported.
template <class Acknowledged>
void wait_for_acknowledgements(pthread_mutex_t &mutex, pthread_cond_t &cond, Acknowledged acknowledged)
{
    pthread_mutex_lock(&mutex);
    while (!acknowledged())
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
}

/// What a function that makes an object returns. The verb behind it tells errors through errno, and providers leave that
/// to the command, which may not have come as far as a system call.
inline int creation_error(int error)
{
    if (error != 0)
        errno = error;
    return error;
}

/// What a function that destroys an object returns: that the device is gone (EIO) is success where the environment
/// asks for it, as the kernel has destroyed the object by then. There are no events to wait for after that.
inline int destroy_error(Status status)
{
    return status.error() == EIO && verbs_allow_disassociate_destroy ? 0 : status.error();
}

/// The error of a command that came with release 46 or later: that the kernel does not know it (two errno
/// values say so) is the EOPNOTSUPP that verbs promise.
inline int newer_error(Status status)
{
    return uverbs::Channel::is_refusal(status) ? EOPNOTSUPP : status.error();
}

/// What the kernel gives back in events for an object: its address in this process.
template <class Object>
uint64_t user_handle(Object *object)
{
    return reinterpret_cast<uintptr_t>(object);
}

}  // namespace verbs::provider_api
