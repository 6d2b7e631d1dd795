// SPDX-License-Identifier: BSD-2-Clause
// The devices, answers and failures that a scenario file describes.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_verbs {

constexpr uint32_t kUnknownGidType = UINT32_MAX;

struct Gid {
    ibv_gid value;
    uint32_t type;  // enum ibv_gid_type, or kUnknownGidType
};

struct Port {
    ibv_port_attr attr;
    std::map<uint32_t, Gid> gids;
};

struct Device {
    ibv_device device;  // first: a Device is found again from the ibv_device that the program hands back
    uint64_t guid;
    ibv_device_attr_ex attr;
    bool has_extended_query;
    int num_comp_vectors;
    std::vector<Port> ports;
};

// Which calls of one function fail, counted from 1, and with which errno.
struct Failure {
    int error;
    unsigned first_call;
    unsigned last_call;
};

// What one work completion differs in from success.
struct Completion {
    uint32_t status;
    uint64_t wr_id;
    bool changes_wr_id;
};

struct Scenario {
    std::vector<Device *> devices;
    std::multimap<std::string, Failure> failures;
    std::map<unsigned, Completion> completions;  // by number, from 1
    std::map<std::string, std::string> values;
};

// The scenario that FAKE_VERBS_SCENARIO names; read at the first use. A file that cannot be understood ends the
// process with a message.
const Scenario &scenario();

// A number among the scenario's values, or the fallback.
uint64_t value(const char *name, uint64_t fallback);

// Counts a call of the function and tells whether the scenario wants it to fail: the errno, also stored in errno,
// or 0.
int failure(const char *function);

// Appends a line to the file that FAKE_VERBS_LOG names, if it names one.
[[gnu::format(printf, 1, 2)]] void log(const char *format, ...);

}  // namespace fake_verbs
