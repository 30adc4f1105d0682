/* How datatypes begin and end, and the functions that need only the table (5.1.5 to 5.1.9 of the standard). */
#include "typetable.h"

#include "attrs.h"
#include "calls.h"
#include "fail.h"

int make_type(struct maker *m, MPI_Datatype *newtype)
{
    int handle, place, class;
    struct entry *e;
    if (!newtype)
        return fail_if_running(MPI_ERR_ARG);
    if (!running())
        return fail(NULL, MPI_ERR_OTHER);
    if ((place = type_reserve()) == 0)
        return fail_if_running(MPI_ERR_NO_MEM);
    e = entry_reserved(place);
    handle = place;
    class = golciTypeMake(m, &handle, &e->type);
    if (class != MPI_SUCCESS || handle != place) { /* or there has been such a type before */
        type_release(place);
    } else {
        e->permanent = m->permanent;
        __atomic_store_n(&e->handle, (unsigned)handle, __ATOMIC_RELEASE);
    }
    if (class != MPI_SUCCESS)
        return fail_if_running(class);
    *newtype = (MPI_Datatype)(intptr_t)handle;
    return MPI_SUCCESS;
}

/* A type loses its attributes first. If a delete function fails it stays. */
ABI_BODY(int, Type_free, (MPI_Datatype *datatype))
{
    struct entry *e = datatype ? entry_of(*datatype) : NULL;
    int class;
    if (!e || e->permanent)
        return fail_if_running(datatype ? MPI_ERR_TYPE : MPI_ERR_ARG);
    class = golciAttrClear(attr_type, (uintptr_t)*datatype);
    if (class != MPI_SUCCESS)
        return fail_if_running(class);
    type_drop(datatype);
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_commit, (MPI_Datatype *datatype))
{
    const struct type *t = datatype ? type_of(*datatype) : NULL;
    struct entry *e;
    if (!t)
        return fail_if_running(datatype ? MPI_ERR_TYPE : MPI_ERR_ARG);
    if (t->open) {
        e = entry_of(*datatype);
        golciTypeCommit((int)e->handle);
        __atomic_store_n(&e->type.open, 0, __ATOMIC_RELEASE);
    }
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_size_c, (MPI_Datatype datatype, MPI_Count *size))
{
    const struct type *t = type_of(datatype);
    if (!t || !size)
        return fail_if_running(t ? MPI_ERR_ARG : MPI_ERR_TYPE);
    *size = t->size;
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_size_x, (MPI_Datatype datatype, MPI_Count *size))
{
    return PMPI_Type_size_c(datatype, size);
}

ABI_BODY(int, Type_size, (MPI_Datatype datatype, int *size))
{
    MPI_Count n;
    int code = PMPI_Type_size_c(datatype, size ? &n : NULL);
    if (code == MPI_SUCCESS)
        *size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
    return code;
}

ABI_BODY(int, Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
{
    const struct type *t = type_of(datatype);
    if (!t || !lb || !extent)
        return fail_if_running(t ? MPI_ERR_ARG : MPI_ERR_TYPE);
    *lb = t->lb;
    *extent = t->extent;
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
{
    return PMPI_Type_get_extent_c(datatype, lb, extent);
}

ABI_BODY(int, Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
{
    const struct type *t = type_of(datatype);
    if (!t || !true_lb || !true_extent)
        return fail_if_running(t ? MPI_ERR_ARG : MPI_ERR_TYPE);
    *true_lb = t->true_lb;
    *true_extent = t->true_extent;
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
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

ABI_BODY(int, Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent))
{
    MPI_Count from = 0, bytes = 0;
    int code = PMPI_Type_get_extent_c(datatype, lb ? &from : NULL, extent ? &bytes : NULL);
    return to_aints(code, from, bytes, lb, extent);
}

ABI_BODY(int, Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent))
{
    MPI_Count from = 0, bytes = 0;
    int code = PMPI_Type_get_true_extent_c(datatype, true_lb ? &from : NULL, true_extent ? &bytes : NULL);
    return to_aints(code, from, bytes, true_lb, true_extent);
}
