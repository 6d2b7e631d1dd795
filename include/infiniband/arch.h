/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte order of 64-bit values under two old names. Obsolete: new programs use htobe64 and be64toh of
 * <endian.h>. */
#ifndef INFINIBAND_ARCH_H
#define INFINIBAND_ARCH_H

#include <endian.h>
#include <stdint.h>

#ifndef ntohll
#undef htonll

static __inline__ __attribute__((__deprecated__)) uint64_t htonll(uint64_t host)
{
#if __BYTE_ORDER == __LITTLE_ENDIAN
    return __builtin_bswap64(host);
#else
    return host;
#endif
}

static __inline__ __attribute__((__deprecated__)) uint64_t ntohll(uint64_t network)
{
#if __BYTE_ORDER == __LITTLE_ENDIAN
    return __builtin_bswap64(network);
#else
    return network;
#endif
}

#define htonll htonll
#define ntohll ntohll
#endif

#endif
