/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues that match messages with tags. */
#include <endian.h>
#include <errno.h>
#include <infiniband/tm_types.h>
#include <string.h>
#include <time.h>

#include "conformance.h"

enum {
    kHeader = sizeof(struct ibv_tmh),
    kRendezvousHeader = sizeof(struct ibv_tmh) + sizeof(struct ibv_rvh),
    kReceive = 4096, /* bytes of each receive */
    kTags = 4,
};

/* A queue with its CQ, and a connection whose side 1 takes from it. */
struct tags {
    struct ibv_cq_ex *cq;
    struct ibv_srq *srq;
    struct pair pair;
    unsigned posted; /* receives */
};

/* What a completion of the queue says. */
struct told {
    uint64_t wr_id;
    enum ibv_wc_status status;
    enum ibv_wc_opcode opcode;
    unsigned flags;
    uint32_t length, qp_num;
    struct ibv_wc_tm_info info;
};

static struct ibv_tm_caps caps(void)
{
    struct ibv_device_attr_ex attr = {0};
    return ibv_query_device_ex(env.context, NULL, &attr) != 0 ? (struct ibv_tm_caps){0} : attr.tm_caps;
}

static struct ibv_srq_init_attr_ex srq_attr(struct ibv_cq_ex *cq)
{
    return (struct ibv_srq_init_attr_ex){
        .srq_context = &env,
        .attr = {.max_wr = 16, .max_sge = 1},
        .comp_mask =
            IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
        .srq_type = IBV_SRQT_TM,
        .pd = env.pd,
        .cq = ibv_cq_ex_to_cq(cq),
        .tm_cap = {.max_num_tags = kTags, .max_ops = 8},
    };
}

/* The receives are in side 1's memory, the first at its beginning; buffers of tags are behind them. */
static char *receive_at(unsigned number)
{
    return at(1, number * (size_t)kReceive);
}

static char *buffer_at(unsigned number)
{
    return at(1, 8 * (size_t)kReceive + number * 256);
}

static bool post_receive(struct tags *tags)
{
    struct ibv_sge sge = sge_of(receive_at(tags->posted), kReceive);
    struct ibv_recv_wr wr = {.wr_id = 1000 + tags->posted, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
    ++tags->posted;
    return ibv_post_srq_recv(tags->srq, &wr, &bad) == 0;
}

static bool tags_open(struct tags *tags, unsigned receives)
{
    struct ibv_cq_init_attr_ex attr = {
        .cqe = 64, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_TM_INFO};
    *tags = (struct tags){0};
    tags->cq = ibv_create_cq_ex(env.context, &attr);
    if (tags->cq != NULL) {
        struct ibv_srq_init_attr_ex init = srq_attr(tags->cq);
        tags->srq = ibv_create_srq_ex(env.context, &init);
    }
    if (tags->srq == NULL) {
        test_fail(__FILE__, __LINE__, "ibv_create_srq_ex for tags: expected an object, saw errno %d (%s)",
                  errno, strerror(errno));
        return false;
    }
    if (!pair_open(&tags->pair, &(struct pair_options){.srq = tags->srq}))
        return false;
    while (tags->posted < receives)
        if (!post_receive(tags)) {
            test_fail(__FILE__, __LINE__, "ibv_post_srq_recv: expected 0, saw a refusal");
            return false;
        }
    return true;
}

#define TAGS(tags, receives)                                                          \
    do {                                                                              \
        if (caps().max_num_tags < kTags)                                              \
            SKIP("no tag matching: tm_caps.max_num_tags is %u", caps().max_num_tags); \
        if (!tags_open(tags, receives))                                               \
            return;                                                                   \
    } while (0)

static void tags_close(struct tags *tags)
{
    pair_close(&tags->pair);
    CHECK(ibv_destroy_cq(ibv_cq_ex_to_cq(tags->cq)) != 0); /* the SRQ uses it */
    CHECK_EQ(ibv_destroy_srq(tags->srq), 0);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(tags->cq)), 0);
}

static bool take(struct tags *tags, struct told *told)
{
    struct ibv_poll_cq_attr attr = {0};
    if (ibv_start_poll(tags->cq, &attr) != 0)
        return false;
    *told = (struct told){.wr_id = tags->cq->wr_id, .status = tags->cq->status};
    told->opcode = ibv_wc_read_opcode(tags->cq);
    told->flags = ibv_wc_read_wc_flags(tags->cq);
    if (told->opcode == IBV_WC_RECV || told->opcode == IBV_WC_TM_RECV || told->opcode == IBV_WC_TM_NO_TAG) {
        told->length = ibv_wc_read_byte_len(tags->cq);
        told->qp_num = ibv_wc_read_qp_num(tags->cq);
        ibv_wc_read_tm_info(tags->cq, &told->info);
    }
    ibv_end_poll(tags->cq);
    return true;
}

static bool wait_told(struct tags *tags, struct told *told)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        if (take(tags, told))
            return true;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 10);
    return false;
}

#define TOLD(tags, told) CHECK(wait_told(tags, told))

/* Sends a message with a header, and waits until it is sent. */
static enum ibv_wc_status send_tagged(struct tags *tags, uint8_t opcode, uint64_t tag, uint32_t app_ctx,
                                      uint32_t length, unsigned seed)
{
    struct ibv_tmh header = {.opcode = opcode, .app_ctx = htobe32(app_ctx), .tag = htobe64(tag)};
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    struct ibv_wc wc;
    memcpy(at(0, 0), &header, sizeof(header));
    fill(at(0, kHeader), length, seed);
    if (post_send(tags->pair.qp[0], &wr, at(0, 0), kHeader + length) != 0 || !wait_wc(tags->pair.cq[0], &wc))
        return IBV_WC_GENERAL_ERR;
    return wc.status;
}

static struct ibv_ops_wr add_op(uint64_t wr_id, uint64_t tag, uint64_t mask, struct ibv_sge *sge)
{
    struct ibv_ops_wr wr = {.wr_id = wr_id, .opcode = IBV_WR_TAG_ADD, .flags = IBV_OPS_SIGNALED};
    wr.tm.add.recv_wr_id = wr_id + 100;
    wr.tm.add.sg_list = sge;
    wr.tm.add.num_sge = sge == NULL ? 0 : 1;
    wr.tm.add.tag = tag;
    wr.tm.add.mask = mask;
    return wr;
}

/* Adds the buffer of that number, or says why not; recv_wr_id is 100 + number. */
static int add(struct tags *tags, unsigned number, uint64_t tag, uint64_t mask, uint32_t length,
               uint32_t *handle)
{
    struct ibv_sge sge = sge_of(buffer_at(number), length);
    struct ibv_ops_wr wr = add_op(number, tag, mask, &sge), *bad = NULL;
    struct told told;
    const int error = ibv_post_srq_ops(tags->srq, &wr, &bad);
    if (error != 0)
        return error;
    if (handle != NULL)
        *handle = wr.tm.handle;
    return wait_told(tags, &told) && told.wr_id == number && told.opcode == IBV_WC_TM_ADD &&
                   told.status == IBV_WC_SUCCESS
               ? 0
               : -1;
}

static const uint64_t kAll = ~UINT64_C(0);
static const uint64_t kTag = UINT64_C(0x0123456789abcdef);

static void matched(void)
{
    struct tags tags;
    struct told told;
    TAGS(&tags, 1);
    CHECK(tags.srq->srq_context == &env && tags.srq->pd == env.pd);
    for (unsigned length = 0; length <= 200; length += 50) {
        memset(buffer_at(0), 0, 256);
        CHECK_EQ(add(&tags, 0, kTag, kAll, 200, NULL), 0);
        CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag, 77 + length, length, length), IBV_WC_SUCCESS);
        TOLD(&tags, &told);
        CHECK_EQ(told.wr_id, 100);
        CHECK_EQ(told.status, IBV_WC_SUCCESS);
        CHECK_EQ(told.opcode, IBV_WC_TM_RECV);
        CHECK_EQ(told.flags, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
        CHECK_EQ(told.length, length);
        CHECK_EQ(told.qp_num, tags.pair.qp[1]->qp_num);
        CHECK_EQ(told.info.tag, kTag);
        CHECK_EQ(told.info.priv, 77 + length);
        CHECK(filled(buffer_at(0), length, length)); /* without the header */
        CHECK(all_bytes(buffer_at(0) + length, 256 - length, 0));
    }
    CHECK(!take(&tags, &told));
    CHECK(quiet(tags.pair.cq[1])); /* it is the SRQ's CQ that tells */
    tags_close(&tags);
}

/* The first that was added and matches is taken; bits outside the mask do not count. */
static void order(void)
{
    struct tags tags;
    struct told told;
    static const struct {
        uint64_t tag;
        unsigned taken;
    } sent[] = {{0x2200, 2}, {0x1134, 0}, {0x1134, 1}, {0x1135, 3}};
    TAGS(&tags, 1);
    CHECK_EQ(add(&tags, 0, 0x1134, kAll, 100, NULL), 0);
    CHECK_EQ(add(&tags, 1, 0x1100, 0xff00, 100, NULL), 0);
    CHECK_EQ(add(&tags, 2, 0x2200, 0xff00, 100, NULL), 0);
    CHECK_EQ(add(&tags, 3, 0, 0, 100, NULL), 0);
    for (unsigned i = 0; i < sizeof(sent) / sizeof(*sent); ++i) {
        CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, sent[i].tag, 0, 10, i), IBV_WC_SUCCESS);
        TOLD(&tags, &told);
        CHECK_EQ(told.opcode, IBV_WC_TM_RECV);
        CHECK_EQ(told.wr_id, 100 + sent[i].taken);
        CHECK_EQ(told.info.tag, sent[i].tag);
        CHECK(filled(buffer_at(sent[i].taken), 10, i));
    }
    tags_close(&tags);
}

/* What no tag takes comes as a whole. From then on new tags wait until the program has said that it has seen it. */
static void unexpected(void)
{
    struct tags tags;
    struct told told;
    TAGS(&tags, 4);
    CHECK_EQ(add(&tags, 0, 5, kAll, 100, NULL), 0);
    for (unsigned i = 0; i < 2; ++i) {
        CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag, 3, 20, i), IBV_WC_SUCCESS);
        TOLD(&tags, &told);
        CHECK_EQ(told.wr_id, 1000 + i);
        CHECK_EQ(told.status, IBV_WC_SUCCESS);
        CHECK_EQ(told.opcode, IBV_WC_RECV);
        CHECK_EQ(told.length, kHeader + 20);
        CHECK_EQ(told.flags & (IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID), 0);
        CHECK(memcmp(receive_at(i), at(0, 0), kHeader + 20) == 0);
    }
    struct ibv_sge sge = sge_of(buffer_at(1), 100);
    struct ibv_ops_wr wr = add_op(1, kTag, kAll, &sge), *bad = NULL;
    wr.flags |= IBV_OPS_TM_SYNC;
    wr.tm.unexpected_cnt = 1;
    CHECK_EQ(ibv_post_srq_ops(tags.srq, &wr, &bad), 0);
    TOLD(&tags, &told);
    CHECK_EQ(told.opcode, IBV_WC_TM_ADD);
    CHECK_EQ(told.flags, IBV_WC_TM_SYNC_REQ);
    CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag, 3, 20, 2), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.opcode, IBV_WC_RECV);
    CHECK_EQ(told.wr_id, 1002);
    /* Those that were there before go on. */
    CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, 5, 3, 20, 3), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 100);
    struct ibv_ops_wr sync = {
        .wr_id = 9, .opcode = IBV_WR_TAG_SYNC, .flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC};
    sync.tm.unexpected_cnt = 3;
    CHECK_EQ(ibv_post_srq_ops(tags.srq, &sync, &bad), 0);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 9);
    CHECK_EQ(told.opcode, IBV_WC_TM_SYNC);
    CHECK_EQ(told.status, IBV_WC_SUCCESS);
    CHECK_EQ(told.flags, 0);
    CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag, 3, 20, 4), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 101);
    CHECK_EQ(told.opcode, IBV_WC_TM_RECV);
    CHECK(filled(buffer_at(1), 20, 4));
    tags_close(&tags);
}

/* They are no unexpected messages: what is added afterwards takes part at once. */
static void no_tag(void)
{
    struct tags tags;
    struct told told;
    TAGS(&tags, 2);
    CHECK_EQ(add(&tags, 0, 0, 0, 100, NULL), 0);
    CHECK_EQ(send_tagged(&tags, IBV_TMH_NO_TAG, 0, 3, 20, 1), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 1000);
    CHECK_EQ(told.status, IBV_WC_SUCCESS);
    CHECK_EQ(told.opcode, IBV_WC_TM_NO_TAG);
    CHECK_EQ(told.length, kHeader + 20);
    CHECK(memcmp(receive_at(0), at(0, 0), kHeader + 20) == 0);
    CHECK_EQ(add(&tags, 1, kTag, kAll, 100, NULL), 0);
    for (unsigned i = 0; i < 2; ++i) {
        CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag, 3, 20, 1), IBV_WC_SUCCESS);
        TOLD(&tags, &told);
        CHECK_EQ(told.wr_id, 100 + i);
    }
    tags_close(&tags);
}

static int delete (struct tags *tags, uint32_t handle)
{
    struct ibv_ops_wr wr = {.wr_id = 7, .opcode = IBV_WR_TAG_DEL, .flags = IBV_OPS_SIGNALED}, *bad = NULL;
    struct told told;
    wr.tm.handle = handle;
    if (ibv_post_srq_ops(tags->srq, &wr, &bad) != 0 || !wait_told(tags, &told) || told.wr_id != 7 ||
        (told.status == IBV_WC_SUCCESS && told.opcode != IBV_WC_TM_DEL))
        return -1;
    return (int)told.status;
}

static void deleted(void)
{
    struct tags tags;
    struct told told;
    uint32_t handle[3];
    TAGS(&tags, 2);
    for (unsigned i = 0; i < 3; ++i)
        CHECK_EQ(add(&tags, i, kTag + i, kAll, 100, &handle[i]), 0);
    CHECK(handle[0] != handle[1] && handle[1] != handle[2] && handle[0] != handle[2]);
    CHECK_EQ(delete (&tags, handle[1]), IBV_WC_SUCCESS);
    CHECK_EQ(delete (&tags, handle[1]), IBV_WC_TM_ERR);
    CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag, 0, 10, 0), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 100);
    CHECK_EQ(delete (&tags, handle[0]), IBV_WC_TM_ERR); /* a message has it */
    CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag + 1, 0, 10, 0), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.opcode, IBV_WC_RECV);
    CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag + 2, 0, 10, 0), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 102);
    tags_close(&tags);
}

static void full(void)
{
    struct tags tags;
    struct told told;
    uint32_t handle = 0;
    TAGS(&tags, 1);
    for (unsigned i = 0; i < kTags; ++i)
        CHECK_EQ(add(&tags, i, kTag + i, kAll, 100, &handle), 0);
    struct ibv_ops_wr more = add_op(9, kTag, kAll, NULL), *bad = NULL;
    struct ibv_ops_wr wr = {.wr_id = 7, .next = &more, .opcode = IBV_WR_TAG_DEL, .flags = IBV_OPS_SIGNALED};
    CHECK_EQ(ibv_post_srq_ops(tags.srq, &more, &bad), ENOMEM);
    CHECK(bad == &more);
    wr.tm.handle = handle;
    CHECK_EQ(ibv_post_srq_ops(tags.srq, &wr, &bad), 0); /* its place is free again */
    TOLD(&tags, &told);
    CHECK_EQ(told.opcode, IBV_WC_TM_DEL);
    TOLD(&tags, &told);
    CHECK_EQ(told.opcode, IBV_WC_TM_ADD);
    tags_close(&tags);
}

/* A message of several packets may be told of twice: when it has its tag, and when the data is there. */
static void long_message(void)
{
    struct tags tags;
    struct told told;
    const uint32_t length = 20000;
    TAGS(&tags, 1);
    struct ibv_sge sge = sge_of(buffer_at(0), length);
    struct ibv_ops_wr wr = add_op(0, kTag, kAll, &sge), *bad = NULL;
    wr.flags = 0;
    CHECK_EQ(ibv_post_srq_ops(tags.srq, &wr, &bad), 0);
    CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag, 5, length, 6), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.opcode, IBV_WC_TM_RECV);
    CHECK_EQ(told.wr_id, 100);
    CHECK((told.flags & IBV_WC_TM_MATCH) != 0);
    CHECK_EQ(told.info.priv, 5);
    if ((told.flags & IBV_WC_TM_DATA_VALID) == 0) {
        TOLD(&tags, &told);
        CHECK_EQ(told.opcode, IBV_WC_TM_RECV);
        CHECK_EQ(told.wr_id, 100);
        CHECK_EQ(told.flags, IBV_WC_TM_DATA_VALID);
    }
    CHECK_EQ(told.status, IBV_WC_SUCCESS);
    CHECK_EQ(told.length, length);
    CHECK(filled(buffer_at(0), length, 6));
    tags_close(&tags);
}

static void too_long(void)
{
    struct tags tags;
    struct told told;
    TAGS(&tags, 1);
    CHECK_EQ(add(&tags, 0, kTag, kAll, 10, NULL), 0);
    CHECK_EQ(send_tagged(&tags, IBV_TMH_EAGER, kTag, 5, 11, 6), IBV_WC_REM_INV_REQ_ERR);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 100);
    CHECK_EQ(told.status, IBV_WC_LOC_LEN_ERR);
    CHECK(all_bytes(buffer_at(0), 64, 0));
    tags_close(&tags);
}

/* Sends a request for `length` bytes at the end of side 0's memory, whose end is told with a message. */
static enum ibv_wc_status send_rendezvous(struct tags *tags, uint32_t length, uint32_t rkey)
{
    const struct ibv_tmh header = {.opcode = IBV_TMH_RNDV, .app_ctx = htobe32(8), .tag = htobe64(kTag)};
    const struct ibv_rvh data = {
        .va = htobe64(address(at(0, 30000))), .rkey = htobe32(rkey), .len = htobe32(length)};
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    struct ibv_wc wc;
    memcpy(at(0, 0), &header, sizeof(header));
    memcpy(at(0, kHeader), &data, sizeof(data));
    fill(at(0, 30000), length, length);
    if (post_recv(tags->pair.qp[0], 50, at(0, 1000), 100) != 0 ||
        post_send(tags->pair.qp[0], &wr, at(0, 0), kRendezvousHeader + 10) != 0 ||
        !wait_wc(tags->pair.cq[0], &wc))
        return IBV_WC_GENERAL_ERR;
    return wc.status;
}

#define RENDEZVOUS(tags, receives)                                                            \
    do {                                                                                      \
        if (caps().max_rndv_hdr_size < kRendezvousHeader + 10)                                \
            SKIP("no rendezvous: tm_caps.max_rndv_hdr_size is %u", caps().max_rndv_hdr_size); \
        TAGS(tags, receives);                                                                 \
    } while (0)

/* The device fetches the data, and tells the other side when it has them. */
static void rendezvous(void)
{
    struct tags tags;
    struct told told;
    struct ibv_wc wc;
    static const uint32_t lengths[] = {0, 1, 200, 20000};
    RENDEZVOUS(&tags, 1);
    for (unsigned i = 0; i < 12; ++i) {
        const uint32_t length = lengths[i % 4];
        memset(buffer_at(0), 0, 20000);
        CHECK_EQ(add(&tags, 0, kTag, kAll, 20000, NULL), 0);
        CHECK_EQ(send_rendezvous(&tags, length, env.mr->rkey), IBV_WC_SUCCESS);
        TOLD(&tags, &told);
        CHECK_EQ(told.wr_id, 100);
        CHECK_EQ(told.status, IBV_WC_SUCCESS);
        CHECK_EQ(told.opcode, IBV_WC_TM_RECV);
        CHECK_EQ(told.flags, IBV_WC_TM_MATCH);
        CHECK_EQ(told.info.tag, kTag);
        CHECK_EQ(told.info.priv, 8);
        TOLD(&tags, &told);
        CHECK_EQ(told.wr_id, 100);
        CHECK_EQ(told.status, IBV_WC_SUCCESS);
        CHECK_EQ(told.opcode, IBV_WC_TM_RECV);
        CHECK_EQ(told.flags, IBV_WC_TM_DATA_VALID);
        CHECK_EQ(told.length, length);
        CHECK(filled(buffer_at(0), length, length));
        CHECK(all_bytes(buffer_at(0) + length, 20000 - length, 0));
        WAIT_OK(tags.pair.cq[0], &wc);
        CHECK_EQ(wc.wr_id, 50);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        CHECK_EQ(wc.byte_len, kRendezvousHeader);
        CHECK_EQ(*at(0, 1000), IBV_TMH_FIN);
        CHECK(memcmp(at(0, 1001), at(0, 1), kRendezvousHeader - 1) == 0);
    }
    CHECK(quiet(tags.pair.cq[1])); /* what was posted for it completes nowhere */
    tags_close(&tags);
}

/* Where the tag's buffer is too small it gets the headers, and the rest is the program's. */
static void rendezvous_incomplete(void)
{
    struct tags tags;
    struct told told;
    RENDEZVOUS(&tags, 1);
    CHECK_EQ(add(&tags, 0, kTag, kAll, 100, NULL), 0);
    CHECK_EQ(send_rendezvous(&tags, 101, env.mr->rkey), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 100);
    CHECK_EQ(told.status, IBV_WC_TM_RNDV_INCOMPLETE);
    CHECK(memcmp(buffer_at(0), at(0, 0), kRendezvousHeader) == 0);
    CHECK(quiet(tags.pair.cq[0]));
    tags_close(&tags);
}

static void rendezvous_unexpected(void)
{
    struct tags tags;
    struct told told;
    RENDEZVOUS(&tags, 1);
    CHECK_EQ(send_rendezvous(&tags, 100, env.mr->rkey), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.status, IBV_WC_SUCCESS);
    CHECK_EQ(told.opcode, IBV_WC_RECV);
    CHECK_EQ(told.length, kRendezvousHeader + 10);
    CHECK(memcmp(receive_at(0), at(0, 0), kRendezvousHeader + 10) == 0);
    tags_close(&tags);
}

static void rendezvous_denied(void)
{
    struct tags tags;
    struct told told;
    RENDEZVOUS(&tags, 1);
    CHECK_EQ(add(&tags, 0, kTag, kAll, 100, NULL), 0);
    CHECK_EQ(send_rendezvous(&tags, 100, env.mr->rkey ^ 0x5500), IBV_WC_SUCCESS);
    TOLD(&tags, &told);
    CHECK_EQ(told.status, IBV_WC_SUCCESS);
    CHECK_EQ(told.flags, IBV_WC_TM_MATCH);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 100);
    CHECK_EQ(told.status, IBV_WC_REM_ACCESS_ERR);
    CHECK(all_bytes(buffer_at(0), 100, 0));
    tags_close(&tags);
}

/* What is too short for a header, or of an unknown kind, is for the program to look at. */
static void malformed(void)
{
    struct tags tags;
    struct told told;
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
    struct ibv_wc wc;
    TAGS(&tags, 4);
    CHECK_EQ(add(&tags, 0, 0, 0, 100, NULL), 0);
    for (unsigned i = 0; i < 4; ++i) {
        static const uint32_t lengths[] = {0, 1, kHeader - 1, kHeader};
        memset(at(0, 0), i == 3 ? 99 : IBV_TMH_EAGER, kHeader);
        CHECK_EQ(post_send(tags.pair.qp[0], &wr, at(0, 0), lengths[i]), 0);
        WAIT_OK(tags.pair.cq[0], &wc);
        TOLD(&tags, &told);
        CHECK_EQ(told.wr_id, 1000 + i);
        CHECK_EQ(told.status, IBV_WC_SUCCESS);
        CHECK(told.opcode == IBV_WC_TM_NO_TAG || told.opcode == IBV_WC_RECV);
        CHECK_EQ(told.length, lengths[i]);
        CHECK(memcmp(receive_at(i), at(0, 0), lengths[i]) == 0);
    }
    tags_close(&tags);
}

/* With immediate data, a write takes a receive and no tag. */
static void write_imm(void)
{
    struct tags tags;
    struct told told;
    struct ibv_wc wc;
    TAGS(&tags, 1);
    CHECK_EQ(add(&tags, 0, 0, 0, 100, NULL), 0);
    struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, at(1, 60000), env.mr->rkey);
    memset(at(0, 0), IBV_TMH_EAGER, 64);
    CHECK_EQ(post_send(tags.pair.qp[0], &wr, at(0, 0), 64), 0);
    WAIT_OK(tags.pair.cq[0], &wc);
    TOLD(&tags, &told);
    CHECK_EQ(told.wr_id, 1000);
    CHECK_EQ(told.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK(all_bytes(at(1, 60000), 64, IBV_TMH_EAGER));
    tags_close(&tags);
}

static void refused(void)
{
    const struct ibv_tm_caps offered = caps();
    struct ibv_cq_init_attr_ex cq_attr = {.cqe = 8, .wc_flags = IBV_WC_STANDARD_FLAGS};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(env.context, &cq_attr);
    if (offered.max_num_tags < kTags)
        SKIP("no tag matching: tm_caps.max_num_tags is %u", offered.max_num_tags);
    CHECK_OFFERED(cq, ibv_create_cq_ex);
    CHECK(offered.max_ops > 0 && offered.max_sge > 0 && (offered.flags & IBV_TM_CAP_RC) != 0);
    for (unsigned i = 0; i < 4; ++i) {
        struct ibv_srq_init_attr_ex attr = srq_attr(cq);
        if (i == 0)
            attr.comp_mask &= ~(uint32_t)IBV_SRQ_INIT_ATTR_CQ;
        if (i == 1)
            attr.comp_mask &= ~(uint32_t)IBV_SRQ_INIT_ATTR_TM;
        if (i == 2)
            attr.tm_cap.max_num_tags = offered.max_num_tags + 1;
        if (i == 3)
            attr.tm_cap.max_ops = offered.max_ops + 1;
        errno = 0;
        CHECK(ibv_create_srq_ex(env.context, &attr) == NULL);
        CHECK_EQ(errno, EINVAL);
    }
    struct ibv_srq_init_attr_ex attr = srq_attr(cq);
    struct ibv_srq *srq = ibv_create_srq_ex(env.context, &attr);
    CHECK_OFFERED(srq, ibv_create_srq_ex);
    struct ibv_qp_init_attr qp_attr = {.send_cq = ibv_cq_ex_to_cq(cq),
                                       .recv_cq = ibv_cq_ex_to_cq(cq),
                                       .srq = srq,
                                       .cap = {.max_send_wr = 1, .max_send_sge = 1},
                                       .qp_type = IBV_QPT_UC};
    CHECK(ibv_create_qp(env.pd, &qp_attr) == NULL); /* for RC alone */
    struct ibv_ops_wr wr = add_op(0, 0, 0, NULL), *bad = NULL;
    wr.opcode = (enum ibv_ops_wr_opcode)3;
    CHECK_EQ(ibv_post_srq_ops(srq, &wr, &bad), EINVAL);
    CHECK(bad == &wr);
    wr.opcode = IBV_WR_TAG_ADD;
    wr.tm.add.num_sge = (int)offered.max_sge + 1;
    bad = NULL;
    CHECK_EQ(ibv_post_srq_ops(srq, &wr, &bad), EINVAL);
    CHECK(bad == &wr);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

const struct test tag_tests[] = {
    {"matched", matched, false},
    {"order", order, false},
    {"unexpected", unexpected, false},
    {"no_tag", no_tag, false},
    {"deleted", deleted, false},
    {"full", full, false},
    {"long", long_message, false},
    {"too_long", too_long, false},
    {"rendezvous", rendezvous, false},
    {"rendezvous_incomplete", rendezvous_incomplete, false},
    {"rendezvous_unexpected", rendezvous_unexpected, false},
    {"rendezvous_denied", rendezvous_denied, false},
    {"malformed", malformed, false},
    {"write_imm", write_imm, false},
    {"refused", refused, false},
    {NULL, NULL, false},
};
