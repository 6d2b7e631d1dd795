// SPDX-License-Identifier: BSD-2-Clause
// Addresses as text, and the TCP conversation that carries them.
#include "pingpong_exchange.hh"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tools {
namespace {

constexpr char kDone[] = "done";

// The text of an address, its NUL included.
struct Message {
    char text[sizeof("0000:000000:000000:00000000000000000000000000000000")];
};

Message encode(const Address &address)
{
    Message message;
    int length = snprintf(message.text, sizeof(message.text), "%04x:%06x:%06x:", address.lid & 0xffff,
                          address.qpn & 0xffffff, address.psn & 0xffffff);
    encode_gid(address.gid, message.text + length);
    return message;
}

// The peer is not trusted to have sent an address: what cannot be read counts as zero.
Address decode(Message message)
{
    message.text[sizeof(message.text) - 1] = '\0';
    Address address = {};
    char digits[33] = {};
    sscanf(message.text, "%x:%x:%x:%32s", &address.lid, &address.qpn, &address.psn, digits);
    address.gid = decode_gid(digits);
    return address;
}

addrinfo *resolve(const char *host, int tcp_port, int flags, int *error)
{
    addrinfo hints = {};
    hints.ai_flags = flags;
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    char service[12];
    snprintf(service, sizeof(service), "%d", tcp_port);
    addrinfo *found = nullptr;
    *error = getaddrinfo(host, service, &hints, &found);
    return *error ? nullptr : found;
}

// A socket to the first of the addresses that accepts it; -1 if none does.
int open_socket(addrinfo *addresses, bool (*open)(int fd, const addrinfo &address))
{
    int fd = -1;
    for (addrinfo *address = addresses; address && fd < 0; address = address->ai_next) {
        fd = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
        if (fd >= 0 && !open(fd, *address)) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(addresses);
    return fd;
}

bool connect_socket(int fd, const addrinfo &address)
{
    return connect(fd, address.ai_addr, address.ai_addrlen) == 0;
}

bool bind_socket(int fd, const addrinfo &address)
{
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    return bind(fd, address.ai_addr, address.ai_addrlen) == 0;
}

ssize_t receive_address(int fd, Address *remote)
{
    Message message;
    ssize_t length = receive_all(fd, &message, sizeof(message));
    if (length == static_cast<ssize_t>(sizeof(message)))
        *remote = decode(message);
    return length;
}

bool send_addresses(int fd, std::span<const Address> local)
{
    for (const Address &address : local) {
        Message message = encode(address);
        if (!send_all(fd, &message, sizeof(message)))
            return false;
    }
    return true;
}

bool talk_to_server(int fd, std::span<const Address> local, std::span<Address> remote)
{
    if (!send_addresses(fd, local))
        return failed("Couldn't send local address");
    bool received = true;
    for (Address &address : remote)
        received = received && receive_address(fd, &address) == static_cast<ssize_t>(sizeof(Message));
    if (!received || !send_all(fd, kDone, sizeof(kDone))) {
        perror("client read/write");
        return failed("Couldn't read/write remote address");
    }
    return true;
}

bool talk_to_client(int fd, std::span<const Address> local, Connector connector, std::span<Address> remote)
{
    for (size_t i = 0; i < remote.size(); ++i) {
        ssize_t length = receive_address(fd, &remote[i]);
        if (length == static_cast<ssize_t>(sizeof(Message)))
            continue;
        perror("server read");
        fprintf(stderr, "%d/%d: Couldn't read remote address", static_cast<int>(length),
                static_cast<int>(sizeof(Message)));
        if (remote.size() > 1)
            fprintf(stderr, " [%zu]", i);
        return failed("");
    }
    if (!connector.connect(connector.self, remote))
        return failed("Couldn't connect to remote QP");
    char done[sizeof(kDone)];
    if (!send_addresses(fd, local) ||
        receive_all(fd, done, sizeof(done)) != static_cast<ssize_t>(sizeof(done)))
        return failed("Couldn't send/recv local address");
    return true;
}

}  // namespace

void encode_gid(const ibv_gid &gid, char *text)
{
    for (uint8_t byte : gid.raw)
        text += snprintf(text, 3, "%02x", byte);
}

ibv_gid decode_gid(const char *text)
{
    ibv_gid gid = {};
    if (strlen(text) != 2 * sizeof gid.raw)
        return gid;
    for (size_t i = 0; i < sizeof gid.raw; ++i) {
        char byte[3] = {text[2 * i], text[2 * i + 1], '\0'};
        gid.raw[i] = static_cast<uint8_t>(strtoul(byte, nullptr, 16));
    }
    return gid;
}

bool failed(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return false;
}

bool send_all(int fd, const void *data, size_t size)
{
    return send(fd, data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

ssize_t receive_all(int fd, void *data, size_t size)
{
    return recv(fd, data, size, MSG_WAITALL);
}

int connect_to(const char *server, int tcp_port)
{
    int error;
    addrinfo *addresses = resolve(server, tcp_port, 0, &error);
    if (!addresses) {
        fprintf(stderr, "%s for %s:%d\n", gai_strerror(error), server, tcp_port);
        return -1;
    }
    int fd = open_socket(addresses, connect_socket);
    if (fd < 0)
        fprintf(stderr, "Couldn't connect to %s:%d\n", server, tcp_port);
    return fd;
}

int listen_at(int tcp_port, int backlog)
{
    int error;
    addrinfo *addresses = resolve(nullptr, tcp_port, AI_PASSIVE, &error);
    if (!addresses) {
        fprintf(stderr, "%s for port %d\n", gai_strerror(error), tcp_port);
        return -1;
    }
    int listener = open_socket(addresses, bind_socket);
    if (listener < 0)
        fprintf(stderr, "Couldn't listen to port %d\n", tcp_port);
    else
        listen(listener, backlog);
    return listener;
}

bool exchange_as_client(const char *server, int tcp_port, std::span<const Address> local,
                        std::span<Address> remote)
{
    int fd = connect_to(server, tcp_port);
    if (fd < 0)
        return false;
    bool done = talk_to_server(fd, local, remote);
    close(fd);
    return done;
}

bool exchange_as_server(int tcp_port, std::span<const Address> local, Connector connector,
                        std::span<Address> remote)
{
    int listener = listen_at(tcp_port, 1);
    if (listener < 0)
        return false;
    int fd = accept(listener, nullptr, nullptr);
    close(listener);
    if (fd < 0)
        return failed("accept() failed");
    bool done = talk_to_client(fd, local, connector, remote);
    close(fd);
    return done;
}

void print_address(const char *label, const Address &address, const char *after_psn)
{
    char gid[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, &address.gid, gid, sizeof(gid));
    printf("  %s LID 0x%04x, QPN 0x%06x, PSN 0x%06x%s GID %s\n", label, address.lid, address.qpn, address.psn,
           after_psn, gid);
}

}  // namespace tools
