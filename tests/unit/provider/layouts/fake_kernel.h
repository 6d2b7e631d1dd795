/* SPDX-License-Identifier: BSD-2-Clause */
/* A kernel with uverbs devices whose every command succeeds: system calls of this process that concern it
 * end here. */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where the events of the context that was made last are written. */
extern int fake_kernel_async_events;
/* The same for the context that has this async_fd. */
int fake_kernel_async_events_of(int async_fd);

enum { FAKE_KERNEL_COMP_VECTORS = 3, FAKE_KERNEL_PORT_BYTE = 0x11 };

#ifdef __cplusplus
}
#endif

#endif
