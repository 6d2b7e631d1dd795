// SPDX-License-Identifier: BSD-2-Clause
// Event channels: the files from which asynchronous and completion events are read.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "kernel/file.hh"

namespace sim {

/// Opens a new channel: a pipe with a name, so that any process of the session can write to it. The
/// descriptor, or a negative errno.
int open_channel(uint32_t &number);
/// The number of the channel behind a descriptor; 0: it is none.
uint32_t channel_of(int fd);
/// The same, asking the system.
uint32_t find_channel(int fd);

void put_async_event(const File &file, uint32_t channel, uint32_t type, uint64_t element);
void put_comp_event(const File &file, uint32_t channel, uint64_t cq_handle);

/// On each open file of the device. After IBV_EVENT_DEVICE_FATAL the channels end: reading gives EIO.
void raise_on_all_files(const Device &device, uint32_t type, uint32_t element);

/// About an object, to its own channel; counted.
void raise_on_object(File &file, Object &object, uint32_t type);

/// Makes the channel the one for events that name no other.
void set_default_async(File &file, uint32_t channel);

/// What a channel holds after its last event.
constexpr uint32_t kEndOfChannel = 0xfffffffe;

}  // namespace sim
