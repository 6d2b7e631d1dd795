/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the kernel's spelling of attributes and the library's: what a connection manager needs. Not installed. */
#ifndef INFINIBAND_MARSHALL_H
#define INFINIBAND_MARSHALL_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Each fills the whole of dst from src, except that of ibv_qp_attr, qp_state and rate_limit keep their value: the
 * caller knows the state that it asked for. Members keep their byte order. The functions cannot fail.
 */
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src);

#ifdef __cplusplus
}
#endif

#endif
