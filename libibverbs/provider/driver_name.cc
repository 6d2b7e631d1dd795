// SPDX-License-Identifier: BSD-2-Clause
// Which provider serves which kernel driver.
#include <rdma/ib_user_ioctl_verbs.h>

#include "provider/loader.hh"

namespace verbs::provider {

const char *provider_for(uint32_t driver_id)
{
    switch (driver_id) {
        case RDMA_DRIVER_MLX5:
            return "mlx5";
        case RDMA_DRIVER_MLX4:
            return "mlx4";
        case RDMA_DRIVER_CXGB4:
            return "cxgb4";
        case RDMA_DRIVER_MTHCA:
            return "mthca";
        case RDMA_DRIVER_BNXT_RE:
            return "bnxt_re";
        case RDMA_DRIVER_OCRDMA:
            return "ocrdma";
        case RDMA_DRIVER_IRDMA:
            return "irdma";
        case RDMA_DRIVER_VMW_PVRDMA:
            return "vmw_pvrdma";
        case RDMA_DRIVER_QEDR:
            return "qedr";
        case RDMA_DRIVER_HNS:
            return "hns";
        case RDMA_DRIVER_RXE:
            return "rxe";
        case RDMA_DRIVER_HFI1:
            return "hfi1verbs";
        case RDMA_DRIVER_QIB:
            return "ipathverbs";
        case RDMA_DRIVER_EFA:
            return "efa";
        case RDMA_DRIVER_SIW:
            return "siw";
        case RDMA_DRIVER_ERDMA:
            return "erdma";
        case RDMA_DRIVER_MANA:
            return "mana";
        default:
            return nullptr;
    }
}

}  // namespace verbs::provider
