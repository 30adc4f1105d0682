/* The rank in C; see ingo/main.go. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, n, one, ten, sum = 0, from = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    one = rank + 1, ten = 10 * rank;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&ten, 1, MPI_INT, (rank + 1) % n, 4, &from, 1, MPI_INT, (rank + n - 1) % n, 4, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE);
    printf("C: sum %d, from the rank before %d\n", sum, from);
    return MPI_Finalize();
}
