// SPDX-License-Identifier: BSD-2-Clause
// Asking the kernel about network interfaces.
#include "interface.hh"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "wire/icrc.hh"

namespace urxe {
namespace {

/// A socket to ask with.
class Question {
public:
    explicit Question(std::string_view name) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))
    {
        name.copy(request_.ifr_name, IF_NAMESIZE - 1);
    }
    Question(const Question &) = delete;
    Question &operator=(const Question &) = delete;
    ~Question()
    {
        if (socket_ >= 0)
            close(socket_);
    }

    bool ask(unsigned long request) { return ioctl(socket_, request, &request_) == 0; }
    ifreq &answer() { return request_; }

private:
    int socket_;
    ifreq request_{};
};

/// In Mbit/s; 0 where the interface has none. The kernel is asked twice: its first answer says how long its masks of link
/// modes are.
uint32_t speed_of(const char *name)
{
    alignas(
        ethtool_link_settings) char memory[sizeof(ethtool_link_settings) + 3 * INT8_MAX * sizeof(uint32_t)];
    auto &link = reinterpret_cast<ethtool_link_settings &>(memory);
    Question question(name);
    question.answer().ifr_data = memory;
    int8_t words = 0;
    for (int round = 0; round < 2; ++round) {
        std::memset(memory, 0, sizeof memory);
        link.cmd = ETHTOOL_GLINKSETTINGS;
        link.link_mode_masks_nwords = words;
        if (!question.ask(SIOCETHTOOL))
            return 0;
        words = static_cast<int8_t>(-link.link_mode_masks_nwords);
    }
    return link.speed != static_cast<uint32_t>(SPEED_UNKNOWN) ? link.speed : 0;
}

bool gid_of(const sockaddr &address, ibv_gid &gid)
{
    if (address.sa_family == AF_INET6) {
        std::memcpy(gid.raw, &reinterpret_cast<const sockaddr_in6 &>(address).sin6_addr, sizeof gid.raw);
        return true;
    }
    if (address.sa_family != AF_INET)
        return false;
    std::memcpy(gid.raw, wire::kMappedPrefix.data(), sizeof wire::kMappedPrefix);
    std::memcpy(gid.raw + sizeof wire::kMappedPrefix,
                &reinterpret_cast<const sockaddr_in &>(address).sin_addr, 4);
    return true;
}

bool is_link_local(const ibv_gid &gid)
{
    return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
}

class Names {
public:
    Names() : names_(if_nameindex()) {}
    Names(const Names &) = delete;
    Names &operator=(const Names &) = delete;
    ~Names()
    {
        if (names_ != nullptr)
            if_freenameindex(names_);
    }
    const struct if_nameindex *first() const { return names_; }

private:
    struct if_nameindex *names_;
};

}  // namespace

int interface_read(const char *name, Interface &interface)
{
    interface = {};
    const size_t length = std::strlen(name);
    if (length >= IF_NAMESIZE)
        return ENODEV;
    Question question(name);
    std::memcpy(interface.name, name, length + 1);
    if (!question.ask(SIOCGIFINDEX))
        return errno;
    interface.index = static_cast<unsigned>(question.answer().ifr_ifindex);
    if (!question.ask(SIOCGIFFLAGS))
        return errno;
    interface.is_up = (question.answer().ifr_flags & IFF_UP) != 0;
    interface.is_running = (question.answer().ifr_flags & IFF_RUNNING) != 0;
    if (!question.ask(SIOCGIFMTU))
        return errno;
    interface.mtu = static_cast<uint32_t>(question.answer().ifr_mtu);
    if (question.ask(SIOCGIFHWADDR)) {
        const unsigned short kind = question.answer().ifr_hwaddr.sa_family;
        interface.is_ethernet = kind == ARPHRD_ETHER || kind == ARPHRD_LOOPBACK;
        std::memcpy(interface.mac, question.answer().ifr_hwaddr.sa_data, sizeof interface.mac);
    }
    interface.speed_mbits = speed_of(name);
    return 0;
}

int interface_gids(unsigned index, ibv_gid (&gids)[kGidTableSize])
{
    char name[IF_NAMESIZE];
    ifaddrs *addresses = nullptr;
    if (if_indextoname(index, name) == nullptr || getifaddrs(&addresses) != 0)
        return -errno;
    uint32_t count = 0;
    for (bool link_local : {true, false}) {
        for (const ifaddrs *entry = addresses; entry != nullptr; entry = entry->ifa_next) {
            ibv_gid gid;
            if (entry->ifa_addr == nullptr || std::strcmp(entry->ifa_name, name) != 0 ||
                !gid_of(*entry->ifa_addr, gid) || is_link_local(gid) != link_local)
                continue;
            if (count < kGidTableSize)
                gids[count++] = gid;
        }
    }
    freeifaddrs(addresses);
    return static_cast<int>(count);
}

bool is_local_gid(const ibv_gid &gid)
{
    ifaddrs *addresses = nullptr;
    bool is_local = false;
    if (getifaddrs(&addresses) != 0)
        return false;
    for (const ifaddrs *entry = addresses; entry != nullptr && !is_local; entry = entry->ifa_next) {
        ibv_gid own;
        is_local = entry->ifa_addr != nullptr && gid_of(*entry->ifa_addr, own) &&
                   std::memcmp(own.raw, gid.raw, sizeof gid.raw) == 0;
    }
    freeifaddrs(addresses);
    return is_local;
}

int interfaces_named(const char *which, int (*found)(void *data, const char *name), void *data)
{
    if (std::strcmp(which, "auto") == 0) {
        const Names names;
        if (names.first() == nullptr)
            return errno;
        for (const struct if_nameindex *entry = names.first(); entry->if_index != 0; ++entry) {
            Interface interface;
            if (interface_read(entry->if_name, interface) != 0 || !interface.is_up)
                continue;
            if (int stop = found(data, entry->if_name); stop != 0)
                return stop;
        }
        return 0;
    }
    for (std::string_view rest = which; !rest.empty();) {
        const std::string_view name(rest.data(), rest.find(',') == rest.npos ? rest.size() : rest.find(','));
        rest.remove_prefix(name.size() < rest.size() ? name.size() + 1 : rest.size());
        // A name too long for an interface is cut where it is too long already.
        char text[2 * IF_NAMESIZE] = "";
        name.copy(text, sizeof text - 1);
        if (name.empty())
            continue;
        if (int stop = found(data, text); stop != 0)
            return stop;
    }
    return 0;
}

}  // namespace urxe
