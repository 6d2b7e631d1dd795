// SPDX-License-Identifier: BSD-2-Clause
// A temporary directory that looks like a part of /sys or /dev.
#pragma once

#include <string>

namespace verbs::test {

/// Lives as long as the test. Paths are relative to its root; folders on the way are made.
class FakeTree {
public:
    FakeTree();
    FakeTree(const FakeTree &) = delete;
    FakeTree &operator=(const FakeTree &) = delete;
    ~FakeTree();

    const char *root() const { return root_.c_str(); }
    std::string path(const std::string &relative) const { return root_ + "/" + relative; }

    void directory(const std::string &relative) const;
    void file(const std::string &relative, const std::string &text) const;
    void link(const std::string &relative, const std::string &target) const;
    void remove(const std::string &relative) const;

    /// What sysfs shows of a software device with one port: `name`, its character device uverbs`number` and that one's
    /// device number.
    void device(const std::string &name, int number, const std::string &cdev) const;

private:
    std::string root_;
};

}  // namespace verbs::test
