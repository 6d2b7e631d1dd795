/* SPDX-License-Identifier: BSD-2-Clause */
/* A program outside the tree, in C and in C++: prints the devices that the library lists. */
#include <infiniband/verbs.h>
#include <stdio.h>

int main(void)
{
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    if (list == NULL) {
        perror("no list");
        return 1;
    }
    for (int i = 0; i < count; ++i)
        printf("%s\n", ibv_get_device_name(list[i]));
    printf("%d devices\n", count);
    ibv_free_device_list(list);
    return 0;
}
