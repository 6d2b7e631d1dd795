// SPDX-License-Identifier: BSD-2-Clause
// The verbs of IBVERBS_1.0 that differ from today's in their objects. Each promises what today's verb of its
// name does.
//
// They are a program's view of the library: what they call is the public verb, on the object inside.
// ABI-frozen.
#pragma once

#include "api_1_0/objects.hh"
#include "base/export.hh"
#include "base/memory.hh"
#include "base/result.hh"

extern "C" {

ibv_device_1_0 **ibv_get_device_list_1_0(int *num);
void ibv_free_device_list_1_0(ibv_device_1_0 **list);
const char *ibv_get_device_name_1_0(ibv_device_1_0 *device);
__be64 ibv_get_device_guid_1_0(ibv_device_1_0 *device);
ibv_context_1_0 *ibv_open_device_1_0(ibv_device_1_0 *device);
int ibv_close_device_1_0(ibv_context_1_0 *context);
int ibv_get_async_event_1_0(ibv_context_1_0 *context, ibv_async_event *event);
void ibv_ack_async_event_1_0(ibv_async_event *event);
int ibv_query_device_1_0(ibv_context_1_0 *context, ibv_device_attr *device_attr);
int ibv_query_port_1_0(ibv_context_1_0 *context, uint8_t port_num, ibv_port_attr *port_attr);
int ibv_query_gid_1_0(ibv_context_1_0 *context, uint8_t port_num, int index, ibv_gid *gid);
int ibv_query_pkey_1_0(ibv_context_1_0 *context, uint8_t port_num, int index, __be16 *pkey);
ibv_pd_1_0 *ibv_alloc_pd_1_0(ibv_context_1_0 *context);
int ibv_dealloc_pd_1_0(ibv_pd_1_0 *pd);
ibv_mr_1_0 *ibv_reg_mr_1_0(ibv_pd_1_0 *pd, void *addr, size_t length, int access);
int ibv_dereg_mr_1_0(ibv_mr_1_0 *mr);
ibv_cq_1_0 *ibv_create_cq_1_0(ibv_context_1_0 *context, int cqe, void *cq_context, ibv_comp_channel *channel,
                              int comp_vector);
int ibv_resize_cq_1_0(ibv_cq_1_0 *cq, int cqe);
int ibv_destroy_cq_1_0(ibv_cq_1_0 *cq);
int ibv_get_cq_event_1_0(ibv_comp_channel *channel, ibv_cq_1_0 **cq, void **cq_context);
void ibv_ack_cq_events_1_0(ibv_cq_1_0 *cq, unsigned int nevents);
ibv_srq_1_0 *ibv_create_srq_1_0(ibv_pd_1_0 *pd, ibv_srq_init_attr *srq_init_attr);
int ibv_modify_srq_1_0(ibv_srq_1_0 *srq, ibv_srq_attr *srq_attr, int srq_attr_mask);
int ibv_query_srq_1_0(ibv_srq_1_0 *srq, ibv_srq_attr *srq_attr);
int ibv_destroy_srq_1_0(ibv_srq_1_0 *srq);
ibv_qp_1_0 *ibv_create_qp_1_0(ibv_pd_1_0 *pd, ibv_qp_init_attr_1_0 *qp_init_attr);
int ibv_query_qp_1_0(ibv_qp_1_0 *qp, ibv_qp_attr *attr, int attr_mask, ibv_qp_init_attr_1_0 *init_attr);
int ibv_modify_qp_1_0(ibv_qp_1_0 *qp, ibv_qp_attr *attr, int attr_mask);
int ibv_destroy_qp_1_0(ibv_qp_1_0 *qp);
ibv_ah_1_0 *ibv_create_ah_1_0(ibv_pd_1_0 *pd, ibv_ah_attr *attr);
int ibv_destroy_ah_1_0(ibv_ah_1_0 *ah);
int ibv_attach_mcast_1_0(ibv_qp_1_0 *qp, ibv_gid *gid, uint16_t lid);
int ibv_detach_mcast_1_0(ibv_qp_1_0 *qp, ibv_gid *gid, uint16_t lid);

using ibv_driver_init_func_1_1 = ibv_device *(*)(const char *uverbs_sys_path, int abi_version);
void ibv_register_driver_1_1(const char *name, ibv_driver_init_func_1_1 init_func);
}

namespace verbs::api_1_0 {

/// The op of the inline verb, for the object inside. A list of work requests is handed on in pieces, so that
/// it needs no memory; *bad_wr is the program's own request.
int poll_cq(ibv_cq_1_0 *cq, int num_entries, ibv_wc *wc);
int req_notify_cq(ibv_cq_1_0 *cq, int solicited_only);
int post_srq_recv(ibv_srq_1_0 *srq, ibv_recv_wr_1_0 *wr, ibv_recv_wr_1_0 **bad_wr);
int post_recv(ibv_qp_1_0 *qp, ibv_recv_wr_1_0 *wr, ibv_recv_wr_1_0 **bad_wr);
int post_send(ibv_qp_1_0 *qp, ibv_send_wr_1_0 *wr, ibv_send_wr_1_0 **bad_wr);

/// One more user of a device of a list, and one less; the last one gives it back. Any thread.
void device_ref(ibv_device_1_0 &device);
void device_unref(ibv_device_1_0 &device);

/// The rest of a verb that destroys: frees the wrapper once the object inside is gone.
template <class Wrapper>
int destroyed(Wrapper *wrapper, int error)
{
    if (error == 0)
        std::free(wrapper);
    return error;
}

}  // namespace verbs::api_1_0
