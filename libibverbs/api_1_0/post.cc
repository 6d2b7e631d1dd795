// SPDX-License-Identifier: BSD-2-Clause
// Work requests of programs of 2006.
#include <array>
#include <cstring>

#include "api_1_0/verbs.hh"

namespace {

/// Translates a list of `Old` requests piece by piece on the stack, and posts each piece. Where posting
/// fails, *bad_wr is the program's request, or null where the provider blames none.
template <class Old, class New, class Translate, class Post>
int post_list(Old *wr, Old **bad_wr, Translate translate, Post post)
{
    constexpr size_t kPiece = 16;
    do {
        std::array<New, kPiece> piece;
        std::array<Old *, kPiece> originals;
        size_t count = 0;
        for (; wr != nullptr && count < kPiece; wr = wr->next) {
            piece[count] = {};
            translate(*wr, piece[count]);
            if (count > 0)
                piece[count - 1].next = &piece[count];
            originals[count++] = wr;
        }
        New *bad = nullptr;
        int error = post(count > 0 ? piece.data() : nullptr, &bad);
        if (error != 0) {
            *bad_wr = bad != nullptr ? originals[static_cast<size_t>(bad - piece.data())] : nullptr;
            return error;
        }
    } while (wr != nullptr);
    return 0;
}

void translate_recv(const ibv_recv_wr_1_0 &old, ibv_recv_wr &wr)
{
    wr.wr_id = old.wr_id;
    wr.sg_list = old.sg_list;
    wr.num_sge = old.num_sge;
}

void translate_send(const ibv_send_wr_1_0 &old, ibv_send_wr &wr)
{
    wr.wr_id = old.wr_id;
    wr.sg_list = old.sg_list;
    wr.num_sge = old.num_sge;
    wr.opcode = old.opcode;
    wr.send_flags = static_cast<unsigned int>(old.send_flags);
    wr.imm_data = old.imm_data;
    static_assert(sizeof wr.wr == sizeof old.wr);
    std::memcpy(&wr.wr, &old.wr, sizeof wr.wr);
}

}  // namespace

int verbs::api_1_0::post_srq_recv(ibv_srq_1_0 *srq, ibv_recv_wr_1_0 *wr, ibv_recv_wr_1_0 **bad_wr)
{
    return post_list<ibv_recv_wr_1_0, ibv_recv_wr>(
        wr, bad_wr, translate_recv,
        [srq](ibv_recv_wr *list, ibv_recv_wr **bad) { return ibv_post_srq_recv(srq->real_srq, list, bad); });
}

int verbs::api_1_0::post_recv(ibv_qp_1_0 *qp, ibv_recv_wr_1_0 *wr, ibv_recv_wr_1_0 **bad_wr)
{
    return post_list<ibv_recv_wr_1_0, ibv_recv_wr>(
        wr, bad_wr, translate_recv,
        [qp](ibv_recv_wr *list, ibv_recv_wr **bad) { return ibv_post_recv(qp->real_qp, list, bad); });
}

int verbs::api_1_0::post_send(ibv_qp_1_0 *qp, ibv_send_wr_1_0 *wr, ibv_send_wr_1_0 **bad_wr)
{
    bool is_datagram = qp->real_qp->qp_type == IBV_QPT_UD;
    return post_list<ibv_send_wr_1_0, ibv_send_wr>(
        wr, bad_wr,
        [is_datagram](const ibv_send_wr_1_0 &old, ibv_send_wr &request) {
            translate_send(old, request);
            if (is_datagram)
                request.wr.ud.ah = old.wr.ud.ah != nullptr ? old.wr.ud.ah->real_ah : nullptr;
        },
        [qp](ibv_send_wr *list, ibv_send_wr **bad) { return ibv_post_send(qp->real_qp, list, bad); });
}
