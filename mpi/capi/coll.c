/* Collectives (chapter 6 of the standard). Go looks at the arguments: what is used depends on the rank and the root. */
#include "calls.h"
#include "fail.h"
#include "front.h"

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

/* SET is what an argument sets in a struct coll. A count and a type that both buffers have are set twice, and so are
   displacements: those are of the buffer that has counts. */
#define SET(arg) SET_##arg
#define SET_buffer .out.mem = (void *)buffer
#define SET_sendbuf .in.mem = (void *)sendbuf
#define SET_recvbuf .out.mem = (void *)recvbuf
#define SET_count .in.n = count, .out.n = count
#define SET_sendcount .in.n = sendcount
#define SET_recvcount .out.n = recvcount
#define SET_sendcounts .in.counts = sendcounts, .in.wide_counts = WIDE(sendcounts)
#define SET_recvcounts .out.counts = recvcounts, .out.wide_counts = WIDE(recvcounts)
#define SET_displs SET_DISPLS(in, displs), SET_DISPLS(out, displs)
#define SET_sdispls SET_DISPLS(in, sdispls)
#define SET_rdispls SET_DISPLS(out, rdispls)
#define SET_DISPLS(side, array) .side.displs = array, .side.wide_displs = WIDE(array)
#define SET_datatype .in.type = datatype, .out.type = datatype
#define SET_sendtype .in.type = sendtype
#define SET_recvtype .out.type = recvtype
#define SET_sendtypes .in.types = sendtypes
#define SET_recvtypes .out.types = recvtypes
#define SET_root .root = root
#define SET_op .op = op
#define SET_comm .comm = 0 /* until the handle has been looked at */
#define WIDE(array) (sizeof(*array) > sizeof(int))
#define FILLED(of, ...) (&(struct coll){.kind = kind_##of, MAP(SET, __VA_ARGS__)})

/* FORMS defines the three forms of a collective. letters are the kinds of args: see left. */
#define FORMS(name, start, init, kind, letters, args, params) \
    ABI(int, name, params) LEAVES(coll_call(FILLED(kind, EACH args), comm), #name, letters, EACH args) \
    ABI(int, start, (EACH params, MPI_Request *request)) \
        LEAVES(coll_start(FILLED(kind, EACH args), comm, request), #start, letters "p", EACH args, request) \
    ABI(int, init, (EACH params, MPI_Info info, MPI_Request *request)) \
        LEAVES(coll_init(FILLED(kind, EACH args), comm, request), #init, letters "Ip", EACH args, info, request)

/* The table is read twice, for large counts and for those of type int. Where only values are wider, the functions of
   the second time call those of the first. */
#define COLLECTIVE_V(name, start, kind, letters, args, params) \
    FORMS(name##_c, start##_c, name##_init_c, kind, letters, args, params)
#define COLLECTIVE COLLECTIVE_V
#define COLLECTIVE_ONE(name, start, kind, letters, args, params)
#define COUNT MPI_Count
#define UNIT MPI_Aint
#include "coll_table.h"

#undef COLLECTIVE
#undef COLLECTIVE_V
#undef COLLECTIVE_ONE
#undef COUNT
#undef UNIT
#define COLLECTIVE(name, start, kind, letters, args, params) \
    ABI(int, name, params) { return PMPI_##name##_c args; } \
    ABI(int, start, (EACH params, MPI_Request *request)) { return PMPI_##start##_c(EACH args, request); } \
    ABI(int, name##_init, (EACH params, MPI_Info info, MPI_Request *request)) \
    { \
        return PMPI_##name##_init_c(EACH args, info, request); \
    }
#define COLLECTIVE_V(name, start, kind, letters, args, params) \
    FORMS(name, start, name##_init, kind, letters, args, params)
#define COLLECTIVE_ONE COLLECTIVE_V
#define COUNT int
#define UNIT int
#include "coll_table.h"
