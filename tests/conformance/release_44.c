/* SPDX-License-Identifier: BSD-2-Clause */
/* What a library of release 44 does not have: as if its device did not offer it. With these the conformance tests load and
 * run on such a library, which is the reference for all the rest. */
#include <errno.h>
#include <infiniband/verbs.h>

static void *refuse(void)
{
    errno = EOPNOTSUPP;
    return NULL;
}

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
    (void)pd, (void)attr;
    return refuse();
}

struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr)
{
    (void)context, (void)attr;
    return refuse();
}

int ibv_dealloc_dmah(struct ibv_dmah *dmah)
{
    (void)dmah;
    return EOPNOTSUPP;
}

int ibv_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed)
{
    (void)context, (void)port, (void)speed;
    return EOPNOTSUPP;
}

void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
    (void)pd, (void)size, (void)buf;
    return refuse();
}

void ibv_free_buf(struct ibv_buf *buf)
{
    (void)buf;
}

struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *address, size_t length,
                              int access)
{
    (void)pd, (void)buf, (void)address, (void)length, (void)access;
    return refuse();
}

int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
    (void)buf;
    refuse();
    return -1;
}

int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps, size_t size)
{
    (void)context, (void)caps, (void)size;
    return EOPNOTSUPP;
}

struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context, struct ibv_comp_cntr_init_attr *attr)
{
    (void)context, (void)attr;
    return refuse();
}

int ibv_destroy_comp_cntr(struct ibv_comp_cntr *counter)
{
    (void)counter;
    return EOPNOTSUPP;
}

int ibv_set_comp_cntr(struct ibv_comp_cntr *counter, uint64_t value)
{
    (void)counter, (void)value;
    return EOPNOTSUPP;
}

int ibv_set_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t value)
{
    (void)counter, (void)value;
    return EOPNOTSUPP;
}

int ibv_inc_comp_cntr(struct ibv_comp_cntr *counter, uint64_t amount)
{
    (void)counter, (void)amount;
    return EOPNOTSUPP;
}

int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t amount)
{
    (void)counter, (void)amount;
    return EOPNOTSUPP;
}

int ibv_read_comp_cntr(struct ibv_comp_cntr *counter, uint64_t *value)
{
    (void)counter, (void)value;
    return EOPNOTSUPP;
}

int ibv_read_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t *value)
{
    (void)counter, (void)value;
    return EOPNOTSUPP;
}

int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *counter,
                            struct ibv_qp_attach_comp_cntr_attr *attr)
{
    (void)qp, (void)counter, (void)attr;
    return EOPNOTSUPP;
}
