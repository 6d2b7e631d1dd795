// SPDX-License-Identifier: BSD-2-Clause
// What all processes of one simulation share: the description, a directory, and a page of numbers.
#include "session.hh"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "interpose/real.hh"
#include "kernel/event.hh"

namespace sim {
namespace {

constexpr std::string_view kSimulated[] = {"/sys/class/infiniband", "/dev/infiniband",
                                           "/sys/class/infiniband_verbs"};

[[noreturn]] void fail(const char *what, const std::string &path)
{
    fprintf(stderr, "verbs_sim: %s %s: %s\n", what, path.c_str(), strerrordesc_np(errno));
    _exit(126);
}

bool starts_with_path(std::string_view path, std::string_view prefix)
{
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

/// Where sessions' directories go: many small files, so into memory where that can be.
const char *parent_directory()
{
    const char *given = getenv("TMPDIR");
    if (given != nullptr && *given == '/')
        return given;
    return REAL(access)("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

Session *the_session = nullptr;

}  // namespace

Session &Session::get()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    // Kept until the process ends, and after: other libraries' exit handlers may still call.
    pthread_once(&once, [] { the_session = new Session; });
    return *the_session;
}

Session::Session() : description_(read_description())
{
    const char *given = getenv("VERBS_SIM_DIR");
    if (given != nullptr && *given != '\0') {
        directory_ = given;
        if (mkdir(given, 0777) != 0 && errno != EEXIST)
            fail("making", directory_);
        if (char *absolute = REAL(realpath)(given, nullptr)) {
            directory_ = absolute;
            free(absolute);
        }
    } else {
        directory_ = std::string(parent_directory()) + "/verbs_sim.XXXXXX";
        if (mkdtemp(directory_.data()) == nullptr)
            fail("making", directory_);
        setenv("VERBS_SIM_DIR", directory_.c_str(), 1);
    }

    const std::string page = directory_ + "/shared";
    int fd = REAL(open)(page.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool is_first = fd >= 0;
    if (!is_first)
        fd = REAL(open)(page.c_str(), O_RDWR | O_CLOEXEC);
    // A process that comes second may find the file still empty: whoever sizes it, sizes it the same.
    if (fd < 0 || ftruncate(fd, sizeof(SharedPage)) != 0)
        fail("opening", page);
    void *memory = REAL(mmap)(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        fail("mapping", page);
    REAL(close)(fd);
    shared_ = static_cast<SharedPage *>(memory);
    if (is_first) {
        owner_ = getpid();
        fill_directory();
        atexit(clean_up);
        shared_->ready.store(1);
    }
    while (shared_->ready.load() == 0)
        sched_yield();
}

void Session::fill_directory()
{
    make_directories(directory_ + "/events");
    shared_->next_channel.store(1);
    shared_->next_index.store(static_cast<uint32_t>(description_.devices.size()));
    for (const Device &device : description_.devices) {
        SharedPage::DeviceState &state = state_of(device);
        state.index.store(device.index);
        state.next_qpn.store(17);
        state.next_srqn.store(1);
        state.next_key.store(1);
    }
    if (description_.has_uverbs) {
        make_directories(directory_ + "/sys/class/infiniband");
        make_directories(directory_ + "/sys/class/infiniband_verbs");
        make_directories(directory_ + "/dev/infiniband");
        write_file(directory_ + "/empty_gid", "0000:0000:0000:0000:0000:0000:0000:0000\n");
        write_file(directory_ + "/sys/class/infiniband_verbs/abi_version",
                   std::to_string(description_.uverbs_abi) + "\n");
        for (const Device &device : description_.devices)
            make_device_tree(directory_, device, device.index);
    }
}

void Session::clean_up()
{
    if (the_session != nullptr && the_session->owner_ == getpid())
        remove_tree(the_session->directory_);
}

const Device *Session::find_device(std::string_view name) const
{
    for (const Device &device : description_.devices)
        if (device.name == name)
            return &device;
    return nullptr;
}

SharedPage::DeviceState &Session::state_of(const Device &device)
{
    return shared_->devices[device.index];
}

const char *Session::translate(const char *path, std::string &storage) const
{
    if (path == nullptr || path[0] != '/')
        return path;
    const std::string_view text = path;
    if (text.starts_with("/dev/char/231:")) {
        uint64_t minor = strtoull(path + strlen("/dev/char/231:"), nullptr, 10);
        const Device *device = device_of_minor(static_cast<uint32_t>(minor));
        storage = directory_ + "/dev/infiniband/uverbs" +
                  (device != nullptr && device->has_node ? std::to_string(device->uverbs) : "-none");
        return storage.c_str();
    }
    for (std::string_view prefix : kSimulated)
        if (starts_with_path(text, prefix)) {
            storage = directory_ + path;
            if (is_empty_gid(path, storage))
                storage = directory_ + "/empty_gid";
            return storage.c_str();
        }
    // Devices hang below /sys/devices beside the real ones.
    if (text.starts_with("/sys/devices/") || text.starts_with("/sys/bus/pci/devices/")) {
        storage = directory_ + path;
        struct stat node;
        if (REAL(lstat)(storage.c_str(), &node) == 0)
            return storage.c_str();
    }
    return path;
}

bool Session::is_empty_gid(const char *path, const std::string &translated) const
{
    char name[64];
    uint32_t port = 0;
    uint32_t index = 0;
    int end = 0;
    if (sscanf(path, "/sys/class/infiniband/%63[^/]/ports/%u/gids/%u%n", name, &port, &index, &end) != 3 ||
        path[end] != '\0')
        return false;
    const Device *device = find_device(name);
    struct stat node;
    return device != nullptr && port >= 1 && port <= device->ports.size() &&
           index < device->ports[port - 1].attributes.legacy_resp.gid_tbl_len &&
           REAL(stat)(translated.c_str(), &node) != 0 && errno == ENOENT;
}

std::string Session::untranslate(std::string_view path) const
{
    return std::string(starts_with_path(path, directory_) ? path.substr(directory_.size()) : path);
}

int Session::minor_of_node(std::string_view path) const
{
    const std::string prefix = directory_ + "/dev/infiniband/uverbs";
    if (!path.starts_with(prefix))
        return -1;
    for (const Device &device : description_.devices)
        if (path.substr(prefix.size()) == std::to_string(device.uverbs))
            return static_cast<int>(kFirstMinor + device.node_number);
    return -1;
}

const Device *Session::device_of_minor(uint32_t minor) const
{
    for (const Device &device : description_.devices)
        if (minor == kFirstMinor + device.uverbs)
            return &device;
    return nullptr;
}

int Session::remove_device(const Device &device)
{
    SharedPage::DeviceState &state = state_of(device);
    uint32_t present = 0;
    if (!state.removed.compare_exchange_strong(present, 1))
        return ENODEV;
    state.generation.fetch_add(1);
    remove_device_tree(directory_, device);
    raise_on_all_files(device, IBV_EVENT_DEVICE_FATAL, 0);
    return 0;
}

int Session::add_device(const Device &device)
{
    SharedPage::DeviceState &state = state_of(device);
    if (state.removed.load() == 0)
        return EEXIST;
    const uint32_t index = shared_->next_index.fetch_add(1);
    make_device_tree(directory_, device, index);
    state.index.store(index);
    state.removed.store(0);
    return 0;
}

}  // namespace sim
