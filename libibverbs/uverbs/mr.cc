// SPDX-License-Identifier: BSD-2-Clause
// Commands for memory regions.
#include "uverbs/mr.hh"

#include "uverbs/object.hh"

namespace verbs::uverbs {
namespace {

constexpr Method kRegister = {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR};
constexpr Method kRegisterDm = {UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG};
constexpr Method kRegisterDmabuf = {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR};
constexpr Method kQuery = {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR};
constexpr Method kAdvise = {UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR};

Result<MrInfo> register_by_ioctl(Channel &channel, const MrExRequest &mr)
{
    MrInfo info;
    Attributes<10> attributes(kRegister);
    attributes.new_object(UVERBS_ATTR_REG_MR_HANDLE)
        .object(UVERBS_ATTR_REG_MR_PD_HANDLE, mr.pd_handle)
        .in(UVERBS_ATTR_REG_MR_LENGTH, mr.length)
        .in(UVERBS_ATTR_REG_MR_IOVA, mr.iova)
        .in(UVERBS_ATTR_REG_MR_ACCESS_FLAGS, mr.access)
        .out(UVERBS_ATTR_REG_MR_RESP_LKEY, info.lkey)
        .out(UVERBS_ATTR_REG_MR_RESP_RKEY, info.rkey);
    if (mr.dmabuf_fd)
        attributes.file(UVERBS_ATTR_REG_MR_FD, *mr.dmabuf_fd).in(UVERBS_ATTR_REG_MR_FD_OFFSET, mr.start);
    else
        attributes.in(UVERBS_ATTR_REG_MR_ADDR, mr.start);
    if (mr.dmah_handle)
        attributes.object(UVERBS_ATTR_REG_MR_DMA_HANDLE, *mr.dmah_handle);
    if (Status status = attributes.issue(channel); !status)
        return status;
    info.handle = attributes.result();
    return info;
}

}  // namespace

Result<MrInfo> mr_register(Channel &channel, const MrRequest &mr, const DriverData &driver)
{
    ib_uverbs_reg_mr request = {};
    request.start = mr.start;
    request.length = mr.length;
    request.hca_va = mr.iova;
    request.pd_handle = mr.pd_handle;
    request.access_flags = mr.access;
    ib_uverbs_reg_mr_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_REG_MR, request, response, driver);
    if (!status)
        return status;
    return MrInfo{.handle = response.mr_handle, .lkey = response.lkey, .rkey = response.rkey};
}

Result<MrInfo> mr_register_ex(Channel &channel, const MrExRequest &mr)
{
    Result<MrInfo> info = Status(EPROTONOSUPPORT);
    if (channel.offers(kRegister))
        info = register_by_ioctl(channel, mr);
    if (channel.offers(kRegister) || mr.dmah_handle)
        return info;
    if (!mr.dmabuf_fd)
        return mr_register(channel,
                           {.pd_handle = mr.pd_handle,
                            .start = mr.start,
                            .length = mr.length,
                            .iova = mr.iova,
                            .access = mr.access},
                           {});
    return mr_register_dmabuf(channel,
                              {.pd_handle = mr.pd_handle,
                               .fd = *mr.dmabuf_fd,
                               .offset = mr.start,
                               .length = mr.length,
                               .iova = mr.iova,
                               .access = mr.access},
                              nullptr);
}

Result<MrInfo> mr_reregister(Channel &channel, uint32_t handle, uint32_t flags, const MrRequest &mr,
                             const DriverData &driver)
{
    ib_uverbs_rereg_mr request = {};
    request.mr_handle = handle;
    request.flags = flags;
    request.start = mr.start;
    request.length = mr.length;
    request.hca_va = mr.iova;
    request.pd_handle = mr.pd_handle;
    request.access_flags = mr.access;
    ib_uverbs_rereg_mr_resp response = {};
    Status status = write_command(channel, IB_USER_VERBS_CMD_REREG_MR, request, response, driver);
    if (!status)
        return status;
    return MrInfo{.handle = handle, .lkey = response.lkey, .rkey = response.rkey};
}

Result<MrInfo> mr_register_dm(Channel &channel, const DmMrRequest &mr, ibv_command_buffer *driver)
{
    MrInfo info;
    Attributes<8> attributes(kRegisterDm);
    Status status = attributes.new_object(UVERBS_ATTR_REG_DM_MR_HANDLE)
                        .out(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, info.lkey)
                        .out(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, info.rkey)
                        .object(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, mr.pd_handle)
                        .object(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, mr.dm_handle)
                        .in(UVERBS_ATTR_REG_DM_MR_OFFSET, mr.offset)
                        .in(UVERBS_ATTR_REG_DM_MR_LENGTH, mr.length)
                        .in(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, mr.access)
                        .issue(channel, driver);
    if (!status)
        return status;
    info.handle = attributes.result();
    return info;
}

Result<MrInfo> mr_register_dmabuf(Channel &channel, const DmabufMrRequest &mr, ibv_command_buffer *driver)
{
    MrInfo info;
    Attributes<9> attributes(kRegisterDmabuf);
    // The kernel reads this descriptor as a number, not as one of its own objects.
    auto fd = static_cast<uint32_t>(mr.fd);
    Status status = attributes.new_object(UVERBS_ATTR_REG_DMABUF_MR_HANDLE)
                        .out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, info.lkey)
                        .out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, info.rkey)
                        .object(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, mr.pd_handle)
                        .in(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, mr.offset)
                        .in(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, mr.length)
                        .in(UVERBS_ATTR_REG_DMABUF_MR_IOVA, mr.iova)
                        .in(UVERBS_ATTR_REG_DMABUF_MR_FD, fd)
                        .in(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, mr.access)
                        .issue(channel, driver);
    if (!status)
        return status;
    info.handle = attributes.result();
    return info;
}

Result<MrDescription> mr_query(Channel &channel, uint32_t handle)
{
    MrDescription mr;
    Status status = Attributes<4>(kQuery)
                        .object(UVERBS_ATTR_QUERY_MR_HANDLE, handle)
                        .out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr.lkey)
                        .out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr.rkey)
                        .out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr.length)
                        .issue(channel);
    if (!status)
        return status;
    return mr;
}

Status mr_advise(Channel &channel, uint32_t pd_handle, uint32_t advice, uint32_t flags,
                 std::span<const ibv_sge> sges)
{
    static_assert(sizeof(ibv_sge) == sizeof(ib_uverbs_sge));
    return Attributes<4>(kAdvise)
        .object(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd_handle)
        .constant(UVERBS_ATTR_ADVISE_MR_ADVICE, advice)
        .in(UVERBS_ATTR_ADVISE_MR_FLAGS, flags)
        .in_bytes(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sges.data(), sges.size_bytes())
        .issue(channel);
}

Status mr_deregister(Channel &channel, uint32_t handle)
{
    return object_destroy(channel, {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY},
                          UVERBS_ATTR_DESTROY_MR_HANDLE, handle, IB_USER_VERBS_CMD_DEREG_MR,
                          ib_uverbs_dereg_mr{.mr_handle = handle});
}

}  // namespace verbs::uverbs
