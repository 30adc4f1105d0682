/* What the ABI leaves open: sizes of integers, and the types of Fortran (20.2 of the standard). */
#include "info.h"
#include "types.h"

#include <stdio.h>
#include <string.h>

enum { longest = 24 }; /* value, with its zero byte */

/* A key for the size of a type that every Fortran has, or for whether there is a type. */
static const struct {
    const char *key;
    MPI_Datatype type;
    int sized;
} fortran[] = {
    {"mpi_logical_size", MPI_LOGICAL, 1},
    {"mpi_integer_size", MPI_INTEGER, 1},
    {"mpi_real_size", MPI_REAL, 1},
    {"mpi_double_precision_size", MPI_DOUBLE_PRECISION, 1},
    {"mpi_logical1_supported", MPI_LOGICAL1, 0},
    {"mpi_logical2_supported", MPI_LOGICAL2, 0},
    {"mpi_logical4_supported", MPI_LOGICAL4, 0},
    {"mpi_logical8_supported", MPI_LOGICAL8, 0},
    {"mpi_logical16_supported", MPI_LOGICAL16, 0},
    {"mpi_integer1_supported", MPI_INTEGER1, 0},
    {"mpi_integer2_supported", MPI_INTEGER2, 0},
    {"mpi_integer4_supported", MPI_INTEGER4, 0},
    {"mpi_integer8_supported", MPI_INTEGER8, 0},
    {"mpi_integer16_supported", MPI_INTEGER16, 0},
    {"mpi_real2_supported", MPI_REAL2, 0},
    {"mpi_real4_supported", MPI_REAL4, 0},
    {"mpi_real8_supported", MPI_REAL8, 0},
    {"mpi_real16_supported", MPI_REAL16, 0},
    {"mpi_complex4_supported", MPI_COMPLEX4, 0},
    {"mpi_complex8_supported", MPI_COMPLEX8, 0},
    {"mpi_complex16_supported", MPI_COMPLEX16, 0},
    {"mpi_complex32_supported", MPI_COMPLEX32, 0},
    {"mpi_double_complex_supported", MPI_DOUBLE_COMPLEX, 0},
};

enum { facts = sizeof(fortran) / sizeof(fortran[0]) };

static int set_size(uintptr_t info, const char *key, size_t size)
{
    char value[longest];
    snprintf(value, sizeof(value), "%zu", size);
    return golciInfoSet(info, (char *)key, value);
}

ABI_BODY(int, Abi_get_info, (MPI_Info *info))
{
    uintptr_t made;
    int class;
    if (!info)
        return info_done(MPI_ERR_ARG);
    if ((class = golciInfoCreate(&made)) == MPI_SUCCESS &&
        (class = set_size(made, "mpi_aint_size", sizeof(MPI_Aint))) == MPI_SUCCESS &&
        (class = set_size(made, "mpi_count_size", sizeof(MPI_Count))) == MPI_SUCCESS &&
        (class = set_size(made, "mpi_offset_size", sizeof(MPI_Offset))) == MPI_SUCCESS)
        *info = (MPI_Info)made;
    return info_done(class);
}

/* value gets what the library says to a key. */
static void fact(int i, char value[longest])
{
    const struct type *t = type_of(fortran[i].type);
    if (fortran[i].sized)
        snprintf(value, longest, "%d", t ? (int)t->size : 0);
    else
        strcpy(value, t ? "true" : "false");
}

ABI_BODY(int, Abi_get_fortran_info, (MPI_Info *info))
{
    char value[longest];
    uintptr_t made;
    int class, i;
    if (!info)
        return info_done(MPI_ERR_ARG);
    class = golciInfoCreate(&made);
    for (i = 0; class == MPI_SUCCESS && i < facts; i++) {
        fact(i, value);
        class = golciInfoSet(made, (char *)fortran[i].key, value);
    }
    if (class == MPI_SUCCESS)
        *info = (MPI_Info)made;
    return info_done(class);
}

/* The library's types have their sizes from the start, so a Fortran with others is refused. It may lack types. */
ABI_BODY(int, Abi_set_fortran_info, (MPI_Info info))
{
    char value[longest], theirs[longest];
    int class, i, need;
    for (i = 0; i < facts; i++) {
        need = 0;
        class = golciInfoGet((uintptr_t)info, (char *)fortran[i].key, sizeof(theirs), theirs, &need);
        if (class != MPI_SUCCESS)
            return info_done(class);
        fact(i, value);
        if (need != 0 && strcmp(theirs, value) != 0 && (fortran[i].sized || strcmp(theirs, "true") == 0))
            return info_done(MPI_ERR_ABI);
    }
    return info_done(MPI_SUCCESS);
}
