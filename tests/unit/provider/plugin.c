// SPDX-License-Identifier: BSD-2-Clause
// A provider that is called NAME and fits nothing; without NAME, a plugin that registers nothing.
#include <infiniband/driver.h>

#ifdef NAME
#ifndef REGISTER
#define REGISTER verbs_register_driver_65
#endif
void REGISTER(const struct verbs_device_ops *ops);

static const struct verbs_match_ent table[] = {{.kind = VERBS_MATCH_SENTINEL}};
static const struct verbs_device_ops ops = {.name = NAME, .match_table = table};

__attribute__((constructor)) static void start(void)
{
#ifdef CALLS_FIRST
    void CALLS_FIRST(void);
    CALLS_FIRST();
#endif
    REGISTER(&ops);
#ifdef CALLS
    void CALLS(void);
    CALLS();
#endif
}
#else
int registers_nothing = 1;
#endif
