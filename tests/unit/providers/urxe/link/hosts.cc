// SPDX-License-Identifier: BSD-2-Clause
// Making the two hosts, and running programs in them.
#include "hosts.hh"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hosts {
namespace {

constexpr const char *kInterfaces[2] = {"va", "vb"};
int namespaces[2] = {-1, -1};

bool write_file(const char *path, const std::string &text)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool is_written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(file);
    return is_written;
}

/// A network namespace that this process may configure; in a user namespace where it is no root.
bool leave_network()
{
    if (unshare(CLONE_NEWNET) == 0)
        return true;
    const std::string uid = std::to_string(geteuid()), gid = std::to_string(getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", "0 " + uid + " 1") &&
           write_file("/proc/self/gid_map", "0 " + gid + " 1");
}

int open_namespace()
{
    return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

/// The exit status of a process, or 128 and the signal that ended it.
int ended(pid_t process)
{
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Runs `program` in a new process on a host.
template <class Body>
pid_t start(int host, Body body)
{
    std::fflush(nullptr);
    const pid_t process = fork();
    if (process != 0)
        return process;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setns(namespaces[host], CLONE_NEWNET) != 0)
        _exit(99);
    const int status = body();
    std::fflush(nullptr);
    _exit(status);
}

}  // namespace

int shell(int host, const std::string &command)
{
    return ended(start(host, [&] {
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        return 127;
    }));
}

bool make(std::string &reason)
{
    static std::string failure = [] {
        if (!leave_network())
            return std::string("network namespaces are not allowed here: ") + std::strerror(errno);
        namespaces[0] = open_namespace();
        if (unshare(CLONE_NEWNET) != 0)
            return std::string("no second network namespace: ") + std::strerror(errno);
        namespaces[1] = open_namespace();
        const std::string first =
            "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(namespaces[0]);
        // No time goes by until IPv6 addresses may be used.
        const std::string quick = "echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad; ip link set lo up; ";
        const std::string make = quick + "ip link add vb type veth peer name va netns " + first;
        if (shell(0, quick) != 0 || shell(1, make) != 0)
            return std::string("no veth interfaces: `ip` is missing, or the kernel has none");
        for (int host = 0; host < 2; ++host) {
            char command[512];
            std::snprintf(command, sizeof command,
                          "set -e; i=%s; n=%d; ip link set $i addrgenmode none; ip link set $i mtu 9000 up; "
                          "ip addr add 10.7.0.$n/24 dev $i; ip addr add fd07::$n/64 dev $i nodad; "
                          "ip addr add fe80::$n/64 dev $i nodad",
                          kInterfaces[host], host + 1);
            if (shell(host, command) != 0)
                return std::string("no addresses for veth interfaces");
        }
        return std::string();
    }();
    reason = failure;
    return failure.empty();
}

Side::Side(int host, int index, int socket) : host_(host), index_(index), socket_(socket)
{
    // Before there are threads: the library reads the environment whenever it is asked for devices.
    setenv("URXE", kInterfaces[host], 1);
}

ibv_context *Side::open() const
{
    const std::string name = std::string("urxe_") + kInterfaces[host_];
    ibv_context *context = nullptr;
    ibv_device **list = ibv_get_device_list(nullptr);
    for (ibv_device **device = list; device != nullptr && *device != nullptr; ++device)
        if (name == ibv_get_device_name(*device))
            context = ibv_open_device(*device);
    ibv_free_device_list(list);
    EXPECT_NE(context, nullptr) << name;
    return context;
}

void Side::swap(const void *own, void *other, size_t size) const
{
    // A process whose other one is gone has nothing more to do.
    if (send(socket_, own, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size) ||
        recv(socket_, other, size, MSG_WAITALL) != static_cast<ssize_t>(size)) {
        std::fprintf(stderr, "host %d: the other process is gone\n", host_);
        _exit(98);
    }
}

void run(const Program &first, const Program &second, int pairs, int signal)
{
    std::vector<pid_t> processes;
    for (int i = 0; i < pairs; ++i) {
        int sockets[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
        for (int host = 0; host < 2; ++host)
            processes.push_back(start(host, [&] {
                close(sockets[1 - host]);
                Side side(host, i, sockets[host]);
                (host == 0 ? first : second)(side);
                return testing::Test::HasFailure() ? 1 : 0;
            }));
        close(sockets[0]);
        close(sockets[1]);
    }
    for (size_t i = 0; i < processes.size(); ++i) {
        const int status = ended(processes[i]);
        EXPECT_TRUE(status == 0 || (i % 2 == 1 && signal != 0 && status == 128 + signal))
            << "host " << i % 2 << " of pair " << i / 2 << ": " << status;
    }
}

void fill(uint8_t *bytes, size_t length, uint32_t turn)
{
    uint32_t value = turn * 2654435761u + 1;
    for (size_t i = 0; i < length; ++i) {
        value = value * 1664525u + 1013904223u;
        bytes[i] = static_cast<uint8_t>(value >> 24);
    }
}

bool is_filled(const uint8_t *bytes, size_t length, uint32_t turn)
{
    uint32_t value = turn * 2654435761u + 1;
    for (size_t i = 0; i < length; ++i) {
        value = value * 1664525u + 1013904223u;
        if (bytes[i] != static_cast<uint8_t>(value >> 24))
            return false;
    }
    return true;
}

}  // namespace hosts
