// SPDX-License-Identifier: BSD-2-Clause
// How the two sides of a ping-pong tell each other their addresses, over TCP.
//
// The client connects and sends its address; the server answers with its own once it is ready to receive; the client
// says "done" when it is. An address travels as text with fixed widths and a final NUL,
// "LID:QPN:PSN:GID" in hexadecimal (4, 6, 6 and 32 digits).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace tools {

// Where a queue pair is and which packet sequence number its sends start at.
struct Address {
    unsigned lid;
    unsigned qpn;
    unsigned psn;
    ibv_gid gid;
};

// Called by the server between learning of the client and answering it: must bring the queue pair up. On false, which
// it explains itself, the exchange ends.
struct Connector {
    bool (*connect)(void *self, const Address &remote);
    void *self;
};

// Connects to the server's TCP port and exchanges addresses. On failure writes the reason to stderr.
bool exchange_as_client(const char *server, int tcp_port, const Address &local, Address *remote);

// Waits for one client at the TCP port and exchanges addresses. On failure writes the reason to stderr.
bool exchange_as_server(int tcp_port, const Address &local, Connector connector, Address *remote);

// Writes "  LABEL LID ..., QPN ..., PSN ..., GID ..." to stdout.
void print_address(const char *label, const Address &address);

}  // namespace tools
