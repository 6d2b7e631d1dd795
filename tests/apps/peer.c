/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs share that check what they get from their peer: a socket to it, bytes that can be told from others. */
#include "peer.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void die(const char *what, const char *format, ...)
{
    const int error = errno;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: not so: %s: ", program_invocation_short_name, what);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, " (errno: %s)\n", strerror(error));
    va_end(arguments);
    exit(1);
}

/* A bijection that mixes well, after Steele, Lea and Flood's splitmix64. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t word_of(uint64_t seed, size_t index)
{
    return mixed(seed * 0x9e3779b97f4a7c15 + index + 1);
}

void fill(uint8_t *memory, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i += 8) {
        const uint64_t word = word_of(seed, i / 8);
        memcpy(memory + i, &word, length - i < 8 ? length - i : 8);
    }
}

size_t first_wrong(const uint8_t *memory, size_t first, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length;) {
        const size_t place = first + i, in_word = place % 8;
        const uint64_t word = word_of(seed, place / 8);
        size_t count = 8 - in_word;
        if (count > length - i)
            count = length - i;
        if (memcmp(memory + i, (const uint8_t *)&word + in_word, count) != 0) {
            while (memory[i] == ((const uint8_t *)&word)[(first + i) % 8])
                ++i;
            return i;
        }
        i += count;
    }
    return length;
}

double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void tell(int peer, const void *mine, void *theirs, size_t size)
{
    REQUIRE(send(peer, mine, size, MSG_NOSIGNAL) == (ssize_t)size, "the peer has gone");
    REQUIRE(recv(peer, theirs, size, MSG_WAITALL) == (ssize_t)size, "the peer has gone");
}

uint32_t exchange(int peer, uint32_t mine)
{
    uint32_t theirs = 0;
    tell(peer, &mine, &theirs, sizeof(mine));
    return theirs;
}

void meet(int peer)
{
    exchange(peer, 0);
}

int connect_to(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = host == NULL ? AI_PASSIVE : 0};
    struct addrinfo *found = NULL;
    const int error = getaddrinfo(host, port, &hints, &found);
    REQUIRE(error == 0, "%s: %s", host != NULL ? host : port, gai_strerror(error));
    int socket_fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(socket_fd >= 0, "no socket");
    const int on = 1;
    if (host == NULL) {
        setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        REQUIRE(bind(socket_fd, found->ai_addr, found->ai_addrlen) == 0, "port %s", port);
        REQUIRE(listen(socket_fd, 1) == 0, "port %s", port);
        const int accepted = accept4(socket_fd, NULL, NULL, SOCK_CLOEXEC);
        REQUIRE(accepted >= 0, "port %s", port);
        close(socket_fd);
        socket_fd = accepted;
    } else {
        REQUIRE(connect(socket_fd, found->ai_addr, found->ai_addrlen) == 0, "%s, port %s", host, port);
    }
    freeaddrinfo(found);
    setsockopt(socket_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return socket_fd;
}
