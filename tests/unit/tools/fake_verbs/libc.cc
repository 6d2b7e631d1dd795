// SPDX-License-Identifier: BSD-2-Clause
// C library calls of the ping-pong programs that the fake answers, so that a run can be repeated to the byte, and
// so that each can be made to fail. The dynamic loader finds these before the C library's own, because a program
// that links to libibverbs lists it first.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "scenario.hh"

using namespace fake_verbs;

namespace {

bool is_socket(int fd)
{
    int type;
    socklen_t size = sizeof(type);
    return syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

// The port numbers of a ping-pong's command line are for show: the server gets any free port and writes its number to
// the file that FAKE_VERBS_PORT_FILE names, where the client finds it. So tests never meet each other or a real server.
sockaddr_storage with_port(const sockaddr *address, socklen_t size, in_port_t port)
{
    sockaddr_storage result = {};
    memcpy(&result, address, size);
    if (address->sa_family == AF_INET)
        reinterpret_cast<sockaddr_in *>(&result)->sin_port = port;
    else if (address->sa_family == AF_INET6)
        reinterpret_cast<sockaddr_in6 *>(&result)->sin6_port = port;
    return result;
}

void publish_port(int fd)
{
    const char *path = getenv("FAKE_VERBS_PORT_FILE");
    sockaddr_storage address = {};
    socklen_t size = sizeof(address);
    if (!path || syscall(SYS_getsockname, fd, &address, &size))
        return;
    in_port_t port = address.ss_family == AF_INET ? reinterpret_cast<sockaddr_in *>(&address)->sin_port
                                                  : reinterpret_cast<sockaddr_in6 *>(&address)->sin6_port;
    // Renamed into place, so that whoever finds the file finds the whole number in it.
    std::string unfinished = std::string(path) + ".new";
    if (FILE *file = fopen(unfinished.c_str(), "we")) {
        fprintf(file, "%u\n", ntohs(port));
        fclose(file);
        rename(unfinished.c_str(), path);
    }
}

// In network byte order; 0 if there is no server.
in_port_t published_port()
{
    const char *path = getenv("FAKE_VERBS_PORT_FILE");
    FILE *file = path ? fopen(path, "re") : nullptr;
    unsigned port = 0;
    if (!file || fscanf(file, "%u", &port) != 1)
        port = 0;
    if (file)
        fclose(file);
    return htons(static_cast<in_port_t>(port));
}

void log_bytes(const char *call, const void *data, ssize_t length)
{
    std::string text(static_cast<const char *>(data), static_cast<size_t>(length > 0 ? length : 0));
    for (char &byte : text)
        if (byte == '\0')
            byte = '$';
    log("%s %zd bytes: %s", call, length, text.c_str());
}

// Takes the message that the peer sent, keeping errno. A socket closed before that would send the peer a reset, which
// it may or may not see before the end of the connection.
void swallow(int fd)
{
    int error = errno;
    char message[52];
    syscall(SYS_recvfrom, fd, message, sizeof(message), MSG_WAITALL, nullptr, nullptr);
    errno = error;
}

// To tools it is the same whether they use read() or recv(), write() or send(), and so it is to the log.
ssize_t receive(int fd, void *buffer, size_t size, int flags)
{
    if (failure("read")) {
        swallow(fd);
        return -1;
    }
    ssize_t length = syscall(SYS_recvfrom, fd, buffer, size, flags, nullptr, nullptr);
    log_bytes("read", buffer, length);
    return length;
}

ssize_t transmit(int fd, const void *buffer, size_t size, int flags)
{
    log_bytes("write", buffer, static_cast<ssize_t>(size));
    return failure("write") ? -1 : syscall(SYS_sendto, fd, buffer, size, flags, nullptr, 0);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

pid_t getpid()
{
    return static_cast<pid_t>(value("pid", 4242));
}

time_t time(time_t *result)
{
    auto now = static_cast<time_t>(value("time", 1700000000));
    if (result)
        *result = now;
    return now;
}

int gettimeofday(timeval *__restrict result, void *__restrict) noexcept
{
    static unsigned calls;
    if (failure("gettimeofday"))
        return -1;
    uint64_t microseconds = 1700000000000000 + value("microseconds", 123456) * calls++;
    result->tv_sec = static_cast<time_t>(microseconds / 1000000);
    result->tv_usec = static_cast<suseconds_t>(microseconds % 1000000);
    return 0;
}

void *memalign(size_t alignment, size_t size) noexcept
{
    return failure("memalign") ? nullptr : aligned_alloc(alignment, size);
}

int socket(int domain, int type, int protocol) noexcept
{
    log("socket(%d, %d, %d)", domain, type, protocol);
    return failure("socket") ? -1 : static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

int setsockopt(int fd, int level, int option, const void *data, socklen_t size) noexcept
{
    log("setsockopt(level=%d, option=%d, size=%u)", level, option, size);
    return failure("setsockopt") ? -1
                                 : static_cast<int>(syscall(SYS_setsockopt, fd, level, option, data, size));
}

int bind(int fd, const sockaddr *address, socklen_t size) noexcept
{
    log("bind(family=%d)", address->sa_family);
    if (failure("bind"))
        return -1;
    sockaddr_storage any_port = with_port(address, size, 0);
    return static_cast<int>(syscall(SYS_bind, fd, &any_port, size));
}

int listen(int fd, int backlog) noexcept
{
    log("listen(%d)", backlog);
    if (failure("listen"))
        return -1;
    auto result = static_cast<int>(syscall(SYS_listen, fd, backlog));
    if (result == 0)
        publish_port(fd);
    return result;
}

int accept(int fd, sockaddr *__restrict address, socklen_t *__restrict size)
{
    log("accept(address=%d)", address != nullptr);
    auto peer = static_cast<int>(syscall(SYS_accept, fd, address, size));
    if (!failure("accept"))
        return peer;
    swallow(peer);
    return -1;
}

int connect(int fd, const sockaddr *address, socklen_t size)
{
    log("connect(family=%d)", address->sa_family);
    if (failure("connect"))
        return -1;
    in_port_t port = published_port();
    if (!port) {
        errno = ECONNREFUSED;
        return -1;
    }
    sockaddr_storage peer = with_port(address, size, port);
    return static_cast<int>(syscall(SYS_connect, fd, &peer, size));
}

int getaddrinfo(const char *__restrict node, const char *__restrict service, const addrinfo *__restrict hints,
                addrinfo **__restrict result)
{
    log("getaddrinfo(%s, %s, flags=%d, family=%d, type=%d)", node ? node : "NULL", service, hints->ai_flags,
        hints->ai_family, hints->ai_socktype);
    if (int error = failure("getaddrinfo"))
        return -error;
    static auto *real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(node, service, hints, result);
}

ssize_t read(int fd, void *buffer, size_t size)
{
    return is_socket(fd) ? receive(fd, buffer, size, 0) : syscall(SYS_read, fd, buffer, size);
}

ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    return receive(fd, buffer, size, flags);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    return is_socket(fd) ? transmit(fd, buffer, size, 0) : syscall(SYS_write, fd, buffer, size);
}

ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
    return transmit(fd, buffer, size, flags);
}

}  // extern "C"
#pragma GCC visibility pop
