/* SPDX-License-Identifier: BSD-2-Clause */
/* The device that the conformance cases run on: found, opened, described and closed. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

struct environment env;

static bool problem(struct device_facts *facts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool problem(struct device_facts *facts, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(facts->problem, sizeof(facts->problem), format, args);
    va_end(args);
    return false;
}

static bool no_such_device(struct ibv_device **list, const char *name, struct device_facts *facts)
{
    if (list == NULL && errno != ENOSYS)
        return problem(facts, "the devices cannot be listed: %s; VERBS_LOG_LEVEL=4 tells more",
                       strerror(errno));
    if (list == NULL || list[0] == NULL) /* NULL where the kernel has no RDMA */
        return problem(
            facts,
            "there is no RDMA device%s%s. Without hardware, and without privilege: URXE=lo ibv_conform; with "
            "the kernel's software RoCE, as root: rdma link add rxe0 type rxe netdev eth0",
            name != NULL ? " " : "", name != NULL ? name : "");
    char names[256] = "";
    for (size_t i = 0, used = 0; list[i] != NULL && used < sizeof(names); ++i)
        used += (size_t)snprintf(names + used, sizeof(names) - used, " %s", ibv_get_device_name(list[i]));
    return problem(
        facts, "there is no RDMA device %s, but:%s%s", name, names,
        strncmp(name, "urxe_", strlen("urxe_")) == 0 ? ". The variable URXE names interfaces for more" : "");
}

static struct ibv_context *open_by_name(const char *name, struct device_facts *facts)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_device *device = NULL;
    for (int i = 0; list != NULL && list[i] != NULL && device == NULL; ++i)
        if (name == NULL || strcmp(ibv_get_device_name(list[i]), name) == 0)
            device = list[i];
    struct ibv_context *context = NULL;
    if (device == NULL) {
        no_such_device(list, name, facts);
    } else {
        env.iwarp = device->transport_type == IBV_TRANSPORT_IWARP;
        snprintf(facts->name, sizeof(facts->name), "%s", ibv_get_device_name(device));
        snprintf(facts->guid, sizeof(facts->guid), "%016llx",
                 (unsigned long long)be64toh(ibv_get_device_guid(device)));
        context = ibv_open_device(device);
        if (context == NULL)
            problem(facts, "ibv_open_device(%s): %s; VERBS_LOG_LEVEL=4 tells more", facts->name,
                    strerror(errno));
    }
    if (list != NULL)
        ibv_free_device_list(list);
    return context;
}

static bool use_port(int port, struct device_facts *facts)
{
    struct ibv_port_attr attr;
    const int error = ibv_query_port(env.context, (uint8_t)port, &attr);
    if (error != 0)
        return problem(facts, "ibv_query_port(%s, %d): %s; the device has %d", facts->name, port,
                       strerror(error), env.device.phys_port_cnt);
    if (attr.state != IBV_PORT_ACTIVE)
        return problem(
            facts, "port %d of %s is %s, and only an active one can be used; bring its network interface up",
            port, facts->name, ibv_port_state_str(attr.state));
    env.port = (uint8_t)port;
    env.lid = attr.link_layer == IBV_LINK_LAYER_ETHERNET ? 0 : attr.lid;
    facts->port = port;
    facts->link = env.iwarp ? "iWARP" : attr.link_layer == IBV_LINK_LAYER_ETHERNET ? "RoCE" : "InfiniBand";
    return true;
}

/* On InfiniBand the first; RoCE needs an address to send to: IPv4 ones look like ::ffff:a.b.c.d. */
static bool use_gid(int index, struct device_facts *facts)
{
    if (env.iwarp)
        return true;
    if (index < 0 && strcmp(facts->link, "InfiniBand") == 0)
        index = 0;
    for (int i = 0; index < 0 && i < 16; ++i)
        if (ibv_query_gid(env.context, env.port, i, &env.gid) == 0 && env.gid.raw[10] == 0xff &&
            env.gid.raw[11] == 0xff)
            index = i;
    if (index < 0)
        return problem(
            facts,
            "port %d of %s has no GID of an IPv4 address; give its network interface one, or choose "
            "another GID with --gid-index",
            env.port, facts->name);
    if (ibv_query_gid(env.context, env.port, index, &env.gid) != 0)
        return problem(facts, "port %d of %s has no GID %d; ibv_devinfo -v lists those that it has", env.port,
                       facts->name, index);
    env.gid_index = facts->gid_index = index;
    inet_ntop(AF_INET6, &env.gid, facts->gid, sizeof(facts->gid));
    return true;
}

bool device_open(const struct device_choice *choice, struct device_facts *facts)
{
    Dl_info library;
    if (dladdr((void *)(uintptr_t)ibv_get_device_list, &library) != 0 && library.dli_fname != NULL)
        snprintf(facts->library, sizeof(facts->library), "%s", library.dli_fname);
    env.context = open_by_name(choice->name, facts);
    if (env.context == NULL)
        return false;
    const int error = ibv_query_device(env.context, &env.device);
    if (error != 0)
        return problem(facts, "ibv_query_device(%s): %s", facts->name, strerror(error));
    snprintf(facts->firmware, sizeof(facts->firmware), "%.63s", env.device.fw_ver);
    facts->vendor = env.device.vendor_id;
    facts->part = env.device.vendor_part_id;
    if (!use_port(choice->port, facts) || !use_gid(choice->gid_index, facts))
        return false;
    if ((env.pd = ibv_alloc_pd(env.context)) == NULL)
        return problem(facts, "ibv_alloc_pd: %s", strerror(errno));
    const size_t size = 2 * (size_t)kSideSize;
    if (posix_memalign((void **)&env.memory, 4096, size) != 0)
        return problem(facts, "no memory");
    const int access = IBV_ACCESS_LOCAL_WRITE | kAllRemote;
    env.mr = ibv_reg_mr(env.pd, env.memory, size, access | IBV_ACCESS_MW_BIND);
    if (env.mr == NULL && (env.device.device_cap_flags & IBV_DEVICE_MEM_WINDOW) == 0)
        env.mr = ibv_reg_mr(env.pd, env.memory, size, access);
    if (env.mr == NULL)
        return problem(facts,
                       "ibv_reg_mr of %zu bytes: %s; ulimit -l tells how much memory may be registered", size,
                       strerror(errno));
    return true;
}

void device_close(void)
{
    const char *call = "ibv_dereg_mr";
    int error = ibv_dereg_mr(env.mr);
    if (error == 0) {
        call = "ibv_dealloc_pd";
        error = ibv_dealloc_pd(env.pd);
    }
    if (error == 0) {
        call = "ibv_close_device";
        error = ibv_close_device(env.context);
    }
    if (error != 0)
        test_fail(__FILE__, __LINE__, "%s at the end: expected 0, saw %d (%s)", call, error, strerror(error));
    free(env.memory);
}
