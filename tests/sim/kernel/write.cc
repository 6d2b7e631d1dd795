// SPDX-License-Identifier: BSD-2-Clause
// Taking written commands apart: what the kernel checks before a command runs.
#include "kernel/command.hh"
#include "record.hh"
#include "session.hh"

namespace sim {
namespace {

struct Sizes {
    size_t header;
    size_t request;
    size_t response;
    size_t driver_in;
    size_t driver_out;
    uint64_t answer;
};

constexpr size_t kHeader = sizeof(ib_uverbs_cmd_hdr);
constexpr size_t kLongHeader = kHeader + sizeof(ib_uverbs_ex_cmd_hdr);

int measure_plain(const ib_uverbs_cmd_hdr &header, const WriteMethod &method, const std::byte *buffer,
                  size_t size, Sizes &sizes)
{
    // Old programs count one word too few for DESTROY_CQ, and kernels bear with them.
    const bool is_short =
        header.command == IB_USER_VERBS_CMD_DESTROY_CQ && size == 16 && header.in_words == 4;
    if (header.in_words * size_t{4} != size)
        return EINVAL;
    if (!is_short && size < kHeader + method.request_size)
        return ENOSPC;
    if (header.out_words * size_t{4} < method.response_size)
        return ENOSPC;
    sizes = {.header = kHeader, .request = size - kHeader, .response = header.out_words * size_t{4}};
    if (method.has_response_address)
        memcpy(&sizes.answer, buffer + kHeader, sizeof sizes.answer);
    return 0;
}

int measure_extended(const ib_uverbs_cmd_hdr &header, const WriteMethod &method, const std::byte *buffer,
                     size_t size, Sizes &sizes)
{
    if (size < kLongHeader)
        return EINVAL;
    ib_uverbs_ex_cmd_hdr more;
    memcpy(&more, buffer + kHeader, sizeof more);
    sizes = {.header = kLongHeader,
             .request = header.in_words * size_t{8},
             .response = header.out_words * size_t{8},
             .driver_in = more.provider_in_words * size_t{8},
             .driver_out = more.provider_out_words * size_t{8},
             .answer = more.response};
    if (sizes.request + sizes.driver_in != size - kLongHeader)
        return EINVAL;
    if (sizes.request < method.request_size)
        return ENOSPC;
    if (more.cmd_hdr_reserved != 0)
        return EINVAL;
    const bool has_answer = sizes.response != 0 || sizes.driver_out != 0;
    if ((more.response != 0) != has_answer)
        return EINVAL;
    return has_answer && sizes.response < method.response_size ? ENOSPC : 0;
}

int run_buffer(File &file, int fd, const std::byte *buffer, size_t size)
{
    if (size < kHeader)
        return EINVAL;
    ib_uverbs_cmd_hdr header;
    memcpy(&header, buffer, sizeof header);
    const bool is_extended = (header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0;
    if ((header.command & ~(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK)) != 0)
        return EINVAL;
    const WriteMethod *method = find_write_method(header.command);
    // The kernel looks at the sizes before it says that it has no such command.
    const bool is_known = method != nullptr;
    if (!is_known && is_extended &&
        (header.command & IB_USER_VERBS_CMD_COMMAND_MASK) > IB_USER_VERBS_EX_CMD_MODIFY_CQ)
        return EOPNOTSUPP;
    static constexpr WriteMethod kUnknown = {};
    if (!is_known)
        method = &kUnknown;

    Sizes sizes{};
    const int error = is_extended ? measure_extended(header, *method, buffer, size, sizes)
                                  : measure_plain(header, *method, buffer, size, sizes);
    if (error != 0 || !is_known) {
        const int refused = error != 0 ? error : EOPNOTSUPP;
        record_refused(
            is_extended ? "ex write" : "write",
            is_known ? method->name : std::to_string(header.command & IB_USER_VERBS_CMD_COMMAND_MASK),
            refused);
        return refused;
    }
    Call call(file, fd);
    call.write_method = method;
    call.way = is_extended ? "ex write" : "write";
    const std::byte *request = buffer + sizes.header;
    auto *answer = reinterpret_cast<std::byte *>(sizes.answer);
    if (is_extended) {
        call.core_in = {request, sizes.request};
        call.driver_in = {request + sizes.request, sizes.driver_in};
        call.core_out = {answer, sizes.response};
        call.driver_out = {answer + sizes.response, sizes.driver_out};
    } else {
        // The driver's parts lie behind the core's, whose sizes are fixed.
        const size_t core_in = std::min<size_t>(sizes.request, method->request_size);
        const size_t core_out = answer != nullptr ? method->response_size : 0;
        call.core_in = {request, core_in};
        call.driver_in = {request + core_in, sizes.request - core_in};
        if (answer != nullptr) {
            call.core_out = {answer, core_out};
            call.driver_out = {answer + core_out, sizes.response - core_out};
        } else if (sizes.response != 0) {
            return EFAULT;
        }
    }
    return execute(call, method->run, method->needs_context);
}

}  // namespace

ssize_t run_write(File &file, int fd, const void *buffer, size_t size)
{
    const int error = Session::get().description().interface == Interface::kIoctlOnly
                          ? EACCES
                          : run_buffer(file, fd, static_cast<const std::byte *>(buffer), size);
    if (error == 0)
        return static_cast<ssize_t>(size);
    errno = error;
    return -1;
}

}  // namespace sim
