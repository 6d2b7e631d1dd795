/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that fork while memory is registered. */
#ifndef INFINIBAND_VERBS_FORK_H
#define INFINIBAND_VERBS_FORK_H

#include <infiniband/verbs/base.h>

__VERBS_BEGIN_DECLS

enum ibv_fork_status {
    IBV_FORK_DISABLED,
    IBV_FORK_ENABLED,
    IBV_FORK_UNNEEDED /* the kernel copies registered pages for the child by itself */
};

/**
 * Makes fork safe: registered pages are kept from the child, so that the parent's stay where the device knows
 * them. Call it before the first memory is registered. The environment variables IBV_FORK_SAFE and
 * RDMAV_FORK_SAFE, set to anything but "0", do the same without a call. Huge pages are protected too. Kernels
 * that copy registered pages by themselves when a process forks need none of it.
 *
 * Returns 0, or the errno value: EINVAL when memory is registered already and the kernel does not copy.
 */
int ibv_fork_init(void);

/** Whether fork is safe, and why. */
enum ibv_fork_status ibv_is_fork_initialized(void);

__VERBS_END_DECLS

#endif
