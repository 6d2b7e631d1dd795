// SPDX-License-Identifier: BSD-2-Clause
// Domains of extended reliable connections (IBTA annex A14), and QPs that several of their users open.
#pragma once

#include <infiniband/driver.h>
#include <sys/types.h>

#include <cstdint>

#include "verbs/qp.hh"

namespace urxe {

/// A handle of a domain. All that are opened with the same file are of one domain, whose number they have in common. A domain is
/// one process's: others that open the file have one of their own.
struct Xrcd {
    verbs_xrcd verbs;  // must be first
    uint32_t number;   ///< 0: none
    uint32_t users;    ///< SRQs and QPs; under Process::lock, as the rest
    bool has_file;
    dev_t device;
    ino_t inode;
    Xrcd *next;  ///< of the process
};

inline Xrcd &to_xrcd(ibv_xrcd *xrcd)
{
    return *reinterpret_cast<Xrcd *>(xrcd);
}

ibv_xrcd *xrcd_open(ibv_context *context, ibv_xrcd_init_attr *attr);
int xrcd_close(ibv_xrcd *xrcd);

/// A handle of a QP that somebody else has made, beside the one that is part of it. Both begin alike.
struct OpenedQp {
    verbs_qp verbs;
    Qp *qp;
    OpenedQp *next;  ///< of the QP
};

ibv_qp *qp_open(ibv_context *context, ibv_qp_open_attr *attr);

inline Qp &qp_behind(ibv_qp *handle)
{
    return *reinterpret_cast<OpenedQp *>(handle)->qp;
}

/// Gives a handle up. Whether it was the last, and the QP must go. Under process->lock.
bool qp_close(ibv_qp *handle);

}  // namespace urxe
