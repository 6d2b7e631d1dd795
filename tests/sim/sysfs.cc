// SPDX-License-Identifier: BSD-2-Clause
// The devices as sysfs and /dev show them: real files in the session's directory.
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <cstdarg>

#include "interpose/real.hh"
#include "session.hh"

namespace sim {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char *text, ...)
{
    char buffer[512];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(buffer, sizeof buffer, text, arguments);
    va_end(arguments);
    return buffer;
}

std::string guid_text(uint64_t guid)
{
    return format("%04x:%04x:%04x:%04x\n", static_cast<unsigned>(guid >> 48),
                  static_cast<unsigned>(guid >> 32 & 0xffff), static_cast<unsigned>(guid >> 16 & 0xffff),
                  static_cast<unsigned>(guid & 0xffff));
}

std::string gid_text(const std::array<uint8_t, 16> &raw)
{
    std::string text;
    for (size_t i = 0; i < raw.size(); i += 2)
        text += format("%s%02x%02x", i != 0 ? ":" : "", raw[i], raw[i + 1]);
    return text + "\n";
}

/// Entries of a GID table that a listing of its directory shows, described ones apart.
constexpr uint32_t kListedGids = 32;

const char *node_type_text(uint8_t type)
{
    static constexpr const char *kNames[] = {"",     "CA",    "switch",    "router",
                                             "RNIC", "usNIC", "usNIC UDP", "unspecified"};
    return type < std::size(kNames) ? kNames[type] : "<unknown>";
}

const char *state_text(uint8_t state)
{
    static constexpr const char *kNames[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
    return state < std::size(kNames) ? kNames[state] : "UNKNOWN";
}

const char *phys_state_text(uint8_t state)
{
    static constexpr const char *kNames[] = {
        "<unknown>",         "Sleep",   "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
        "LinkErrorRecovery", "Phy Test"};
    return state < std::size(kNames) ? kNames[state] : "<unknown>";
}

const char *link_layer_text(uint8_t layer)
{
    return layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand"
           : layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet"
                                              : "Unknown";
}

std::string device_directory(const Device &device)
{
    return device.pci_address.empty() ? "/sys/devices/virtual"
                                      : "/sys/devices/pci0000:00/" + device.pci_address;
}

void make_port(const std::string &dir, const Port &port)
{
    const ib_uverbs_query_port_resp &base = port.attributes.legacy_resp;
    make_directories(dir);
    write_file(dir + "/state", format("%u: %s\n", base.state, state_text(base.state)));
    write_file(dir + "/phys_state", format("%u: %s\n", base.phys_state, phys_state_text(base.phys_state)));
    write_file(dir + "/link_layer", format("%s\n", link_layer_text(base.link_layer)));
    write_file(dir + "/lid", format("0x%x\n", base.lid));
    write_file(dir + "/lid_mask_count", format("%u\n", base.lmc));
    write_file(dir + "/sm_lid", format("0x%x\n", base.sm_lid));
    write_file(dir + "/sm_sl", format("%u\n", base.sm_sl));
    write_file(dir + "/cap_mask", format("0x%08x\n", base.port_cap_flags));
    write_file(dir + "/rate", format("%llu Gb/sec\n", static_cast<unsigned long long>(port.speed / 10)));

    const std::string attrs = dir + "/gid_attrs";
    for (const std::string &sub : {dir + "/gids", attrs + "/types", attrs + "/ndevs", dir + "/pkeys"})
        make_directories(sub);
    // Long tables would take long to make: Session::translate shows the rest of them.
    for (uint32_t i = 0; i < std::min(base.gid_tbl_len, kListedGids); ++i)
        write_file(dir + "/gids/" + std::to_string(i), gid_text({}));
    for (const Gid &gid : port.gids) {
        const std::string index = std::to_string(gid.index);
        write_file(dir + "/gids/" + index, gid_text(gid.raw));
        write_file(attrs + "/types/" + index,
                   gid.type == IB_UVERBS_GID_TYPE_ROCE_V2 ? "RoCE v2\n" : "IB/RoCE v1\n");
        if (!gid.ndev.empty())
            write_file(attrs + "/ndevs/" + index, gid.ndev + "\n");
    }
    for (size_t i = 0; i < base.pkey_tbl_len; ++i)
        write_file(dir + "/pkeys/" + std::to_string(i),
                   format("0x%04x\n", i < port.pkeys.size() ? port.pkeys[i] : 0));
}

}  // namespace

void make_directories(const std::string &path)
{
    for (size_t end = path.find('/', 1); end != path.npos; end = path.find('/', end + 1))
        mkdir(path.substr(0, end).c_str(), 0777);
    if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
        fprintf(stderr, "verbs_sim: making %s: %s\n", path.c_str(), strerrordesc_np(errno));
}

void write_file(const std::string &path, const std::string &text)
{
    const int fd = REAL(open)(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || REAL(write)(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        fprintf(stderr, "verbs_sim: writing %s: %s\n", path.c_str(), strerrordesc_np(errno));
    if (fd >= 0)
        REAL(close)(fd);
}

void remove_tree(const std::string &path)
{
    if (DIR *directory = REAL(opendir)(path.c_str())) {
        while (const dirent *entry = readdir(directory)) {
            const std::string name = entry->d_name;
            if (name == "." || name == "..")
                continue;
            if (entry->d_type == DT_DIR)
                remove_tree(path + "/" + name);
            else
                unlink((path + "/" + name).c_str());
        }
        closedir(directory);
    }
    rmdir(path.c_str());
}

void make_device_tree(const std::string &root, const Device &device, uint32_t index)
{
    const std::string parent = device_directory(device);
    const std::string uverbs = "uverbs" + std::to_string(device.uverbs);
    const std::string ib = parent + "/infiniband/" + device.name;
    const std::string verbs = parent + "/infiniband_verbs/" + uverbs;
    make_directories(root + ib);
    make_directories(root + verbs);
    if (!device.pci_address.empty()) {
        write_file(root + parent + "/vendor", format("0x%04x\n", device.pci_vendor));
        write_file(root + parent + "/device", format("0x%04x\n", device.pci_device));
        write_file(root + parent + "/class", "0x020700\n");
        write_file(root + parent + "/numa_node", "0\n");
        write_file(root + parent + "/modalias",
                   format("pci:v%08Xd%08Xsv%08Xsd%08Xbc02sc07i00\n", device.pci_vendor, device.pci_device,
                          device.pci_vendor, 1));
        for (const std::string &node : {ib, verbs})
            symlink(("../../../" + device.pci_address).c_str(), (root + node + "/device").c_str());
    }

    write_file(root + ib + "/node_type",
               format("%u: %s\n", device.node_type, node_type_text(device.node_type)));
    write_file(root + ib + "/node_guid", guid_text(device.node_guid));
    write_file(root + ib + "/sys_image_guid", guid_text(device.sys_image_guid));
    write_file(root + ib + "/node_desc", device.node_desc + "\n");
    if (!device.firmware.empty() || device.driver_id == RDMA_DRIVER_RXE)
        write_file(root + ib + "/fw_ver", device.firmware + "\n");
    write_file(root + ib + "/hca_type", "SIM\n");
    write_file(root + ib + "/uevent", "NAME=" + device.name + "\n");
    make_directories(root + ib + "/ports");
    for (size_t i = 0; i < device.ports.size(); ++i)
        make_port(root + ib + "/ports/" + std::to_string(i + 1), device.ports[i]);

    write_file(root + verbs + "/ibdev", device.name + "\n");
    write_file(root + verbs + "/abi_version", format("%u\n", device.abi_version));
    write_file(root + verbs + "/dev", format("%u:%u\n", kMajor, kFirstMinor + device.uverbs));

    symlink(("../.." + ib.substr(4)).c_str(), (root + "/sys/class/infiniband/" + device.name).c_str());
    symlink(("../.." + verbs.substr(4)).c_str(), (root + "/sys/class/infiniband_verbs/" + uverbs).c_str());
    if (device.has_node)
        write_file(root + "/dev/infiniband/" + uverbs, "");
    // Without netlink, age tells the order of devices, and the clock of files is too coarse to.
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += index;
    const timespec times[] = {now, now};
    for (const std::string &node : {ib, verbs, "/dev/infiniband/" + uverbs})
        utimensat(AT_FDCWD, (root + node).c_str(), times, 0);
}

void remove_device_tree(const std::string &root, const Device &device)
{
    const std::string uverbs = "uverbs" + std::to_string(device.uverbs);
    unlink((root + "/dev/infiniband/" + uverbs).c_str());
    unlink((root + "/sys/class/infiniband_verbs/" + uverbs).c_str());
    unlink((root + "/sys/class/infiniband/" + device.name).c_str());
    remove_tree(root + device_directory(device) + "/infiniband_verbs/" + uverbs);
    remove_tree(root + device_directory(device) + "/infiniband/" + device.name);
}

}  // namespace sim
