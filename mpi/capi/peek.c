/* Statuses of requests that stay (3.7.6 of the standard). */
#include "pt2pt.h"

ABI_BODY(int, Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))
{
    BEGIN(flag);
    class = golciPeek((uintptr_t)request, flag, status, &at);
    return ended(class, at);
}

ABI_BODY(int, Request_get_status_all, (int count, const MPI_Request array_of_requests[], int *flag,
    MPI_Status array_of_statuses[]))
{
    BEGIN(count >= 0 && (array_of_requests || count == 0) && flag);
    class = golciPeekAll(count, NUMBERS(array_of_requests), flag, array_of_statuses, &at);
    return ended(class, at);
}

ABI_BODY(int, Request_get_status_any, (int count, const MPI_Request array_of_requests[], int *indx, int *flag,
    MPI_Status *status))
{
    BEGIN(count >= 0 && (array_of_requests || count == 0) && indx && flag);
    class = golciPeekAny(count, NUMBERS(array_of_requests), indx, flag, status, &at);
    return ended(class, at);
}

ABI_BODY(int, Request_get_status_some, (int incount, const MPI_Request array_of_requests[], int *outcount,
    int array_of_indices[], MPI_Status array_of_statuses[]))
{
    BEGIN(incount >= 0 && ((array_of_requests && array_of_indices) || incount == 0) && outcount);
    class = golciPeekSome(incount, NUMBERS(array_of_requests), outcount, array_of_indices, array_of_statuses, &at);
    return ended(class, at);
}
