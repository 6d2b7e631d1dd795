// SPDX-License-Identifier: BSD-2-Clause
// A temporary directory that looks like a part of /sys or /dev.
#include "fake_tree.hh"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace verbs::test {

namespace fs = std::filesystem;

FakeTree::FakeTree()
{
    std::string pattern = fs::temp_directory_path() / "verbs-tree-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
        perror("mkdtemp");
        abort();
    }
    root_ = pattern;
}

FakeTree::~FakeTree()
{
    std::error_code ignored;
    fs::remove_all(root_, ignored);
}

void FakeTree::directory(const std::string &relative) const
{
    fs::create_directories(path(relative));
}

void FakeTree::file(const std::string &relative, const std::string &text) const
{
    fs::create_directories(fs::path(path(relative)).parent_path());
    std::ofstream(path(relative), std::ios::binary) << text;
}

void FakeTree::link(const std::string &relative, const std::string &target) const
{
    fs::create_directories(fs::path(path(relative)).parent_path());
    fs::remove(path(relative));
    fs::create_symlink(target, path(relative));
}

void FakeTree::remove(const std::string &relative) const
{
    fs::remove_all(path(relative));
}

void FakeTree::device(const std::string &name, int number, const std::string &cdev) const
{
    std::string verbs = "class/infiniband_verbs/uverbs" + std::to_string(number);
    file("class/infiniband_verbs/abi_version", "6\n");
    file(verbs + "/ibdev", name + "\n");
    file(verbs + "/dev", cdev + "\n");
    file(verbs + "/abi_version", "2\n");
    file("class/infiniband/" + name + "/node_type", "1: CA\n");
    file("class/infiniband/" + name + "/node_guid", "5054:00ff:fe12:3456\n");
    directory("class/infiniband/" + name + "/ports/1");
}

}  // namespace verbs::test
