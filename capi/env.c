/* Versions, clocks and addresses (9.1, 9.6, 5.1.5 and 20.2 of the standard). */
#include "abi.h"

#include <time.h>

ABI(double, Wtime, (void))
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

ABI(double, Wtick, (void))
{
    struct timespec t;
    clock_getres(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Addresses are numbers that may wrap; those of C may not. */
ABI(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint disp))
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

ABI(MPI_Aint, Aint_diff, (MPI_Aint addr1, MPI_Aint addr2))
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
