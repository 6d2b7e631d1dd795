// SPDX-License-Identifier: BSD-2-Clause
// A provider for devices called fakeN, which counts what it is asked for.
#include "fake_provider.hh"

#include <cerrno>
#include <cstdlib>

namespace verbs::test {
namespace {

constexpr verbs_match_ent kTable[] = {
    {.u = {.modalias = "rdma_device:*Nfake*"}, .kind = VERBS_MATCH_MODALIAS},
    {.kind = VERBS_MATCH_SENTINEL},
};

verbs_device *alloc_device(verbs_sysfs_dev *)
{
    if (FakeProvider::refuses) {
        errno = ENOMEM;
        return nullptr;
    }
    ++FakeProvider::allocated;
    return static_cast<verbs_device *>(calloc(1, sizeof(verbs_device)));
}

void uninit_device(verbs_device *device)
{
    ++FakeProvider::uninitialised;
    free(device);
}

}  // namespace

const verbs_device_ops FakeProvider::ops = {
    .name = "fake",
    .match_min_abi_version = 2,
    .match_max_abi_version = 3,
    .match_table = kTable,
    .alloc_context = [](ibv_device *, int, void *) -> verbs_context * { return nullptr; },
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

void FakeProvider::register_once()
{
    verbs_register_driver_65(&ops);
}

}  // namespace verbs::test
