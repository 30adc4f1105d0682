/* Every rank tells which program of the job it is. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, found, *app;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &found);
    printf("rank %d: program %d\n", rank, found ? *app : -1);
    MPI_Finalize();
    return 0;
}
