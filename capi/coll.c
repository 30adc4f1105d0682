/* Collectives (chapter 6 of the standard). */
#include "calls.h"
#include "comms.h"
#include "types.h"

/* A buffer of a call as the program gives it. Only the side that the rank uses is looked at. */
struct given {
    const void *mem;
    MPI_Count count;
    MPI_Datatype datatype;
};

/* use checks a buffer, and sets the elements of the call. A reduction takes elements as they lie in memory. Other calls
   take those without holes only. The two buffers must have elements of one size. */
static int use(struct call *x, struct given g, int reduction)
{
    const struct type *t = type_of(g.datatype);
    int64_t bytes;
    if (g.count < 0)
        return MPI_ERR_COUNT;
    if (!t)
        return MPI_ERR_TYPE;
    if (t->size != t->extent && !reduction)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    if (__builtin_mul_overflow(g.count, t->extent, &bytes))
        return MPI_ERR_COUNT;
    if (g.count > 0 && (g.mem == NULL || g.mem == MPI_IN_PLACE))
        return MPI_ERR_BUFFER;
    if (x->datatype != 0 && x->size != t->extent)
        return MPI_ERR_TYPE;
    x->datatype = (int)(intptr_t)g.datatype;
    x->size = t->extent;
    return MPI_SUCCESS;
}

/* carry_out makes the call on c. */
static int carry_out(struct comm *c, struct call *x)
{
    int class;
    x->comm = c->place;
    class = golciCollective(x);
    return __builtin_expect(class == MPI_SUCCESS, 1) ? MPI_SUCCESS : fail(c, class);
}

#define BEGIN(comm, its_kind) \
    struct comm *c = comm_of(comm); \
    struct call x = {.kind = its_kind}; \
    int class; \
    if (!c) \
    return bad_comm()

/* USE gives a side of the call its buffer, of n elements. */
#define USE(side, m, n, type, reduction) \
    do { \
        struct given g = {m, n, type}; \
        if ((class = use(&x, g, reduction)) != MPI_SUCCESS) \
            return fail(c, class); \
        x.side = (void *)(m); \
        x.side##s = (n); \
    } while (0)

ABI(int, Barrier, (MPI_Comm comm))
{
    BEGIN(comm, kind_barrier);
    (void)class;
    x.datatype = (int)(intptr_t)MPI_BYTE;
    x.size = 1;
    return carry_out(c, &x);
}

ABI(int, Bcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm))
{
    BEGIN(comm, kind_bcast);
    USE(out, buffer, count, datatype, 0);
    x.root = root;
    return carry_out(c, &x);
}

ABI(int, Reduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
    MPI_Comm comm))
{
    BEGIN(comm, kind_reduce);
    if (sendbuf == MPI_IN_PLACE && c->rank == root)
        x.in_place = 1;
    else
        USE(in, sendbuf, count, datatype, 1);
    if (c->rank == root)
        USE(out, recvbuf, count, datatype, 1);
    x.op = (int)(intptr_t)op;
    x.root = root;
    return carry_out(c, &x);
}

ABI(int, Allreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm))
{
    BEGIN(comm, kind_allreduce);
    if (sendbuf == MPI_IN_PLACE)
        x.in_place = 1;
    else
        USE(in, sendbuf, count, datatype, 1);
    USE(out, recvbuf, count, datatype, 1);
    x.op = (int)(intptr_t)op;
    return carry_out(c, &x);
}

ABI(int, Gather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
{
    BEGIN(comm, kind_gather);
    if (sendbuf == MPI_IN_PLACE && c->rank == root)
        x.in_place = 1;
    else
        USE(in, sendbuf, sendcount, sendtype, 0);
    if (c->rank == root)
        USE(out, recvbuf, recvcount * c->size, recvtype, 0);
    x.root = root;
    return carry_out(c, &x);
}

ABI(int, Scatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
{
    BEGIN(comm, kind_scatter);
    if (recvbuf == MPI_IN_PLACE && c->rank == root)
        x.in_place = 1;
    else
        USE(out, recvbuf, recvcount, recvtype, 0);
    if (c->rank == root)
        USE(in, sendbuf, sendcount * c->size, sendtype, 0);
    x.root = root;
    return carry_out(c, &x);
}

ABI(int, Allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm))
{
    BEGIN(comm, kind_allgather);
    if (sendbuf == MPI_IN_PLACE)
        x.in_place = 1;
    else
        USE(in, sendbuf, sendcount, sendtype, 0);
    USE(out, recvbuf, recvcount * c->size, recvtype, 0);
    return carry_out(c, &x);
}

ABI(int, Alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm))
{
    BEGIN(comm, kind_alltoall);
    if (sendbuf == MPI_IN_PLACE)
        x.in_place = 1;
    else
        USE(in, sendbuf, sendcount * c->size, sendtype, 0);
    USE(out, recvbuf, recvcount * c->size, recvtype, 0);
    return carry_out(c, &x);
}
