/* SPDX-License-Identifier: BSD-2-Clause */
/* A provider of ABI 34, which the stock library loads as well: its ops are in fake_ops.c. */
#include "fake_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"

static void free_context(struct ibv_context *context)
{
    struct verbs_context *vctx =
        (struct verbs_context *)((char *)context - offsetof(struct verbs_context, context));
    verbs_uninit_context(vctx);
    free(vctx);
}

static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd, void *private_data)
{
    static const struct verbs_context_ops ops = {
        .alloc_pd = fake_alloc_pd,
        .async_event = fake_async_event,
        .attach_mcast = fake_attach_mcast,
        .cq_event = fake_cq_event,
        .create_ah = fake_create_ah,
        .create_cq = fake_create_cq,
        .create_qp = fake_create_qp,
        .create_srq = fake_create_srq,
        .dealloc_pd = fake_dealloc_pd,
        .dereg_mr = fake_dereg_mr,
        .destroy_ah = fake_destroy_ah,
        .destroy_cq = fake_destroy_cq,
        .destroy_qp = fake_destroy_qp,
        .destroy_srq = fake_destroy_srq,
        .detach_mcast = fake_detach_mcast,
        .free_context = free_context,
        .modify_qp = fake_modify_qp,
        .modify_srq = fake_modify_srq,
        .poll_cq = fake_poll_cq,
        .post_recv = fake_post_recv,
        .post_send = fake_post_send,
        .post_srq_recv = fake_post_srq_recv,
        .query_device_ex = fake_query_device,
        .query_port = fake_query_port,
        .query_qp = fake_query_qp,
        .query_srq = fake_query_srq,
        .reg_mr = fake_reg_mr,
        .req_notify_cq = fake_req_notify_cq,
        .resize_cq = fake_resize_cq,
    };
    uint64_t command[2], response[1];
    (void)private_data;
    struct verbs_context *vctx = _verbs_init_and_alloc_context(device, cmd_fd, sizeof *vctx, NULL, 4321);
    if (vctx == NULL)
        return NULL;
    verbs_set_ops(vctx, &ops);
    int error = ibv_cmd_get_context(vctx, command, sizeof command, response, sizeof response);
    if (error != 0) {
        verbs_uninit_context(vctx);
        free(vctx);
        errno = error;
        return NULL;
    }
    return vctx;
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
    .name = "fake",
    .match_min_abi_version = 0,
    .match_max_abi_version = 100,
    .match_device = match_device,
    .alloc_context = alloc_context,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

__attribute__((constructor)) static void start(void)
{
    verbs_register_driver(&device_ops);
}
