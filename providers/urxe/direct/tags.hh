// SPDX-License-Identifier: BSD-2-Clause
// Matching messages with the tags of an SRQ, by whoever delivers them.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "direct/target.hh"

namespace urxe::direct {

/// Takes the first tag that the message matches, or says that it takes a receive: then `taken` has what its completion will
/// say of it. `message` is what it begins with: kTagHeader bytes, or all that there are. Of the SRQ of `target`, under the
/// lock of its receives.
bool take_tag(const Target &target, shared::SrqEntry &srq, std::span<const uint8_t> message,
              TakenReceive &taken);

/// The message has taken a receive, whose `taker` is given what is returned besides the QP. Under the same lock.
uint64_t count_unexpected(shared::SrqEntry &srq, TakenReceive &taken);

}  // namespace urxe::direct
