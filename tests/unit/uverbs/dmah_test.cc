// SPDX-License-Identifier: BSD-2-Clause
// Commands for DMA handles.
#include "uverbs/dmah.hh"

#include <infiniband/verbs.h>

#include "commands.hh"

namespace verbs::uverbs::test {
namespace {

const Command kCommands[] = {
    {"alloc",
     [](Channel &channel) { return dmah_alloc(channel, {}).error(); },
     ioctl(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC, {object(UVERBS_ATTR_ALLOC_DMAH_HANDLE, 0)}),
     {},
     {}},
    {"alloc_with_all",
     [](Channel &channel) {
         return dmah_alloc(channel,
                           {.cpu_id = 0x105, .processing_hint = 2, .memory_type = IBV_TPH_MEM_TYPE_PM})
             .error();
     },
     ioctl(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC,
           {object(UVERBS_ATTR_ALLOC_DMAH_HANDLE, 0), in(UVERBS_ATTR_ALLOC_DMAH_CPU_ID, "05010000"),
            kind(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, IBV_TPH_MEM_TYPE_PM, ""),
            in(UVERBS_ATTR_ALLOC_DMAH_PH, "02")}),
     {},
     {}},
    {"alloc_for_volatile_memory",
     [](Channel &channel) {
         return dmah_alloc(channel,
                           {.cpu_id = {}, .processing_hint = {}, .memory_type = uint8_t{IBV_TPH_MEM_TYPE_VM}})
             .error();
     },
     ioctl(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC,
           {object(UVERBS_ATTR_ALLOC_DMAH_HANDLE, 0), object(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, 0)}),
     {},
     {}},
    {"free",
     [](Channel &channel) { return dmah_free(channel, 0x33).error(); },
     ioctl(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE, {object(UVERBS_ATTR_FREE_DMA_HANDLE, 0x33)}),
     {},
     {}},
};

INSTANTIATE_TEST_SUITE_P(Dmah, Commands, testing::ValuesIn(kCommands), command_name);

TEST(DmahTest, HasTheKernelsHandle)
{
    FakeKernel kernel;
    Channel channel{FakeKernel::kFd, FakeKernel::kDriver, FakeKernel::calls};
    kernel.new_object = 0x711;
    EXPECT_EQ(*dmah_alloc(channel, {}), 0x711U);
}

}  // namespace
}  // namespace verbs::uverbs::test
