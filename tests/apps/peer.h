/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs share that check what they get from their peer: a socket to it, bytes that can be told from others. */
#ifndef VERBENA_TESTS_APPS_PEER_H
#define VERBENA_TESTS_APPS_PEER_H

#include <stddef.h>
#include <stdint.h>

#define REQUIRE(condition, ...)           \
    do {                                  \
        if (!(condition))                 \
            die(#condition, __VA_ARGS__); \
    } while (0)

/* Ends the program: what was required, and more about it. */
__attribute__((noreturn, format(printf, 2, 3))) void die(const char *what, const char *format, ...);

/* Bytes that depend on the seed and their place. */
void fill(uint8_t *memory, size_t length, uint64_t seed);
/* Where `length` bytes first differ from those of the pattern from its byte `first` on; `length` where they do not. */
size_t first_wrong(const uint8_t *memory, size_t first, size_t length, uint64_t seed);

/* Seconds, from any start. */
double now(void);

/* A TCP socket to the peer, which is waited for where the host is NULL. */
int connect_to(const char *host, const char *port);
/* Each sends `size` bytes to the other. */
void tell(int peer, const void *mine, void *theirs, size_t size);
/* Each tells the other a number. */
uint32_t exchange(int peer, uint32_t mine);
/* Both are here. */
void meet(int peer);

#endif
