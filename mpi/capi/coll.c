/* Collectives (chapter 6 of the standard). Go looks at the arguments: what is used depends on the rank and the root. */
#include "calls.h"
#include "fail.h"

_Static_assert((uintptr_t)MPI_IN_PLACE == in_place, "of mpi.h");

static int coll_call(struct coll *x, MPI_Comm comm)
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    x->comm = c->place;
    class = golciColl(x);
    return __builtin_expect(class == MPI_SUCCESS, 1) ? MPI_SUCCESS : fail(c, class);
}

static int coll_start(struct coll *x, MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    x->comm = c->place;
    class = request ? golciCollStart(x, (uintptr_t *)request) : MPI_ERR_ARG;
    return __builtin_expect(class == MPI_SUCCESS, 1) ? MPI_SUCCESS : fail(c, class);
}

static int coll_init(struct coll *x, MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    x->comm = c->place;
    class = request ? golciCollInit(x, (uintptr_t *)request) : MPI_ERR_ARG;
    return __builtin_expect(class == MPI_SUCCESS, 1) ? MPI_SUCCESS : fail(c, class);
}

#include "coll_gen.h"
