/* Packing (5.2 and 5.3 of the standard). */
#include "makers.h"
#include "pt2pt.h"

#include <string.h>

/* packing checks the arguments of functions that pack or unpack. */
static int packing(const void *mem, MPI_Count count, MPI_Datatype datatype, const void *packed, MPI_Count size,
    const MPI_Count *position)
{
    int class = buffer(mem, count, datatype);
    if (class != MPI_SUCCESS)
        return class;
    if (!position || size < 0 || *position < 0 || *position > size)
        return MPI_ERR_ARG;
    return packed || size == *position ? MPI_SUCCESS : MPI_ERR_BUFFER;
}

ABI_BODY(int, Pack_c, (const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
    MPI_Count *position, MPI_Comm comm))
{
    START(comm);
    class = packing(inbuf, incount, datatype, outbuf, outsize, position);
    if (class == MPI_SUCCESS)
        class = golciPack((void *)inbuf, incount, NUMBER(datatype), outbuf, outsize, position, way_pack);
    DONE;
}

ABI_BODY(int, Unpack_c, (const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
    MPI_Datatype datatype, MPI_Comm comm))
{
    START(comm);
    class = packing(outbuf, outcount, datatype, inbuf, insize, position);
    if (class == MPI_SUCCESS)
        class = golciPack(outbuf, outcount, NUMBER(datatype), (void *)inbuf, insize, position, way_unpack);
    DONE;
}

/* narrow gives an int its value. */
static int narrow(int class, const MPI_Count *from, int *to)
{
    if (class == MPI_SUCCESS)
        *to = *from > INT32_MAX ? MPI_UNDEFINED : (int)*from;
    return class;
}

ABI_BODY(int, Pack, (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position,
    MPI_Comm comm))
{
    MPI_Count at = position ? *position : 0;
    return narrow(PMPI_Pack_c(inbuf, incount, datatype, outbuf, outsize, position ? &at : NULL, comm), &at, position);
}

ABI_BODY(int, Unpack, (const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype,
    MPI_Comm comm))
{
    MPI_Count at = position ? *position : 0;
    return narrow(PMPI_Unpack_c(inbuf, insize, position ? &at : NULL, outbuf, outcount, datatype, comm), &at,
        position);
}

ABI_BODY(int, Pack_size_c, (MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size))
{
    const struct type *t = in_message(datatype);
    START(comm);
    class = MPI_SUCCESS;
    if (incount < 0)
        class = MPI_ERR_COUNT;
    else if (!t)
        class = MPI_ERR_TYPE;
    else if (!size)
        class = MPI_ERR_ARG;
    else if (__builtin_mul_overflow(incount, t->size, size))
        class = MPI_ERR_COUNT;
    DONE;
}

ABI_BODY(int, Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int *size))
{
    MPI_Count n;
    return narrow(PMPI_Pack_size_c(incount, datatype, comm, size ? &n : NULL), &n, size);
}

/* external packs or unpacks in the representation that is the same everywhere. */
static int external(const char *datarep, void *mem, MPI_Count count, MPI_Datatype datatype, void *packed,
    MPI_Count size, MPI_Count *position, int way)
{
    int class;
    if (!datarep || strcmp(datarep, "external32") != 0)
        return fail_if_running(MPI_ERR_ARG);
    class = packing(mem, count, datatype, packed, size, position);
    if (class == MPI_SUCCESS)
        class = golciPack(mem, count, NUMBER(datatype), packed, size, position, way);
    return class == MPI_SUCCESS ? class : fail_if_running(class);
}

ABI_BODY(int, Pack_external_c, (const char *datarep, const void *inbuf, MPI_Count incount, MPI_Datatype datatype,
    void *outbuf, MPI_Count outsize, MPI_Count *position))
{
    return external(datarep, (void *)inbuf, incount, datatype, outbuf, outsize, position, way_external);
}

ABI_BODY(int, Unpack_external_c, (const char *datarep, const void *inbuf, MPI_Count insize, MPI_Count *position,
    void *outbuf, MPI_Count outcount, MPI_Datatype datatype))
{
    return external(datarep, outbuf, outcount, datatype, (void *)inbuf, insize, position, way_from_external);
}

ABI_BODY(int, Pack_external, (const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf,
    MPI_Aint outsize, MPI_Aint *position))
{
    MPI_Count at = position ? *position : 0;
    int class = PMPI_Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position ? &at : NULL);
    if (class == MPI_SUCCESS)
        *position = at;
    return class;
}

ABI_BODY(int, Unpack_external, (const char *datarep, const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf,
    int outcount, MPI_Datatype datatype))
{
    MPI_Count at = position ? *position : 0;
    int class = PMPI_Unpack_external_c(datarep, inbuf, insize, position ? &at : NULL, outbuf, outcount, datatype);
    if (class == MPI_SUCCESS)
        *position = at;
    return class;
}

ABI_BODY(int, Pack_external_size_c, (const char *datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count *size))
{
    if (!datarep || strcmp(datarep, "external32") != 0 || !size)
        return fail_if_running(MPI_ERR_ARG);
    if (incount < 0 || !in_message(datatype))
        return fail_if_running(incount < 0 ? MPI_ERR_COUNT : MPI_ERR_TYPE);
    *size = golciExternalSize(incount, NUMBER(datatype));
    return MPI_SUCCESS;
}

ABI_BODY(int, Pack_external_size, (const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size))
{
    MPI_Count n;
    int class = PMPI_Pack_external_size_c(datarep, incount, datatype, size ? &n : NULL);
    if (class == MPI_SUCCESS)
        *size = n;
    return class;
}
