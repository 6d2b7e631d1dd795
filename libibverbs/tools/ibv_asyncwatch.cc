// SPDX-License-Identifier: BSD-2-Clause
// ibv_asyncwatch: prints the asynchronous events of a device as they happen.
#include <getopt.h>
#include <infiniband/verbs.h>

#include <cstdio>

#include "open_device.hh"
#include "text.hh"

using namespace tools;

namespace {

constexpr Name kEventNames[] = {
    {IBV_EVENT_DEVICE_FATAL, "IBV_EVENT_DEVICE_FATAL"},
    {IBV_EVENT_PORT_ACTIVE, "IBV_EVENT_PORT_ACTIVE"},
    {IBV_EVENT_PORT_ERR, "IBV_EVENT_PORT_ERR"},
    {IBV_EVENT_LID_CHANGE, "IBV_EVENT_LID_CHANGE"},
    {IBV_EVENT_PKEY_CHANGE, "IBV_EVENT_PKEY_CHANGE"},
    {IBV_EVENT_SM_CHANGE, "IBV_EVENT_SM_CHANGE"},
    {IBV_EVENT_CLIENT_REREGISTER, "IBV_EVENT_CLIENT_REREGISTER"},
    {IBV_EVENT_GID_CHANGE, "IBV_EVENT_GID_CHANGE"},
};

void print_usage(const char *program)
{
    printf(
        "Usage:\n"
        "  %s            start an asyncwatch process\n"
        "\n"
        "Options:\n"
        "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n"
        "  -h, --help             print a help text and exit\n",
        program);
}

}  // namespace

int main(int argc, char **argv)
{
    // Whoever reads the output sees an event when it happens.
    setvbuf(stdout, nullptr, _IOLBF, 0);

    constexpr option kLongOptions[] = {
        {"ib-dev", required_argument, nullptr, 'd'}, {"help", no_argument, nullptr, 'h'}, {}};
    const char *name = nullptr;
    for (int letter; (letter = getopt_long(argc, argv, "d:h", kLongOptions, nullptr)) != -1;) {
        if (letter != 'd') {
            print_usage(argv[0]);
            return letter == 'h' ? 0 : 1;
        }
        name = optarg;
    }

    ibv_context *context = open_device(name, "IB device  not found");
    if (!context)
        return 1;
    printf("%s: async event FD %d\n", ibv_get_device_name(context->device), context->async_fd);
    ibv_async_event event;
    while (ibv_get_async_event(context, &event) == 0) {
        int type = number_of(event.event_type);
        printf("  event_type %s (%d), port %d\n",
               name_of(kEventNames, static_cast<uint64_t>(type), "unexpected"), type, event.element.port_num);
        ibv_ack_async_event(&event);
    }
    ibv_close_device(context);
    return 1;
}
