// SPDX-License-Identifier: BSD-2-Clause
// Namespaces, made with unshare(2) and furnished with ip(8).
#include "network.hh"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

namespace verbs::test {
namespace {

bool run(const std::string &command)
{
    return std::system(("{ " + command + "\n} >/dev/null 2>&1").c_str()) == 0;
}

bool write_file(const char *path, const std::string &text)
{
    std::ofstream file(path);
    file << text << std::flush;
    return file.good();
}

/// Root may have a network namespace for the asking, others as root of a user namespace.
bool unshare_network()
{
    if (unshare(CLONE_NEWNET) == 0)
        return true;
    std::string user = std::to_string(geteuid());
    std::string group = std::to_string(getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", "0 " + user + " 1") &&
           write_file("/proc/self/gid_map", "0 " + group + " 1");
}

/// A process in a network namespace of its own, which does nothing until it is killed; -1 if there is none.
pid_t start_peer()
{
    std::array<int, 2> ready = {};
    if (pipe(ready.data()) != 0)
        return -1;
    pid_t peer = fork();
    if (peer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNET) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    char byte = 0;
    bool started = peer > 0 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    return started ? peer : -1;
}

}  // namespace

Network::Network() : missing_(set_up()) {}

Network::~Network()
{
    if (peer_ > 0) {
        kill(peer_, SIGKILL);
        waitpid(peer_, nullptr, 0);
    }
}

bool Network::ip(const std::string &arguments)
{
    return run("ip " + arguments);
}

bool Network::peer_ip(const std::string &arguments) const
{
    return run("nsenter -t " + std::to_string(peer_) + " -n ip " + arguments);
}

std::string Network::set_up()
{
    if (!unshare_network())
        return "no right to make a network namespace";
    peer_ = start_peer();
    if (peer_ < 0)
        return "no right to make a second network namespace";
    if (!ip("link add near address 02:00:00:00:0a:01 type veth peer name far address 02:00:00:00:0a:02"))
        return "ip(8) is not installed, or the kernel has no veth";
    bool furnished = ip("link set far netns " + std::to_string(peer_)) && peer_ip(R"(-batch - <<END
addr add 10.7.0.2/24 dev far
addr add fd00:7::2/64 dev far nodad
link set far up
END)") && ip(R"(-batch - <<END
link set lo up
addr add 10.7.0.1/24 dev near
addr add fd00:7::1/64 dev near nodad
link set near up
route add 10.99.0.0/16 via 10.7.0.2
route add fd00:99::/64 via fd00:7::2
END)");
    if (!furnished)
        return "ip(8) and nsenter(1) could not set the network up";
    // Carrier and IPv6 addresses come a moment after the commands, later on a busy machine.
    for (int tenths = 0; tenths < 100; ++tenths) {
        if (ip("-6 route get fd00:7::2 from fd00:7::1 && ip -o link show near | grep -q 'state UP'"))
            return "";
        usleep(100'000);
    }
    return "the network did not come up";
}

}  // namespace verbs::test
