// SPDX-License-Identifier: BSD-2-Clause
// How the two sides of a ping-pong tell each other their addresses, over TCP.
//
// The client connects and sends its addresses; the server answers with its own once it is ready to receive;
// the client says "done" when it is. Both have the same number of them. An address travels as text with fixed
// widths and a final NUL, "LID:QPN:PSN:GID" in hexadecimal (4, 6, 6 and 32 digits).
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tools {

// Writes the message and a newline to stderr; always false.
bool failed(const char *message);

// Where a queue pair is and which packet sequence number its sends start at.
struct Address {
    unsigned lid;
    unsigned qpn;
    unsigned psn;
    ibv_gid gid;
};

// Called by the server between learning of the client and answering it: must bring the queue pairs up. On
// false, which it explains itself, the exchange ends.
struct Connector {
    bool (*connect)(void *self, std::span<const Address> remote);
    void *self;
};

// Connects to the server's TCP port and exchanges addresses. On failure writes the reason to stderr.
bool exchange_as_client(const char *server, int tcp_port, std::span<const Address> local,
                        std::span<Address> remote);

// Waits for one client at the TCP port and exchanges addresses. On failure writes the reason to stderr.
bool exchange_as_server(int tcp_port, std::span<const Address> local, Connector connector,
                        std::span<Address> remote);

// A GID as 32 hexadecimal digits and a NUL, and back; of other text, zeros.
void encode_gid(const ibv_gid &gid, char *text);
ibv_gid decode_gid(const char *text);

// Writes "  LABEL LID ..., QPN ..., PSN ..., GID ..." to stdout; after_psn stands before GID.
void print_address(const char *label, const Address &address, const char *after_psn = ",");

// A connection to the server's TCP port, and a socket that listens at the port, with a queue of that many
// clients. On failure they write the reason to stderr and return -1.
int connect_to(const char *server, int tcp_port);
int listen_at(int tcp_port, int backlog);

// Sends or receives all of the data, which TCP may deliver in pieces. What recv() returned.
bool send_all(int fd, const void *data, size_t size);
ssize_t receive_all(int fd, void *data, size_t size);

}  // namespace tools
