// SPDX-License-Identifier: BSD-2-Clause
// Finding nodes by number: /dev/null and /dev/tty stand in for uverbs devices.
#include "discovery/character_device.hh"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "fake_tree.hh"

namespace verbs::discovery {
namespace {

dev_t number_of(const char *path)
{
    struct stat node = {};
    return stat(path, &node) == 0 ? node.st_rdev : 0;
}

class CharacterDevice : public testing::Test {
protected:
    CharacterDevice()
    {
        strcpy(device_.sysfs_name, "uverbs0");
        strcpy(device_.ibdev_name, "rxe0");
        device_.sysfs_cdev = number_of("/dev/null");
    }

    dev_t opened_number()
    {
        Result<UniqueFd> fd = open_character_device(device_, dev_.root());
        struct stat node = {};
        if (!fd || fstat(fd->get(), &node) != 0)
            return 0;
        EXPECT_EQ(fcntl(fd->get(), F_GETFL) & O_ACCMODE, O_RDWR);
        EXPECT_EQ(fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        return node.st_rdev;
    }
    int error() { return open_character_device(device_, dev_.root()).error(); }

    test::FakeTree dev_;
    verbs_sysfs_dev device_{};
};

TEST_F(CharacterDevice, UnderItsName)
{
    dev_.link("infiniband/uverbs0", "/dev/null");
    EXPECT_EQ(opened_number(), device_.sysfs_cdev);
}

TEST_F(CharacterDevice, ByNumberWhereTheNameIsAnothers)
{
    dev_.link("infiniband/uverbs0", "/dev/zero");
    dev_.link("infiniband/renamed", "/dev/null");
    EXPECT_EQ(opened_number(), device_.sysfs_cdev);
}

TEST_F(CharacterDevice, ByNumberInCharLinks)
{
    dev_.link(
        "char/" + std::to_string(major(device_.sysfs_cdev)) + ":" + std::to_string(minor(device_.sysfs_cdev)),
        "/dev/null");
    EXPECT_EQ(opened_number(), device_.sysfs_cdev);
}

TEST_F(CharacterDevice, NeverAnotherDevice)
{
    dev_.link("infiniband/uverbs0", "/dev/zero");
    EXPECT_EQ(error(), ENOENT);
    dev_.remove("infiniband/uverbs0");
    dev_.file("infiniband/uverbs0", "a regular file");
    EXPECT_EQ(error(), ENOENT);
    dev_.remove("infiniband/uverbs0");
    dev_.link("infiniband/uverbs0", "uverbs0");
    EXPECT_EQ(error(), ENOENT);
}

TEST_F(CharacterDevice, WithoutANode)
{
    EXPECT_EQ(error(), ENOENT);
    dev_.directory("infiniband");
    EXPECT_EQ(error(), ENOENT);
}

TEST_F(CharacterDevice, OfUnknownNumberByItsName)
{
    device_.sysfs_cdev = 0;
    dev_.link("infiniband/uverbs0", "/dev/null");
    EXPECT_EQ(opened_number(), number_of("/dev/null"));
    dev_.link("infiniband/uverbs0", "nowhere");
    EXPECT_EQ(error(), ENOENT);
}

TEST_F(CharacterDevice, ForbiddenStaysForbidden)
{
    dev_.link("infiniband/uverbs0", "/dev/null");
    chmod(dev_.path("infiniband").c_str(), 0);
    const bool privileged = geteuid() == 0;
    if (privileged) {
        chmod(dev_.root(), 0755);
        ASSERT_EQ(seteuid(65534), 0);
    }
    int forbidden = error();
    if (privileged) {
        ASSERT_EQ(seteuid(0), 0);
    }
    chmod(dev_.path("infiniband").c_str(), 0755);
    EXPECT_EQ(forbidden, EACCES);
}

TEST_F(CharacterDevice, TheDevicesOwnErrorComesThrough)
{
    // Without a controlling terminal, opening /dev/tty gives ENXIO. Another node must not hide that.
    device_.sysfs_cdev = number_of("/dev/tty");
    if (device_.sysfs_cdev == 0)
        GTEST_SKIP() << "this system has no /dev/tty";
    dev_.link("infiniband/uverbs0", "/dev/tty");
    dev_.link("infiniband/uverbs1", "/dev/null");
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        setsid();
        _exit(error());
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), ENXIO);
}

}  // namespace
}  // namespace verbs::discovery
