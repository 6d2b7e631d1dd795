/* SPDX-License-Identifier: BSD-2-Clause */
/* A provider as release 44.0 would have compiled it: each op tells its slot, and every object that the library sees lies
 * between canaries. */
#include "fake_34.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider_34.h"

struct canary {
    unsigned char bytes[FAKE_34_CANARY];
};

struct fake_context {
    struct canary before;
    struct verbs_context vctx;
    struct canary after;
};

struct fake_qp {
    struct verbs_qp vqp; /* first, as providers have it: the library frees nothing */
    struct canary after;
};

struct fake_qp_block {
    struct canary before;
    struct fake_qp qp;
};

extern struct fake_34 fake_34;

static void paint(struct canary *canary)
{
    memset(canary, 0xa5, sizeof *canary);
}

static void check(const struct canary *canary, unsigned char expected)
{
    for (size_t i = 0; i < sizeof canary->bytes; ++i)
        if (canary->bytes[i] != expected) {
            ++fake_34.canaries_hurt;
            return;
        }
}

static struct fake_context *context_of(struct ibv_context *context)
{
    return (struct fake_context *)((char *)context - offsetof(struct fake_context, vctx.context));
}

static void *answer(int slot, const void *argument)
{
    fake_34.called = slot;
    fake_34.argument = argument;
    return fake_34.answers[slot];
}

/* Seventy-six functions, so that each slot has one of its own. Their numbers are octal. */
#define EIGHT(m, tens) m(tens##0) m(tens##1) m(tens##2) m(tens##3) m(tens##4) m(tens##5) m(tens##6) m(tens##7)
#define OCTETS(m) \
    EIGHT(m, 00)  \
    EIGHT(m, 01)  \
    EIGHT(m, 02)  \
    EIGHT(m, 03)  \
    EIGHT(m, 04) EIGHT(m, 05) EIGHT(m, 06) EIGHT(m, 07) EIGHT(m, 010) m(0110) m(0111) m(0112) m(0113)
#define SLOT_FUNCTION(slot)                        \
    static void *slot_##slot(const void *argument) \
    {                                              \
        return answer(slot, argument);             \
    }
OCTETS(SLOT_FUNCTION)

#define SLOT_ENTRY(slot) slot_##slot,
static void *(*const slots[])(const void *) = {OCTETS(SLOT_ENTRY)};
_Static_assert(sizeof slots == sizeof(struct verbs_context_ops), "a function for every op");

#define SLOT_OF(op) (offsetof(struct verbs_context_ops, op) / sizeof(void *))

static void check_context(struct fake_context *fake)
{
    check(&fake->before, 0xa5);
    check(&fake->after, 0xa5);
}

static void free_context(struct ibv_context *context)
{
    struct fake_context *fake = context_of(context);
    answer(SLOT_OF(free_context), context);
    check_context(fake);
    verbs_uninit_context(&fake->vctx);
    check_context(fake);
    free(fake);
}

static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd, void *private_data)
{
    (void)private_data;
    struct fake_context *fake = _verbs_init_and_alloc_context(
        device, cmd_fd, sizeof *fake, (struct verbs_context *)offsetof(struct fake_context, vctx), 1234);
    if (fake == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof fake->before; ++i)
        fake_34.front_written |= fake->before.bytes[i];
    check(&fake->after, 0);
    paint(&fake->before);
    paint(&fake->after);
    fake_34.context_size = fake->vctx.sz;

    union {
        struct verbs_context_ops ops;
        void *(*slots[FAKE_34_OPS])(const void *);
    } table = {.slots = {NULL}};
    if (strcmp(fake_34.ops, "all") == 0)
        memcpy(table.slots, slots, sizeof slots);
    table.ops.free_context = free_context;
    verbs_set_ops(&fake->vctx, &table.ops);
    check_context(fake);

    uint64_t command[2], response[1];
    int error = ibv_cmd_get_context(&fake->vctx, command, sizeof command, response, sizeof response);
    check_context(fake);
    if (error != 0) {
        verbs_uninit_context(&fake->vctx);
        free(fake);
        errno = error;
        return NULL;
    }
    return &fake->vctx;
}

static struct verbs_context *import_context(struct ibv_device *device, int cmd_fd)
{
    struct verbs_context *context = alloc_context(device, cmd_fd, NULL);
    if (context == NULL || strcmp(fake_34.ops, "refuse") != 0)
        return context;
    free_context(&context->context);
    errno = EPERM;
    return NULL;
}

/* The caller's attributes have 52 bytes in this release: what lies behind is not the library's. */
static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr)
{
    struct {
        struct canary before;
        struct ibv_port_attr attr;
        struct canary after;
    } own;
    paint(&own.before);
    paint(&own.after);
    uint64_t command[3];
    answer(SLOT_OF(query_port), context);
    int error = ibv_cmd_query_port(context, port_num, &own.attr, command, sizeof command);
    check(&own.before, 0xa5);
    check(&own.after, 0xa5);
    if (error == 0)
        *port_attr = own.attr;
    return error;
}

static struct fake_qp_block *new_qp(void)
{
    struct fake_qp_block *block = calloc(1, sizeof *block);
    if (block != NULL) {
        paint(&block->before);
        paint(&block->qp.after);
    }
    return block;
}

static struct ibv_qp *finish_qp(struct fake_qp_block *block, int error)
{
    check(&block->before, 0xa5);
    check(&block->qp.after, 0xa5);
    if (error == 0)
        return &block->qp.vqp.qp;
    /* As providers of this release do: errno is the command's affair. */
    free(block);
    return NULL;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct fake_qp_block *block = new_qp();
    uint64_t command[8], response[4];
    if (block == NULL)
        return NULL;
    /* A provider without extended queue pairs has an ibv_qp only. */
    const size_t behind = sizeof block->qp.vqp - sizeof(struct ibv_qp);
    memset((char *)&block->qp.vqp + sizeof(struct ibv_qp), 0xa5, behind);
    int error =
        ibv_cmd_create_qp(pd, &block->qp.vqp.qp, attr, command, sizeof command, response, sizeof response);
    for (size_t i = 0; i < behind; ++i)
        if (((unsigned char *)&block->qp.vqp)[sizeof(struct ibv_qp) + i] != 0xa5)
            ++fake_34.canaries_hurt;
    memset((char *)&block->qp.vqp + sizeof(struct ibv_qp), 0, behind);
    return finish_qp(block, error);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    struct fake_qp_block *block = new_qp();
    uint64_t command[11], response[5];
    if (block == NULL)
        return NULL;
    /* The commands and answers of ibv_cmd_create_qp_ex are those of ibv_cmd_create_qp. */
    if (fake_34.uses_create_qp_ex2)
        return finish_qp(block, ibv_cmd_create_qp_ex2(context, &block->qp.vqp, attr, command, sizeof command,
                                                      response, sizeof response));
    return finish_qp(block, ibv_cmd_create_qp_ex(context, &block->qp.vqp, attr, command, 64, response, 32));
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
    struct fake_qp_block *block = new_qp();
    uint64_t command[5], response[4];
    if (block == NULL)
        return NULL;
    return finish_qp(block, ibv_cmd_open_qp(context, &block->qp.vqp, sizeof block->qp.vqp, attr, command,
                                            sizeof command, response, sizeof response));
}

static int destroy_qp(struct ibv_qp *qp)
{
    struct fake_qp_block *block =
        (struct fake_qp_block *)((char *)qp - offsetof(struct fake_qp_block, qp.vqp.qp));
    check(&block->before, 0xa5);
    check(&block->qp.after, 0xa5);
    free(block);
    return 0;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    struct {
        struct canary before;
        struct verbs_cq vcq;
        struct canary after;
    } *block = calloc(1, sizeof *block);
    uint64_t command[7], response[3];
    if (block == NULL)
        return NULL;
    paint(&block->before);
    paint(&block->after);
    int error = ibv_cmd_create_cq_ex(context, attr, &block->vcq, command, sizeof command, response,
                                     sizeof response, 0);
    check(&block->before, 0xa5);
    check(&block->after, 0xa5);
    if (error == 0)
        return &block->vcq.cq_ex;
    free(block);
    errno = error;
    return NULL;
}

static int destroy_cq(struct ibv_cq *cq)
{
    free((char *)cq - sizeof(struct canary));
    return 0;
}

static struct ibv_mr *reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                    int access)
{
    struct verbs_mr *vmr = calloc(1, sizeof *vmr);
    int error = vmr != NULL ? ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr) : ENOMEM;
    if (error == 0)
        return &vmr->ibv_mr;
    free(vmr);
    errno = error;
    return NULL;
}

static int dereg_mr(struct verbs_mr *vmr)
{
    free(vmr);
    return 0;
}

static void install_commands(void *context)
{
    const struct verbs_context_ops ops = {.create_cq_ex = create_cq_ex,
                                          .create_qp = create_qp,
                                          .create_qp_ex = create_qp_ex,
                                          .dereg_mr = dereg_mr,
                                          .destroy_cq = destroy_cq,
                                          .destroy_qp = destroy_qp,
                                          .open_qp = open_qp,
                                          .query_port = query_port,
                                          .reg_dmabuf_mr = reg_dmabuf_mr};
    struct fake_context *fake = context_of(context);
    verbs_set_ops(&fake->vctx, &ops);
    check_context(fake);
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, void *atomic_wr)
{
    (void)rkey;
    (void)remote_addr;
    (void)atomic_wr;
    fake_34.argument = qp;
}

static void make_extended(void *qp)
{
    struct verbs_qp *vqp = qp;
    /* This release's comp_mask lies where newer ones have wr_flush. */
    vqp->comp_mask |= 1U << 1; /* VERBS_QP_EX */
    vqp->qp_ex.wr_atomic_write = wr_atomic_write;
}

static uint32_t qp_comp_mask(const void *qp)
{
    return ((const struct verbs_qp *)qp)->comp_mask;
}

static const void *qp_xrcd(const void *qp)
{
    return ((const struct verbs_qp *)qp)->xrcd;
}

static void log_text(void *context, const char *text)
{
    __verbs_log(context != NULL ? &context_of(context)->vctx : NULL, 1, "%s\n", text);
}

static _Bool match_device(struct verbs_sysfs_dev *device)
{
    return strncmp(device->ibdev_name, "fake", 4) == 0;
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *found)
{
    (void)found;
    return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device *device)
{
    free(device);
}

static const struct verbs_device_ops device_ops = {
    .name = "fake34",
    .match_min_abi_version = 0,
    .match_max_abi_version = 100,
    .match_device = match_device,
    .alloc_context = alloc_context,
    .import_context = import_context,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

#define NAME(op) [SLOT_OF(op)] = #op
__attribute__((visibility("default"))) struct fake_34 fake_34 = {
    .names =
        {
            NAME(advise_mr),
            NAME(alloc_dm),
            NAME(alloc_mw),
            NAME(alloc_null_mr),
            NAME(alloc_parent_domain),
            NAME(alloc_pd),
            NAME(alloc_td),
            NAME(async_event),
            NAME(attach_counters_point_flow),
            NAME(attach_mcast),
            NAME(bind_mw),
            NAME(close_xrcd),
            NAME(cq_event),
            NAME(create_ah),
            NAME(create_counters),
            NAME(create_cq),
            NAME(create_cq_ex),
            NAME(create_flow),
            NAME(create_flow_action_esp),
            NAME(create_qp),
            NAME(create_qp_ex),
            NAME(create_rwq_ind_table),
            NAME(create_srq),
            NAME(create_srq_ex),
            NAME(create_wq),
            NAME(dealloc_mw),
            NAME(dealloc_pd),
            NAME(dealloc_td),
            NAME(dereg_mr),
            NAME(destroy_ah),
            NAME(destroy_counters),
            NAME(destroy_cq),
            NAME(destroy_flow),
            NAME(destroy_flow_action),
            NAME(destroy_qp),
            NAME(destroy_rwq_ind_table),
            NAME(destroy_srq),
            NAME(destroy_wq),
            NAME(detach_mcast),
            NAME(free_context),
            NAME(free_dm),
            NAME(get_srq_num),
            NAME(import_dm),
            NAME(import_mr),
            NAME(import_pd),
            NAME(modify_cq),
            NAME(modify_flow_action_esp),
            NAME(modify_qp),
            NAME(modify_qp_rate_limit),
            NAME(modify_srq),
            NAME(modify_wq),
            NAME(open_qp),
            NAME(open_xrcd),
            NAME(poll_cq),
            NAME(post_recv),
            NAME(post_send),
            NAME(post_srq_ops),
            NAME(post_srq_recv),
            NAME(query_device_ex),
            NAME(query_ece),
            NAME(query_port),
            NAME(query_qp),
            NAME(query_qp_data_in_order),
            NAME(query_rt_values),
            NAME(query_srq),
            NAME(read_counters),
            NAME(reg_dm_mr),
            NAME(reg_dmabuf_mr),
            NAME(reg_mr),
            NAME(req_notify_cq),
            NAME(rereg_mr),
            NAME(resize_cq),
            NAME(set_ece),
            NAME(unimport_dm),
            NAME(unimport_mr),
            NAME(unimport_pd),
        },
    .ops = "all",
    .install_commands = install_commands,
    .make_extended = make_extended,
    .qp_comp_mask = qp_comp_mask,
    .qp_xrcd = qp_xrcd,
    .log = log_text,
};

__attribute__((constructor)) static void start(void)
{
    verbs_register_driver_34(&device_ops);
}
