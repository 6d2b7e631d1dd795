// SPDX-License-Identifier: BSD-2-Clause
// A provider that is called NAME and fits nothing; without NAME, a plugin that registers nothing.
#include <infiniband/driver.h>

#ifdef NAME
#ifndef REGISTER
#define REGISTER verbs_register_driver_65
#endif
void REGISTER(const struct verbs_device_ops *ops);

#ifndef OPS
#define OPS &ops
#endif

__attribute__((unused)) static struct verbs_device *alloc_device(struct verbs_sysfs_dev *found)
{
    (void)found;
    return NULL;
}

__attribute__((unused)) static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd,
                                                                   void *private_data)
{
    (void)device;
    (void)cmd_fd;
    (void)private_data;
    return NULL;
}

__attribute__((unused)) static const struct verbs_match_ent table[] = {
#ifdef PATTERN
    {.u = {.modalias = PATTERN}, .kind = VERBS_MATCH_MODALIAS},
#endif
    {.kind = VERBS_MATCH_SENTINEL}};
__attribute__((unused)) static const struct verbs_device_ops ops = {
    .name = NAME,
#ifdef TABLE
    .match_table = TABLE,
#else
    .match_table = table,
#endif
#ifndef LACKS_OPS
    .alloc_context = alloc_context,
    .alloc_device = alloc_device,
#endif
};

__attribute__((constructor)) static void start(void)
{
#ifdef CALLS_FIRST
    void CALLS_FIRST(void);
    CALLS_FIRST();
#endif
    REGISTER(OPS);
#ifdef CALLS
    void CALLS(void);
    CALLS();
#endif
}
#else
int registers_nothing = 1;
#endif
