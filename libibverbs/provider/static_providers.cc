// SPDX-License-Identifier: BSD-2-Clause
// How programs that link statically name the providers that they want: see RDMA_STATIC_PROVIDERS in verbs.h.
#include <infiniband/driver.h>

extern "C" {
extern const verbs_device_ops verbs_provider_none;
void ibv_static_providers(void *unused, ...);
}

// Fills up a program's list.
constexpr verbs_device_ops verbs_provider_none = {.name = "none"};

// To be named is enough: what is linked in registers itself.
void ibv_static_providers(void *, ...) {}
