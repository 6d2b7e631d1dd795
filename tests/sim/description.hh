// SPDX-License-Identifier: BSD-2-Clause
// What the simulated kernel presents: devices, ports, and which of its interfaces it has.
#pragma once

#include <rdma/ib_user_ioctl_verbs.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sim {

struct Gid {
    uint32_t index = 0;
    std::array<uint8_t, 16> raw{};
    ib_uverbs_gid_type type = IB_UVERBS_GID_TYPE_ROCE_V2;
    std::string ndev;
};

struct Port {
    ib_uverbs_query_port_resp_ex attributes{};
    std::vector<Gid> gids;
    std::vector<uint16_t> pkeys = {0xffff};
    uint64_t speed =
        0;  ///< of UVERBS_METHOD_QUERY_PORT_SPEED, in units of 100 Mbit/s; 0: from width and speed
};

/// A command, OBJECT/METHOD, or all of an object, OBJECT/, and what it fails with (0: EOPNOTSUPP).
struct Refusal {
    std::string name;
    int error = 0;
};

struct Device {
    std::string name;
    uint32_t index = 0;        ///< netlink's number of the device
    uint32_t uverbs = 0;       ///< N of uverbsN
    uint32_t node_number = 0;  ///< minor number of the node in /dev: other than its own for a wrong node
    bool has_node = true;      ///< whether there is a node in /dev at all
    uint8_t node_type = 1;     ///< RDMA_NODE_*
    uint32_t driver_id = 0;    ///< enum rdma_driver_id
    uint32_t abi_version = 1;  ///< of the driver
    std::string firmware = "1.2.3";
    std::string node_desc;
    std::string pci_address;  ///< empty: a virtual device
    uint16_t pci_vendor = 0;
    uint16_t pci_device = 0;
    uint64_t node_guid = 0;  ///< host byte order, like the next
    uint64_t sys_image_guid = 0;
    uint32_t num_comp_vectors = 2;
    bool core_support = true;  ///< whether GET_CONTEXT by ioctl answers CORE_SUPPORT
    ib_uverbs_ex_query_device_resp attributes{};
    uint64_t max_counters = 16;    ///< completion counters of QUERY_COMP_CNTR_CAPS
    std::vector<Refusal> refused;  ///< commands that the driver lacks
    std::vector<Port> ports;
};

/// Which ways lead to the kernel.
enum class Interface { kAll, kIoctlOnly, kWriteOnly, kOldIoctl };

struct Description {
    std::vector<Device> devices;
    Interface interface = Interface::kAll;
    int netlink_errno = 0;   ///< what socket(NETLINK_RDMA) fails with; 0: it works
    bool has_uverbs = true;  ///< whether the uverbs module is loaded
    uint32_t uverbs_abi = 6;
    bool copy_on_fork = true;
};

/// Reads the description that the environment names: VERBS_SIM (a file, or the text itself with ';' for line
/// ends), VERBS_SIM_KERNEL and VERBS_SIM_NETLINK, which overrule it. Stops the process, with a message, where
/// it is wrong. No VERBS_SIM: one device sim0.
Description read_description();

}  // namespace sim
