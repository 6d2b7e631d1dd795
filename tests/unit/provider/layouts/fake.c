/* SPDX-License-Identifier: BSD-2-Clause */
/* A provider as a release would have compiled it (RELEASE, see provider.h): each op tells its slot, and every object that the library sees lies
 * between canaries. */
#include "fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"

struct canary {
    unsigned char bytes[FAKE_CANARY];
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

extern struct fake the_fake;

static void paint(struct canary *canary)
{
    memset(canary, 0xa5, sizeof *canary);
}

static void check(const struct canary *canary, unsigned char expected)
{
    for (size_t i = 0; i < sizeof canary->bytes; ++i)
        if (canary->bytes[i] != expected) {
            ++the_fake.canaries_hurt;
            return;
        }
}

static struct fake_context *context_of(struct ibv_context *context)
{
    return (struct fake_context *)((char *)context - offsetof(struct fake_context, vctx.context));
}

static void *answer(int slot, const void *argument)
{
    the_fake.called = slot;
    the_fake.argument = argument;
    return the_fake.answers[slot];
}

#define OPS (sizeof(struct verbs_context_ops) / sizeof(void *))
#define SLOT_OF(op) (offsetof(struct verbs_context_ops, op) / sizeof(void *))

/* Eighty-three functions, so that each slot has one of its own. Their numbers are octal. */
#define EIGHT(m, tens) m(tens##0) m(tens##1) m(tens##2) m(tens##3) m(tens##4) m(tens##5) m(tens##6) m(tens##7)
#define OCTETS(m) \
    EIGHT(m, 00)  \
    EIGHT(m, 01)  \
    EIGHT(m, 02)  \
    EIGHT(m, 03)  \
    EIGHT(m, 04)  \
    EIGHT(m, 05)  \
    EIGHT(m, 06)  \
    EIGHT(m, 07)  \
    EIGHT(m, 010) \
    EIGHT(m, 011) m(0120) m(0121) m(0122)
#define SLOT_FUNCTION(slot)                                                         \
    static void *slot_##slot(const void *argument, const void *second, void *third) \
    {                                                                               \
        (void)second;                                                               \
        give_buffer(slot, third);                                                   \
        return answer(slot, argument);                                              \
    }

/* The op that gives an object apart from its answer. */
static void give_buffer(size_t slot, void *buffer)
{
    static char object[64];
#if RELEASE >= 64
    if (slot == SLOT_OF(alloc_buf))
        *(void **)buffer = object;
#endif
    (void)slot;
    (void)buffer;
    (void)object;
}
OCTETS(SLOT_FUNCTION)

#define SLOT_ENTRY(slot) slot_##slot,
static void *(*const slots[])(const void *, const void *, void *) = {OCTETS(SLOT_ENTRY)};
_Static_assert(sizeof slots / sizeof *slots == FAKE_MAX_OPS && OPS <= FAKE_MAX_OPS,
               "a function for every op");

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
        the_fake.front_written |= fake->before.bytes[i];
    check(&fake->after, 0);
    paint(&fake->before);
    paint(&fake->after);
    the_fake.context_size = sizeof fake->vctx;
    the_fake.sz = fake->vctx.sz;

    union {
        struct verbs_context_ops ops;
        void *(*slots[OPS])(const void *, const void *, void *);
    } table = {.slots = {NULL}};
    if (strcmp(the_fake.ops, "all") == 0)
        memcpy(table.slots, slots, sizeof table.slots);
    table.ops.free_context = free_context;
    verbs_set_ops(&fake->vctx, &table.ops);
    check_context(fake);

    uint64_t command[2], response[1];
#if RELEASE >= 57
    int error = ibv_cmd_get_context(&fake->vctx, command, sizeof command, NULL, response, sizeof response);
#else
    int error = ibv_cmd_get_context(&fake->vctx, command, sizeof command, response, sizeof response);
#endif
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
    if (context == NULL || strcmp(the_fake.ops, "refuse") != 0)
        return context;
    free_context(&context->context);
    errno = EPERM;
    return NULL;
}

/* The attributes of the release may be shorter: what lies behind is not the library's. */
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
            ++the_fake.canaries_hurt;
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
    if (the_fake.uses_ex2)
        return finish_qp(block, ibv_cmd_create_qp_ex2(context, &block->qp.vqp, attr, command, sizeof command,
                                                      response, sizeof response
#if RELEASE >= 64
                                                      ,
                                                      NULL
#endif
                                                      ));
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
    int error;
#if RELEASE >= 59
    error = the_fake.uses_ex2 ? ibv_cmd_create_cq_ex2(context, attr, NULL, &block->vcq, command,
                                                      sizeof command, response, sizeof response, 0, NULL)
                              : ibv_cmd_create_cq_ex(context, attr, NULL, &block->vcq, command,
                                                     sizeof command, response, sizeof response, 0);
#elif RELEASE >= 54
    error = the_fake.uses_ex2 ? ibv_cmd_create_cq_ex2(context, attr, &block->vcq, command, sizeof command,
                                                      response, sizeof response, 0, NULL)
                              : ibv_cmd_create_cq_ex(context, attr, &block->vcq, command, sizeof command,
                                                     response, sizeof response, 0);
#else
    error = ibv_cmd_create_cq_ex(context, attr, &block->vcq, command, sizeof command, response,
                                 sizeof response, 0);
#endif
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
    const void *driver = NULL;
#if RELEASE < 54
    /* A caller of seven arguments may have anything there. */
    driver = (const void *)1;
#endif
    int error =
        vmr != NULL ? ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr, driver) : ENOMEM;
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

static void wr_start(struct ibv_qp_ex *qp)
{
    the_fake.argument = qp;
}

static void make_extended(void *qp)
{
    struct verbs_qp *vqp = qp;
    /* An older release's comp_mask lies where newer ones have an operation. */
    vqp->comp_mask |= 1U << 1; /* VERBS_QP_EX */
    vqp->qp_ex.wr_start = wr_start;
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
    return strcmp(device->ibdev_name, "fake" TEXT(RELEASE)) == 0;
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
    .name = "fake" TEXT(RELEASE),
    .match_min_abi_version = 0,
    .match_max_abi_version = 100,
    .match_device = match_device,
    .alloc_context = alloc_context,
    .import_context = import_context,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

#define NAME(op) [SLOT_OF(op)] = #op
__attribute__((visibility("default"))) struct fake the_fake = {
    .ops_count = OPS,
    .names =
        {
            NAME(advise_mr),
#if RELEASE >= 64
            NAME(alloc_buf),
#endif
            NAME(alloc_dm),
#if RELEASE >= 59
            NAME(alloc_dmah),
#endif
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
#if RELEASE >= 59
            NAME(dealloc_dmah),
#endif
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
#if RELEASE >= 62
            NAME(dm_export_dmabuf_fd),
#endif
#if RELEASE >= 64
            NAME(free_buf),
#endif
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
#if RELEASE >= 62
            NAME(query_port_speed),
#endif
            NAME(query_qp),
            NAME(query_qp_data_in_order),
            NAME(query_rt_values),
            NAME(query_srq),
            NAME(read_counters),
            NAME(reg_dm_mr),
            NAME(reg_dmabuf_mr),
            NAME(reg_mr),
#if RELEASE >= 59
            NAME(reg_mr_ex),
#endif
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
    verbs_register_driver(&device_ops);
}
