// SPDX-License-Identifier: BSD-2-Clause
// ibv_devinfo: prints what RDMA devices and their ports are and can do.
#include <getopt.h>
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "devinfo.hh"

using namespace tools;

namespace {

// Exit statuses. Those of several devices are combined by or.
enum Outcome : int {
    kOpenFailed = 1,
    kQueryFailed = 2,
    kCloseFailed = 3,
    kNoSuchPort = 4,
};

struct Options {
    const char *device_name;  // null: all devices
    uint8_t port_num;         // 0: all ports
    bool verbose;
};

// Prints the ports asked for. Returns 0, or the result of the call that failed.
int show_ports(ibv_context *context, unsigned port_count, const Options &options)
{
    unsigned first = options.port_num ? options.port_num : 1;
    unsigned last = options.port_num ? options.port_num : port_count;
    for (unsigned number = first; number <= last; ++number)
        if (int result = show_port(context, static_cast<uint8_t>(number), options.verbose))
            return result;
    return 0;
}

int show_open_device(ibv_context *context, const Options &options)
{
    ibv_device_attr_ex attr;
    if (ibv_query_device_ex(context, nullptr, &attr)) {
        fprintf(stderr, "Failed to query device props\n");
        return kQueryFailed;
    }
    unsigned port_count = attr.orig_attr.phys_port_cnt;
    if (options.port_num > port_count) {
        fprintf(stderr, "Invalid port requested for device\n");
        return kNoSuchPort;
    }
    print_device(*context->device, attr.orig_attr);
    if (options.verbose) {
        print_device_details(*context, attr);
    }
    return show_ports(context, port_count, options);
}

int show_device(ibv_device *device, const Options &options)
{
    ibv_context *context = ibv_open_device(device);
    if (!context) {
        fprintf(stderr, "Failed to open device\n");
        return kOpenFailed;
    }
    int outcome = show_open_device(context, options);
    if (ibv_close_device(context)) {
        fprintf(stderr, "Failed to close device");
        outcome = kCloseFailed;
    }
    return outcome;
}

ibv_device **get_devices(int *count)
{
    ibv_device **devices = ibv_get_device_list(count);
    if (!devices)
        perror("Failed to get IB devices list");
    return devices;
}

int list_devices()
{
    int count;
    ibv_device **devices = get_devices(&count);
    if (!devices)
        return -1;
    printf("%d HCA%s found:\n", count, count == 1 ? "" : "s");
    for (int i = 0; i < count; ++i)
        printf("\t%s\n", ibv_get_device_name(devices[i]));
    putchar('\n');
    ibv_free_device_list(devices);
    return 0;
}

int show_devices(ibv_device **devices, int count, const Options &options)
{
    int outcome = 0;
    for (int i = 0; i < count; ++i) {
        if (!options.device_name) {
            outcome |= show_device(devices[i], options);
        } else if (!strcmp(ibv_get_device_name(devices[i]), options.device_name)) {
            return show_device(devices[i], options);
        }
    }
    if (options.device_name) {
        fprintf(stderr, "IB device '%s' wasn't found\n", options.device_name);
        return -1;
    }
    if (!count) {
        fprintf(stderr, "No IB devices found\n");
        return -1;
    }
    return outcome;
}

void print_usage(const char *program)
{
    printf(
        "Usage: %s             print the ca attributes\n"
        "\n"
        "Options:\n"
        "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n"
        "  -i, --ib-port=<port>   use port <port> of IB device (default all ports)\n"
        "  -l, --list             print only the IB devices names\n"
        "  -v, --verbose          print all the attributes of the IB device(s)\n",
        program);
}

constexpr option kLongOptions[] = {
    {"ib-dev", required_argument, nullptr, 'd'},
    {"ib-port", required_argument, nullptr, 'i'},
    {"list", no_argument, nullptr, 'l'},
    {"verbose", no_argument, nullptr, 'v'},
    {},
};

}  // namespace

int main(int argc, char **argv)
{
    Options options = {};
    for (int letter; (letter = getopt_long(argc, argv, "d:i:lv", kLongOptions, nullptr)) != -1;) {
        switch (letter) {
            case 'd':
                options.device_name = optarg;
                break;
            case 'i': {
                auto number = static_cast<int>(strtol(optarg, nullptr, 0));
                if (number <= 0) {
                    print_usage(argv[0]);
                    return 1;
                }
                // Port numbers have eight bits; 256 means every port, as 0 does.
                options.port_num = static_cast<uint8_t>(number);
                break;
            }
            case 'l':
                // At once: what follows it does not matter.
                return list_devices();
            case 'v':
                options.verbose = true;
                break;
            default:
                print_usage(argv[0]);
                return -1;
        }
    }

    int count;
    ibv_device **devices = get_devices(&count);
    if (!devices)
        return -1;
    int outcome = show_devices(devices, count, options);
    ibv_free_device_list(devices);
    return outcome;
}
