/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs: the interface of programs to RDMA devices (InfiniBand Architecture Specification volume 1, here
 * IBTA, chapters 10 and 11). This header is the whole of it; a part per object is in
 * <infiniband/verbs/OBJECT.h>.
 *
 * Functions that make an object return NULL and set errno on failure; most others return 0 or the errno
 * value. What departs from that says so. All may be called by several threads at a time, but not on an object
 * that another thread is destroying. Handles belong to the caller that made them, and are destroyed in the
 * opposite order.
 */
#ifndef INFINIBAND_VERBS_H
#define INFINIBAND_VERBS_H

#include <infiniband/verbs/base.h>

#include <infiniband/verbs/context.h>

#include <infiniband/verbs/ah.h>
#include <infiniband/verbs/buf.h>
#include <infiniband/verbs/comp_channel.h>
#include <infiniband/verbs/comp_cntr.h>
#include <infiniband/verbs/counters.h>
#include <infiniband/verbs/cq.h>
#include <infiniband/verbs/device.h>
#include <infiniband/verbs/dm.h>
#include <infiniband/verbs/dmah.h>
#include <infiniband/verbs/event.h>
#include <infiniband/verbs/flow.h>
#include <infiniband/verbs/fork.h>
#include <infiniband/verbs/gid.h>
#include <infiniband/verbs/mr.h>
#include <infiniband/verbs/mw.h>
#include <infiniband/verbs/pd.h>
#include <infiniband/verbs/port.h>
#include <infiniband/verbs/qp.h>
#include <infiniband/verbs/qp_ex.h>
#include <infiniband/verbs/rate.h>
#include <infiniband/verbs/srq.h>
#include <infiniband/verbs/wc.h>
#include <infiniband/verbs/wq.h>
#include <infiniband/verbs/wr.h>
#include <infiniband/verbs/xrcd.h>

#endif
