// SPDX-License-Identifier: BSD-2-Clause
// What all processes of one simulation share: the description, a directory, and a page of numbers.
#pragma once

#include <pthread.h>

#include <atomic>
#include <string>
#include <string_view>

#include "description.hh"

namespace sim {

constexpr uint32_t kMaxDevices = 64;
constexpr uint32_t kMaxFiles = 1024;
constexpr uint32_t kMajor = 231;
constexpr uint32_t kFirstMinor = 192;

/// In memory that all processes of the session map.
struct SharedPage {
    struct DeviceState {
        std::atomic<uint32_t> removed;
        std::atomic<uint32_t> index;       ///< netlink's number; a new one whenever the device comes back
        std::atomic<uint32_t> generation;  ///< of the device; files remember the one that they were opened in
        std::atomic<uint32_t> next_qpn;
        std::atomic<uint32_t> next_srqn;
        std::atomic<uint32_t> next_key;
    };
    /// An open uverbs file, for events that concern all of them.
    struct OpenFile {
        std::atomic<uint32_t> device_plus_one;  ///< 0: free
        std::atomic<uint32_t> async_channel;    ///< number of its event channel; 0: none yet
    };
    std::atomic<uint32_t> ready;
    std::atomic<uint32_t> next_index;
    std::atomic<uint32_t> next_channel;
    DeviceState devices[kMaxDevices];
    OpenFile files[kMaxFiles];
};

class Session {
public:
    /// The process's session; made, or joined, at the first call.
    static Session &get();

    const Description &description() const { return description_; }
    SharedPage &shared() { return *shared_; }
    const std::string &directory() const { return directory_; }
    const Device *find_device(std::string_view name) const;
    SharedPage::DeviceState &state_of(const Device &device);
    bool is_present(const Device &device) { return state_of(device).removed.load() == 0; }

    /// The path of the tree for one of the system's; the same path where it is not simulated.
    const char *translate(const char *path, std::string &storage) const;
    /// The system's path for one of the tree.
    std::string untranslate(std::string_view path) const;
    /// The minor number of the device whose node in the tree this is, or -1.
    int minor_of_node(std::string_view path) const;
    const Device *device_of_minor(uint32_t minor) const;

    int remove_device(const Device &device);
    int add_device(const Device &device);

private:
    Session();
    void fill_directory();
    /// Whether this is an entry of a GID table that has no file of its own.
    bool is_empty_gid(const char *path, const std::string &translated) const;
    static void clean_up();

    Description description_;
    std::string directory_;
    SharedPage *shared_ = nullptr;
    pid_t owner_ = 0;
};

/// Makes the files of a device in the tree below `root`, or removes those by which it is found. A device of a
/// higher index looks younger.
void make_device_tree(const std::string &root, const Device &device, uint32_t index);
void remove_device_tree(const std::string &root, const Device &device);
void make_directories(const std::string &path);
void write_file(const std::string &path, const std::string &text);
void remove_tree(const std::string &path);

}  // namespace sim
