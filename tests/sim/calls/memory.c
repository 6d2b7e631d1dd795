/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains, memory regions, device memory and memory windows. */
#include <fcntl.h>
#include <unistd.h>

#include "calls.h"

void calls_pd(void)
{
    struct ibv_pd *other;
    call("alloc_pd second");
    OBJECT(other, ibv_alloc_pd(context));
    struct ibv_mr *mr;
    call("reg_mr in the second PD");
    OBJECT_OF(other, mr, ibv_reg_mr(other, page, sizeof page, IBV_ACCESS_LOCAL_WRITE));
    call("dealloc_pd in use");
    DESTROY_IN_USE(mr, other, ibv_dealloc_pd(other));
    call("dereg_mr in the second PD");
    DESTROY(mr, ibv_dereg_mr(mr));
    call("dealloc_pd second");
    DESTROY(other, ibv_dealloc_pd(other));
    struct ibv_td_init_attr td_attr = {.comp_mask = 0};
    struct ibv_td *td;
    call("alloc_td");
    OBJECT(td, ibv_alloc_td(context, &td_attr));
    struct ibv_parent_domain_init_attr parent = {.pd = pd};
    call("alloc_parent_domain");
    OBJECT(other, ibv_alloc_parent_domain(context, &parent));
    call("dealloc_pd of a parent domain");
    DESTROY(other, ibv_dealloc_pd(other));
    call("dealloc_td");
    DESTROY(td, ibv_dealloc_td(td));
}

static void mr_fields(const struct ibv_mr *mr)
{
    if (mr == NULL)
        return;
    field("addr is the page's", mr->addr == page);
    field("length", mr->length);
    field("context and pd", mr->context == context && mr->pd == pd);
}

static void rereg_calls(void)
{
    struct ibv_mr *mr;
    call("reg_mr to change");
    OBJECT(mr, ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE));
    if (mr == NULL)
        return;
    struct ibv_pd *other = ibv_alloc_pd(context);
    call("rereg_mr translation");
    ANSWER(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, page + 4096, 4096, 0));
    field("length", mr->length);
    call("rereg_mr access");
    ANSWER(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
    call("rereg_mr pd");
    ANSWER(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0));
    field("pd", mr->pd == other);
    call("rereg_mr all");
    ANSWER(ibv_rereg_mr(mr, 7, pd, page, sizeof page, IBV_ACCESS_LOCAL_WRITE));
    call("rereg_mr nothing");
    ANSWER(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0));
    call("rereg_mr unknown flag");
    ANSWER(ibv_rereg_mr(mr, 8, NULL, NULL, 0, 0));
    call("rereg_mr translation of no bytes");
    ANSWER(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, page, 0, 0));
    call("dereg_mr changed");
    DESTROY(mr, ibv_dereg_mr(mr));
    CLEAN(other, ibv_dealloc_pd(other));
}

void calls_mr(void)
{
    static const int accesses[] = {
        0,
        IBV_ACCESS_LOCAL_WRITE,
        IBV_ACCESS_REMOTE_READ,
        IBV_ACCESS_REMOTE_WRITE,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND,
        IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING,
        1 << 15,
    };
    struct ibv_mr *mr;
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        call("reg_mr access %#x", (unsigned)accesses[i]);
        OBJECT(mr, ibv_reg_mr(pd, page, 4096, accesses[i]));
        mr_fields(mr);
        call("dereg_mr access %#x", (unsigned)accesses[i]);
        DESTROY(mr, ibv_dereg_mr(mr));
    }
    call("reg_mr of no bytes");
    OBJECT(mr, ibv_reg_mr(pd, page, 0, IBV_ACCESS_LOCAL_WRITE));
    CLEAN(mr, ibv_dereg_mr(mr));
    call("reg_mr that wraps");
    OBJECT(mr, ibv_reg_mr(pd, page, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE));
    CLEAN(mr, ibv_dereg_mr(mr));
    call("reg_mr implicit");
    OBJECT(mr, ibv_reg_mr(pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND));
    CLEAN(mr, ibv_dereg_mr(mr));
    call("reg_mr_iova");
    OBJECT(mr, ibv_reg_mr_iova(pd, page, 4096, 0x10000000, IBV_ACCESS_LOCAL_WRITE));
    mr_fields(mr);
    call("dereg_mr iova");
    DESTROY(mr, ibv_dereg_mr(mr));
    call("reg_mr_iova optional access");
    OBJECT(mr,
           ibv_reg_mr_iova(pd, page, 4096, 0x10000000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING));
    call("dereg_mr iova optional");
    DESTROY(mr, ibv_dereg_mr(mr));
    rereg_calls();

    call("alloc_null_mr");
    OBJECT(mr, ibv_alloc_null_mr(pd));
    if (mr != NULL) {
        field("addr", (uintptr_t)mr->addr);
        field("rkey", mr->rkey);
    }
    call("rereg_mr of null memory");
    IF(mr, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE));
    call("dereg_mr of null memory");
    DESTROY(mr, ibv_dereg_mr(mr));

    int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    call("reg_dmabuf_mr");
    OBJECT(mr, ibv_reg_dmabuf_mr(pd, 4096, 8192, 0x20000000, file,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
    if (mr != NULL) {
        field("addr", (uintptr_t)mr->addr);
        field("length", mr->length);
    }
    call("dereg_mr of a dma-buf");
    DESTROY(mr, ibv_dereg_mr(mr));
    call("reg_dmabuf_mr of no file");
    OBJECT(mr, ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE));
    CLEAN(mr, ibv_dereg_mr(mr));
    call("reg_dmabuf_mr on demand");
    OBJECT(mr, ibv_reg_dmabuf_mr(pd, 0, 4096, 0, file, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
    CLEAN(mr, ibv_dereg_mr(mr));
    close(file);

    mr = ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE);
    if (mr == NULL)
        return;
    struct ibv_sge sge[2] = {{.addr = 4096, .length = 64, .lkey = mr->lkey},
                             {.addr = 8192, .length = 1, .lkey = 7}};
    for (unsigned advice = 0; advice <= 3; advice++) {
        call("advise_mr advice %u", advice);
        ANSWER(ibv_advise_mr(pd, (enum ibv_advise_mr_advice)advice, 0, sge, 1));
    }
    call("advise_mr flush");
    ANSWER(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IB_UVERBS_ADVISE_MR_FLAG_FLUSH, sge, 2));
    call("advise_mr of none");
    ANSWER(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, sge, 0));
    CLEAN(mr, ibv_dereg_mr(mr));
}

void calls_dm(void)
{
    static const struct ibv_alloc_dm_attr attrs[] = {{.length = 4096},
                                                     {.length = 4096, .log_align_req = 6},
                                                     {.length = 0},
                                                     {.length = 64, .comp_mask = 1}};
    struct ibv_dm *dm = NULL;
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
        struct ibv_alloc_dm_attr attr = attrs[i];
        call("alloc_dm %zu align %u mask %u", attr.length, attr.log_align_req, attr.comp_mask);
        OBJECT(dm, ibv_alloc_dm(context, &attr));
        call("free_dm %zu align %u mask %u", attr.length, attr.log_align_req, attr.comp_mask);
        DESTROY(dm, ibv_free_dm(dm));
    }
    struct ibv_alloc_dm_attr attr = {.length = 4096};
    dm = ibv_alloc_dm(context, &attr);
    if (dm == NULL)
        return;
    struct ibv_mr *mr;
    call("reg_dm_mr");
    OBJECT_OF(dm, mr, ibv_reg_dm_mr(pd, dm, 64, 128, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED));
    call("free_dm in use");
    DESTROY_IN_USE(mr, dm, ibv_free_dm(dm));
    call("dereg_mr of device memory");
    DESTROY(mr, ibv_dereg_mr(mr));
    call("reg_dm_mr optional access");
    OBJECT_OF(dm, mr,
              ibv_reg_dm_mr(pd, dm, 0, 4096,
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_RELAXED_ORDERING));
    CLEAN(mr, ibv_dereg_mr(mr));
    call("reg_dm_mr without zero based");
    OBJECT_OF(dm, mr, ibv_reg_dm_mr(pd, dm, 0, 4096, IBV_ACCESS_LOCAL_WRITE));
    CLEAN(mr, ibv_dereg_mr(mr));
    call("free_dm");
    DESTROY(dm, ibv_free_dm(dm));
}

void calls_mw(void)
{
    struct ibv_mw *mw;
    for (int type = 0; type <= 3; type++) {
        call("alloc_mw type %d", type);
        OBJECT(mw, ibv_alloc_mw(pd, (enum ibv_mw_type)type));
        if (mw != NULL)
            field("type", mw->type);
        call("dealloc_mw type %d", type);
        DESTROY(mw, ibv_dealloc_mw(mw));
    }
}
