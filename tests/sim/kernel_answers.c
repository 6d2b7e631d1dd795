/* SPDX-License-Identifier: BSD-2-Clause */
/* Issues commands to a uverbs device by hand, right and wrong ones, and prints what the kernel answers: run
 * on rxe of a real kernel it makes answers.golden, run on the simulated one it must print the same. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;
static uint64_t memory[2048] __attribute__((aligned(4096)));

static void say(const char *what, int failed)
{
    printf("%s: %s\n", what, failed ? strerrorname_np(errno) : "0");
}

/* A command of the write interface with `request_size` bytes after its header; the answer goes to
 * `response`. */
static int command(uint32_t number, void *request, size_t request_size, void *response, size_t response_size)
{
    union {
        struct ib_uverbs_cmd_hdr header;
        uint64_t words[64];
    } buffer;
    if ((number & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0) {
        struct ib_uverbs_ex_cmd_hdr more = {.response = (uintptr_t)response};
        buffer.header = (struct ib_uverbs_cmd_hdr){number, request_size / 8, response_size / 8};
        memcpy(buffer.words + 1, &more, sizeof more);
        memcpy((char *)(buffer.words + 1) + sizeof more, request, request_size);
        return write(fd, &buffer, sizeof buffer.header + sizeof more + request_size) < 0;
    }
    uint64_t address = (uintptr_t)response;
    if (response != NULL)
        memcpy(request, &address, sizeof address);
    buffer.header =
        (struct ib_uverbs_cmd_hdr){number, (sizeof buffer.header + request_size) / 4, response_size / 4};
    memcpy(buffer.words + 1, request, request_size);
    return write(fd, &buffer, sizeof buffer.header + request_size) < 0;
}

#define COMMAND(number, request, response) \
    command(number, &(request), sizeof(request), &(response), sizeof(response))
#define ORDER(number, request) command(number, &(request), sizeof(request), NULL, 0)

struct attrs {
    struct ib_uverbs_ioctl_hdr header;
    struct ib_uverbs_attr list[12];
};

static struct attrs method(uint16_t object, uint16_t number)
{
    struct attrs attrs = {.header = {.object_id = object, .method_id = number, .driver_id = RDMA_DRIVER_RXE}};
    return attrs;
}

static void add(struct attrs *attrs, uint16_t id, uint16_t length, uint64_t data)
{
    attrs->list[attrs->header.num_attrs++] =
        (struct ib_uverbs_attr){.attr_id = id, .len = length, .flags = UVERBS_ATTR_F_MANDATORY, .data = data};
}

static int issue(struct attrs *attrs)
{
    attrs->header.length = sizeof attrs->header + attrs->header.num_attrs * sizeof attrs->list[0];
    return ioctl(fd, RDMA_VERBS_IOCTL, attrs) != 0;
}

static int destroy(uint16_t object, uint16_t number, uint64_t handle)
{
    struct attrs attrs = method(object, number);
    add(&attrs, 0, 0, handle);
    return issue(&attrs);
}

static void headers(void)
{
    struct {
        struct ib_uverbs_cmd_hdr header;
        uint64_t words[8];
    } buffer = {{IB_USER_VERBS_CMD_ALLOC_PD, 4, 1}, {(uintptr_t)memory}};
    say("write of 4 bytes", write(fd, &buffer, 4) < 0);
    buffer.header.in_words = 3;
    say("in_words unlike the size", write(fd, &buffer, 16) < 0);
    buffer.header.in_words = 2;
    say("a request too short", write(fd, &buffer, 8) < 0);
    buffer.header = (struct ib_uverbs_cmd_hdr){IB_USER_VERBS_CMD_ALLOC_PD, 4, 0};
    say("no room for the answer", write(fd, &buffer, 16) < 0);
    buffer.header.command = IB_USER_VERBS_CMD_MODIFY_AH;
    say("MODIFY_AH", write(fd, &buffer, 16) < 0);
    buffer.header.command = 41;
    say("command 41", write(fd, &buffer, 16) < 0);
    buffer.header.command = 0x55;
    say("command 0x55", write(fd, &buffer, 16) < 0);
    buffer.header.command = 0x100;
    say("command 0x100", write(fd, &buffer, 16) < 0);
    buffer.header.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | 58;
    say("extended 58", write(fd, &buffer, 24) < 0);
    buffer.header.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_ALLOC_PD;
    say("extended ALLOC_PD", write(fd, &buffer, 24) < 0);
    buffer.header.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE;
    say("extended header cut short", write(fd, &buffer, 16) < 0);

    struct ib_uverbs_ex_query_device query = {0};
    struct ib_uverbs_ex_query_device_resp device;
    uint32_t extended = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE;
    memset(&device, 0, sizeof device);
    say("QUERY_DEVICE_EX", COMMAND(extended, query, device));
    printf("  max_qp %u response_length %u\n", device.base.max_qp, device.response_length);
    say("QUERY_DEVICE_EX, short answer",
        command(extended, &query, sizeof query, &device, sizeof device.base + 8));
    printf("  response_length %u\n", device.response_length);
    say("QUERY_DEVICE_EX, too short answer", command(extended, &query, sizeof query, &device, 64));
    query.comp_mask = 1;
    say("QUERY_DEVICE_EX, comp_mask 1", COMMAND(extended, query, device));
    query.comp_mask = 0;
    query.reserved = 1;
    say("QUERY_DEVICE_EX, reserved 1", COMMAND(extended, query, device));

    struct attrs attrs = method(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
    attrs.header.reserved1 = 1;
    say("reserved1", issue(&attrs));
    attrs = method(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
    attrs.header.driver_id = RDMA_DRIVER_SIW;
    add(&attrs, 0, 0, 12345);
    say("another driver", issue(&attrs));
    attrs = method(UVERBS_OBJECT_PD, 7);
    say("unknown method", issue(&attrs));
    attrs = method(99, 0);
    say("unknown object", issue(&attrs));
    attrs = method(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
    say("no attributes", issue(&attrs));
    add(&attrs, 0, 0, 12345);
    say("unknown handle", issue(&attrs));
    attrs.list[0].data = UINT64_C(1) << 40;
    say("huge handle", issue(&attrs));
    attrs.list[0].len = 4;
    say("handle with a length", issue(&attrs));
    attrs.list[0] = (struct ib_uverbs_attr){.attr_id = 0, .data = 12345};
    add(&attrs, 9, 0, 0);
    say("unknown attribute", issue(&attrs));
    attrs.list[1].flags = 0;
    say("unknown optional attribute", issue(&attrs));
    attrs.list[1] = attrs.list[0];
    say("the same twice", issue(&attrs));
    say("another ioctl", ioctl(fd, _IOWR(RDMA_IOCTL_MAGIC, 2, struct ib_uverbs_ioctl_hdr), &attrs) != 0);
    attrs.header.length = 3;
    say("wrong length", ioctl(fd, RDMA_VERBS_IOCTL, &attrs) != 0);
}

static void context(void)
{
    struct ib_uverbs_alloc_pd pd = {0};
    struct ib_uverbs_alloc_pd_resp pd_resp;
    say("ALLOC_PD without a context", COMMAND(IB_USER_VERBS_CMD_ALLOC_PD, pd, pd_resp));
    say("PD_DESTROY without a context", destroy(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 0));
    struct ib_uverbs_get_context get = {0};
    struct ib_uverbs_get_context_resp resp;
    say("GET_CONTEXT", COMMAND(IB_USER_VERBS_CMD_GET_CONTEXT, get, resp));
    printf("  async_fd %s\n", fcntl((int)resp.async_fd, F_GETFD) >= 0 ? "open" : "not open");
    char event[64];
    fcntl((int)resp.async_fd, F_SETFL, O_NONBLOCK);
    say("read of the events", read((int)resp.async_fd, event, sizeof event) < 0);
    say("read of too little", read((int)resp.async_fd, event, 8) < 0);
    say("GET_CONTEXT again", COMMAND(IB_USER_VERBS_CMD_GET_CONTEXT, get, resp));
    struct attrs attrs = method(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
    say("QUERY_CONTEXT", issue(&attrs));
    add(&attrs, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4, (uintptr_t)event);
    say("QUERY_CONTEXT", issue(&attrs));
    say("mmap of nothing", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1 << 30) == MAP_FAILED);
    say("read of the device", read(fd, event, sizeof event) < 0);
}

static void queries(void)
{
    struct ib_uverbs_query_port query = {.port_num = 1};
    struct ib_uverbs_query_port_resp port;
    memset(&port, 0, sizeof port);
    say("QUERY_PORT", COMMAND(IB_USER_VERBS_CMD_QUERY_PORT, query, port));
    printf("  gids %u pkeys %u flags %u\n", port.gid_tbl_len, port.pkey_tbl_len, port.flags);
    query.port_num = 0;
    say("QUERY_PORT 0", COMMAND(IB_USER_VERBS_CMD_QUERY_PORT, query, port));
    query.port_num = 2;
    say("QUERY_PORT 2", COMMAND(IB_USER_VERBS_CMD_QUERY_PORT, query, port));

    struct ib_uverbs_query_port_resp_ex resp;
    struct attrs attrs = method(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
    add(&attrs, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, 1);
    add(&attrs, UVERBS_ATTR_QUERY_PORT_RESP, sizeof port, (uintptr_t)&port);
    say("query port", issue(&attrs));
    printf("  flags of the answer %u\n", attrs.list[1].flags);
    attrs.list[1] = (struct ib_uverbs_attr){
        .attr_id = UVERBS_ATTR_QUERY_PORT_RESP, .len = sizeof resp, .data = (uintptr_t)&resp};
    say("query port, longer answer", issue(&attrs));
    attrs.list[1].len = 16;
    say("query port, short answer", issue(&attrs));
    attrs.list[1].len = sizeof port;
    attrs.list[0].len = 4;
    say("query port, number of 4 bytes", issue(&attrs));
    attrs.list[0] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_QUERY_PORT_PORT_NUM, .len = 8, .data = 9};
    say("query port 9", issue(&attrs));

    struct ib_uverbs_gid_entry entry[4];
    attrs = method(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
    add(&attrs, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 8, 1);
    add(&attrs, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 8, 0);
    add(&attrs, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4, 0);
    add(&attrs, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof entry[0], (uintptr_t)entry);
    say("gid 0", issue(&attrs));
    attrs.list[1].data = 900;
    say("gid 900", issue(&attrs));
    attrs.list[1].data = 1024;
    say("gid 1024", issue(&attrs));
    attrs.list[1].data = 0;
    attrs.list[0].data = 2;
    say("gid of port 2", issue(&attrs));
    attrs.list[0].data = 1;
    attrs.list[2].data = 1;
    say("gid with a flag", issue(&attrs));
    attrs = method(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);
    uint64_t count = 0;
    add(&attrs, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 8, sizeof entry[0]);
    add(&attrs, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 4, 0);
    add(&attrs, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, sizeof entry, (uintptr_t)entry);
    add(&attrs, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8, (uintptr_t)&count);
    say("gid table", issue(&attrs));
    attrs.list[0].data = 0;
    say("gid table, entries of size 0", issue(&attrs));
    attrs.list[0].data = 16;
    say("gid table, entries of size 16", issue(&attrs));
    attrs.list[0].data = sizeof entry[0];
    attrs.list[2].len = 0;
    say("gid table, no room", issue(&attrs));
    attrs = method(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
    uint32_t handles[8], total = 77;
    add(&attrs, UVERBS_ATTR_INFO_OBJECT_ID, 8, UVERBS_OBJECT_PD);
    add(&attrs, UVERBS_ATTR_INFO_TOTAL_HANDLES, 4, (uintptr_t)&total);
    add(&attrs, UVERBS_ATTR_INFO_HANDLES_LIST, sizeof handles, (uintptr_t)handles);
    say("info handles", issue(&attrs));
    printf("  total %u\n", total);
}

static uint32_t pd, pd2, mr, cq;

static int reg_mr(uint64_t start, uint64_t length, uint64_t iova, uint32_t domain, uint32_t access)
{
    struct ib_uverbs_reg_mr reg = {
        .start = start, .length = length, .hca_va = iova, .pd_handle = domain, .access_flags = access};
    struct ib_uverbs_reg_mr_resp resp;
    int failed = COMMAND(IB_USER_VERBS_CMD_REG_MR, reg, resp);
    if (!failed)
        mr = resp.mr_handle;
    return failed;
}

static void regions(void)
{
    struct ib_uverbs_alloc_pd alloc = {0};
    struct ib_uverbs_alloc_pd_resp alloc_resp;
    say("ALLOC_PD", COMMAND(IB_USER_VERBS_CMD_ALLOC_PD, alloc, alloc_resp));
    pd = alloc_resp.pd_handle;
    say("ALLOC_PD", COMMAND(IB_USER_VERBS_CMD_ALLOC_PD, alloc, alloc_resp));
    pd2 = alloc_resp.pd_handle;
    printf("  handles %u %u\n", pd, pd2);

    uint64_t address = (uintptr_t)memory;
    say("REG_MR, iova of another offset", reg_mr(address, 4096, address + 8, pd, 1));
    say("REG_MR, unknown domain", reg_mr(address, 4096, address, 999, 1));
    say("REG_MR, remote write without local", reg_mr(address, 4096, address, pd, 2));
    say("REG_MR, access 1 << 15", reg_mr(address, 4096, address, pd, 1 << 15));
    say("REG_MR, on demand", reg_mr(address, 4096, address, pd, IBV_ACCESS_ON_DEMAND | 1));
    say("REG_MR, relaxed ordering", reg_mr(address, 4096, address, pd, IBV_ACCESS_RELAXED_ORDERING | 1));
    struct ib_uverbs_dereg_mr dereg = {mr};
    say("DEREG_MR", ORDER(IB_USER_VERBS_CMD_DEREG_MR, dereg));
    say("DEREG_MR again", ORDER(IB_USER_VERBS_CMD_DEREG_MR, dereg));
    say("MR_DESTROY", destroy(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr));
    dereg.mr_handle = pd;
    say("DEREG_MR of a domain", ORDER(IB_USER_VERBS_CMD_DEREG_MR, dereg));
    say("MR_DESTROY of a domain", destroy(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, pd));
    say("REG_MR", reg_mr(address, 4096, address, pd, 3));
    printf("  handle %u\n", mr);
    struct ib_uverbs_dealloc_pd dealloc = {pd};
    say("DEALLOC_PD in use", ORDER(IB_USER_VERBS_CMD_DEALLOC_PD, dealloc));
    say("PD_DESTROY in use", destroy(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, pd));

    struct attrs attrs = method(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
    uint32_t keys[2];
    uint64_t length = 0, iova = 0;
    add(&attrs, UVERBS_ATTR_QUERY_MR_HANDLE, 0, mr);
    add(&attrs, UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, (uintptr_t)&keys[0]);
    add(&attrs, UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4, (uintptr_t)&keys[1]);
    add(&attrs, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8, (uintptr_t)&length);
    add(&attrs, UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, (uintptr_t)&iova);
    say("query mr", issue(&attrs));
    printf("  length %llu iova %s\n", (unsigned long long)length, iova == address ? "the address" : "other");
    --attrs.header.num_attrs;
    say("query mr without iova", issue(&attrs));

    struct ib_uverbs_rereg_mr rereg = {.mr_handle = mr};
    struct ib_uverbs_rereg_mr_resp rereg_resp;
    say("REREG_MR, no flags", COMMAND(IB_USER_VERBS_CMD_REREG_MR, rereg, rereg_resp));
    rereg.flags = 8;
    say("REREG_MR, flag 8", COMMAND(IB_USER_VERBS_CMD_REREG_MR, rereg, rereg_resp));
    rereg.flags = IBV_REREG_MR_CHANGE_PD;
    rereg.pd_handle = pd2;
    say("REREG_MR", COMMAND(IB_USER_VERBS_CMD_REREG_MR, rereg, rereg_resp));

    struct ib_uverbs_alloc_mw window = {.pd_handle = pd, .mw_type = 2};
    struct ib_uverbs_alloc_mw_resp window_resp;
    say("ALLOC_MW", COMMAND(IB_USER_VERBS_CMD_ALLOC_MW, window, window_resp));
    struct ib_uverbs_dealloc_mw unwindow = {window_resp.mw_handle};
    say("DEALLOC_MW", ORDER(IB_USER_VERBS_CMD_DEALLOC_MW, unwindow));
    window.mw_type = 3;
    say("ALLOC_MW of type 3", COMMAND(IB_USER_VERBS_CMD_ALLOC_MW, window, window_resp));
    window.mw_type = 1;
    window.pd_handle = 999;
    say("ALLOC_MW, unknown domain", COMMAND(IB_USER_VERBS_CMD_ALLOC_MW, window, window_resp));
    struct ib_uverbs_open_xrcd xrcd = {.fd = (uint32_t)-1, .oflags = O_CREAT};
    struct ib_uverbs_open_xrcd_resp xrcd_resp;
    say("OPEN_XRCD", COMMAND(IB_USER_VERBS_CMD_OPEN_XRCD, xrcd, xrcd_resp));
    attrs = method(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
    add(&attrs, UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0);
    add(&attrs, UVERBS_ATTR_ALLOC_DM_LENGTH, 8, 64);
    add(&attrs, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, 0);
    say("DM_ALLOC", issue(&attrs));
    attrs = method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
    add(&attrs, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0, 0);
    say("COUNTERS_CREATE", issue(&attrs));
    attrs = method(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR);
    struct ib_uverbs_sge sge = {address, 64, 1};
    add(&attrs, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, pd);
    add(&attrs, UVERBS_ATTR_ADVISE_MR_ADVICE, 8, 0);
    add(&attrs, UVERBS_ATTR_ADVISE_MR_FLAGS, 4, 0);
    add(&attrs, UVERBS_ATTR_ADVISE_MR_SGE_LIST, sizeof sge, (uintptr_t)&sge);
    say("ADVISE_MR", issue(&attrs));
    attrs.list[0].data = 0x7fff;
    say("ADVISE_MR, unknown domain", issue(&attrs));
    attrs = method(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, 0);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 4096);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, 0);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_FD, 0, 0);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, 1);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, (uintptr_t)&keys[0]);
    add(&attrs, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4, (uintptr_t)&keys[1]);
    say("REG_DMABUF_MR", issue(&attrs));
}

static void completion_queues(void)
{
    struct {
        struct ib_uverbs_create_cq_resp core;
        uint64_t driver[2];
    } resp;
    struct ib_uverbs_create_cq create = {.cqe = 10, .comp_channel = -1};
    say("CREATE_CQ", COMMAND(IB_USER_VERBS_CMD_CREATE_CQ, create, resp));
    cq = resp.core.cq_handle;
    printf("  handle %u cqe %u bytes %u\n", cq, resp.core.cqe, (uint32_t)resp.driver[1]);
    say("mmap of the queue",
        mmap(NULL, (uint32_t)resp.driver[1], PROT_READ, MAP_SHARED, fd, (off_t)resp.driver[0]) == MAP_FAILED);
    create.cqe = 0;
    say("CREATE_CQ of 0", COMMAND(IB_USER_VERBS_CMD_CREATE_CQ, create, resp));
    create.cqe = 32768;
    say("CREATE_CQ of 32768", COMMAND(IB_USER_VERBS_CMD_CREATE_CQ, create, resp));
    create.cqe = 10;
    create.comp_vector = 77;
    say("CREATE_CQ, vector 77", COMMAND(IB_USER_VERBS_CMD_CREATE_CQ, create, resp));
    create.comp_vector = 0;
    create.comp_channel = 0;
    say("CREATE_CQ, channel that is none", COMMAND(IB_USER_VERBS_CMD_CREATE_CQ, create, resp));
    create.comp_channel = 555;
    say("CREATE_CQ, channel not open", COMMAND(IB_USER_VERBS_CMD_CREATE_CQ, create, resp));
    uint32_t cqe = 0;
    struct attrs attrs = method(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
    add(&attrs, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
    add(&attrs, UVERBS_ATTR_CREATE_CQ_CQE, 4, 10);
    add(&attrs, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 5);
    add(&attrs, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0);
    add(&attrs, UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, (uintptr_t)&cqe);
    add(&attrs, UVERBS_ATTR_UHW_OUT, 16, (uintptr_t)resp.driver);
    say("CQ_CREATE", issue(&attrs));
    struct attrs made = attrs;
    attrs.list[5].len = 8;
    say("CQ_CREATE, little room for the driver", issue(&attrs));
    --attrs.header.num_attrs;
    say("CQ_CREATE, no room for the driver", issue(&attrs));
    ++attrs.header.num_attrs;
    attrs.list[5].len = 16;
    attrs.list[1].len = 8;
    say("CQ_CREATE, cqe of 8 bytes", issue(&attrs));
    attrs.list[1].data |= UINT64_C(1) << 32;
    say("CQ_CREATE, cqe of 8 bytes with a bit", issue(&attrs));
    attrs.list[1] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_CREATE_CQ_CQE, .len = 4, .data = 10};
    add(&attrs, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, 0);
    say("CQ_CREATE, channel that is none", issue(&attrs));
    attrs.list[6] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_CREATE_CQ_FLAGS, .len = 4, .data = 2};
    say("CQ_CREATE, flag 2", issue(&attrs));
    attrs.list[6].data = 8;
    say("CQ_CREATE, flag 8", issue(&attrs));
    struct ib_uverbs_destroy_cq_resp events;
    struct attrs destroying = method(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
    add(&destroying, UVERBS_ATTR_DESTROY_CQ_HANDLE, 0, made.list[0].data);
    say("CQ_DESTROY without room", issue(&destroying));
    add(&destroying, UVERBS_ATTR_DESTROY_CQ_RESP, sizeof events, (uintptr_t)&events);
    say("CQ_DESTROY", issue(&destroying));
    say("CQ_DESTROY again", issue(&destroying));

    struct {
        struct ib_uverbs_resize_cq_resp core;
        uint64_t driver[2];
    } resized;
    struct ib_uverbs_resize_cq resize = {.cq_handle = cq, .cqe = 100};
    say("RESIZE_CQ", COMMAND(IB_USER_VERBS_CMD_RESIZE_CQ, resize, resized));
    printf("  cqe %u\n", resized.core.cqe);
    resize.cqe = 0;
    say("RESIZE_CQ to 0", COMMAND(IB_USER_VERBS_CMD_RESIZE_CQ, resize, resized));
    resize.cq_handle = 999;
    say("RESIZE_CQ, unknown", COMMAND(IB_USER_VERBS_CMD_RESIZE_CQ, resize, resized));
    struct ib_uverbs_req_notify_cq notify = {.cq_handle = cq};
    say("REQ_NOTIFY_CQ", ORDER(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, notify));
    notify.cq_handle = 999;
    say("REQ_NOTIFY_CQ, unknown", ORDER(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, notify));
    struct ib_uverbs_ex_modify_cq modify = {.cq_handle = cq, .attr_mask = 1};
    say("MODIFY_CQ", ORDER(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ, modify));
    struct ib_uverbs_poll_cq poll = {.cq_handle = cq, .ne = 1};
    uint64_t polled[16];
    say("POLL_CQ", command(IB_USER_VERBS_CMD_POLL_CQ, &poll, sizeof poll, polled, sizeof polled));
}

static struct ib_uverbs_create_qp qp_request(uint8_t type)
{
    struct ib_uverbs_create_qp create = {.pd_handle = pd,
                                         .send_cq_handle = cq,
                                         .recv_cq_handle = cq,
                                         .max_send_wr = 4,
                                         .max_recv_wr = 4,
                                         .max_send_sge = 1,
                                         .max_recv_sge = 1,
                                         .qp_type = type};
    return create;
}

static void queue_pairs(void)
{
    struct {
        struct ib_uverbs_create_qp_resp core;
        uint64_t driver[4];
    } resp;
    struct ib_uverbs_create_qp create = qp_request(IB_UVERBS_QPT_RC);
    say("CREATE_QP", COMMAND(IB_USER_VERBS_CMD_CREATE_QP, create, resp));
    uint32_t qp = resp.core.qp_handle;
    printf("  handle %u send_wr %u recv_wr %u send_sge %u recv_sge %u inline %u\n", qp, resp.core.max_send_wr,
           resp.core.max_recv_wr, resp.core.max_send_sge, resp.core.max_recv_sge, resp.core.max_inline_data);
    static const uint8_t types[] = {0,
                                    IB_UVERBS_QPT_UC,
                                    IB_UVERBS_QPT_RAW_PACKET,
                                    IB_UVERBS_QPT_XRC_INI,
                                    IB_UVERBS_QPT_XRC_TGT,
                                    IB_UVERBS_QPT_DRIVER,
                                    77};
    for (size_t i = 0; i < sizeof types; i++) {
        create = qp_request(types[i]);
        printf("type %u ", types[i]);
        say("CREATE_QP", COMMAND(IB_USER_VERBS_CMD_CREATE_QP, create, resp));
    }
    create = qp_request(IB_UVERBS_QPT_RC);
    create.pd_handle = 999;
    say("CREATE_QP, unknown domain", COMMAND(IB_USER_VERBS_CMD_CREATE_QP, create, resp));
    create = qp_request(IB_UVERBS_QPT_RC);
    create.send_cq_handle = pd;
    say("CREATE_QP, queue that is none", COMMAND(IB_USER_VERBS_CMD_CREATE_QP, create, resp));
    create = qp_request(IB_UVERBS_QPT_RC);
    create.is_srq = 1;
    create.srq_handle = 999;
    say("CREATE_QP, unknown shared queue", COMMAND(IB_USER_VERBS_CMD_CREATE_QP, create, resp));
    create = qp_request(IB_UVERBS_QPT_RC);
    create.max_send_wr = 2000000;
    say("CREATE_QP, 2000000 requests", COMMAND(IB_USER_VERBS_CMD_CREATE_QP, create, resp));
    create = qp_request(IB_UVERBS_QPT_RC);
    create.max_send_sge = 99;
    say("CREATE_QP, 99 elements", COMMAND(IB_USER_VERBS_CMD_CREATE_QP, create, resp));
    create = qp_request(IB_UVERBS_QPT_RC);
    create.max_send_wr = create.max_send_sge = 0;
    say("CREATE_QP, nothing to send", COMMAND(IB_USER_VERBS_CMD_CREATE_QP, create, resp));

    struct ib_uverbs_ex_create_qp create_ex = {.pd_handle = pd,
                                               .send_cq_handle = cq,
                                               .recv_cq_handle = cq,
                                               .max_send_wr = 4,
                                               .max_recv_wr = 4,
                                               .max_send_sge = 1,
                                               .max_recv_sge = 1,
                                               .qp_type = IB_UVERBS_QPT_UD};
    struct ib_uverbs_ex_create_qp_resp resp_ex;
    uint32_t extended = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_QP;
    create_ex.comp_mask = 2;
    say("extended CREATE_QP, comp_mask 2", COMMAND(extended, create_ex, resp_ex));
    create_ex.comp_mask = 0;
    create_ex.create_flags = 1 << 20;
    say("extended CREATE_QP, flag 20", COMMAND(extended, create_ex, resp_ex));
    create_ex.comp_mask = 1;
    create_ex.create_flags = 0;
    create_ex.rwq_ind_tbl_handle = 999;
    say("extended CREATE_QP, unknown table", COMMAND(extended, create_ex, resp_ex));

    struct ib_uverbs_query_qp query = {.qp_handle = qp};
    struct ib_uverbs_query_qp_resp state;
    say("QUERY_QP", command(IB_USER_VERBS_CMD_QUERY_QP, &query, sizeof query, &state, sizeof state));
    printf("  state %u send_wr %u\n", state.qp_state, state.max_send_wr);
    query.qp_handle = 999;
    say("QUERY_QP, unknown", command(IB_USER_VERBS_CMD_QUERY_QP, &query, sizeof query, &state, sizeof state));

    struct ib_uverbs_modify_qp modify = {.qp_handle = qp, .qp_state = IBV_QPS_INIT, .port_num = 1};
    modify.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    say("MODIFY_QP to INIT without access", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    modify.attr_mask |= IBV_QP_ACCESS_FLAGS;
    modify.port_num = 2;
    say("MODIFY_QP to INIT on port 2", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    modify.port_num = 1;
    modify.attr_mask |= IBV_QP_QKEY;
    say("MODIFY_QP to INIT with a Q_Key", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    modify.attr_mask &= ~IBV_QP_QKEY;
    modify.attr_mask |= IBV_QP_RATE_LIMIT;
    say("MODIFY_QP with a rate limit", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    modify.attr_mask &= ~IBV_QP_RATE_LIMIT;
    say("MODIFY_QP to INIT", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    say("MODIFY_QP to INIT again", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    modify.attr_mask = IBV_QP_STATE;
    modify.qp_state = IBV_QPS_RTS;
    say("MODIFY_QP from INIT to RTS", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    modify.qp_state = 9;
    say("MODIFY_QP to state 9", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    modify.qp_state = IBV_QPS_ERR;
    say("MODIFY_QP to ERR", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));
    modify.qp_handle = 999;
    say("MODIFY_QP, unknown", ORDER(IB_USER_VERBS_CMD_MODIFY_QP, modify));

    struct ib_uverbs_post_send post = {.qp_handle = qp, .wqe_size = sizeof(struct ib_uverbs_send_wr)};
    uint32_t bad = 0;
    say("POST_SEND", COMMAND(IB_USER_VERBS_CMD_POST_SEND, post, bad));
    post.wqe_size = 4;
    say("POST_SEND, tiny elements", COMMAND(IB_USER_VERBS_CMD_POST_SEND, post, bad));
    post.wqe_size = sizeof(struct ib_uverbs_send_wr);
    post.wr_count = 5;
    say("POST_SEND, elements missing", COMMAND(IB_USER_VERBS_CMD_POST_SEND, post, bad));
    post.wr_count = 0;
    post.qp_handle = 999;
    say("POST_SEND, unknown", COMMAND(IB_USER_VERBS_CMD_POST_SEND, post, bad));
    struct ib_uverbs_attach_mcast group = {.gid = {0xff, 0x0e}, .qp_handle = qp};
    say("ATTACH_MCAST of RC", ORDER(IB_USER_VERBS_CMD_ATTACH_MCAST, group));

    struct ib_uverbs_destroy_cq busy = {.cq_handle = cq};
    struct ib_uverbs_destroy_cq_resp events;
    say("DESTROY_CQ in use", COMMAND(IB_USER_VERBS_CMD_DESTROY_CQ, busy, events));
    struct ib_uverbs_destroy_qp done = {.qp_handle = qp};
    struct ib_uverbs_destroy_qp_resp done_resp;
    say("DESTROY_QP", COMMAND(IB_USER_VERBS_CMD_DESTROY_QP, done, done_resp));
    say("DESTROY_QP again", COMMAND(IB_USER_VERBS_CMD_DESTROY_QP, done, done_resp));
    struct ib_uverbs_destroy_flow flow = {.flow_handle = 999};
    say("DESTROY_FLOW", ORDER(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_FLOW, flow));
    struct ib_uverbs_ex_create_wq wq = {.pd_handle = pd, .cq_handle = cq, .max_wr = 1, .max_sge = 1};
    struct ib_uverbs_ex_create_wq_resp wq_resp;
    say("CREATE_WQ", COMMAND(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_WQ, wq, wq_resp));
    struct ib_uverbs_create_flow rule = {.qp_handle = qp};
    struct ib_uverbs_create_flow_resp rule_resp;
    say("CREATE_FLOW",
        COMMAND(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW, rule, rule_resp));
}

static void shared_queues(void)
{
    struct {
        struct ib_uverbs_create_srq_resp core;
        uint64_t driver[3];
    } resp;
    struct ib_uverbs_create_srq create = {.pd_handle = pd, .max_wr = 8, .max_sge = 1};
    say("CREATE_SRQ", COMMAND(IB_USER_VERBS_CMD_CREATE_SRQ, create, resp));
    uint32_t srq = resp.core.srq_handle;
    printf("  max_wr %u max_sge %u srqn %u\n", resp.core.max_wr, resp.core.max_sge, resp.core.srqn);
    create.max_wr = 0;
    say("CREATE_SRQ of 0", COMMAND(IB_USER_VERBS_CMD_CREATE_SRQ, create, resp));
    create.max_wr = 8;
    create.max_sge = 99;
    say("CREATE_SRQ, 99 elements", COMMAND(IB_USER_VERBS_CMD_CREATE_SRQ, create, resp));
    create.max_sge = 1;
    create.pd_handle = 999;
    say("CREATE_SRQ, unknown domain", COMMAND(IB_USER_VERBS_CMD_CREATE_SRQ, create, resp));
    struct ib_uverbs_create_xsrq xsrq = {.pd_handle = pd, .max_wr = 8, .max_sge = 1, .srq_type = 2};
    say("CREATE_XSRQ, tags", COMMAND(IB_USER_VERBS_CMD_CREATE_XSRQ, xsrq, resp));
    xsrq.srq_type = 1;
    say("CREATE_XSRQ, XRC", COMMAND(IB_USER_VERBS_CMD_CREATE_XSRQ, xsrq, resp));
    xsrq.srq_type = 7;
    say("CREATE_XSRQ, type 7", COMMAND(IB_USER_VERBS_CMD_CREATE_XSRQ, xsrq, resp));
    struct ib_uverbs_modify_srq modify = {.srq_handle = srq, .attr_mask = IBV_SRQ_LIMIT, .srq_limit = 99};
    say("MODIFY_SRQ, limit 99", ORDER(IB_USER_VERBS_CMD_MODIFY_SRQ, modify));
    modify.srq_limit = 3;
    say("MODIFY_SRQ, limit 3", ORDER(IB_USER_VERBS_CMD_MODIFY_SRQ, modify));
    struct ib_uverbs_query_srq query = {.srq_handle = srq};
    struct ib_uverbs_query_srq_resp state;
    say("QUERY_SRQ", COMMAND(IB_USER_VERBS_CMD_QUERY_SRQ, query, state));
    printf("  max_wr %u max_sge %u limit %u\n", state.max_wr, state.max_sge, state.srq_limit);
    struct ib_uverbs_destroy_srq done = {.srq_handle = srq};
    struct ib_uverbs_destroy_srq_resp events;
    say("DESTROY_SRQ", COMMAND(IB_USER_VERBS_CMD_DESTROY_SRQ, done, events));
    say("QUERY_SRQ, gone", COMMAND(IB_USER_VERBS_CMD_QUERY_SRQ, query, state));

    struct ib_uverbs_create_ah ah = {.pd_handle = pd, .attr = {.port_num = 1, .is_global = 0}};
    struct ib_uverbs_create_ah_resp ah_resp;
    say("CREATE_AH without a GRH", COMMAND(IB_USER_VERBS_CMD_CREATE_AH, ah, ah_resp));
    ah.attr.port_num = 2;
    say("CREATE_AH on port 2", COMMAND(IB_USER_VERBS_CMD_CREATE_AH, ah, ah_resp));
    ah.attr = (struct ib_uverbs_ah_attr){.port_num = 1, .is_global = 1, .grh = {.sgid_index = 200}};
    say("CREATE_AH, empty GID", COMMAND(IB_USER_VERBS_CMD_CREATE_AH, ah, ah_resp));
    struct ib_uverbs_destroy_ah gone = {999};
    say("DESTROY_AH, unknown", ORDER(IB_USER_VERBS_CMD_DESTROY_AH, gone));
}

int main(int argc, char **argv)
{
    fd = open(argc > 1 ? argv[1] : "/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        say("open", 1);
        return 1;
    }
    context();
    headers();
    queries();
    regions();
    completion_queues();
    queue_pairs();
    shared_queues();
    return 0;
}
