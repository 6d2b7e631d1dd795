// SPDX-License-Identifier: BSD-2-Clause
// The record of commands: VERBS_SIM_RECORD.
#pragma once

#include <string>

#include "kernel/command.hh"

namespace sim {

/// Notes the request of a command when made, its answer when finished, and appends both to the file.
class Record {
public:
    explicit Record(Call &call);
    void finish(int error);

private:
    void add(const char *mark, const char *name, const std::string &value);
    void request();
    void answer();
    void ioctl_request();
    void ioctl_answer();

    Call &call_;
    bool is_wanted_;
    uint64_t start_ = 0;  ///< of the region that the command names
    std::string text_;
};

/// A command that was refused before its request was looked at: unknown to this kernel, or of a wrong size.
void record_refused(const char *way, const std::string &name, int error);

}  // namespace sim
