/* Waiting for requests, and ending them (3.7.3 to 3.7.5 and 3.8.4 of the standard). */
#include "pt2pt.h"
#include "status.h"
#include "vain.h"

int ended(int class, int at)
{
    if (__builtin_expect(class == MPI_SUCCESS, 1))
        return MPI_SUCCESS;
    return fail(at < 0 || !running() ? NULL : comm_at(at), class);
}

/* no_message fills the status of what is no message. */
static void no_message(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    memset(status->MPI_internal, 0, sizeof(status->MPI_internal));
}

/* nothing tells that all of n requests are null. */
static int nothing(int n, const MPI_Request requests[])
{
    for (int i = 0; i < n; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            return 0;
    return 1;
}

/* over tells that a request is null, or the send that has left. */
static inline int over(MPI_Request request)
{
    return request == MPI_REQUEST_NULL || (uintptr_t)request == done_request;
}

/* all_over ends n requests if all are over or C may end them; else it does nothing. Errors are set in the statuses of
   null requests, and by functions for several requests (3.2.5). */
static int all_over(int n, MPI_Request requests[], MPI_Status statuses[], int several)
{
    int take = vain.taken;
    for (int i = 0; i < n; i++)
        if (!over(requests[i]) && (!has_ended((uintptr_t)requests[i]) || ++take > vain_things))
            return 0;
    for (int i = 0; i < n; i++) {
        if (!over(requests[i])) {
            end_in_c((uintptr_t)requests[i], statuses ? &statuses[i] : MPI_STATUS_IGNORE);
            if (statuses && several)
                statuses[i].MPI_ERROR = MPI_SUCCESS;
        } else if (statuses) {
            no_message(&statuses[i]);
            if (several || requests[i] == MPI_REQUEST_NULL)
                statuses[i].MPI_ERROR = MPI_SUCCESS;
        }
        requests[i] = MPI_REQUEST_NULL;
    }
    return 1;
}

ABI_FAST(int, Wait, (MPI_Request *request, MPI_Status *status),
    (request, status))
{
    BEGIN_FAST(request, "p(request)", 0)
    if (all_over(1, request, status, 0))
        return MPI_SUCCESS;
    class = golciWait(NUMBERS(request), status, &at);
    return ended(class, at);
}

ABI_FAST(int, Test, (MPI_Request *request, int *flag, MPI_Status *status),
    (request, flag, status))
{
    BEGIN_FAST(request && flag, "pp(request, flag)", (uintptr_t)request, (uintptr_t)flag)
    if (all_over(1, request, status, 0)) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    uintptr_t what = *NUMBERS(request);
    if (in_vain(what, 0)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    class = golciTest(NUMBERS(request), flag, status, &at);
    if (class == MPI_SUCCESS && !*flag)
        was_in_vain(what, 0);
    return ended(class, at);
}

ABI_FAST(int, Cancel, (MPI_Request *request),
    (request))
{
    BEGIN_FAST(request, "p(request)", 0)
    class = golciCancel(NUMBERS(request));
    return ended(class, at);
}

ABI_FAST(int, Request_free, (MPI_Request *request),
    (request))
{
    BEGIN_FAST(request, "p(request)", 0)
    class = golciRequestFree(NUMBERS(request));
    return ended(class, at);
}

/* all is Waitall and Testall. */
static int all(int count, MPI_Request requests[], int wait, int *flag, MPI_Status statuses[])
{
    BEGIN_FAST(count >= 0 && (requests || count == 0) && flag, "npp(count, flag, array_of_requests)", count,
        (uintptr_t)flag, (uintptr_t)requests)
    if (all_over(count, requests, statuses, 1)) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    uint64_t what = wait ? 0 : vain_several(count, NUMBERS(requests), 0);
    if (!wait && in_vain(what, 0)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    class = golciAll(count, NUMBERS(requests), wait, flag, statuses, &at);
    if (class == MPI_SUCCESS && !*flag)
        was_in_vain(what, 0);
    return ended(class, at);
}

ABI_FAST(int, Waitall, (int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]),
    (count, array_of_requests, array_of_statuses))
{
    int flag;
    return all(count, array_of_requests, 1, &flag, array_of_statuses);
}

ABI_FAST(int, Testall, (int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[]),
    (count, array_of_requests, flag, array_of_statuses))
{
    return all(count, array_of_requests, 0, flag, array_of_statuses);
}

/* any is Waitany and Testany. */
static int any(int count, MPI_Request requests[], int wait, int *index, int *flag, MPI_Status *status)
{
    BEGIN_FAST(count >= 0 && (requests || count == 0) && index && flag, "nppp(count, index, flag, array_of_requests)",
        count, (uintptr_t)index, (uintptr_t)flag, (uintptr_t)requests)
    if (nothing(count, requests)) {
        *flag = 1;
        *index = MPI_UNDEFINED;
        no_message(status);
        if (status)
            status->MPI_ERROR = MPI_SUCCESS;
        return MPI_SUCCESS;
    }
    uint64_t what = wait ? 0 : vain_several(count, NUMBERS(requests), 1);
    if (!wait && in_vain(what, 0)) {
        *index = MPI_UNDEFINED;
        *flag = 0;
        return MPI_SUCCESS;
    }
    class = golciAny(count, NUMBERS(requests), wait, index, flag, status, &at);
    if (class == MPI_SUCCESS && !*flag)
        was_in_vain(what, 0);
    return ended(class, at);
}

ABI_FAST(int, Waitany, (int count, MPI_Request array_of_requests[], int *index, MPI_Status *status),
    (count, array_of_requests, index, status))
{
    int flag;
    return any(count, array_of_requests, 1, index, &flag, status);
}

ABI_FAST(int, Testany, (int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status),
    (count, array_of_requests, index, flag, status))
{
    return any(count, array_of_requests, 0, index, flag, status);
}

/* some is Waitsome and Testsome. */
static int some(int count, MPI_Request requests[], int wait, int *done, int indices[], MPI_Status statuses[])
{
    BEGIN_FAST(count >= 0 && ((requests && indices) || count == 0) && done,
        "nppp(incount, outcount, array_of_requests, array_of_indices)", count, (uintptr_t)done, (uintptr_t)requests,
        (uintptr_t)indices)
    if (nothing(count, requests)) {
        *done = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    uint64_t what = wait ? 0 : vain_several(count, NUMBERS(requests), 2);
    if (!wait && in_vain(what, 0)) {
        *done = 0;
        return MPI_SUCCESS;
    }
    class = golciSome(count, NUMBERS(requests), wait, done, indices, statuses, &at);
    if (class == MPI_SUCCESS && *done == 0)
        was_in_vain(what, 0);
    return ended(class, at);
}

ABI_FAST(int, Waitsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
    MPI_Status array_of_statuses[]),
    (incount, array_of_requests, outcount, array_of_indices, array_of_statuses))
{
    return some(incount, array_of_requests, 1, outcount, array_of_indices, array_of_statuses);
}

ABI_FAST(int, Testsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
    MPI_Status array_of_statuses[]),
    (incount, array_of_requests, outcount, array_of_indices, array_of_statuses))
{
    return some(incount, array_of_requests, 0, outcount, array_of_indices, array_of_statuses);
}
