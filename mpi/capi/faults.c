/* Going on after failures of processes: the calls of the MPI forum's working group on fault tolerance. */
#include "faults.h"
#include "calls.h"
#include "fail.h"
#include "make.h"
#include "pt2pt.h"

#include <limits.h>

ABIX_BODY(int, Comm_revoke, (MPI_Comm comm))
{
    START(comm);
    class = golciRevoke(c->place);
    DONE;
}

ABIX_BODY(int, Comm_is_revoked, (MPI_Comm comm, int *flag))
{
    START(comm);
    class = flag ? golciRevoked(c->place, flag) : MPI_ERR_ARG;
    DONE;
}

ABIX_BODY(int, Comm_shrink, (MPI_Comm comm, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = golciShrink(c->place, &n);
    return comm_finish(c, &n, class, newcomm);
}

/* The communicator has its handle at once, and its rank and size when the request is done. */
ABIX_BODY(int, Comm_ishrink, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request))
{
    MAKE(comm, newcomm);
    *newcomm = MPI_COMM_NULL;
    if (!request) {
        comm_release(n.place);
        return fail(c, MPI_ERR_ARG);
    }
    *newcomm = comm_made(c, n.place, MPI_UNDEFINED, 0, 0);
    class = golciIshrink(c->place, n.place, NUMBERS(request));
    if (class != MPI_SUCCESS) {
        comm_unpublish(comm_at(n.place));
        *newcomm = MPI_COMM_NULL;
    }
    DONE;
}

ABIX_BODY(int, Comm_agree, (MPI_Comm comm, int *flag))
{
    START(comm);
    class = flag ? golciAgree(c->place, flag) : MPI_ERR_ARG;
    DONE;
}

ABIX_BODY(int, Comm_iagree, (MPI_Comm comm, int *flag, MPI_Request *request))
{
    START(comm);
    class = flag && request ? golciIagree(c->place, flag, NUMBERS(request)) : MPI_ERR_ARG;
    DONE;
}

ABIX_BODY(int, Comm_get_failed, (MPI_Comm comm, MPI_Group *failedgrp))
{
    START(comm);
    class = failedgrp ? golciFailed(c->place, 0, (uintptr_t *)failedgrp) : MPI_ERR_ARG;
    DONE;
}

ABIX_BODY(int, Comm_ack_failed, (MPI_Comm comm, int num_to_ack, int *num_acked))
{
    START(comm);
    class = num_acked ? golciAckFailed(c->place, num_to_ack, num_acked) : MPI_ERR_ARG;
    DONE;
}

/* The older names of the two functions before: all failures that are known are acknowledged. */
ABIX_BODY(int, Comm_failure_ack, (MPI_Comm comm))
{
    int acked;
    START(comm);
    class = golciAckFailed(c->place, INT_MAX, &acked);
    DONE;
}

ABIX_BODY(int, Comm_failure_get_acked, (MPI_Comm comm, MPI_Group *failedgrp))
{
    START(comm);
    class = failedgrp ? golciFailed(c->place, 1, (uintptr_t *)failedgrp) : MPI_ERR_ARG;
    DONE;
}
