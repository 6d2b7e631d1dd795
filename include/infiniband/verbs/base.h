/* SPDX-License-Identifier: BSD-2-Clause */
/* What every part of <infiniband/verbs.h> builds on: system headers, and the few language differences. */
#ifndef INFINIBAND_VERBS_BASE_H
#define INFINIBAND_VERBS_BASE_H

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include <linux/types.h>

#include <infiniband/verbs_api.h>

#ifdef __cplusplus
#include <limits>

#define __VERBS_BEGIN_DECLS extern "C" {
#define __VERBS_END_DECLS }
/* Conversions that a C++ program's -Wold-style-cast accepts: of a value, and of what a pointer points to. */
#define __verbs_cast(type, value) static_cast<type>(value)
#define __verbs_pointer_cast(type, pointer) reinterpret_cast<type>(pointer)
#else
#define __VERBS_BEGIN_DECLS
#define __VERBS_END_DECLS
#define __verbs_cast(type, value) ((type)(value))
#define __verbs_pointer_cast(type, pointer) ((type)(pointer))
#endif

/*
 * The comp_mask of a struct says which members past the original ones are valid; a bit that the library or
 * the device does not know makes the call fail with EINVAL (or EOPNOTSUPP), so a program finds out what it
 * cannot have.
 */

/* Whether a struct of sz bytes, perhaps an older release's, has the member fld of type. */
#define vext_field_avail(type, fld, sz) (offsetof(type, fld) < (sz))

#endif
