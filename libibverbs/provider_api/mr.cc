// SPDX-License-Identifier: BSD-2-Clause
// For providers: commands for memory regions.
#include "uverbs/mr.hh"

#include <infiniband/driver.h>
#include <unistd.h>

#include "base/export.hh"
#include "provider/context.hh"
#include "provider_api/command.hh"

using verbs::provider::channel;
using verbs::provider_api::creation_error;

namespace {

void fill(verbs_mr &vmr, ibv_pd &pd, void *addr, size_t length, const verbs::uverbs::MrInfo &info,
          ibv_mr_type type)
{
    vmr.ibv_mr = {.context = pd.context,
                  .pd = &pd,
                  .addr = addr,
                  .length = length,
                  .handle = info.handle,
                  .lkey = info.lkey,
                  .rkey = info.rkey};
    vmr.mr_type = type;
}

}  // namespace

VERBS_EXPORT int ibv_cmd_reg_mr(ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access,
                                verbs_mr *vmr, struct ibv_reg_mr *cmd, size_t cmd_size,
                                ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
    verbs::uverbs::MrRequest request = {.pd_handle = pd->handle,
                                        .start = reinterpret_cast<uintptr_t>(addr),
                                        .length = length,
                                        .iova = hca_va,
                                        .access = static_cast<uint32_t>(access)};
    verbs::Result<verbs::uverbs::MrInfo> info = verbs::uverbs::mr_register(
        channel(pd->context), request, verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return creation_error(info.error());
    verbs::provider_api::give_answer(resp, resp_size,
                                     {.mr_handle = info->handle, .lkey = info->lkey, .rkey = info->rkey});
    fill(*vmr, *pd, addr, length, *info, IBV_MR_TYPE_MR);
    vmr->access = access;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_reg_mr);

VERBS_EXPORT int ibv_cmd_reg_mr_ex(ibv_pd *pd, verbs_mr *vmr, ibv_mr_init_attr *attr)
{
    verbs::uverbs::MrExRequest request = {.pd_handle = pd->handle,
                                          .start = reinterpret_cast<uintptr_t>(attr->addr),
                                          .length = attr->length,
                                          .iova = attr->iova,
                                          .access = static_cast<uint32_t>(attr->access),
                                          .dmabuf_fd = std::nullopt,
                                          .dmah_handle = std::nullopt};
    switch (attr->comp_mask & ~uint64_t{IBV_REG_MR_MASK_DMAH}) {
        case IBV_REG_MR_MASK_ADDR:
            request.iova = request.start;
            break;
        case IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA: {
            auto page_size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
            if ((request.start ^ request.iova) % page_size != 0)
                return creation_error(EINVAL);
            break;
        }
        case IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET:
            request.start = attr->fd_offset;
            request.dmabuf_fd = attr->fd;
            break;
        default:
            return creation_error(EINVAL);
    }
    if ((attr->comp_mask & IBV_REG_MR_MASK_DMAH) != 0) {
        if (attr->dmah == nullptr)
            return creation_error(EINVAL);
        request.dmah_handle = reinterpret_cast<verbs_dmah *>(attr->dmah)->handle;
    }
    verbs::Result<verbs::uverbs::MrInfo> info = verbs::uverbs::mr_register_ex(channel(pd->context), request);
    if (!info)
        return creation_error(verbs::provider_api::newer_error(info.status()));
    fill(*vmr, *pd, reinterpret_cast<void *>(request.start), attr->length, *info,
         request.dmabuf_fd ? IBV_MR_TYPE_DMABUF_MR : IBV_MR_TYPE_MR);
    vmr->access = attr->access;
    return 0;
}
VERBS_EXPORT_SINCE_59(ibv_cmd_reg_mr_ex);

VERBS_EXPORT int ibv_cmd_rereg_mr(verbs_mr *vmr, uint32_t flags, void *addr, size_t length, uint64_t hca_va,
                                  int access, ibv_pd *pd, struct ibv_rereg_mr *cmd, size_t cmd_size,
                                  ib_uverbs_rereg_mr_resp *resp, size_t resp_size)
{
    verbs::uverbs::MrRequest request = {.pd_handle = (flags & IBV_REREG_MR_CHANGE_PD) != 0 ? pd->handle : 0,
                                        .start = reinterpret_cast<uintptr_t>(addr),
                                        .length = length,
                                        .iova = hca_va,
                                        .access = static_cast<uint32_t>(access)};
    ibv_mr &mr = vmr->ibv_mr;
    verbs::Result<verbs::uverbs::MrInfo> info =
        verbs::uverbs::mr_reregister(channel(mr.context), mr.handle, flags, request,
                                     verbs::provider_api::driver_data(cmd, cmd_size, resp, resp_size));
    if (!info)
        return info.error();
    verbs::provider_api::give_answer(resp, resp_size, {.lkey = info->lkey, .rkey = info->rkey});
    mr.lkey = info->lkey;
    mr.rkey = info->rkey;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_rereg_mr);

VERBS_EXPORT int ibv_cmd_query_mr(ibv_pd *pd, verbs_mr *vmr, uint32_t mr_handle)
{
    verbs::Result<verbs::uverbs::MrDescription> mr = verbs::uverbs::mr_query(channel(pd->context), mr_handle);
    if (!mr)
        return mr.error();
    vmr->ibv_mr = {.context = pd->context,
                   .pd = pd,
                   .addr = nullptr,
                   .length = mr->length,
                   .handle = mr_handle,
                   .lkey = mr->lkey,
                   .rkey = mr->rkey};
    vmr->mr_type = IBV_MR_TYPE_IMPORTED_MR;
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_query_mr);

VERBS_EXPORT int ibv_cmd_reg_dm_mr(ibv_pd *pd, verbs_dm *dm, uint64_t offset, size_t length,
                                   unsigned int access, verbs_mr *vmr, ibv_command_buffer *link)
{
    verbs::Result<verbs::uverbs::MrInfo> info = verbs::uverbs::mr_register_dm(channel(pd->context),
                                                                              {.pd_handle = pd->handle,
                                                                               .dm_handle = dm->handle,
                                                                               .offset = offset,
                                                                               .length = length,
                                                                               .access = access},
                                                                              link);
    if (!info)
        return creation_error(info.error());
    fill(*vmr, *pd, nullptr, length, *info, IBV_MR_TYPE_DM_MR);
    return 0;
}
VERBS_EXPORT_SINCE_34(ibv_cmd_reg_dm_mr);

VERBS_EXPORT int ibv_cmd_reg_dmabuf_mr(ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                       int access, verbs_mr *vmr, ibv_command_buffer *driver)
{
    verbs::Result<verbs::uverbs::MrInfo> info =
        verbs::uverbs::mr_register_dmabuf(channel(pd->context),
                                          {.pd_handle = pd->handle,
                                           .fd = fd,
                                           .offset = offset,
                                           .length = length,
                                           .iova = iova,
                                           .access = static_cast<uint32_t>(access)},
                                          driver);
    if (!info)
        return creation_error(info.error());
    fill(*vmr, *pd, reinterpret_cast<void *>(offset), length, *info, IBV_MR_TYPE_DMABUF_MR);
    return 0;
}
VERBS_EXPORT_SINCE_57(ibv_cmd_reg_dmabuf_mr);

VERBS_EXPORT int ibv_cmd_advise_mr(ibv_pd *pd, ibv_advise_mr_advice advice, uint32_t flags, ibv_sge *sg_list,
                                   uint32_t num_sge)
{
    return verbs::uverbs::mr_advise(channel(pd->context), pd->handle, advice, flags, {sg_list, num_sge})
        .error();
}
VERBS_EXPORT_SINCE_34(ibv_cmd_advise_mr);

VERBS_EXPORT int ibv_cmd_dereg_mr(verbs_mr *vmr)
{
    return verbs::provider_api::destroy_error(
        verbs::uverbs::mr_deregister(channel(vmr->ibv_mr.context), vmr->ibv_mr.handle));
}
VERBS_EXPORT_SINCE_34(ibv_cmd_dereg_mr);
