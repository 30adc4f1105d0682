/* Versions, clocks and addresses (9.1, 9.6, 5.1.5 and 20.2 of the standard). */
#include "abi.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

ABI(int, Get_version, (int *version, int *subversion))
{
    if (!version || !subversion)
        return MPI_ERR_ARG;
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

ABI(int, Abi_get_version, (int *abi_major, int *abi_minor))
{
    if (!abi_major || !abi_minor)
        return MPI_ERR_ARG;
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

ABI(int, Get_library_version, (char *version, int *resultlen))
{
    static const char text[] = "golci: MPI 5.0 with its standard ABI 1.0";
    _Static_assert(sizeof(text) <= MPI_MAX_LIBRARY_VERSION_STRING, "the text is too long");
    if (!version || !resultlen)
        return MPI_ERR_ARG;
    memcpy(version, text, sizeof(text));
    *resultlen = sizeof(text) - 1;
    return MPI_SUCCESS;
}

ABI(int, Get_processor_name, (char *name, int *resultlen))
{
    if (!name || !resultlen)
        return MPI_ERR_ARG;
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0)
        return MPI_ERR_OTHER;
    name[MPI_MAX_PROCESSOR_NAME - 1] = 0;
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

/* The level is for tools that put a function of their own in this place. */
ABI(int, Pcontrol, (int level, ...))
{
    return MPI_SUCCESS;
}

/* What a Fortran compiler uses for logical values. The size is in bytes, 0 as long as nobody has told it, -1 while
   somebody does. It publishes the values. */
static _Atomic int logical_bytes;
static char logical_values[2][16];

ABI(int, Abi_set_fortran_booleans, (int logical_size, void *logical_true, void *logical_false))
{
    enum { being_set = -1 };
    int unset = 0;
    switch (logical_size) {
    case 1: case 2: case 4: case 8: case 16:
        break;
    default:
        return MPI_ERR_ARG;
    }
    if (!logical_true || !logical_false)
        return MPI_ERR_ARG;
    if (!atomic_compare_exchange_strong(&logical_bytes, &unset, being_set))
        return MPI_ERR_ABI;
    memcpy(logical_values[0], logical_false, logical_size);
    memcpy(logical_values[1], logical_true, logical_size);
    atomic_store(&logical_bytes, logical_size);
    return MPI_SUCCESS;
}

ABI(int, Abi_get_fortran_booleans, (int logical_size, void *logical_true, void *logical_false, int *is_set))
{
    int bytes = atomic_load(&logical_bytes);
    if (!is_set)
        return MPI_ERR_ARG;
    *is_set = bytes > 0;
    if (!*is_set)
        return MPI_SUCCESS;
    if (logical_size != bytes)
        return MPI_ERR_ABI;
    if (!logical_true || !logical_false)
        return MPI_ERR_ARG;
    memcpy(logical_false, logical_values[0], bytes);
    memcpy(logical_true, logical_values[1], bytes);
    return MPI_SUCCESS;
}

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

ABI(int, Get_address, (const void *location, MPI_Aint *address))
{
    if (!address)
        return MPI_ERR_ARG;
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
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
