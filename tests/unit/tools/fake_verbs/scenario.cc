// SPDX-License-Identifier: BSD-2-Clause
// Reads scenario files, and keeps the count of calls and the log.
//
// A scenario is a text file, a statement a line:
//   # ...                              a comment (also "# run:", which belongs to the test's runner)
//   device NAME [FIELD=NUMBER]...      a device; FIELD: a member of ibv_device, ibv_device_attr or
//                                      ibv_device_attr_ex, fw_ver, guid, ibdev_path, num_comp_vectors, or
//                                      has_extended_query
//   port [FIELD=NUMBER]...             the next port of the last device; FIELD: a member of ibv_port_attr
//   gid INDEX ADDRESS TYPE             an entry of the last port's GID table; TYPE: enum ibv_gid_type, or "unknown":
//                                      asking for the type fails
//   fail FUNCTION ERRNO [FIRST [LAST]] FUNCTION fails in its FIRSTth (first) to LASTth (last) calls
//   completion N [status=S] [wr_id=W]  the Nth work completion is a different one
//   set NAME VALUE                     see value()
//   only ROLE STATEMENT...             a statement for the process whose FAKE_VERBS_ROLE this is
#include "scenario.hh"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sstream>

namespace fake_verbs {
namespace {

struct Field {
    const char *name;
    size_t offset;
    size_t size;
};

// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define FIELD_AS(name, type, member)                       \
    Field                                                  \
    {                                                      \
        name, offsetof(type, member), sizeof(type::member) \
    }
#define FIELD(type, member) FIELD_AS(#member, type, member)
#define ATTR(member) FIELD_AS(#member, ibv_device_attr_ex, orig_attr.member)
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define NESTED(outer, member) FIELD_AS(#outer "." #member, ibv_device_attr_ex, outer.member)

constexpr Field kDeviceFields[] = {
    FIELD(ibv_device, node_type),
    FIELD(ibv_device, transport_type),
};

constexpr Field kDeviceAttrFields[] = {
    ATTR(node_guid),
    ATTR(sys_image_guid),
    ATTR(max_mr_size),
    ATTR(page_size_cap),
    ATTR(vendor_id),
    ATTR(vendor_part_id),
    ATTR(hw_ver),
    ATTR(max_qp),
    ATTR(max_qp_wr),
    ATTR(device_cap_flags),
    ATTR(max_sge),
    ATTR(max_sge_rd),
    ATTR(max_cq),
    ATTR(max_cqe),
    ATTR(max_mr),
    ATTR(max_pd),
    ATTR(max_qp_rd_atom),
    ATTR(max_ee_rd_atom),
    ATTR(max_res_rd_atom),
    ATTR(max_qp_init_rd_atom),
    ATTR(max_ee_init_rd_atom),
    ATTR(atomic_cap),
    ATTR(max_ee),
    ATTR(max_rdd),
    ATTR(max_mw),
    ATTR(max_raw_ipv6_qp),
    ATTR(max_raw_ethy_qp),
    ATTR(max_mcast_grp),
    ATTR(max_mcast_qp_attach),
    ATTR(max_total_mcast_qp_attach),
    ATTR(max_ah),
    ATTR(max_fmr),
    ATTR(max_map_per_fmr),
    ATTR(max_srq),
    ATTR(max_srq_wr),
    ATTR(max_srq_sge),
    ATTR(max_pkeys),
    ATTR(local_ca_ack_delay),
    ATTR(phys_port_cnt),
    FIELD(ibv_device_attr_ex, comp_mask),
    NESTED(odp_caps, general_caps),
    NESTED(odp_caps, per_transport_caps.rc_odp_caps),
    NESTED(odp_caps, per_transport_caps.uc_odp_caps),
    NESTED(odp_caps, per_transport_caps.ud_odp_caps),
    FIELD(ibv_device_attr_ex, completion_timestamp_mask),
    FIELD(ibv_device_attr_ex, hca_core_clock),
    FIELD(ibv_device_attr_ex, device_cap_flags_ex),
    NESTED(tso_caps, max_tso),
    NESTED(tso_caps, supported_qpts),
    NESTED(rss_caps, supported_qpts),
    NESTED(rss_caps, max_rwq_indirection_tables),
    NESTED(rss_caps, max_rwq_indirection_table_size),
    NESTED(rss_caps, rx_hash_fields_mask),
    NESTED(rss_caps, rx_hash_function),
    FIELD(ibv_device_attr_ex, max_wq_type_rq),
    NESTED(packet_pacing_caps, qp_rate_limit_min),
    NESTED(packet_pacing_caps, qp_rate_limit_max),
    NESTED(packet_pacing_caps, supported_qpts),
    FIELD(ibv_device_attr_ex, raw_packet_caps),
    NESTED(tm_caps, max_rndv_hdr_size),
    NESTED(tm_caps, max_num_tags),
    NESTED(tm_caps, flags),
    NESTED(tm_caps, max_ops),
    NESTED(tm_caps, max_sge),
    NESTED(cq_mod_caps, max_cq_count),
    NESTED(cq_mod_caps, max_cq_period),
    FIELD(ibv_device_attr_ex, max_dm_size),
    NESTED(pci_atomic_caps, fetch_add),
    NESTED(pci_atomic_caps, swap),
    NESTED(pci_atomic_caps, compare_swap),
    FIELD(ibv_device_attr_ex, xrc_odp_caps),
    FIELD(ibv_device_attr_ex, phys_port_cnt_ex),
};

constexpr Field kPortFields[] = {
    FIELD(ibv_port_attr, state),          FIELD(ibv_port_attr, max_mtu),
    FIELD(ibv_port_attr, active_mtu),     FIELD(ibv_port_attr, gid_tbl_len),
    FIELD(ibv_port_attr, port_cap_flags), FIELD(ibv_port_attr, max_msg_sz),
    FIELD(ibv_port_attr, bad_pkey_cntr),  FIELD(ibv_port_attr, qkey_viol_cntr),
    FIELD(ibv_port_attr, pkey_tbl_len),   FIELD(ibv_port_attr, lid),
    FIELD(ibv_port_attr, sm_lid),         FIELD(ibv_port_attr, lmc),
    FIELD(ibv_port_attr, max_vl_num),     FIELD(ibv_port_attr, sm_sl),
    FIELD(ibv_port_attr, subnet_timeout), FIELD(ibv_port_attr, init_type_reply),
    FIELD(ibv_port_attr, active_width),   FIELD(ibv_port_attr, active_speed),
    FIELD(ibv_port_attr, phys_state),     FIELD(ibv_port_attr, link_layer),
    FIELD(ibv_port_attr, flags),          FIELD(ibv_port_attr, port_cap_flags2),
};

[[noreturn, gnu::format(printf, 1, 2)]] void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("fake libibverbs: ", stderr);
    vfprintf(stderr, format, args);  // NOLINT(clang-analyzer-valist.Uninitialized)
    fputc('\n', stderr);
    va_end(args);
    _exit(99);
}

// Splits "NAME=TEXT".
bool split_setting(const std::string &word, std::string *name, std::string *text)
{
    size_t equals = word.find('=');
    if (equals == std::string::npos)
        return false;
    *name = word.substr(0, equals);
    *text = word.substr(equals + 1);
    return true;
}

uint64_t parse_number(const std::string &text)
{
    char *end = nullptr;
    errno = 0;
    uint64_t number = strtoull(text.c_str(), &end, 0);
    if (text.empty() || *end || errno)
        die("'%s' is no number", text.c_str());
    return number;
}

template <size_t N>
bool store(const Field (&fields)[N], void *base, const std::string &name, uint64_t number)
{
    for (const Field &field : fields) {
        if (name == field.name) {
            memcpy(static_cast<char *>(base) + field.offset, &number, field.size);  // little-endian
            return true;
        }
    }
    return false;
}

Device *parse_device(std::istringstream &words)
{
    auto *device = new Device();
    std::string word, name, text;
    words >> word;
    snprintf(device->device.name, sizeof(device->device.name), "%s", word.c_str());
    device->has_extended_query = true;
    device->num_comp_vectors = 1;
    device->device.node_type = IBV_NODE_CA;
    while (words >> word) {
        if (!split_setting(word, &name, &text))
            die("'%s' is not FIELD=VALUE", word.c_str());
        if (name == "fw_ver")
            snprintf(device->attr.orig_attr.fw_ver, sizeof(device->attr.orig_attr.fw_ver), "%s",
                     text.c_str());
        else if (name == "ibdev_path")
            snprintf(device->device.ibdev_path, sizeof(device->device.ibdev_path), "%s", text.c_str());
        else if (name == "guid")
            device->guid = htobe64(parse_number(text));
        else if (name == "node_guid" || name == "sys_image_guid")
            store(kDeviceAttrFields, &device->attr, name, htobe64(parse_number(text)));
        else if (name == "num_comp_vectors")
            device->num_comp_vectors = static_cast<int>(parse_number(text));
        else if (name == "has_extended_query")
            device->has_extended_query = parse_number(text) != 0;
        else if (!store(kDeviceFields, &device->device, name, parse_number(text)) &&
                 !store(kDeviceAttrFields, &device->attr, name, parse_number(text)))
            die("a device has no field '%s'", name.c_str());
    }
    return device;
}

Port parse_port(std::istringstream &words)
{
    Port port = {};
    std::string word, name, text;
    while (words >> word) {
        if (!split_setting(word, &name, &text) || !store(kPortFields, &port.attr, name, parse_number(text)))
            die("a port has no '%s'", word.c_str());
    }
    return port;
}

void parse_gid(std::istringstream &words, Port *port)
{
    std::string index, address, type;
    Gid gid = {};
    words >> index >> address >> type;
    if (inet_pton(AF_INET6, address.c_str(), gid.value.raw) != 1)
        die("'%s' is no GID", address.c_str());
    gid.type = type == "unknown" ? kUnknownGidType : static_cast<uint32_t>(parse_number(type));
    port->gids[static_cast<uint32_t>(parse_number(index))] = gid;
}

void parse_completion(std::istringstream &words, Scenario *result)
{
    std::string number, word, name, text;
    Completion completion = {};
    words >> number;
    while (words >> word) {
        if (!split_setting(word, &name, &text))
            die("'%s' is not FIELD=VALUE", word.c_str());
        if (name == "status") {
            completion.status = static_cast<uint32_t>(parse_number(text));
        } else if (name == "wr_id") {
            completion.wr_id = parse_number(text);
            completion.changes_wr_id = true;
        } else {
            die("a completion has no field '%s'", name.c_str());
        }
    }
    result->completions[static_cast<unsigned>(parse_number(number))] = completion;
}

void parse_line(const std::string &line, Scenario *result)
{
    std::istringstream words(line);
    std::string statement, a, b, c, d;
    if (!(words >> statement) || statement[0] == '#')
        return;
    Device *device = result->devices.empty() ? nullptr : result->devices.back();
    if (statement == "device") {
        result->devices.push_back(parse_device(words));
    } else if (statement == "port" && device) {
        device->ports.push_back(parse_port(words));
        if (device->attr.orig_attr.phys_port_cnt < device->ports.size())
            device->attr.orig_attr.phys_port_cnt = static_cast<uint8_t>(device->ports.size());
    } else if (statement == "gid" && device && !device->ports.empty()) {
        parse_gid(words, &device->ports.back());
    } else if (statement == "fail") {
        words >> a >> b >> c >> d;
        result->failures.insert(
            {a,
             {static_cast<int>(parse_number(b)), c.empty() ? 1 : static_cast<unsigned>(parse_number(c)),
              d.empty() ? UINT_MAX : static_cast<unsigned>(parse_number(d))}});
    } else if (statement == "completion") {
        parse_completion(words, result);
    } else if (statement == "set") {
        words >> a >> b;
        result->values[a] = b;
    } else if (statement == "only") {
        const char *role = getenv("FAKE_VERBS_ROLE");
        std::string rest;
        words >> a;
        std::getline(words, rest);
        if (role && a == role)
            parse_line(rest, result);
    } else {
        die("cannot understand '%s'", line.c_str());
    }
}

Scenario *parse()
{
    const char *path = getenv("FAKE_VERBS_SCENARIO");
    FILE *file = path ? fopen(path, "re") : nullptr;
    if (!file)
        die("FAKE_VERBS_SCENARIO names no readable file");
    auto *result = new Scenario();
    char *line = nullptr;
    size_t size = 0;
    while (getline(&line, &size, file) >= 0)
        parse_line(line, result);
    free(line);
    fclose(file);
    return result;
}

}  // namespace

const Scenario &scenario()
{
    static const Scenario *the_scenario = parse();
    return *the_scenario;
}

uint64_t value(const char *name, uint64_t fallback)
{
    auto found = scenario().values.find(name);
    return found == scenario().values.end() ? fallback : parse_number(found->second);
}

int failure(const char *function)
{
    static auto &calls = *new std::map<std::string, unsigned>();
    unsigned call = ++calls[function];
    auto [first, last] = scenario().failures.equal_range(function);
    for (auto it = first; it != last; ++it) {
        if (call >= it->second.first_call && call <= it->second.last_call) {
            log("%s fails", function);
            errno = it->second.error;
            return errno;
        }
    }
    return 0;
}

void log(const char *format, ...)
{
    static const char *path = getenv("FAKE_VERBS_LOG");
    static FILE *file = path && *path ? fopen(path, "ae") : nullptr;
    if (!file)
        return;
    int saved_errno = errno;
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);  // NOLINT(clang-analyzer-valist.Uninitialized)
    va_end(args);
    fputc('\n', file);
    fflush(file);
    errno = saved_errno;
}

}  // namespace fake_verbs
