/* SPDX-License-Identifier: BSD-2-Clause */
/* Uses every kind of thing in the installed headers, as C and as C++ of any age. It is compiled only. */
#include <infiniband/arch.h>
#include <infiniband/opcode.h>
#include <infiniband/sa-kern-abi.h>
#include <infiniband/sa.h>
#include <infiniband/tm_types.h>
#include <infiniband/verbs.h>

int use_headers(struct ibv_context *context, struct ibv_pd *pd, int access, unsigned int unsigned_access);

int use_headers(struct ibv_context *context, struct ibv_pd *pd, int access, unsigned int unsigned_access)
{
    enum ibv_access_flags one = IBV_ACCESS_LOCAL_WRITE;
    struct verbs_context *vctx = verbs_get_ctx_op(context, query_port);
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_port_attr port;
    struct ibv_send_wr wr;
    struct ibv_sge sge;
    struct ibv_flow_spec spec;
    struct ibv_sa_path_rec path;
    char memory[16];
    int total = 0;

    memset(&wr, 0, sizeof(wr));
    memset(&spec, 0, sizeof(spec));
    memset(&path, 0, sizeof(path));
    sge.length = sizeof(memory);
    wr.sg_list = &sge;
    wr.opcode = IBV_WR_SEND_WITH_IMM;
    wr.imm_data = 1;
    wr.wr.rdma.rkey = 2;
    wr.bind_mw.rkey = 3;
    spec.hdr.type = IBV_FLOW_SPEC_ETH;
    path.dgid.raw[0] = 1;
    errno = 0;

    total += ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE) != NULL;
    total += ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) != NULL;
    total += ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_RELAXED_ORDERING) != NULL;
    total += ibv_reg_mr(pd, memory, sizeof(memory), one) != NULL;
    total += ibv_reg_mr(pd, memory, sizeof(memory), access) != NULL;
    total += ibv_reg_mr(pd, memory, sizeof(memory), access & 1 ? IBV_ACCESS_LOCAL_WRITE : 0) != NULL;
    total += ibv_reg_mr(pd, memory, sizeof(memory), unsigned_access) != NULL;
    total += ibv_reg_mr_iova(pd, memory, sizeof(memory), 0, IBV_ACCESS_LOCAL_WRITE) != NULL;
    total += ibv_reg_mr_iova(pd, memory, sizeof(memory), 0, access) != NULL;
    total += ibv_query_port(context, 1, &port);
    total += vctx != NULL && vctx == verbs_get_ctx(context);
    total += IBV_OPCODE_RC_RDMA_WRITE_ONLY + spec.hdr.size;
    total += IBV_TMH_EAGER;
    total += IBV_RX_HASH_INNER != 0;
    total += (IBV_CREATE_CQ_SUP_WC_FLAGS & IBV_WC_STANDARD_FLAGS) == IBV_WC_STANDARD_FLAGS;
    total += vext_field_avail(struct ibv_port_attr, active_speed_ex, sizeof(port));
    total += ETHERNET_LL_SIZE + IBV_QPF_GRH_REQUIRED + IBV_ADVISE_MR_FLAG_FLUSH + IBV_PATH_FLAG_BIDIRECTIONAL;
    total += IBV_ALLOCATOR_USE_DEFAULT != NULL;
#if defined(__cplusplus) || defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
    total += IBV_DEVICE_CC_DMA_BOUNCE != 0; /* long long, which the oldest C has not */
#endif
    total += __VERBS_ABI_IS_EXTENDED != NULL;
    ibv_free_device_list(list);
    return total;
}

/* Programs include these by way of verbs.h. */
int use_system_headers(pthread_mutex_t *mutex, uint8_t *bytes, ssize_t length, __be32 word,
                       struct timespec *when);

int use_system_headers(pthread_mutex_t *mutex, uint8_t *bytes, ssize_t length, __be32 word,
                       struct timespec *when)
{
    memset(bytes, 0, offsetof(struct ibv_mr, lkey));
    return pthread_mutex_lock(mutex) || word || when->tv_nsec || length;
}
