// SPDX-License-Identifier: BSD-2-Clause
// Each inline verb reaches the slot at the golden offset, and answers as it must when the slot is not there.
//
// Built twice: against our headers and, where there is one, against the stock library's. Both must find the
// same places, because programs carry these offsets in their machine code.

#include <infiniband/verbs.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

// What the doubles below saw: the names of the slots and exported functions that were called.
std::vector<std::string> calls;
// The size that an inline verb passed on for its struct.
std::size_t passed_size;

constexpr int kAnswer = 1234;
alignas(std::max_align_t) std::array<std::byte, 4096> answer;

// Offsets in bytes, by "struct.member", and sizes by "struct".
class Golden {
public:
    Golden()
    {
        std::ifstream file(GOLDEN_LAYOUT);
        std::string structure;
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string first;
            std::string second;
            if (line.starts_with("struct ")) {
                std::string size_word;
                std::size_t size = 0;
                words >> first >> structure >> size_word >> size;
                places_[structure] = size;
            } else if (line.starts_with(" ") && !structure.empty()) {
                words >> first >> second;
                places_[structure + "." + second] = std::strtoul(first.c_str(), nullptr, 10);
            } else {
                structure.clear();
            }
        }
    }
    std::size_t operator[](const std::string &name) const { return places_.at(name); }

private:
    std::map<std::string, std::size_t> places_;
};
const Golden &golden()
{
    static const Golden instance;
    return instance;
}

// The answer of a double: a number, a place in memory, or nothing.
template <class Result>
Result record(const char *name)
{
    calls.emplace_back(name);
    if constexpr (std::is_pointer_v<Result>)
        return reinterpret_cast<Result>(answer.data());
    else if constexpr (std::is_enum_v<Result>)
        return static_cast<Result>(7);
    else if constexpr (!std::is_void_v<Result>)
        return static_cast<Result>(kAnswer);
}

// A string that can be a template argument, so that each slot gets a function of its own.
template <std::size_t N>
struct Name {
    constexpr Name(const char (&text)[N]) { std::copy_n(text, N, value); }
    char value[N]{};
};
template <std::size_t N>
Name(const char (&)[N]) -> Name<N>;

template <Name kName, class Function>
struct Double;
template <Name kName, class Result, class... Arguments>
struct Double<kName, Result (*)(Arguments...)> {
    static Result call(Arguments...) { return record<Result>(kName.value); }
};

// An extended context of release 65.0, made of raw bytes: no header decides where its slots are.
class Context {
public:
    Context() : bytes_(golden()["verbs_context"] + sizeof(void *))
    {
        set(golden()["verbs_context.sz"], golden()["verbs_context"]);
        set_context("ibv_context.abi_compat", UINTPTR_MAX);
    }
    ibv_context *get()
    {
        return reinterpret_cast<ibv_context *>(start() + golden()["verbs_context.context"]);
    }

    template <Name kName, class Function>
    void fill(std::size_t offset)
    {
        Function function = Double<kName, Function>::call;
        std::memcpy(start() + offset, &function, sizeof(function));
    }
    void set(std::size_t offset, std::uintptr_t value)
    {
        std::memcpy(start() + offset, &value, sizeof(value));
    }
    void set_context(const char *member, std::uintptr_t value)
    {
        set(golden()["verbs_context.context"] + golden()[member], value);
    }

private:
    std::byte *start() { return bytes_.data(); }
    std::vector<std::byte> bytes_;
};

// Zeroed memory for an object that points to a context, and that verbs read and write.
template <class Object>
class Handle {
public:
    explicit Handle(Context &context)
    {
        if constexpr (requires(Object object) { object.context; })
            get()->context = context.get();
    }
    Object *get() { return reinterpret_cast<Object *>(bytes_.data()); }

private:
    alignas(std::max_align_t) std::array<std::byte, sizeof(Object) + 64> bytes_{};
};

struct Objects {
    explicit Objects(Context &context)
        : pd(context),
          mr(context),
          mw(context),
          cq(context),
          qp(context),
          srq(context),
          wq(context),
          td(context),
          dm(context),
          xrcd(context),
          flow(context),
          flow_action(context),
          counters(context),
          ind_table(context)
    {
    }
    Handle<ibv_pd> pd;
    Handle<ibv_mr> mr;
    Handle<ibv_mw> mw;
    Handle<ibv_cq> cq;
    Handle<ibv_qp> qp;
    Handle<ibv_srq> srq;
    Handle<ibv_wq> wq;
    Handle<ibv_td> td;
    Handle<ibv_dm> dm;
    Handle<ibv_xrcd> xrcd;
    Handle<ibv_flow> flow;
    Handle<ibv_flow_action> flow_action;
    Handle<ibv_counters> counters;
    Handle<ibv_rwq_ind_table> ind_table;
};

using Calls = std::vector<std::string>;

template <class Result>
bool is_answer(Result result)
{
    if constexpr (std::is_pointer_v<Result>)
        return static_cast<const void *>(result) == answer.data();
    else
        return result == kAnswer;
}

// What an inline verb answers when it has no slot to call: NULL and errno, or the errno value.
template <class Result>
bool is_unsupported(Result result)
{
    if constexpr (std::is_pointer_v<Result>)
        return !result && errno == EOPNOTSUPP;
    else
        return result == EOPNOTSUPP;
}

// Calls `verb` on contexts that have the slot and on contexts that lack it in each way that there is.
// `fallback` is the exported function that is called instead, or empty when the answer is EOPNOTSUPP.
template <Name kName, class Function, class Verb>
void check_extended(Verb verb, const std::string &fallback = {})
{
    const std::string name = kName.value;
    SCOPED_TRACE(name);
    const std::size_t offset = golden()["verbs_context." + name];
    const std::size_t needed = golden()["verbs_context"] - offset;
    const std::size_t sz = golden()["verbs_context.sz"];

    const auto expect_reached = [&](Context &context) {
        Objects objects(context);
        calls.clear();
        const auto result = verb(context.get(), objects);
        EXPECT_EQ(calls, Calls{name});
        EXPECT_TRUE(is_answer(result));
    };
    const auto expect_absent = [&](Context &context) {
        Objects objects(context);
        calls.clear();
        errno = 0;
        const auto result = verb(context.get(), objects);
        if (fallback.empty()) {
            EXPECT_EQ(calls, Calls{});
            EXPECT_TRUE(is_unsupported(result));
        } else {
            EXPECT_EQ(calls, Calls{fallback});
            EXPECT_TRUE(is_answer(result));
        }
    };

    Context context;
    context.fill<kName, Function>(offset);
    expect_reached(context);
    context.set(sz, needed);
    {
        SCOPED_TRACE("the slot is the first that the context has");
        expect_reached(context);
    }
    context.set(sz, needed - sizeof(void *));
    {
        SCOPED_TRACE("the context begins behind the slot");
        expect_absent(context);
    }
    context.set(sz, golden()["verbs_context"]);
    context.set_context("ibv_context.abi_compat", 0);
    {
        SCOPED_TRACE("the context is not extended");
        expect_absent(context);
    }
    context.set_context("ibv_context.abi_compat", UINTPTR_MAX);
    context.set(offset, 0);
    {
        SCOPED_TRACE("the slot is empty");
        expect_absent(context);
    }
}

#define EXTENDED(slot, call, ...)                                                               \
    check_extended<#slot, decltype(verbs_context::slot)>([](ibv_context *context, Objects &o) { \
        static_cast<void>(context), static_cast<void>(o);                                       \
        return call;                                                                            \
    } __VA_OPT__(, ) __VA_ARGS__)

TEST(Dispatch, ExtendedVerbs)
{
    EXTENDED(advise_mr, ibv_advise_mr(o.pd.get(), IBV_ADVISE_MR_ADVICE_PREFETCH, 0, nullptr, 0));
    EXTENDED(alloc_null_mr, ibv_alloc_null_mr(o.pd.get()));
    EXTENDED(read_counters, ibv_read_counters(o.counters.get(), nullptr, 0, 0));
    EXTENDED(attach_counters_point_flow, ibv_attach_counters_point_flow(o.counters.get(), nullptr, nullptr));
    EXTENDED(create_counters, ibv_create_counters(context, nullptr));
    EXTENDED(destroy_counters, ibv_destroy_counters(o.counters.get()));
    EXTENDED(reg_dm_mr, ibv_reg_dm_mr(o.pd.get(), o.dm.get(), 0, 0, 0));
    EXTENDED(alloc_dm, ibv_alloc_dm(context, nullptr));
    EXTENDED(free_dm, ibv_free_dm(o.dm.get()));
    EXTENDED(modify_flow_action_esp, ibv_modify_flow_action_esp(o.flow_action.get(), nullptr));
    EXTENDED(destroy_flow_action, ibv_destroy_flow_action(o.flow_action.get()));
    EXTENDED(create_flow_action_esp, ibv_create_flow_action_esp(context, nullptr));
    EXTENDED(modify_qp_rate_limit, ibv_modify_qp_rate_limit(o.qp.get(), nullptr));
    EXTENDED(alloc_parent_domain, ibv_alloc_parent_domain(context, nullptr));
    EXTENDED(dealloc_td, ibv_dealloc_td(o.td.get()));
    EXTENDED(alloc_td, ibv_alloc_td(context, nullptr));
    EXTENDED(modify_cq, ibv_modify_cq(o.cq.get(), nullptr));
    EXTENDED(destroy_rwq_ind_table, ibv_destroy_rwq_ind_table(o.ind_table.get()));
    EXTENDED(create_rwq_ind_table, ibv_create_rwq_ind_table(context, nullptr));
    EXTENDED(destroy_wq, ibv_destroy_wq(o.wq.get()));
    EXTENDED(modify_wq, ibv_modify_wq(o.wq.get(), nullptr));
    EXTENDED(query_rt_values, ibv_query_rt_values_ex(context, nullptr));
    EXTENDED(create_cq_ex, ibv_create_cq_ex(context, nullptr));
    EXTENDED(ibv_destroy_flow, ibv_destroy_flow(o.flow.get()));
    EXTENDED(ibv_create_flow, ibv_create_flow(o.qp.get(), nullptr));
    EXTENDED(open_qp, ibv_open_qp(context, nullptr));
    EXTENDED(get_srq_num, ibv_get_srq_num(o.srq.get(), nullptr));
    EXTENDED(open_xrcd, ibv_open_xrcd(context, nullptr));
}

TEST(Dispatch, VerbsThatLookAtTheirArguments)
{
    static ibv_wq_init_attr wq_attr;
    EXTENDED(create_wq, ibv_create_wq(context, &wq_attr));

    static ibv_ops_wr op;
    static ibv_ops_wr *bad_op;
    EXTENDED(post_srq_ops, (bad_op = nullptr, ibv_post_srq_ops(o.srq.get(), &op, &bad_op)));
    EXPECT_EQ(bad_op, &op);

    // With nothing but a PD the function of the first release does it, whatever the context has.
    static ibv_qp_init_attr_ex qp_attr;
    qp_attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    EXTENDED(create_qp_ex, ibv_create_qp_ex(context, &qp_attr));
    static ibv_srq_init_attr_ex srq_attr;
    srq_attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
    srq_attr.srq_type = IBV_SRQT_XRC;
    EXTENDED(create_srq_ex, ibv_create_srq_ex(context, &srq_attr));
    srq_attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
    srq_attr.srq_type = IBV_SRQT_BASIC;
    EXTENDED(create_srq_ex, ibv_create_srq_ex(context, &srq_attr));
    srq_attr.comp_mask = 0;
    EXTENDED(create_srq_ex, ibv_create_srq_ex(context, &srq_attr));

    Context context;
    calls.clear();
    qp_attr.comp_mask = IBV_QP_INIT_ATTR_PD;
    EXPECT_TRUE(is_answer(ibv_create_qp_ex(context.get(), &qp_attr)));
    EXPECT_EQ(calls, Calls{"ibv_create_qp"});
    for (const std::uint32_t mask : {std::uint32_t{IBV_SRQ_INIT_ATTR_PD},
                                     std::uint32_t{IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE}}) {
        calls.clear();
        srq_attr.comp_mask = mask;
        EXPECT_TRUE(is_answer(ibv_create_srq_ex(context.get(), &srq_attr)));
        EXPECT_EQ(calls, Calls{"ibv_create_srq"});
    }
}

TEST(Dispatch, QueriesFallBackToTheFirstRelease)
{
    static ibv_port_attr port;
    EXTENDED(query_port, ibv_query_port(context, 1, &port), "ibv_query_port");

    // Without the slot the exported function fills 48 bytes, and the rest of the struct is zero.
    std::memset(&port, 0xff, sizeof(port));
    Context plain;
    EXPECT_EQ(ibv_query_port(plain.get(), 1, &port), kAnswer);
    EXPECT_EQ(port.port_cap_flags2, 0);

    static ibv_device_attr_ex device;
    EXTENDED(query_device_ex, ibv_query_device_ex(context, nullptr, &device), "ibv_query_device");
    std::memset(&device, 0xff, sizeof(device));
    EXPECT_EQ(ibv_query_device_ex(plain.get(), nullptr, &device), kAnswer);
    EXPECT_EQ(device.max_dm_size, 0U);

    ibv_query_device_ex_input input{1};
    calls.clear();
    EXPECT_EQ(ibv_query_device_ex(plain.get(), &input, &device), EINVAL);
    EXPECT_EQ(calls, Calls{});
}

TEST(Dispatch, QueryDeviceFallsBackWhenTheProviderCannot)
{
    for (const int refusal : {EOPNOTSUPP, ENOSYS}) {
        static int refused;
        refused = refusal;
        Context context;
        decltype(verbs_context::query_device_ex) refuse = [](ibv_context *, const ibv_query_device_ex_input *,
                                                             ibv_device_attr_ex *,
                                                             std::size_t) { return refused; };
        context.set(golden()["verbs_context.query_device_ex"], reinterpret_cast<std::uintptr_t>(refuse));
        ibv_device_attr_ex device;
        std::memset(&device, 0xff, sizeof(device));
        calls.clear();
        EXPECT_EQ(ibv_query_device_ex(context.get(), nullptr, &device), kAnswer);
        EXPECT_EQ(calls, Calls{"ibv_query_device"});
        EXPECT_EQ(device.max_dm_size, 0U);
    }
}

// A verb that calls its slot without looking whether it is there: of the context, or of an object.
template <Name kName, class Function, class Verb>
void check_slot(std::size_t offset, Verb verb)
{
    SCOPED_TRACE(kName.value);
    Context context;
    context.fill<kName, Function>(offset);
    Objects objects(context);
    calls.clear();
    verb(context.get(), objects);
    EXPECT_EQ(calls, Calls{kName.value});
}

#define BASIC(slot, call)                                                 \
    check_slot<#slot, decltype(ibv_context_ops::slot)>(                   \
        golden()["verbs_context.context"] + golden()["ibv_context.ops"] + \
            golden()["ibv_context_ops." #slot],                           \
        [](ibv_context *, Objects &o) { EXPECT_TRUE(is_answer(call)); })

TEST(Dispatch, DataPath)
{
    BASIC(poll_cq, ibv_poll_cq(o.cq.get(), 1, nullptr));
    BASIC(req_notify_cq, ibv_req_notify_cq(o.cq.get(), 0));
    BASIC(post_send, ibv_post_send(o.qp.get(), nullptr, nullptr));
    BASIC(post_recv, ibv_post_recv(o.qp.get(), nullptr, nullptr));
    BASIC(post_srq_recv, ibv_post_srq_recv(o.srq.get(), nullptr, nullptr));
    BASIC(alloc_mw, ibv_alloc_mw(o.pd.get(), IBV_MW_TYPE_1));
    BASIC(dealloc_mw, ibv_dealloc_mw(o.mw.get()));
    check_slot<"close_xrcd", decltype(verbs_context::close_xrcd)>(
        golden()["verbs_context.close_xrcd"],
        [](ibv_context *, Objects &o) { EXPECT_EQ(ibv_close_xrcd(o.xrcd.get()), kAnswer); });
}

TEST(Dispatch, AllocMwWithoutTheSlot)
{
    Context context;
    Objects objects(context);
    errno = 0;
    EXPECT_TRUE(is_unsupported(ibv_alloc_mw(objects.pd.get(), IBV_MW_TYPE_2)));
}

TEST(Dispatch, BindMwChecksTheWindowAndTheRegion)
{
    BASIC(bind_mw, [&] {
        ibv_mw_bind bind{};
        o.mw.get()->type = IBV_MW_TYPE_1;
        return ibv_bind_mw(o.qp.get(), o.mw.get(), &bind);
    }());

    Context context;
    Objects o(context);
    ibv_mw_bind bind{};
    calls.clear();
    o.mw.get()->type = IBV_MW_TYPE_2;
    EXPECT_EQ(ibv_bind_mw(o.qp.get(), o.mw.get(), &bind), EINVAL);
    o.mw.get()->type = IBV_MW_TYPE_1;
    bind.bind_info.length = 1;
    EXPECT_EQ(ibv_bind_mw(o.qp.get(), o.mw.get(), &bind), EINVAL);
    bind.bind_info.length = 0;
    bind.bind_info.addr = 1;
    EXPECT_EQ(ibv_bind_mw(o.qp.get(), o.mw.get(), &bind), EINVAL);
    bind.bind_info.mr = o.mr.get();
    o.mr.get()->pd = o.pd.get();
    EXPECT_EQ(ibv_bind_mw(o.qp.get(), o.mw.get(), &bind), EPERM);
    EXPECT_EQ(calls, Calls{});
}

template <Name kName, class Object, class Function, class Verb>
void check_object_slot(const std::string &structure, Verb verb)
{
    SCOPED_TRACE(kName.value);
    alignas(std::max_align_t) std::array<std::byte, 1024> bytes{};
    Function function = Double<kName, Function>::call;
    std::memcpy(bytes.data() + golden()[structure + "." + kName.value], &function, sizeof(function));
    calls.clear();
    verb(reinterpret_cast<Object *>(bytes.data()));
    EXPECT_EQ(calls, Calls{kName.value});
}

#define ON(structure, slot, call)                                              \
    check_object_slot<#slot, structure, decltype(structure::slot)>(#structure, \
                                                                   [](structure *object) { call; })

TEST(Dispatch, WorkRequestFunctions)
{
    ON(ibv_qp_ex, wr_atomic_cmp_swp, ibv_wr_atomic_cmp_swp(object, 0, 0, 0, 0));
    ON(ibv_qp_ex, wr_atomic_fetch_add, ibv_wr_atomic_fetch_add(object, 0, 0, 0));
    ON(ibv_qp_ex, wr_bind_mw, ibv_wr_bind_mw(object, nullptr, 0, nullptr));
    ON(ibv_qp_ex, wr_local_inv, ibv_wr_local_inv(object, 0));
    ON(ibv_qp_ex, wr_rdma_read, ibv_wr_rdma_read(object, 0, 0));
    ON(ibv_qp_ex, wr_rdma_write, ibv_wr_rdma_write(object, 0, 0));
    ON(ibv_qp_ex, wr_rdma_write_imm, ibv_wr_rdma_write_imm(object, 0, 0, 0));
    ON(ibv_qp_ex, wr_send, ibv_wr_send(object));
    ON(ibv_qp_ex, wr_send_imm, ibv_wr_send_imm(object, 0));
    ON(ibv_qp_ex, wr_send_inv, ibv_wr_send_inv(object, 0));
    ON(ibv_qp_ex, wr_send_tso, ibv_wr_send_tso(object, nullptr, 0, 0));
    ON(ibv_qp_ex, wr_set_ud_addr, ibv_wr_set_ud_addr(object, nullptr, 0, 0));
    ON(ibv_qp_ex, wr_set_xrc_srqn, ibv_wr_set_xrc_srqn(object, 0));
    ON(ibv_qp_ex, wr_set_inline_data, ibv_wr_set_inline_data(object, nullptr, 0));
    ON(ibv_qp_ex, wr_set_inline_data_list, ibv_wr_set_inline_data_list(object, 0, nullptr));
    ON(ibv_qp_ex, wr_set_sge, ibv_wr_set_sge(object, 0, 0, 0));
    ON(ibv_qp_ex, wr_set_sge_list, ibv_wr_set_sge_list(object, 0, nullptr));
    ON(ibv_qp_ex, wr_start, ibv_wr_start(object));
    ON(ibv_qp_ex, wr_complete, EXPECT_EQ(ibv_wr_complete(object), kAnswer));
    ON(ibv_qp_ex, wr_abort, ibv_wr_abort(object));
    ON(ibv_qp_ex, wr_atomic_write, ibv_wr_atomic_write(object, 0, 0, nullptr));
#ifndef STOCK_HEADERS
    ON(ibv_qp_ex, wr_flush, ibv_wr_flush(object, 0, 0, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE));
#endif
}

TEST(Dispatch, CompletionFunctions)
{
    ON(ibv_cq_ex, start_poll, EXPECT_EQ(ibv_start_poll(object, nullptr), kAnswer));
    ON(ibv_cq_ex, next_poll, EXPECT_EQ(ibv_next_poll(object), kAnswer));
    ON(ibv_cq_ex, end_poll, ibv_end_poll(object));
    ON(ibv_cq_ex, read_opcode, EXPECT_EQ(ibv_wc_read_opcode(object), IBV_WC_TSO));
    ON(ibv_cq_ex, read_vendor_err, EXPECT_EQ(ibv_wc_read_vendor_err(object), 1234U));
    ON(ibv_cq_ex, read_byte_len, EXPECT_EQ(ibv_wc_read_byte_len(object), 1234U));
    ON(ibv_cq_ex, read_imm_data, EXPECT_EQ(ibv_wc_read_imm_data(object), 1234U));
    ON(ibv_cq_ex, read_imm_data, EXPECT_EQ(ibv_wc_read_invalidated_rkey(object), 1234U));
    ON(ibv_cq_ex, read_qp_num, EXPECT_EQ(ibv_wc_read_qp_num(object), 1234U));
    ON(ibv_cq_ex, read_src_qp, EXPECT_EQ(ibv_wc_read_src_qp(object), 1234U));
    ON(ibv_cq_ex, read_wc_flags, EXPECT_EQ(ibv_wc_read_wc_flags(object), 1234U));
    ON(ibv_cq_ex, read_slid, EXPECT_EQ(ibv_wc_read_slid(object), 1234U));
    ON(ibv_cq_ex, read_sl, EXPECT_EQ(ibv_wc_read_sl(object), 1234 & 0xff));
    ON(ibv_cq_ex, read_dlid_path_bits, EXPECT_EQ(ibv_wc_read_dlid_path_bits(object), 1234 & 0xff));
    ON(ibv_cq_ex, read_completion_ts, EXPECT_EQ(ibv_wc_read_completion_ts(object), 1234U));
    ON(ibv_cq_ex, read_cvlan, EXPECT_EQ(ibv_wc_read_cvlan(object), 1234U));
    ON(ibv_cq_ex, read_flow_tag, EXPECT_EQ(ibv_wc_read_flow_tag(object), 1234U));
    ON(ibv_cq_ex, read_tm_info, ibv_wc_read_tm_info(object, nullptr));
    ON(ibv_cq_ex, read_completion_wallclock_ns,
       EXPECT_EQ(ibv_wc_read_completion_wallclock_ns(object), 1234U));
    ON(ibv_wq, post_recv, EXPECT_EQ(ibv_post_wq_recv(object, nullptr, nullptr), kAnswer));
    ON(ibv_dm, memcpy_to_dm, EXPECT_EQ(ibv_memcpy_to_dm(object, 0, nullptr, 0), kAnswer));
    ON(ibv_dm, memcpy_from_dm, EXPECT_EQ(ibv_memcpy_from_dm(nullptr, object, 0, 0), kAnswer));

    ibv_cq_ex cq{};
    EXPECT_EQ(static_cast<void *>(ibv_cq_ex_to_cq(&cq)), static_cast<void *>(&cq));
}

TEST(Dispatch, SizesOfStructsReachTheLibrary)
{
    Context context;
    ibv_gid_entry entry{};
    calls.clear();
    EXPECT_EQ(ibv_query_gid_ex(context.get(), 1, 0, &entry, 0), kAnswer);
    EXPECT_EQ(passed_size, golden()["ibv_gid_entry"]);
    EXPECT_EQ(ibv_query_gid_table(context.get(), &entry, 1, 0), kAnswer);
    EXPECT_EQ(passed_size, golden()["ibv_gid_entry"]);
    EXPECT_EQ(calls, (Calls{"_ibv_query_gid_ex", "_ibv_query_gid_table"}));
#ifndef STOCK_HEADERS
    ibv_comp_cntr_caps caps{};
    calls.clear();
    EXPECT_EQ(ibv_query_comp_cntr_caps(context.get(), &caps), kAnswer);
    EXPECT_EQ(passed_size, golden()["ibv_comp_cntr_caps"]);
    EXPECT_EQ(calls, Calls{"_ibv_query_comp_cntr_caps"});
#endif
}

// The newest function is called only where it is needed: a program without optional flags runs with the
// oldest library.
TEST(Dispatch, RegisteringMemory)
{
    Context context;
    Objects o(context);
    char byte = 0;
    const auto called = [](const ibv_mr *mr) {
        EXPECT_TRUE(is_answer(mr));
        return std::exchange(calls, {});
    };
    volatile int unknown = IBV_ACCESS_LOCAL_WRITE;

    calls.clear();
    EXPECT_EQ(called(ibv_reg_mr(o.pd.get(), &byte, 1, IBV_ACCESS_LOCAL_WRITE)), Calls{"ibv_reg_mr"});
    EXPECT_EQ(called(ibv_reg_mr(o.pd.get(), &byte, 1, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)),
              Calls{"ibv_reg_mr"});
    EXPECT_EQ(called(ibv_reg_mr(o.pd.get(), &byte, 1, IBV_ACCESS_RELAXED_ORDERING)),
              Calls{"ibv_reg_mr_iova2"});
    EXPECT_EQ(called(ibv_reg_mr(o.pd.get(), &byte, 1, unknown)), Calls{"ibv_reg_mr_iova2"});
    EXPECT_EQ(called(ibv_reg_mr_iova(o.pd.get(), &byte, 1, 0, IBV_ACCESS_LOCAL_WRITE)),
              Calls{"ibv_reg_mr_iova"});
    EXPECT_EQ(called(ibv_reg_mr_iova(o.pd.get(), &byte, 1, 0, IBV_ACCESS_RELAXED_ORDERING)),
              Calls{"ibv_reg_mr_iova2"});
    EXPECT_EQ(called(ibv_reg_mr_iova(o.pd.get(), &byte, 1, 0, unknown)), Calls{"ibv_reg_mr_iova2"});
}

TEST(Dispatch, ArithmeticAndConstants)
{
    EXPECT_EQ(ibv_inc_rkey(0x12345678), 0x12345679U);
    EXPECT_EQ(ibv_inc_rkey(0x123456ff), 0x12345600U);
    EXPECT_EQ(ibv_inc_rkey(0xffffffff), 0xffffff00U);
    EXPECT_EQ(ibv_flow_label_to_udp_sport(0), 0xc000);
    EXPECT_EQ(ibv_flow_label_to_udp_sport(0x3fff), 0xffff);
    EXPECT_EQ(ibv_flow_label_to_udp_sport(0xfffff), 0xffc0);
    EXPECT_EQ(ibv_flow_label_to_udp_sport(0x12345), 0xe341);
    EXPECT_EQ(ibv_is_qpt_supported(1U << IBV_QPT_UD, IBV_QPT_UD), 1);
    EXPECT_EQ(ibv_is_qpt_supported(1U << IBV_QPT_UD, IBV_QPT_RC), 0);
    EXPECT_EQ(reinterpret_cast<std::intptr_t>(IBV_ALLOCATOR_USE_DEFAULT), -1);
    EXPECT_TRUE(vext_field_avail(ibv_wc, slid, sizeof(ibv_wc)));
    EXPECT_FALSE(vext_field_avail(ibv_wc, slid, offsetof(ibv_wc, slid)));
}

}  // namespace

// The exported functions that inline verbs call.
#define ANSWERING(result, name, ...)     \
    extern "C" result(name)(__VA_ARGS__) \
    {                                    \
        return record<result>(#name);    \
    }

ANSWERING(int, ibv_query_device, ibv_context *, ibv_device_attr *)
ANSWERING(int, ibv_query_port, ibv_context *, std::uint8_t, _compat_ibv_port_attr *)
ANSWERING(ibv_qp *, ibv_create_qp, ibv_pd *, ibv_qp_init_attr *)
ANSWERING(ibv_srq *, ibv_create_srq, ibv_pd *, ibv_srq_init_attr *)
ANSWERING(ibv_mr *, ibv_reg_mr, ibv_pd *, void *, std::size_t, int)
ANSWERING(ibv_mr *, ibv_reg_mr_iova, ibv_pd *, void *, std::size_t, std::uint64_t, int)
ANSWERING(ibv_mr *, ibv_reg_mr_iova2, ibv_pd *, void *, std::size_t, std::uint64_t, unsigned int)

extern "C" int _ibv_query_gid_ex(ibv_context *, std::uint32_t, std::uint32_t, ibv_gid_entry *, std::uint32_t,
                                 std::size_t size)
{
    passed_size = size;
    return record<int>("_ibv_query_gid_ex");
}

extern "C" ssize_t _ibv_query_gid_table(ibv_context *, ibv_gid_entry *, std::size_t, std::uint32_t,
                                        std::size_t size)
{
    passed_size = size;
    return record<ssize_t>("_ibv_query_gid_table");
}

#ifndef STOCK_HEADERS
extern "C" int _ibv_query_comp_cntr_caps(ibv_context *, ibv_comp_cntr_caps *, std::size_t size)
{
    passed_size = size;
    return record<int>("_ibv_query_comp_cntr_caps");
}
#endif
