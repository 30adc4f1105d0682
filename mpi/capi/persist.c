/* Persistent requests (3.9 of the standard), and their start, which other kinds share. */
#include "pt2pt.h"

static int init(const void *buf, MPI_Count count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, int mode,
    MPI_Request *request)
{
    START(comm);
    class = request ? buffer(buf, count, datatype) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        class = golciPersist((void *)buf, count, NUMBER(datatype), peer, tag, c->place, mode,
            NUMBERS(request));
    DONE;
}

ABI_BODY(int, Send_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return init(buf, count, datatype, dest, tag, comm, mode_send, request);
}

ABI_BODY(int, Ssend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return init(buf, count, datatype, dest, tag, comm, mode_ssend, request);
}

ABI_BODY(int, Rsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return init(buf, count, datatype, dest, tag, comm, mode_rsend, request);
}

ABI_BODY(int, Recv_init_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return init(buf, count, datatype, source, tag, comm, mode_recv, request);
}

ABI_BODY(int, Start, (MPI_Request *request))
{
    BEGIN(request);
    class = golciStart(1, NUMBERS(request), &at);
    return ended(class, at);
}

ABI_BODY(int, Startall, (int count, MPI_Request array_of_requests[]))
{
    BEGIN(count >= 0 && (array_of_requests || count == 0));
    class = golciStart(count, NUMBERS(array_of_requests), &at);
    return ended(class, at);
}
