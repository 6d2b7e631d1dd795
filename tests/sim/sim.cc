// SPDX-License-Identifier: BSD-2-Clause
// What tests call to make things happen in the simulated kernel.
#include "sim.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "faults.hh"
#include "interpose/descriptors.hh"
#include "kernel/event.hh"
#include "session.hh"

#define SIM_CONTROL extern "C" __attribute__((visibility("default")))

using sim::Device;
using sim::Session;

namespace {

constexpr struct {
    const char *name;
    uint16_t kind;
} kKinds[] = {
    {"PD", UVERBS_OBJECT_PD},     {"CQ", UVERBS_OBJECT_CQ},
    {"QP", UVERBS_OBJECT_QP},     {"SRQ", UVERBS_OBJECT_SRQ},
    {"AH", UVERBS_OBJECT_AH},     {"MR", UVERBS_OBJECT_MR},
    {"MW", UVERBS_OBJECT_MW},     {"FLOW", UVERBS_OBJECT_FLOW},
    {"XRCD", UVERBS_OBJECT_XRCD}, {"RWQ_IND_TBL", UVERBS_OBJECT_RWQ_IND_TBL},
    {"WQ", UVERBS_OBJECT_WQ},     {"FLOW_ACTION", UVERBS_OBJECT_FLOW_ACTION},
    {"DM", UVERBS_OBJECT_DM},     {"COUNTERS", UVERBS_OBJECT_COUNTERS},
    {"DMAH", UVERBS_OBJECT_DMAH}, {"COMP_CNTR", UVERBS_OBJECT_COMP_CNTR},
};

bool has_events(const sim::Object &object)
{
    return object.kind == UVERBS_OBJECT_QP || object.kind == UVERBS_OBJECT_CQ ||
           object.kind == UVERBS_OBJECT_SRQ || object.kind == UVERBS_OBJECT_WQ;
}

}  // namespace

SIM_CONTROL int verbs_sim_remove_device(const char *name)
{
    const Device *device = Session::get().find_device(name);
    return device != nullptr ? Session::get().remove_device(*device) : ENODEV;
}

SIM_CONTROL int verbs_sim_add_device(const char *name)
{
    const Device *device = Session::get().find_device(name);
    return device != nullptr ? Session::get().add_device(*device) : ENODEV;
}

SIM_CONTROL int verbs_sim_device_event(const char *name, uint32_t type, uint32_t port)
{
    const Device *device = Session::get().find_device(name);
    if (device == nullptr || !Session::get().is_present(*device))
        return ENODEV;
    sim::raise_on_all_files(*device, type, port);
    return 0;
}

SIM_CONTROL int verbs_sim_object_event(int cmd_fd, uint32_t handle, uint32_t type)
{
    sim::File *file = sim::Descriptors::get().device(cmd_fd);
    if (file == nullptr)
        return EBADF;
    const sim::FileLock lock(*file);
    sim::Object *object = file->find_any(handle);
    if (object == nullptr || !has_events(*object))
        return ENOENT;
    sim::raise_on_object(*file, *object, type);
    return 0;
}

SIM_CONTROL int verbs_sim_completion_event(int cmd_fd, uint32_t cq_handle, int always)
{
    sim::File *file = sim::Descriptors::get().device(cmd_fd);
    if (file == nullptr)
        return EBADF;
    const sim::FileLock lock(*file);
    int error = 0;
    sim::Object *cq = file->find(UVERBS_OBJECT_CQ, cq_handle, error);
    if (cq == nullptr)
        return ENOENT;
    if (cq->comp_channel == 0)
        return EINVAL;
    if (always == 0 && cq->armed == 0)
        return 0;
    cq->armed = 0;
    ++cq->comp_events;
    sim::put_comp_event(*file, cq->comp_channel, cq->user_handle);
    return 0;
}

/// For libverbs_sim_malloc.so.
SIM_CONTROL int verbs_sim_malloc_fault(const void *caller)
{
    return sim::libc_fault(sim::LibcCall::kMalloc, caller);
}

SIM_CONTROL int verbs_sim_set_faults(const char *faults)
{
    return sim::set_faults(faults != nullptr ? faults : "");
}

SIM_CONTROL uint64_t verbs_sim_calls(const char *kind, int reset)
{
    return sim::count_calls(kind, reset != 0);
}

SIM_CONTROL uint32_t verbs_sim_object_count(int cmd_fd, const char *kind)
{
    sim::File *file = sim::Descriptors::get().device(cmd_fd);
    if (file == nullptr)
        return 0;
    const sim::FileLock lock(*file);
    uint32_t count = 0;
    for (const auto &[name, number] : kKinds)
        if (strcmp(name, kind) == 0)
            for (uint32_t handle = 0; handle < file->state().end; ++handle) {
                const sim::Object *object = file->find_any(handle);
                count += object != nullptr && object->kind == number;
            }
    return count;
}
