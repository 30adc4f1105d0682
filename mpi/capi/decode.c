/* How datatypes were made, and their names (5.1.13 and 7.8 of the standard). */
#include "makers.h"

#include "fail.h"

#include <stddef.h>

#define NUMBER(datatype) ((int)(intptr_t)(datatype))

/* envelope gives the combiner, and how many integers, addresses, large counts and datatypes there are. */
static int envelope(MPI_Datatype datatype, int64_t n[4], int *combiner)
{
    if (!type_of(datatype))
        return MPI_ERR_TYPE;
    golciTypeEnvelope(NUMBER(datatype), n, combiner);
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_get_envelope, (MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes,
    int *combiner))
{
    int64_t n[4];
    int class = num_integers && num_addresses && num_datatypes && combiner ? MPI_SUCCESS : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        class = envelope(datatype, n, combiner);
    if (class == MPI_SUCCESS && n[2] > 0) /* which this form cannot tell */
        class = MPI_ERR_TYPE;
    if (class != MPI_SUCCESS)
        return fail_if_running(class);
    *num_integers = (int)n[0];
    *num_addresses = (int)n[1];
    *num_datatypes = (int)n[3];
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_get_envelope_c, (MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
    MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner))
{
    int64_t n[4];
    int class = num_integers && num_addresses && num_large_counts && num_datatypes && combiner ? MPI_SUCCESS
        : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        class = envelope(datatype, n, combiner);
    if (class != MPI_SUCCESS)
        return fail_if_running(class);
    *num_integers = n[0];
    *num_addresses = n[1];
    *num_large_counts = n[2];
    *num_datatypes = n[3];
    return MPI_SUCCESS;
}

/* contents fills the arrays, which have room for so many. */
static int contents(MPI_Datatype datatype, const int64_t room[4], int *integers, MPI_Aint *addresses,
    MPI_Count *counts, MPI_Datatype *types)
{
    int64_t n[4];
    int combiner, class = envelope(datatype, n, &combiner);
    if (class != MPI_SUCCESS)
        return fail_if_running(class);
    if (combiner == MPI_COMBINER_NAMED)
        return fail_if_running(MPI_ERR_TYPE);
    for (int i = 0; i < 4; i++)
        if (room[i] < n[i])
            return fail_if_running(i == 2 ? MPI_ERR_TYPE : MPI_ERR_ARG);
    if ((n[0] > 0 && !integers) || (n[1] > 0 && !addresses) || (n[2] > 0 && !counts) || (n[3] > 0 && !types))
        return fail_if_running(MPI_ERR_ARG);
    golciTypeContents(NUMBER(datatype), integers, addresses, counts);
    for (int i = 0; i < n[3] && class == MPI_SUCCESS; i++) {
        struct maker m = {.by = component, .args = {i}, .types = &datatype};
        class = make_type(&m, &types[i]);
    }
    return class;
}

ABI_BODY(int, Type_get_contents, (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]))
{
    int64_t room[] = {max_integers, max_addresses, 0, max_datatypes};
    return contents(datatype, room, array_of_integers, array_of_addresses, NULL, array_of_datatypes);
}

ABI_BODY(int, Type_get_contents_c, (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
    MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
    MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]))
{
    int64_t room[] = {max_integers, max_addresses, max_large_counts, max_datatypes};
    return contents(datatype, room, array_of_integers, array_of_addresses, array_of_large_counts,
        array_of_datatypes);
}

ABI_BODY(int, Type_set_name, (MPI_Datatype datatype, const char *type_name))
{
    if (!type_of(datatype) || !type_name)
        return fail_if_running(type_name ? MPI_ERR_TYPE : MPI_ERR_ARG);
    golciTypeSetName(NUMBER(datatype), (char *)type_name);
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_get_name, (MPI_Datatype datatype, char *type_name, int *resultlen))
{
    if (!type_name || !resultlen)
        return fail_if_running(MPI_ERR_ARG);
    if (!type_of(datatype) && datatype != MPI_DATATYPE_NULL)
        return fail_if_running(MPI_ERR_TYPE);
    *resultlen = golciTypeName(NUMBER(datatype), type_name);
    return MPI_SUCCESS;
}
