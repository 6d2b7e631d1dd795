/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts, devices, ports, GIDs and P_Keys. */
#include "calls.h"

void calls_context(void)
{
    call("open_device twice");
    struct ibv_context *other;
    OBJECT(other, ibv_open_device(context->device));
    call("close_device of the second");
    DESTROY(other, ibv_close_device(other));
    call("get_device_guid");
    ANSWER(0);
    field("guid", ibv_get_device_guid(context->device));
    call("get_device_index");
    ANSWER(ibv_get_device_index(context->device));
    call("get_device_name");
    ANSWER(strcmp(ibv_get_device_name(context->device), context->device->name));
    call("node_type_str");
    text(ibv_node_type_str(context->device->node_type));
}

static void device_fields(const struct ibv_device_attr *attr)
{
    text(attr->fw_ver);
    bytes("device_attr", attr->fw_ver + 64, sizeof *attr - 64);
}

void calls_device(void)
{
    struct ibv_device_attr attr;
    memset(&attr, 0, sizeof attr);
    call("query_device");
    ANSWER(ibv_query_device(context, &attr));
    device_fields(&attr);

    struct ibv_device_attr_ex attr_ex;
    memset(&attr_ex, 0x55, sizeof attr_ex);
    call("query_device_ex without input");
    ANSWER(ibv_query_device_ex(context, NULL, &attr_ex));
    device_fields(&attr_ex.orig_attr);
    bytes("odp_caps", &attr_ex.odp_caps, sizeof attr_ex.odp_caps);
    field("completion_timestamp_mask", attr_ex.completion_timestamp_mask);
    field("hca_core_clock", attr_ex.hca_core_clock);
    field("device_cap_flags_ex", attr_ex.device_cap_flags_ex);
    bytes("rss_caps", &attr_ex.rss_caps, sizeof attr_ex.rss_caps);
    field("max_wq_type_rq", attr_ex.max_wq_type_rq);
    field("raw_packet_caps", attr_ex.raw_packet_caps);
    bytes("tm_caps", &attr_ex.tm_caps, sizeof attr_ex.tm_caps);
    bytes("cq_mod_caps", &attr_ex.cq_mod_caps, sizeof attr_ex.cq_mod_caps);
    field("max_dm_size", attr_ex.max_dm_size);
    field("xrc_odp_caps", attr_ex.xrc_odp_caps);
    field("phys_port_cnt_ex", attr_ex.phys_port_cnt_ex);

    struct ibv_query_device_ex_input input = {.comp_mask = 0};
    call("query_device_ex with input");
    ANSWER(ibv_query_device_ex(context, &input, &attr_ex));
    input.comp_mask = 1;
    call("query_device_ex with an unknown comp_mask");
    ANSWER(ibv_query_device_ex(context, &input, &attr_ex));
    struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
    call("query_rt_values_ex");
    ANSWER(ibv_query_rt_values_ex(context, &values));
}

static void gid_calls(void)
{
    static const int indexes[] = {0, 1, 2, 7, 63, 255, 1023, -1};
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        union ibv_gid gid;
        memset(&gid, 0x55, sizeof gid);
        call("query_gid %d", indexes[i]);
        ANSWER(ibv_query_gid(context, 1, indexes[i], &gid));
        bytes("gid", &gid, sizeof gid);
        struct ibv_gid_entry entry;
        memset(&entry, 0x55, sizeof entry);
        call("query_gid_ex %d", indexes[i]);
        ANSWER(ibv_query_gid_ex(context, 1, (uint32_t)indexes[i], &entry, 0));
        bytes("entry", &entry, sizeof entry);
    }
    union ibv_gid gid;
    struct ibv_gid_entry table[4];
    call("query_gid of port 0");
    ANSWER(ibv_query_gid(context, 0, 0, &gid));
    call("query_gid of port 99");
    ANSWER(ibv_query_gid(context, 99, 0, &gid));
    call("query_gid_ex of port 0");
    ANSWER(ibv_query_gid_ex(context, 0, 0, table, 0));
    call("query_gid_ex of port 99");
    ANSWER(ibv_query_gid_ex(context, 99, 0, table, 0));
    call("query_gid_ex with a flag");
    ANSWER(ibv_query_gid_ex(context, 1, 0, table, 1));
    memset(table, 0x55, sizeof table);
    call("query_gid_table");
    ANSWER(ibv_query_gid_table(context, table, 4, 0));
    bytes("table", table, sizeof table);
    call("query_gid_table of one");
    ANSWER(ibv_query_gid_table(context, table, 1, 0));
    call("query_gid_table of none");
    ANSWER(ibv_query_gid_table(context, table, 0, 0));
    call("query_gid_table with a flag");
    ANSWER(ibv_query_gid_table(context, table, 4, 2));
}

void calls_port(void)
{
    static const uint8_t ports[] = {1, 2, 0, 99, 255};
    for (size_t i = 0; i < sizeof ports; i++) {
        struct ibv_port_attr attr;
        memset(&attr, 0, sizeof attr);
        call("query_port %u", ports[i]);
        ANSWER(ibv_query_port(context, ports[i], &attr));
        bytes("port_attr", &attr, 52);
    }
    gid_calls();
    static const int indexes[] = {0, 1, 127, 9999, -1};
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        __be16 pkey = 0x5555;
        call("query_pkey %d", indexes[i]);
        ANSWER(ibv_query_pkey(context, 1, indexes[i], &pkey));
        field("pkey", pkey);
    }
    __be16 pkey;
    call("query_pkey of port 99");
    ANSWER(ibv_query_pkey(context, 99, 0, &pkey));
    call("get_pkey_index of the default key");
    ANSWER(ibv_get_pkey_index(context, 1, 0xffff));
    call("get_pkey_index of no key");
    ANSWER(ibv_get_pkey_index(context, 1, 0x1234));
}
