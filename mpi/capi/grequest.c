/* Generalized requests (13.2 of the standard). */
#include "grequest.h"
#include "pt2pt.h"

ABI_BODY(int, Grequest_start, (MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
    MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request))
{
    struct grequest functions = {query_fn, free_fn, cancel_fn, extra_state};
    BEGIN(query_fn && free_fn && cancel_fn && request);
    class = golciGeneral(&functions, NUMBERS(request));
    return ended(class, at);
}

ABI_BODY(int, Grequest_complete, (MPI_Request request))
{
    BEGIN(1);
    class = golciGeneralEnd((uintptr_t)request);
    return ended(class, at);
}

int grequest_query(const struct grequest *g, MPI_Status *status) { return g->query(g->state, status); }

int grequest_free(const struct grequest *g) { return g->free(g->state); }

int grequest_cancel(const struct grequest *g, int complete) { return g->cancel(g->state, complete); }
