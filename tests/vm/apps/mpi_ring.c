/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends messages of growing sizes round a ring of processes, each of which checks and changes them; adds up all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long wrong = 0;
    for (int count = 1; count <= 100000; count *= 10) {
        int *data = malloc((size_t)count * sizeof(int));
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < count; ++i)
                data[i] = i + round;
            if (rank == 0)
                MPI_Send(data, count, MPI_INT, 1 % size, round, MPI_COMM_WORLD);
            MPI_Recv(data, count, MPI_INT, (rank + size - 1) % size, round, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            const int passed = rank == 0 ? size - 1 : rank - 1; /* processes that added one */
            for (int i = 0; i < count; ++i) {
                wrong += data[i] != i + round + passed;
                ++data[i];
            }
            if (rank != 0)
                MPI_Send(data, count, MPI_INT, (rank + 1) % size, round, MPI_COMM_WORLD);
        }
        free(data);
    }
    long all_wrong = -1, ranks = rank, sum = 0;
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&ranks, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d processes, %ld wrong, ranks add up to %ld\n", size, all_wrong, sum);
    MPI_Finalize();
    return all_wrong != 0;
}
