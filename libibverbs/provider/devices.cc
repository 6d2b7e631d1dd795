// SPDX-License-Identifier: BSD-2-Clause
// The devices of the process, and who uses them.
#include "provider/devices.hh"

#include <pthread.h>

#include <new>

#include "discovery/devices.hh"
#include "provider/device_table.hh"
#include "provider/places.hh"

namespace verbs::provider {
namespace {

class Lock {
public:
    explicit Lock(pthread_mutex_t &mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
    ~Lock() { pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t &mutex_;
};

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
// Guarded by table_lock.
DeviceTable *table;           // made at first need and never destroyed: contexts may outlive everything
unsigned long refreshes = 1;  // of the table so far, and one

}  // namespace

namespace {

/// What the kernel has now. That it knows no RDMA (ENOSYS) does not count where there are userspace devices.
Status discover(discovery::DeviceChain &found)
{
    discovery::KnownDevices known;
    if (table != nullptr)
        known = {.find =
                     [](const void *devices, const verbs_sysfs_dev &listed) {
                         return static_cast<const DeviceTable *>(devices)->find(listed);
                     },
                 .table = table};
    Result<discovery::DeviceChain> devices = discovery::discover_devices({.known = known});
    found = devices ? std::move(*devices) : discovery::DeviceChain();
    return devices.status();
}

/// A table that knows the configuration.
Status start()
{
    if (table == nullptr) {
        void *memory = malloc(sizeof(DeviceTable));
        if (memory == nullptr)
            return ENOMEM;
        table = new (memory) DeviceTable();
    }
    return table->is_started() ? Status() : table->start(process_places());
}

}  // namespace

Result<DeviceArray> list_devices()
{
    // Plugins are loaded without the lock: their constructors, and whoever else holds the dynamic loader's lock right
    // now, may want to list devices. Who refreshed the table meanwhile has newer devices in it than were found here.
    discovery::DeviceChain found;
    unsigned long found_at = 0;
    Status kernel;
    for (NamedProvider *wanted = nullptr;;) {
        if (wanted != nullptr)
            table->load(*wanted);
        Lock lock(table_lock);
        if (wanted != nullptr)
            wanted->tried = true;
        if (found_at != refreshes) {
            kernel = discover(found);
            if (Status status = start(); !status)
                return status;
            found_at = refreshes;
        }
        wanted = table->wanted(found);
        if (wanted != nullptr)
            continue;
        table->add_userspace(found);
        if (!kernel && (found.empty() || kernel.error() != ENOSYS))
            return kernel;
        ++refreshes;
        table->refresh(std::move(found));
        return table->array();
    }
}

void device_ref(verbs_device &device)
{
    __atomic_fetch_add(&device.refcount, 1, __ATOMIC_RELAXED);
}

void device_unref(verbs_device &device)
{
    if (__atomic_sub_fetch(&device.refcount, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    Allocated<verbs_sysfs_dev> sysfs(device.sysfs);
    if (device.ops->uninit_device != nullptr)
        device.ops->uninit_device(&device);
}

}  // namespace verbs::provider
