/* Constructors of datatypes (5.1.2 to 5.1.4, 5.1.7, 5.1.10, 5.1.14 and 19.1.9 of the standard). */
#include "attrs.h"
#include "fail.h"
#include "makers.h"

/* MAKE ends a constructor. */
#define MAKE(...) \
    struct maker m = {__VA_ARGS__}; \
    return make_type(&m, newtype)

#define INTS(list) {list, 0}
#define WIDE(list) {list, 1}

ABI_BODY(int, Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_CONTIGUOUS, .n = count, .types = &oldtype);
}

ABI_BODY(int, Type_contiguous_c, (MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_CONTIGUOUS, .large = 1, .n = count, .types = &oldtype);
}

ABI_BODY(int, Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_VECTOR, .n = count, .args = {blocklength, stride}, .types = &oldtype);
}

ABI_BODY(int, Type_vector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_VECTOR, .large = 1, .n = count, .args = {blocklength, stride}, .types = &oldtype);
}

ABI_BODY(int, Type_create_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_HVECTOR, .n = count, .args = {blocklength, stride}, .types = &oldtype);
}

ABI_BODY(int, Type_create_hvector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_HVECTOR, .large = 1, .n = count, .args = {blocklength, stride}, .types = &oldtype);
}

ABI_BODY(int, Type_indexed, (int count, const int array_of_blocklengths[], const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_INDEXED, .n = count, .types = &oldtype,
        .lists = {INTS(array_of_blocklengths), INTS(array_of_displacements)});
}

ABI_BODY(int, Type_indexed_c, (MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_INDEXED, .large = 1, .n = count, .types = &oldtype,
        .lists = {WIDE(array_of_blocklengths), WIDE(array_of_displacements)});
}

ABI_BODY(int, Type_create_hindexed, (int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_HINDEXED, .n = count, .types = &oldtype,
        .lists = {INTS(array_of_blocklengths), WIDE(array_of_displacements)});
}

ABI_BODY(int, Type_create_hindexed_c, (MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_HINDEXED, .large = 1, .n = count, .types = &oldtype,
        .lists = {WIDE(array_of_blocklengths), WIDE(array_of_displacements)});
}

ABI_BODY(int, Type_create_indexed_block, (int count, int blocklength, const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_INDEXED_BLOCK, .n = count, .args = {blocklength}, .types = &oldtype,
        .lists = {INTS(array_of_displacements)});
}

ABI_BODY(int, Type_create_indexed_block_c, (MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_INDEXED_BLOCK, .large = 1, .n = count, .args = {blocklength}, .types = &oldtype,
        .lists = {WIDE(array_of_displacements)});
}

ABI_BODY(int, Type_create_hindexed_block, (int count, int blocklength, const MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_HINDEXED_BLOCK, .n = count, .args = {blocklength}, .types = &oldtype,
        .lists = {WIDE(array_of_displacements)});
}

ABI_BODY(int, Type_create_hindexed_block_c, (MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_HINDEXED_BLOCK, .large = 1, .n = count, .args = {blocklength}, .types = &oldtype,
        .lists = {WIDE(array_of_displacements)});
}

ABI_BODY(int, Type_create_struct, (int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    const MPI_Datatype array_of_types[], MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_STRUCT, .n = count, .types = array_of_types,
        .lists = {INTS(array_of_blocklengths), WIDE(array_of_displacements)});
}

ABI_BODY(int, Type_create_struct_c, (MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_STRUCT, .large = 1, .n = count, .types = array_of_types,
        .lists = {WIDE(array_of_blocklengths), WIDE(array_of_displacements)});
}

ABI_BODY(int, Type_create_subarray, (int ndims, const int array_of_sizes[], const int array_of_subsizes[],
    const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_SUBARRAY, .n = ndims, .args = {order}, .types = &oldtype,
        .lists = {INTS(array_of_sizes), INTS(array_of_subsizes), INTS(array_of_starts)});
}

ABI_BODY(int, Type_create_subarray_c, (int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[],
    const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_SUBARRAY, .large = 1, .n = ndims, .args = {order}, .types = &oldtype,
        .lists = {WIDE(array_of_sizes), WIDE(array_of_subsizes), WIDE(array_of_starts)});
}

ABI_BODY(int, Type_create_darray, (int size, int rank, int ndims, const int array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order,
    MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_DARRAY, .n = ndims, .args = {size, rank, order}, .types = &oldtype,
        .lists = {INTS(array_of_gsizes), INTS(array_of_distribs), INTS(array_of_dargs), INTS(array_of_psizes)});
}

ABI_BODY(int, Type_create_darray_c, (int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order,
    MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_DARRAY, .large = 1, .n = ndims, .args = {size, rank, order}, .types = &oldtype,
        .lists = {WIDE(array_of_gsizes), INTS(array_of_distribs), INTS(array_of_dargs), INTS(array_of_psizes)});
}

ABI_BODY(int, Type_create_resized, (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_RESIZED, .args = {lb, extent}, .types = &oldtype);
}

ABI_BODY(int, Type_create_resized_c, (MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_RESIZED, .large = 1, .args = {lb, extent}, .types = &oldtype);
}

/* The duplicate gets attributes. If a copy function fails it is freed. */
ABI_BODY(int, Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype))
{
    struct maker m = {.by = MPI_COMBINER_DUP, .types = &oldtype};
    int class = make_type(&m, newtype);
    if (class != MPI_SUCCESS)
        return class;
    class = golciAttrCopy(attr_type, (uintptr_t)oldtype, (uintptr_t)*newtype);
    if (class == MPI_SUCCESS)
        return MPI_SUCCESS;
    type_drop(newtype);
    return fail_if_running(class);
}

ABI_BODY(int, Type_create_f90_real, (int p, int r, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_F90_REAL, .args = {p, r});
}

ABI_BODY(int, Type_create_f90_complex, (int p, int r, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_F90_COMPLEX, .args = {p, r});
}

ABI_BODY(int, Type_create_f90_integer, (int r, MPI_Datatype *newtype))
{
    MAKE(.by = MPI_COMBINER_F90_INTEGER, .args = {r});
}

ABI_BODY(int, Type_get_value_index, (MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type))
{
    MPI_Datatype parts[] = {value_type, index_type}, *newtype = pair_type;
    MAKE(.by = MPI_COMBINER_VALUE_INDEX, .types = parts);
}

ABI_BODY(int, Type_match_size, (int typeclass, int size, MPI_Datatype *datatype))
{
    MPI_Datatype *newtype = datatype;
    MAKE(.by = match_size, .args = {typeclass, size});
}
