// SPDX-License-Identifier: BSD-2-Clause
// Reading descriptions of devices.
#include "description.hh"

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "defaults.hh"
#include "interpose/real.hh"
#include "names.hh"

namespace sim {
namespace {

#define DEVICE(member) SIM_MEMBER(ib_uverbs_ex_query_device_resp, member)
#define BASE(member)                                                                                        \
    Member                                                                                                  \
    {                                                                                                       \
#member, offsetof(ib_uverbs_query_device_resp, member), sizeof(ib_uverbs_query_device_resp::member) \
    }
#define NESTED(struct_member, member)                                                             \
    Member                                                                                        \
    {                                                                                             \
#member, offsetof(ib_uverbs_ex_query_device_resp, struct_member.member),                  \
            sizeof(static_cast <ib_uverbs_ex_query_device_resp *>(nullptr)->struct_member.member) \
    }

constexpr Member kDeviceMembers[] = {
    BASE(fw_ver),
    BASE(max_mr_size),
    BASE(page_size_cap),
    BASE(vendor_id),
    BASE(vendor_part_id),
    BASE(hw_ver),
    BASE(max_qp),
    BASE(max_qp_wr),
    BASE(device_cap_flags),
    BASE(max_sge),
    BASE(max_sge_rd),
    BASE(max_cq),
    BASE(max_cqe),
    BASE(max_mr),
    BASE(max_pd),
    BASE(max_qp_rd_atom),
    BASE(max_ee_rd_atom),
    BASE(max_res_rd_atom),
    BASE(max_qp_init_rd_atom),
    BASE(max_ee_init_rd_atom),
    BASE(atomic_cap),
    BASE(max_ee),
    BASE(max_rdd),
    BASE(max_mw),
    BASE(max_raw_ipv6_qp),
    BASE(max_raw_ethy_qp),
    BASE(max_mcast_grp),
    BASE(max_mcast_qp_attach),
    BASE(max_total_mcast_qp_attach),
    BASE(max_ah),
    BASE(max_fmr),
    BASE(max_map_per_fmr),
    BASE(max_srq),
    BASE(max_srq_wr),
    BASE(max_srq_sge),
    BASE(max_pkeys),
    BASE(local_ca_ack_delay),
    BASE(phys_port_cnt),
    DEVICE(timestamp_mask),
    DEVICE(hca_core_clock),
    DEVICE(device_cap_flags_ex),
    DEVICE(max_wq_type_rq),
    DEVICE(raw_packet_caps),
    DEVICE(max_dm_size),
    DEVICE(xrc_odp_caps),
    NESTED(odp_caps, general_caps),
    NESTED(odp_caps.per_transport_caps, rc_odp_caps),
    NESTED(odp_caps.per_transport_caps, uc_odp_caps),
    NESTED(odp_caps.per_transport_caps, ud_odp_caps),
    NESTED(rss_caps, supported_qpts),
    NESTED(rss_caps, max_rwq_indirection_tables),
    NESTED(rss_caps, max_rwq_indirection_table_size),
    NESTED(tm_caps, max_rndv_hdr_size),
    NESTED(tm_caps, max_num_tags),
    NESTED(tm_caps, max_ops),
    NESTED(cq_moderation_caps, max_cq_moderation_count),
    NESTED(cq_moderation_caps, max_cq_moderation_period),
};

#define PORT(member)                                                                                    \
    Member                                                                                              \
    {                                                                                                   \
#member, offsetof(ib_uverbs_query_port_resp, member), sizeof(ib_uverbs_query_port_resp::member) \
    }

constexpr Member kPortMembers[] = {
    PORT(port_cap_flags),
    PORT(max_msg_sz),
    PORT(bad_pkey_cntr),
    PORT(qkey_viol_cntr),
    PORT(gid_tbl_len),
    PORT(pkey_tbl_len),
    PORT(lid),
    PORT(sm_lid),
    PORT(state),
    PORT(max_mtu),
    PORT(active_mtu),
    PORT(lmc),
    PORT(max_vl_num),
    PORT(sm_sl),
    PORT(subnet_timeout),
    PORT(init_type_reply),
    PORT(active_width),
    PORT(active_speed),
    PORT(phys_state),
    PORT(link_layer),
    PORT(flags),
    SIM_MEMBER(ib_uverbs_query_port_resp_ex, port_cap_flags2),
    SIM_MEMBER(ib_uverbs_query_port_resp_ex, active_speed_ex),
};

struct Word {
    std::string_view text;
    uint64_t number;
};

constexpr Word kDrivers[] = {
    {"unknown", RDMA_DRIVER_UNKNOWN}, {"mlx5", RDMA_DRIVER_MLX5},
    {"mlx4", RDMA_DRIVER_MLX4},       {"cxgb3", RDMA_DRIVER_CXGB3},
    {"cxgb4", RDMA_DRIVER_CXGB4},     {"mthca", RDMA_DRIVER_MTHCA},
    {"bnxt_re", RDMA_DRIVER_BNXT_RE}, {"ocrdma", RDMA_DRIVER_OCRDMA},
    {"irdma", RDMA_DRIVER_IRDMA},     {"vmw_pvrdma", RDMA_DRIVER_VMW_PVRDMA},
    {"qedr", RDMA_DRIVER_QEDR},       {"hns", RDMA_DRIVER_HNS},
    {"usnic", RDMA_DRIVER_USNIC},     {"rxe", RDMA_DRIVER_RXE},
    {"hfi1", RDMA_DRIVER_HFI1},       {"qib", RDMA_DRIVER_QIB},
    {"efa", RDMA_DRIVER_EFA},         {"siw", RDMA_DRIVER_SIW},
    {"erdma", RDMA_DRIVER_ERDMA},     {"mana", RDMA_DRIVER_MANA},
    {"ionic", RDMA_DRIVER_IONIC},
};
constexpr Word kNodeTypes[] = {{"ca", 1},    {"switch", 2},    {"router", 3},     {"rnic", 4},
                               {"usnic", 5}, {"usnic_udp", 6}, {"unspecified", 7}};
constexpr Word kStates[] = {{"down", 1}, {"init", 2}, {"armed", 3}, {"active", 4}};
constexpr Word kLinkLayers[] = {{"infiniband", IBV_LINK_LAYER_INFINIBAND},
                                {"ethernet", IBV_LINK_LAYER_ETHERNET}};
constexpr Word kGidTypes[] = {
    {"ib", IB_UVERBS_GID_TYPE_IB}, {"v1", IB_UVERBS_GID_TYPE_ROCE_V1}, {"v2", IB_UVERBS_GID_TYPE_ROCE_V2}};
constexpr Word kInterfaces[] = {{"all", static_cast<uint64_t>(Interface::kAll)},
                                {"ioctl-only", static_cast<uint64_t>(Interface::kIoctlOnly)},
                                {"write-only", static_cast<uint64_t>(Interface::kWriteOnly)},
                                {"old-ioctl", static_cast<uint64_t>(Interface::kOldIoctl)}};
constexpr Word kSwitch[] = {{"off", 0}, {"on", 1}};

class Parser {
public:
    Parser(Description &into, std::string where) : into_(into), where_(std::move(where)) {}

    void parse(std::string_view text, char separator)
    {
        while (!text.empty()) {
            const size_t end = text.find_first_of(separator == ';' ? ";\n" : "\n");
            ++line_;
            parse_line(text.substr(0, end));
            text = end == text.npos ? "" : text.substr(end + 1);
        }
    }

    [[noreturn]] void fail(const char *problem) const
    {
        fprintf(stderr, "verbs_sim: %s:%d: %s\n", where_.c_str(), line_, problem);
        _exit(126);
    }

private:
    void parse_line(std::string_view line)
    {
        words_.clear();
        line = line.substr(0, line.find('#'));
        while (true) {
            const size_t start = line.find_first_not_of(" \t\r");
            if (start == line.npos)
                break;
            line = line.substr(start);
            const size_t end = line.find_first_of(" \t\r");
            words_.emplace_back(line.substr(0, end));
            line = end == line.npos ? "" : line.substr(end);
        }
        if (words_.empty())
            return;
        if (words_.size() < 2 && words_[0] != "port")
            fail("a value is missing");
        if (words_[0] == "device")
            start_device();
        else if (words_[0] == "port")
            start_port();
        else if (port_ != nullptr ? !port_line() : device_ != nullptr ? !device_line() : !kernel_line())
            fail(("there is no '" + words_[0] + "' here").c_str());
    }

    uint64_t value(size_t place = 1, std::span<const Word> names = {}) const
    {
        if (words_.size() <= place)
            fail("a value is missing");
        for (const Word &name : names)
            if (name.text == words_[place])
                return name.number;
        uint64_t number = 0;
        if (!parse_number(words_[place], number))
            fail(("'" + words_[place] + "' is not a value here").c_str());
        return number;
    }

    bool set_member(std::span<const Member> members, void *object) const
    {
        for (const Member &member : members) {
            if (member.name != words_[0])
                continue;
            const uint64_t number = value(1, member.name == "state"        ? std::span(kStates)
                                             : member.name == "link_layer" ? std::span(kLinkLayers)
                                                                           : std::span<const Word>());
            memcpy(static_cast<char *>(object) + member.offset, &number, member.size);
            return true;
        }
        return false;
    }

    std::string rest() const
    {
        std::string text = words_[1];
        for (size_t i = 2; i < words_.size(); ++i)
            text += " " + words_[i];
        return text;
    }

    void start_device()
    {
        port_ = nullptr;
        if (into_.devices.size() == 64)
            fail("64 devices are the most");
        device_ = &into_.devices.emplace_back();
        device_->index = static_cast<uint32_t>(into_.devices.size() - 1);
        set_defaults(*device_, words_[1]);
    }

    void start_port()
    {
        if (device_ == nullptr)
            fail("a port needs a device");
        port_ = &device_->ports.emplace_back();
        set_defaults(*port_, *device_);
    }

    bool kernel_line()
    {
        if (words_[0] == "kernel")
            into_.interface = static_cast<Interface>(value(1, kInterfaces));
        else if (words_[0] == "netlink")
            into_.netlink_errno = words_[1] == "on" ? 0 : error();
        else if (words_[0] == "uverbs")
            into_.has_uverbs = value(1, kSwitch) != 0;
        else if (words_[0] == "uverbs_abi")
            into_.uverbs_abi = static_cast<uint32_t>(value());
        else if (words_[0] == "copy_on_fork")
            into_.copy_on_fork = value(1, kSwitch) != 0;
        else
            return false;
        return true;
    }

    int error(size_t place = 1) const
    {
        const int number = errno_of(words_[place]);
        if (number == 0)
            fail(("'" + words_[place] + "' is not an errno").c_str());
        return number;
    }

    bool device_line()
    {
        const std::string &key = words_[0];
        if (key == "driver") {
            device_->driver_id = static_cast<uint32_t>(value(1, kDrivers));
            set_driver_defaults(*device_);
        } else if (key == "abi") {
            device_->abi_version = static_cast<uint32_t>(value());
        } else if (key == "node_type") {
            device_->node_type = static_cast<uint8_t>(value(1, kNodeTypes));
        } else if (key == "guid") {
            device_->node_guid = device_->sys_image_guid = value();
        } else if (key == "sys_image_guid") {
            device_->sys_image_guid = value();
        } else if (key == "firmware") {
            device_->firmware = rest();
        } else if (key == "node_desc") {
            device_->node_desc = rest();
        } else if (key == "pci") {
            device_->pci_address = words_[1];
            device_->pci_vendor = static_cast<uint16_t>(value(2));
            device_->pci_device = static_cast<uint16_t>(value(3));
        } else if (key == "uverbs") {
            device_->uverbs = device_->node_number = static_cast<uint32_t>(value());
        } else if (key == "node") {
            device_->has_node = words_[1] != "none";
            if (device_->has_node)
                device_->node_number = static_cast<uint32_t>(value());
        } else if (key == "comp_vectors") {
            device_->num_comp_vectors = static_cast<uint32_t>(value());
        } else if (key == "core_support") {
            device_->core_support = value(1, kSwitch) != 0;
        } else if (key == "max_counters") {
            device_->max_counters = value();
        } else if (key == "refuse") {
            device_->refused.push_back({words_[1], words_.size() > 2 ? error(2) : 0});
        } else {
            return set_member(kDeviceMembers, &device_->attributes);
        }
        return true;
    }

    bool port_line()
    {
        if (words_[0] == "gid") {
            Gid gid;
            gid.index = static_cast<uint32_t>(port_->gids.size());
            if (inet_pton(AF_INET6, words_[1].c_str(), gid.raw.data()) != 1)
                fail("a GID is written as an IPv6 address");
            gid.type = default_gid_type(*port_);
            if (words_.size() > 2)
                gid.type = static_cast<ib_uverbs_gid_type>(value(2, kGidTypes));
            if (words_.size() > 3 && words_[3] != "-")
                gid.ndev = words_[3];
            if (words_.size() > 4)
                gid.index = static_cast<uint32_t>(value(4));
            port_->gids.push_back(gid);
        } else if (words_[0] == "pkey") {
            if (!pkeys_given_)
                port_->pkeys.clear();
            port_->pkeys.push_back(static_cast<uint16_t>(value()));
        } else if (words_[0] == "speed") {
            port_->speed = value();
        } else {
            return set_member(kPortMembers, &port_->attributes);
        }
        pkeys_given_ = words_[0] == "pkey";
        return true;
    }

    Description &into_;
    std::string where_;
    int line_ = 0;
    std::vector<std::string> words_;
    Device *device_ = nullptr;
    Port *port_ = nullptr;
    bool pkeys_given_ = false;
};

std::string read_text(const char *path)
{
    std::string text;
    FILE *file = REAL(fopen)(path, "re");
    if (file == nullptr) {
        fprintf(stderr, "verbs_sim: VERBS_SIM names '%s': %s\n", path, strerrordesc_np(errno));
        _exit(126);
    }
    char buffer[4096];
    while (const size_t got = fread(buffer, 1, sizeof buffer, file))
        text.append(buffer, got);
    fclose(file);
    return text;
}

bool is_description(std::string_view text)
{
    return text.empty() || text.find_first_of(" ;\n") != text.npos;
}

}  // namespace

Description read_description()
{
    Description description;
    const char *source = getenv("VERBS_SIM");
    if (source == nullptr)
        source = "device sim0";
    if (is_description(source))
        Parser(description, "VERBS_SIM").parse(source, ';');
    else
        Parser(description, source).parse(read_text(source), '\n');

    Description overruling;
    for (const auto &[variable, key] :
         {std::pair{"VERBS_SIM_KERNEL", "kernel "}, std::pair{"VERBS_SIM_NETLINK", "netlink "}})
        if (const char *value = getenv(variable); value != nullptr && *value != '\0') {
            Parser(overruling, variable).parse(std::string(key) + value, '\n');
            if (*key == 'k')
                description.interface = overruling.interface;
            else
                description.netlink_errno = overruling.netlink_errno;
        }

    for (Device &device : description.devices)
        complete(device);
    return description;
}

}  // namespace sim
