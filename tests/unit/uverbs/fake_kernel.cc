// SPDX-License-Identifier: BSD-2-Clause
// A kernel in place of the system calls.
#include "fake_kernel.hh"

#include <gtest/gtest.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>
#include <vector>

namespace verbs::uverbs::test {
namespace {

FakeKernel *current = nullptr;

/// Attributes whose data is an address for the kernel to write to: they look like others.
const std::set<std::tuple<int, int, int>> kOutputs = {
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, UVERBS_ATTR_CORE_OUT},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, UVERBS_ATTR_QUERY_PORT_RESP},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED, UVERBS_ATTR_QUERY_PORT_SPEED_RESP},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS, UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS, UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_COMP_CNTR_CAPS,
     UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_READ, UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_CREATE_CQ_RESP_CQE},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, UVERBS_ATTR_DESTROY_CQ_RESP},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_ATTR_CREATE_QP_RESP_CAP},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, UVERBS_ATTR_DESTROY_QP_RESP},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, UVERBS_ATTR_DESTROY_SRQ_RESP},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, UVERBS_ATTR_REG_DM_MR_RESP_LKEY},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, UVERBS_ATTR_REG_DM_MR_RESP_RKEY},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, UVERBS_ATTR_QUERY_MR_RESP_LKEY},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, UVERBS_ATTR_QUERY_MR_RESP_RKEY},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, UVERBS_ATTR_QUERY_MR_RESP_LENGTH},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR, UVERBS_ATTR_REG_MR_RESP_LKEY},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR, UVERBS_ATTR_REG_MR_RESP_RKEY},
    {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR},
    {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE},
    {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM},
    {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, UVERBS_ATTR_DESTROY_WQ_RESP},
    {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, UVERBS_ATTR_READ_COUNTERS_BUFF},
};

/// The attributes that make an object.
const std::set<std::tuple<int, int, int>> kNewObjects = {
    {UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_CREATE_CQ_HANDLE},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_ATTR_CREATE_QP_HANDLE},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_HANDLE},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, UVERBS_ATTR_REG_DM_MR_HANDLE},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, UVERBS_ATTR_REG_DMABUF_MR_HANDLE},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR, UVERBS_ATTR_REG_MR_HANDLE},
    {UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC, UVERBS_ATTR_ALLOC_DMAH_HANDLE},
    {UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC, UVERBS_ATTR_ALLOC_DMABUF_HANDLE},
    {UVERBS_OBJECT_COMP_CNTR, UVERBS_METHOD_COMP_CNTR_CREATE, UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE},
    {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, UVERBS_ATTR_CREATE_WQ_HANDLE},
    {UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, UVERBS_ATTR_ALLOC_DM_HANDLE},
    {UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, UVERBS_ATTR_CREATE_COUNTERS_HANDLE},
    {UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE,
     UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE},
};

/// Attributes of drivers that the tests use: an address to write to.
constexpr uint16_t kDriverOutput = 0x1005;

/// Eight bytes that hold the address of the answer.
constexpr char kAnswer[] = "answer";

std::string hex(const void *from, size_t size)
{
    std::string digits;
    for (size_t i = 0; i < size; ++i) {
        char two[3];
        snprintf(two, sizeof two, "%02x", static_cast<const unsigned char *>(from)[i]);
        digits += two;
        if (i % 4 == 3 && i + 1 < size)
            digits += ' ';
    }
    return digits;
}

std::string number(uint64_t value)
{
    char digits[20];
    snprintf(digits, sizeof digits, "%#llx", static_cast<unsigned long long>(value));
    return digits;
}

std::string words(uint16_t object, uint16_t method, std::vector<std::string> attributes)
{
    std::sort(attributes.begin(), attributes.end());
    std::string text = "ioctl " + number(object) + "." + number(method) + "\n";
    for (const std::string &attribute : attributes)
        text += "  " + attribute + "\n";
    return text;
}

std::string words_of(const ib_uverbs_attr &attr, bool is_output)
{
    std::string text;
    const void *data = attr.len > sizeof attr.data ? reinterpret_cast<const void *>(attr.data) : &attr.data;
    if (is_output)
        text = out(attr.attr_id, attr.len);
    else if (attr.len == 0)
        text = object(attr.attr_id, attr.data);
    else
        text = in(attr.attr_id, hex(data, attr.len));
    if (attr.attr_data.enum_data.elem_id != 0)
        text = kind(attr.attr_id, attr.attr_data.enum_data.elem_id, hex(data, attr.len));
    EXPECT_EQ(attr.attr_data.enum_data.reserved, 0);
    EXPECT_EQ(attr.flags & ~UVERBS_ATTR_F_MANDATORY, 0);
    return (attr.flags & UVERBS_ATTR_F_MANDATORY) != 0 ? text : optional(text);
}

}  // namespace

std::string bytes(const std::string &digits)
{
    std::string plain;
    for (char c : digits) {
        if (c != ' ')
            plain += c;
    }
    std::string result;
    for (size_t i = 0; i + 1 < plain.size(); i += 2)
        result += static_cast<char>(std::stoi(plain.substr(i, 2), nullptr, 16));
    return result;
}

std::string ioctl(uint16_t object, uint16_t method, std::initializer_list<std::string> attributes)
{
    return words(object, method, attributes);
}

std::string write(const std::string &bytes)
{
    return "write " + bytes + "\n";
}

std::string probe(const std::string &ioctl)
{
    return ioctl.substr(0, ioctl.find('\n') + 1);
}

std::string invoke(uint32_t command, const std::string &request, size_t answer_size,
                   const std::string &driver_request, size_t driver_answer_size)
{
    uint64_t whole_command = command;
    std::vector<std::string> attributes = {
        in(UVERBS_ATTR_WRITE_CMD, hex(&whole_command, sizeof whole_command)),
        in(UVERBS_ATTR_CORE_IN, request)};
    if (answer_size != 0)
        attributes.push_back(out(UVERBS_ATTR_CORE_OUT, answer_size));
    if (!driver_request.empty())
        attributes.push_back(in(UVERBS_ATTR_UHW_IN, driver_request));
    if (driver_answer_size != 0)
        attributes.push_back(out(UVERBS_ATTR_UHW_OUT, driver_answer_size));
    return words(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, attributes);
}

std::string object(uint16_t id, uint64_t value)
{
    return number(id) + " object " + number(value);
}

std::string in(uint16_t id, const std::string &digits)
{
    return number(id) + " in " + digits;
}

std::string out(uint16_t id, size_t size)
{
    return number(id) + " out " + std::to_string(size);
}

std::string kind(uint16_t id, uint8_t element, const std::string &digits)
{
    return in(id, digits) + " kind " + std::to_string(element);
}

std::string optional(const std::string &attribute)
{
    return attribute + " optional";
}

struct Calls {
    static int ioctl(int fd, unsigned long request, void *argument)
    {
        return current->on_ioctl(fd, request, argument);
    }
    static ssize_t write(int fd, const void *buffer, size_t size)
    {
        return current->on_write(fd, buffer, size);
    }
};

const SystemCalls FakeKernel::calls = {.ioctl = Calls::ioctl, .write = Calls::write};

FakeKernel::FakeKernel()
{
    EXPECT_EQ(current, nullptr);
    current = this;
}

FakeKernel::~FakeKernel()
{
    current = nullptr;
}

std::string FakeKernel::take()
{
    std::string text;
    text.swap(log_);
    return text;
}

int FakeKernel::on_ioctl(int fd, unsigned long request, void *argument)
{
    auto &header = *static_cast<ib_uverbs_ioctl_hdr *>(argument);
    EXPECT_EQ(fd, kFd);
    EXPECT_EQ(request, RDMA_VERBS_IOCTL);
    EXPECT_EQ(header.driver_id, kDriver);
    EXPECT_EQ(header.length, sizeof header + header.num_attrs * sizeof(ib_uverbs_attr));
    EXPECT_EQ(header.reserved1, 0U);
    EXPECT_EQ(header.reserved2, 0U);

    bool carries_write =
        header.object_id == UVERBS_OBJECT_DEVICE && header.method_id == UVERBS_METHOD_INVOKE_WRITE;
    bool is_missing = (no_methods && !carries_write) ||
                      (missing && missing->object == header.object_id && missing->id == header.method_id);
    int failure = no_ioctl ? ENOTTY : is_missing ? EPROTONOSUPPORT : header.num_attrs == 0 ? EINVAL : error;
    std::vector<std::string> attributes;
    for (ib_uverbs_attr *attr = header.attrs; attr != header.attrs + header.num_attrs; ++attr) {
        std::tuple key(header.object_id, header.method_id, attr->attr_id);
        bool is_output = kOutputs.count(key) != 0 || attr->attr_id == UVERBS_ATTR_UHW_OUT ||
                         attr->attr_id == kDriverOutput;
        attributes.push_back(words_of(*attr, is_output));
        if (failure != 0)
            continue;
        if (kNewObjects.count(key) != 0)
            attr->data = new_object;
        if (is_output) {
            const std::string &answer =
                carries_write && attr->attr_id == UVERBS_ATTR_CORE_OUT ? written : answers[attr->attr_id];
            EXPECT_LE(answer.size(), attr->len);
            std::memcpy(reinterpret_cast<void *>(attr->data), answer.data(),
                        std::min<size_t>(answer.size(), attr->len));
            attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
        }
    }
    log_ += words(header.object_id, header.method_id, attributes);
    errno = failure;
    return failure == 0 ? 0 : -1;
}

ssize_t FakeKernel::on_write(int fd, const void *buffer, size_t size)
{
    EXPECT_EQ(fd, kFd);
    EXPECT_GE(size, sizeof(ib_uverbs_cmd_hdr));
    ib_uverbs_cmd_hdr header;
    std::memcpy(&header, buffer, sizeof header);
    bool extended = (header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
    size_t answer_size = header.out_words * (extended ? 8U : 4U);
    if (extended) {
        ib_uverbs_ex_cmd_hdr more;
        std::memcpy(&more, static_cast<const char *>(buffer) + sizeof header, sizeof more);
        answer_size += more.provider_out_words * 8U;
    }

    // In both forms the address of the answer, if there is one, stands behind the first header.
    const char *from = static_cast<const char *>(buffer);
    std::string text = hex(from, sizeof header);
    from += sizeof header;
    size_t left = size - sizeof header;
    if (answer_size != 0) {
        uint64_t address;
        std::memcpy(&address, from, sizeof address);
        EXPECT_NE(address, 0U);
        text += std::string(" ") + kAnswer;
        bool succeeds = write_error == 0 && error == 0;
        if ((succeeds || writes_on_failure) && address != 0) {
            EXPECT_LE(written.size(), answer_size);
            std::memcpy(reinterpret_cast<void *>(address), written.data(),
                        std::min(written.size(), answer_size));
        }
        from += sizeof address;
        left -= sizeof address;
    }
    if (left != 0)
        text += ' ' + hex(from, left);
    log_ += test::write(text);
    errno = write_error != 0 ? write_error : error;
    return errno == 0 ? static_cast<ssize_t>(size) : -1;
}

}  // namespace verbs::uverbs::test
