// SPDX-License-Identifier: BSD-2-Clause
// Sending Ethernet frames by packet sockets.
#include "raw/send.hh"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "direct/target.hh"
#include "raw/checksum.hh"
#include "raw/tap.hh"

namespace urxe::raw {

using direct::Copied;
using direct::Outcome;
using direct::Result;

Result send(Qp &qp, const Request &request)
{
    direct::Pieces payload;
    if (!direct::find_payload(qp, request, payload))
        return direct::done(IBV_WC_LOC_PROT_ERR);
    if (payload.length < kEthernetHeader || payload.length > kMaxFrame)
        return direct::done(IBV_WC_LOC_LEN_ERR);
    Tap &tap = *qp.tap;
    iovec pieces[direct::kMaxSegments];
    msghdr message{};
    message.msg_iov = pieces;
    const bool is_in_memory =
        std::all_of(payload.piece, payload.piece + payload.count, [](const direct::Piece &piece) {
            return piece.way != direct::Way::kNull && piece.way != direct::Way::kForeign;
        });
    const bool is_gathered = request.has_checksums || !is_in_memory;
    if (is_gathered) {
        tap.buffer_lock.lock();
        if (direct::gather(qp.process->self, tap.buffer, {payload.piece, payload.count}, payload.length) !=
            Copied::kAll) {
            tap.buffer_lock.unlock();
            return direct::done(IBV_WC_LOC_PROT_ERR);
        }
        const std::span<uint8_t> frame(tap.buffer, payload.length);
        if (request.has_checksums)
            set_checksums(frame, parse(frame));
        pieces[0] = {tap.buffer, payload.length};
        message.msg_iovlen = 1;
    } else {
        for (uint32_t i = 0; i < payload.count; ++i)
            pieces[i] = {reinterpret_cast<void *>(payload.piece[i].address), payload.piece[i].length};
        message.msg_iovlen = payload.count;
    }
    const int before = errno;
    const int error = sendmsg(tap.send_socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
    errno = before;
    if (is_gathered)
        tap.buffer_lock.unlock();
    switch (error) {
        case EAGAIN:
        case ENOBUFS:
            return {Outcome::kNotReady, IBV_WC_SUCCESS, 0};
        case EMSGSIZE:
            return direct::done(IBV_WC_LOC_LEN_ERR);
        case EFAULT:
            return direct::done(IBV_WC_LOC_PROT_ERR);
        default:
            // What an interface that is down or gone does with a frame is the network's.
            return direct::done(IBV_WC_SUCCESS, payload.length);
    }
}

}  // namespace urxe::raw
