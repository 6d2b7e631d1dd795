/* SPDX-License-Identifier: BSD-2-Clause */
/* Verbs that came after release 44: called where the library that runs has them, else as if the device did not offer
 * them. So one program runs on every libibverbs. */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>

/* Defines the verb for this program; `refused` is what it gives, with errno, where the library has none. */
#define NEWER(type, refused, name, parameters, arguments)                           \
    type name parameters                                                            \
    {                                                                               \
        type(*const verb) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
        if (verb != NULL)                                                           \
            return verb arguments;                                                  \
        errno = EOPNOTSUPP;                                                         \
        return refused;                                                             \
    }

NEWER(struct ibv_mr *, NULL, ibv_reg_mr_ex, (struct ibv_pd * pd, struct ibv_mr_init_attr *attr), (pd, attr))
NEWER(struct ibv_dmah *, NULL, ibv_alloc_dmah,
      (struct ibv_context * context, struct ibv_dmah_init_attr *attr), (context, attr))
NEWER(int, EOPNOTSUPP, ibv_dealloc_dmah, (struct ibv_dmah * dmah), (dmah))
NEWER(int, EOPNOTSUPP, ibv_query_port_speed, (struct ibv_context * context, uint32_t port, uint64_t *speed),
      (context, port, speed))
NEWER(void *, NULL, ibv_alloc_buf, (struct ibv_pd * pd, size_t size, struct ibv_buf **buf), (pd, size, buf))
NEWER(struct ibv_mr *, NULL, ibv_reg_buf_mr,
      (struct ibv_pd * pd, struct ibv_buf *buf, void *address, size_t length, int access),
      (pd, buf, address, length, access))
NEWER(int, -1, ibv_export_buf_dmabuf_fd, (struct ibv_buf * buf), (buf))
NEWER(int, EOPNOTSUPP, _ibv_query_comp_cntr_caps,
      (struct ibv_context * context, struct ibv_comp_cntr_caps *caps, size_t size), (context, caps, size))
NEWER(struct ibv_comp_cntr *, NULL, ibv_create_comp_cntr,
      (struct ibv_context * context, struct ibv_comp_cntr_init_attr *attr), (context, attr))
NEWER(int, EOPNOTSUPP, ibv_destroy_comp_cntr, (struct ibv_comp_cntr * counter), (counter))
NEWER(int, EOPNOTSUPP, ibv_set_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t value), (counter, value))
NEWER(int, EOPNOTSUPP, ibv_set_err_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t value),
      (counter, value))
NEWER(int, EOPNOTSUPP, ibv_inc_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t amount),
      (counter, amount))
NEWER(int, EOPNOTSUPP, ibv_inc_err_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t amount),
      (counter, amount))
NEWER(int, EOPNOTSUPP, ibv_read_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t *value),
      (counter, value))
NEWER(int, EOPNOTSUPP, ibv_read_err_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t *value),
      (counter, value))
NEWER(int, EOPNOTSUPP, ibv_qp_attach_comp_cntr,
      (struct ibv_qp * qp, struct ibv_comp_cntr *counter, struct ibv_qp_attach_comp_cntr_attr *attr),
      (qp, counter, attr))

void ibv_free_buf(struct ibv_buf *buf)
{
    void (*const verb)(struct ibv_buf *) = (void (*)(struct ibv_buf *))dlsym(RTLD_NEXT, "ibv_free_buf");
    if (verb != NULL)
        verb(buf);
}
