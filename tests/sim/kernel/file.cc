// SPDX-License-Identifier: BSD-2-Clause
// An open uverbs device.
#include "kernel/file.hh"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "interpose/real.hh"
#include "kernel/event.hh"
#include "session.hh"

namespace sim {
namespace {

constexpr uint64_t kMagic = 0x766572625f73696d;
// The state lies behind all that mmap can be asked for.
constexpr off_t kStateOffset = off_t{1} << 40;
constexpr uint64_t kPage = 4096;

FileState *map_state(int fd)
{
    void *memory = REAL(mmap)(nullptr, sizeof(FileState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                              fd, kStateOffset);
    return memory != MAP_FAILED ? static_cast<FileState *>(memory) : nullptr;
}

uint32_t take_slot(uint32_t device)
{
    SharedPage &shared = Session::get().shared();
    for (uint32_t slot = 0; slot < kMaxFiles; ++slot) {
        uint32_t free = 0;
        if (shared.files[slot].device_plus_one.compare_exchange_strong(free, device + 1)) {
            shared.files[slot].async_channel.store(0);
            return slot;
        }
    }
    return kNone;
}

}  // namespace

int File::open(const Device &device, int flags, File *&file)
{
    const int fd = memfd_create("verbs_sim", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0U);
    if (fd < 0)
        return -errno;
    struct stat node;
    FileState *state = nullptr;
    if (ftruncate(fd, kStateOffset + static_cast<off_t>(sizeof(FileState))) == 0 &&
        REAL(fstat)(fd, &node) == 0)
        state = map_state(fd);
    if (state == nullptr) {
        const int error = errno;
        REAL(close)(fd);
        return -error;
    }
    Session &session = Session::get();
    state->device = device.index;
    state->generation = session.state_of(device).generation.load();
    state->slot = take_slot(device.index);
    state->next_offset = 0;
    snprintf(state->session, sizeof state->session, "%s", session.directory().c_str());
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&state->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    state->magic = kMagic;
    file = new File(device, state, fd, node.st_ino);
    return fd;
}

File *File::adopt(int fd)
{
    char link[64];
    char target[64] = {};
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (syscall(SYS_readlink, link, target, sizeof target - 1) < 0 ||
        strncmp(target, "/memfd:verbs_sim", strlen("/memfd:verbs_sim")) != 0)
        return nullptr;
    struct stat node;
    FileState *state = map_state(fd);
    if (state == nullptr)
        return nullptr;
    const std::vector<Device> &devices = Session::get().description().devices;
    if (state->magic != kMagic || state->device >= devices.size() || REAL(fstat)(fd, &node) != 0) {
        munmap(state, sizeof *state);
        return nullptr;
    }
    return new File(devices[state->device], state, fd, node.st_ino);
}

File::~File()
{
    munmap(state_, sizeof *state_);
}

bool File::is_disassociated() const
{
    return Session::get().state_of(*device_).generation.load(std::memory_order_relaxed) != state_->generation;
}

Object *File::add(uint16_t kind, uint32_t &handle)
{
    for (uint32_t place = state_->first_free; place < kMaxObjects; ++place) {
        Object &object = state_->objects[place];
        if (object.in_use)
            continue;
        object = {};
        object.in_use = 1;
        object.kind = kind;
        object.holds.fill(kNone);
        state_->first_free = place + 1;
        if (place >= state_->end)
            state_->end = place + 1;
        handle = place;
        return &object;
    }
    return nullptr;
}

Object *File::find_any(uint64_t handle)
{
    return handle < kMaxObjects && state_->objects[handle].in_use ? &state_->objects[handle] : nullptr;
}

Object *File::find(uint16_t kind, uint64_t handle, int &error)
{
    if (handle > INT64_MAX) {
        error = EINVAL;
        return nullptr;
    }
    Object *object = find_any(handle);
    error = object == nullptr ? ENOENT : object->kind != kind ? EINVAL : 0;
    return error == 0 ? object : nullptr;
}

uint32_t File::handle_of(const Object &object) const
{
    return static_cast<uint32_t>(&object - state_->objects);
}

void File::hold(Object &owner, size_t place, uint32_t handle)
{
    if (handle == kNone)
        return;
    owner.holds[place] = handle;
    ++state_->objects[handle].users;
}

void File::discard(Object &object)
{
    for (uint32_t &held : object.holds)
        if (held != kNone)
            --state_->objects[held].users;
    for (uint32_t i = 0; i < object.table_size; ++i)
        --state_->objects[object.table[i]].users;
    object.in_use = 0;
    const uint32_t handle = handle_of(object);
    if (handle < state_->first_free)
        state_->first_free = handle;
}

int File::remove(Object &object)
{
    if (object.users != 0)
        return EBUSY;
    discard(object);
    return 0;
}

uint64_t File::allocate_range(uint64_t size)
{
    const uint64_t offset = state_->next_offset;
    state_->next_offset += (size + kPage - 1) & ~(kPage - 1);
    return offset;
}

void File::write_range(uint64_t offset, const void *bytes, size_t size)
{
    const auto place = static_cast<off_t>(offset / kPage * kPage);
    const size_t skip = offset % kPage;
    void *memory = REAL(mmap)(nullptr, skip + size, PROT_READ | PROT_WRITE, MAP_SHARED, backing_, place);
    if (memory == MAP_FAILED)
        return;
    memcpy(static_cast<char *>(memory) + skip, bytes, size);
    munmap(memory, skip + size);
}

bool File::is_range(uint64_t offset, uint64_t size)
{
    const FileLock guard(*this);
    return offset < state_->next_offset && size <= state_->next_offset - offset;
}

void File::lock()
{
    if (pthread_mutex_lock(&state_->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&state_->lock);
}

void File::unlock()
{
    pthread_mutex_unlock(&state_->lock);
}

}  // namespace sim
