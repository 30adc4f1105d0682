/* Sizes and extents of datatypes (5.1.5 and 5.1.6 of the standard). */
#include "types.h"

#include <stddef.h>

#include "types_gen.h"

const struct type *type_of(MPI_Datatype datatype)
{
    enum { known = sizeof(predefined) / sizeof(predefined[0]) };
    uintptr_t i = (uintptr_t)datatype - first_datatype; /* great where the handle is less */
    return i < known && predefined[i].size != 0 ? &predefined[i] : NULL;
}

ABI(int, Type_size_c, (MPI_Datatype datatype, MPI_Count *size))
{
    const struct type *t = type_of(datatype);
    if (!t)
        return MPI_ERR_TYPE;
    if (!size)
        return MPI_ERR_ARG;
    *size = t->size;
    return MPI_SUCCESS;
}

ABI(int, Type_size_x, (MPI_Datatype datatype, MPI_Count *size))
{
    return PMPI_Type_size_c(datatype, size);
}

ABI(int, Type_size, (MPI_Datatype datatype, int *size))
{
    MPI_Count n;
    int code = PMPI_Type_size_c(datatype, size ? &n : NULL);
    if (code == MPI_SUCCESS)
        *size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
    return code;
}

ABI(int, Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
{
    const struct type *t = type_of(datatype);
    if (!t)
        return MPI_ERR_TYPE;
    if (!lb || !extent)
        return MPI_ERR_ARG;
    *lb = 0;
    *extent = t->extent;
    return MPI_SUCCESS;
}

ABI(int, Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
{
    return PMPI_Type_get_extent_c(datatype, lb, extent);
}

ABI(int, Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
{
    const struct type *t = type_of(datatype);
    if (!t)
        return MPI_ERR_TYPE;
    if (!true_lb || !true_extent)
        return MPI_ERR_ARG;
    *true_lb = 0;
    *true_extent = t->true_extent;
    return MPI_SUCCESS;
}

ABI(int, Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
{
    return PMPI_Type_get_true_extent_c(datatype, true_lb, true_extent);
}

/* to_aints stores bounds as addresses, which are no wider than counts. */
static int to_aints(int code, MPI_Count lb, MPI_Count extent, MPI_Aint *to_lb, MPI_Aint *to_extent)
{
    if (code != MPI_SUCCESS)
        return code;
    *to_lb = lb < INTPTR_MIN || lb > INTPTR_MAX ? MPI_UNDEFINED : (MPI_Aint)lb;
    *to_extent = extent < INTPTR_MIN || extent > INTPTR_MAX ? MPI_UNDEFINED : (MPI_Aint)extent;
    return code;
}

ABI(int, Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent))
{
    MPI_Count from = 0, bytes = 0;
    int code = PMPI_Type_get_extent_c(datatype, lb ? &from : NULL, extent ? &bytes : NULL);
    return to_aints(code, from, bytes, lb, extent);
}

ABI(int, Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent))
{
    MPI_Count from = 0, bytes = 0;
    int code = PMPI_Type_get_true_extent_c(datatype, true_lb ? &from : NULL, true_extent ? &bytes : NULL);
    return to_aints(code, from, bytes, true_lb, true_extent);
}
