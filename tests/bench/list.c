/* SPDX-License-Identifier: BSD-2-Clause */
/* What it costs to list devices, for the first time and again, and the memory of a process that has one open. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

static void list_devices(size_t i)
{
    (void)i;
    struct ibv_device **list = ibv_get_device_list(NULL);
    need(list != NULL && list[0] != NULL, "ibv_get_device_list");
    ibv_free_device_list(list);
}

/* VmHWM: the most memory that the process ever had resident; RssAnon: what it has of its own now. */
static void print_memory(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[128];
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0 || strncmp(line, "RssAnon:", 8) == 0)
            printf("%s", line);
    if (status != NULL)
        fclose(status);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--memory") == 0) {
        need(open_named(argv[2]) != NULL, "opening the device");
        print_memory();
        return 0;
    }
    measure_once("get_device_list, first", list_devices);
    measure("get_device_list, again", list_devices);
    return 0;
}
