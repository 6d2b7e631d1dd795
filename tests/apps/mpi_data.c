/* SPDX-License-Identifier: BSD-2-Clause */
/* Open MPI's collective and paired operations of many sizes, all bytes checked by all processes. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static long wrong;

/* A byte that tells who sent it to whom, and where it lies. */
static uint8_t byte_of(int from, int to, size_t place)
{
    return (uint8_t)((unsigned)from * 83 + (unsigned)to * 29 + place * 7 + (place >> 8) * 3 + (place >> 16));
}

static void fill(uint8_t *memory, size_t size, int from, int to)
{
    for (size_t i = 0; i < size; ++i)
        memory[i] = byte_of(from, to, i);
}

static const char *what;

static void check(const uint8_t *memory, size_t size, int from, int to)
{
    size_t first = size, last = 0;
    for (size_t i = 0; i < size; ++i)
        if (memory[i] != byte_of(from, to, i)) {
            first = first < i ? first : i;
            last = i;
            ++wrong;
        }
    if (first < size)
        fprintf(stderr,
                "%s of %zu bytes from %d to %d, in %d: bytes %zu to %zu are wrong, the first is %u, not %u\n",
                what, size, from, to, rank, first, last, memory[first], byte_of(from, to, first));
}

static void run(size_t size, uint8_t *mine, uint8_t *all)
{
    const int count = (int)size, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;

    what = "MPI_Sendrecv";
    memset(all, 0, size);
    fill(mine, size, rank, next);
    MPI_Sendrecv(mine, count, MPI_BYTE, next, 1, all, count, MPI_BYTE, previous, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(all, size, previous, rank);

    what = "MPI_Allgather";
    memset(all, 0, size * (size_t)ranks);
    fill(mine, size, rank, 0);
    MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < ranks; ++from)
        check(all + size * (size_t)from, size, from, 0);

    what = "MPI_Alltoall";
    for (int to = 0; to < ranks; ++to)
        fill(mine + size * (size_t)to, size, rank, to);
    memset(all, 0, size * (size_t)ranks);
    MPI_Alltoall(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < ranks; ++from)
        check(all + size * (size_t)from, size, from, rank);

    for (size_t i = 0; i < size; ++i)
        mine[i] = (uint8_t)(1 << (rank % 8));
    MPI_Allreduce(mine, all, count, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    for (size_t i = 0; i < size; ++i)
        wrong += all[i] != (ranks >= 8 ? 0xff : (1 << ranks) - 1);

    what = "MPI_Bcast";
    fill(mine, size, rank == 0 ? 0 : 1, 0);
    MPI_Bcast(mine, count, MPI_BYTE, 0, MPI_COMM_WORLD);
    check(mine, size, 0, 0);
}

/* One process puts into, and gets from, the memory of its neighbours. */
static void run_one_sided(size_t size, uint8_t *mine, uint8_t *all)
{
    const int count = (int)size, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    MPI_Win window;
    memset(all, 0, 2 * size);
    fill(all + size, size, rank, 5);
    MPI_Win_create(all, (MPI_Aint)(2 * size), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    fill(mine, size, rank, next);
    MPI_Win_fence(0, window);
    MPI_Put(mine, count, MPI_BYTE, next, 0, count, MPI_BYTE, window);
    MPI_Get(mine + size, count, MPI_BYTE, previous, (MPI_Aint)size, count, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    what = "MPI_Put";
    check(all, size, previous, rank);
    what = "MPI_Get";
    check(mine + size, size, previous, 5);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t largest = 1 << 20;
    uint8_t *mine = malloc(largest * (size_t)ranks), *all = malloc(largest * (size_t)ranks);
    if (mine == NULL || all == NULL || ranks < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t size = 1; size <= largest; size *= 4) {
        run(size, mine, all);
        run(size < largest ? size + 1 : size - 1, mine, all);
        run_one_sided(size, mine, all);
    }
    long all_wrong = -1;
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d processes, %ld bytes wrong\n", ranks, all_wrong);
    free(mine);
    free(all);
    MPI_Finalize();
    return all_wrong != 0;
}
