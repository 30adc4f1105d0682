/* The functions that ask only what C knows of communicators (7.4 of the standard). */
#include "attrs.h"
#include "calls.h"
#include "fail.h"

ABI_FAST(int, Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return unknown_comm(comm);
    if (!rank) {
        tell_args(MPI_ERR_ARG, "p(rank)", (unsigned long[]){0});
        return fail(c, MPI_ERR_ARG);
    }
    *rank = c->rank;
    return MPI_SUCCESS;
}

ABI_FAST(int, Comm_size, (MPI_Comm comm, int *size), (comm, size))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return unknown_comm(comm);
    if (!size) {
        tell_args(MPI_ERR_ARG, "p(size)", (unsigned long[]){0});
        return fail(c, MPI_ERR_ARG);
    }
    *size = c->size;
    return MPI_SUCCESS;
}

ABI_BODY(int, Comm_free, (MPI_Comm *comm))
{
    struct comm *c = comm ? comm_of(*comm) : NULL;
    int class;
    if (!c)
        return comm ? bad_comm() : fail(NULL, MPI_ERR_ARG);
    if (c->place == world_place || c->place == self_place)
        return fail(c, MPI_ERR_COMM);
    class = golciAttrClear(attr_comm, (uintptr_t)*comm);
    if (class == MPI_SUCCESS)
        class = comm_unmade(c);
    if (class != MPI_SUCCESS)
        return fail(c, class);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

ABI_BODY(int, Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result))
{
    struct comm *a = comm_of(comm1), *b = comm_of(comm2);
    int class;
    if (!a || !b)
        return bad_comm();
    if (!result)
        return fail(a, MPI_ERR_ARG);
    if (a == b) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    class = golciCompare(a->place, b->place, result);
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(a, class);
}
