// SPDX-License-Identifier: BSD-2-Clause
// Which devices a match table fits.
#include "provider/match.hh"

#include <gtest/gtest.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include <cstring>

#include "fake_tree.hh"
#include "provider/registry.hh"

namespace verbs::provider {
namespace {

verbs_match_ent pci(uint16_t vendor, uint16_t device)
{
    return {.vendor = vendor, .device = device, .kind = VERBS_MATCH_PCI};
}
verbs_match_ent modalias(const char *pattern)
{
    return {.u = {.modalias = pattern}, .kind = VERBS_MATCH_MODALIAS};
}
verbs_match_ent driver(uint64_t id)
{
    return {.u = {.driver_id = id}, .kind = VERBS_MATCH_DRIVER_ID};
}
constexpr verbs_match_ent kEnd = {.kind = VERBS_MATCH_SENTINEL};

class ProviderMatch : public testing::Test {
protected:
    ProviderMatch()
    {
        strcpy(device_.ibdev_name, "rxe0");
        strncpy(device_.ibdev_path, tree_.path("rxe0").c_str(), sizeof device_.ibdev_path - 1);
        tree_.directory("rxe0/device");
    }

    /// The row of the table that fits; -1 where none does.
    template <size_t N>
    long fitting(const verbs_match_ent (&table)[N])
    {
        verbs_device_ops ops = {.name = "fake", .match_table = table};
        bool matches = is_match(ops, device_);
        EXPECT_EQ(matches, device_.match != nullptr);
        return matches ? device_.match - table : -1;
    }

    test::FakeTree tree_;
    verbs_sysfs_dev device_{};
};

TEST_F(ProviderMatch, PciIdsFromTheModalias)
{
    tree_.file("rxe0/device/modalias", "pci:v000015B3d00001017sv000015B3sd00000020bc02sc00i00\n");
    EXPECT_EQ(fitting({pci(0x15b3, 0x1013), pci(0x15b3, 0x1017), kEnd}), 1);
    EXPECT_EQ(fitting({pci(0x1017, 0x15b3), kEnd}), -1);
}

TEST_F(ProviderMatch, PciIdsFromFiles)
{
    tree_.file("rxe0/device/vendor", "0x15b3\n");
    EXPECT_EQ(fitting({pci(0x15b3, 0x1017), kEnd}), -1);
    tree_.file("rxe0/device/device", "0x1017\n");
    EXPECT_EQ(fitting({pci(0x15b3, 0x1017), kEnd}), 0);
    tree_.file("rxe0/device/device", "0x11017\n");
    EXPECT_EQ(fitting({pci(0x15b3, 0x1017), kEnd}), -1);
}

TEST_F(ProviderMatch, ModaliasPatterns)
{
    tree_.file("rxe0/device/modalias", "acpi:HISI00D1:\n");
    EXPECT_EQ(fitting({modalias("pci:*"), modalias("acpi*HISI00D1*"), kEnd}), 1);
}

TEST_F(ProviderMatch, NamesOfSoftwareDevices)
{
    EXPECT_EQ(fitting({modalias("rdma_device:*Nsiw*"), modalias("rdma_device:*Nrxe*"), kEnd}), 1);
}

TEST_F(ProviderMatch, DriverIds)
{
    EXPECT_EQ(fitting({driver(RDMA_DRIVER_UNKNOWN), driver(RDMA_DRIVER_RXE), kEnd}), -1) << "driver unknown";
    device_.driver_id = RDMA_DRIVER_RXE;
    EXPECT_EQ(fitting({driver(RDMA_DRIVER_SIW), driver(RDMA_DRIVER_RXE), kEnd}), 1);
}

TEST_F(ProviderMatch, TheDriverCountsMoreThanTheName)
{
    const verbs_match_ent table[] = {driver(RDMA_DRIVER_RXE), modalias("rdma_device:*Nrxe*"), kEnd};
    EXPECT_EQ(fitting(table), 1) << "sysfs does not know drivers";
    device_.driver_id = RDMA_DRIVER_MLX5;
    EXPECT_EQ(fitting(table), -1) << "a device that was renamed to rxe0";
    EXPECT_EQ(fitting({modalias("rdma_device:*Nrxe*"), kEnd}), 0) << "all that an old provider has";
}

TEST_F(ProviderMatch, UnknownKindsFitNothing)
{
    verbs_match_ent unknown = {.kind = 77};
    EXPECT_EQ(fitting({unknown, modalias("rdma_device:*"), kEnd}), 1);
}

TEST_F(ProviderMatch, AnEmptyTableFitsNothing)
{
    EXPECT_EQ(fitting({kEnd}), -1);
    verbs_device_ops ops = {.name = "fake"};
    EXPECT_FALSE(is_match(ops, device_));
}

TEST_F(ProviderMatch, MatchDeviceDecidesAlone)
{
    const verbs_match_ent everything[] = {modalias("*"), kEnd};
    verbs_device_ops ops = {.name = "fake", .match_table = everything};
    ops.match_device = [](verbs_sysfs_dev *device) { return strcmp(device->modalias, "mine") == 0; };
    EXPECT_FALSE(is_match(ops, device_));
    device_ = {};
    strncpy(device_.ibdev_path, tree_.path("rxe0").c_str(), sizeof device_.ibdev_path - 1);
    tree_.file("rxe0/device/modalias", "mine\n");
    EXPECT_TRUE(is_match(ops, device_)) << "it finds the modalias there";
    EXPECT_EQ(device_.match, nullptr);
}

TEST_F(ProviderMatch, AbiRange)
{
    verbs_device_ops ops = {.name = "fake", .match_min_abi_version = 2, .match_max_abi_version = 4};
    for (uint32_t version : {0u, 1u, 2u, 3u, 4u, 5u}) {
        device_.abi_ver = version;
        EXPECT_EQ(speaks_abi_of(ops, device_), version >= 2 && version <= 4) << version;
    }
}

TEST_F(ProviderMatch, AProviderThatSpeaksTheVersionIsPreferred)
{
    static const verbs_match_ent table[] = {modalias("rdma_device:*Npreferred*"), kEnd};
    static const verbs_device_ops old_one = {
        .name = "old", .match_min_abi_version = 1, .match_max_abi_version = 1, .match_table = table};
    static const verbs_device_ops new_one = {
        .name = "new", .match_min_abi_version = 2, .match_max_abi_version = 2, .match_table = table};
    register_driver(&old_one);
    register_driver(&new_one);
    strcpy(device_.ibdev_name, "preferred0");

    device_.abi_ver = 2;
    Match match = match_registered(device_);
    EXPECT_EQ(match.provider, &new_one);
    EXPECT_EQ(device_.match, table);

    device_.abi_ver = 3;
    match = match_registered(device_);
    EXPECT_EQ(match.provider, nullptr);
    EXPECT_EQ(match.misfit, &old_one);
    EXPECT_EQ(device_.match, nullptr);
}

}  // namespace
}  // namespace verbs::provider
