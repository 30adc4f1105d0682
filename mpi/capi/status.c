/* Statuses (3.2.5, 3.8.4, 5.1.11 and 13.3 of the standard). */
#include "makers.h"
#include "fail.h"
#include "status.h"
#include "types.h"

/* SET and GET make the functions of the fields that programs see. */
#define SET(field, word) \
    if (status == MPI_STATUS_IGNORE) \
        return MPI_ERR_ARG; \
    status->word = field; \
    return MPI_SUCCESS

#define GET(field, word) \
    if (status == MPI_STATUS_IGNORE || !field) \
        return MPI_ERR_ARG; \
    *field = status->word; \
    return MPI_SUCCESS

ABI(int, Status_set_source, (MPI_Status *status, int source))
{
    SET(source, MPI_SOURCE);
}

ABI(int, Status_get_source, (const MPI_Status *status, int *source))
{
    GET(source, MPI_SOURCE);
}

ABI(int, Status_set_tag, (MPI_Status *status, int tag))
{
    SET(tag, MPI_TAG);
}

ABI(int, Status_get_tag, (const MPI_Status *status, int *tag))
{
    GET(tag, MPI_TAG);
}

ABI(int, Status_set_error, (MPI_Status *status, int error))
{
    SET(error, MPI_ERROR);
}

ABI(int, Status_get_error, (const MPI_Status *status, int *error))
{
    GET(error, MPI_ERROR);
}

ABI(int, Status_set_cancelled, (MPI_Status *status, int flag))
{
    SET(flag != 0, MPI_internal[status_cancelled]);
}

ABI(int, Test_cancelled, (const MPI_Status *status, int *flag))
{
    GET(flag, MPI_internal[status_cancelled]);
}

/* A pair has two basic elements. */
static MPI_Count basics(const struct type *t) { return t->first ? 2 : 1; }

ABI(int, Status_set_elements_c, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count))
{
    const struct type *t = type_of(datatype);
    MPI_Count bytes;
    if (status == MPI_STATUS_IGNORE)
        return MPI_ERR_ARG;
    if (!t)
        return fail_if_running(MPI_ERR_TYPE);
    if (t->derived) {
        if (!golciElementBytes((int)(intptr_t)datatype, count, &bytes))
            return fail_if_running(MPI_ERR_COUNT);
    } else if (count < 0 || __builtin_mul_overflow(count / basics(t), t->size, &bytes)
        || __builtin_add_overflow(bytes, count % basics(t) * t->first, &bytes))
        return MPI_ERR_COUNT;
    set_bytes(status, bytes);
    return MPI_SUCCESS;
}

ABI(int, Status_set_elements_x, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count))
{
    return PMPI_Status_set_elements_c(status, datatype, count);
}

ABI(int, Get_count_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
{
    const struct type *t = type_of(datatype);
    if (status == MPI_STATUS_IGNORE || !count)
        return MPI_ERR_ARG;
    if (!t)
        return fail_if_running(MPI_ERR_TYPE);
    if (t->size == 0)
        *count = get_bytes(status) == 0 ? 0 : MPI_UNDEFINED;
    else
        *count = get_bytes(status) % t->size == 0 ? get_bytes(status) / t->size : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

ABI(int, Get_elements_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
{
    const struct type *t = type_of(datatype);
    MPI_Count rest;
    if (status == MPI_STATUS_IGNORE || !count)
        return MPI_ERR_ARG;
    if (!t)
        return fail_if_running(MPI_ERR_TYPE);
    if (t->derived) {
        *count = golciElements((int)(intptr_t)datatype, get_bytes(status));
        return MPI_SUCCESS;
    }
    rest = get_bytes(status) % t->size;
    *count = get_bytes(status) / t->size * basics(t);
    if (rest != 0 && rest == t->first)
        ++*count;
    else if (rest != 0)
        *count = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

ABI(int, Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
{
    return PMPI_Get_elements_c(status, datatype, count);
}

/* to_int stores a count that fits an int. */
static int to_int(int code, const MPI_Count *n, int *count)
{
    if (code == MPI_SUCCESS)
        *count = *n > INT32_MAX ? MPI_UNDEFINED : (int)*n;
    return code;
}

ABI(int, Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count))
{
    MPI_Count n;
    return to_int(PMPI_Get_count_c(status, datatype, count ? &n : NULL), &n, count);
}

ABI(int, Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count))
{
    MPI_Count n;
    return to_int(PMPI_Get_elements_c(status, datatype, count ? &n : NULL), &n, count);
}
