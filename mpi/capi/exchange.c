/* Sends and receives at the same time (3.10 of the standard). */
#include "pt2pt.h"

/* pair checks both buffers. */
static int pair(struct exchange *x, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag)
{
    int class = buffer(sendbuf, sendcount, sendtype);
    if (class == MPI_SUCCESS)
        class = buffer(recvbuf, recvcount, recvtype);
    if (class != MPI_SUCCESS)
        return class;
    x->out = (void *)sendbuf;
    x->sent = sendcount;
    x->in = recvbuf;
    x->room = recvcount;
    x->sendtype = NUMBER(sendtype);
    x->recvtype = NUMBER(recvtype);
    x->dest = dest;
    x->sendtag = sendtag;
    x->source = source;
    x->recvtag = recvtag;
    return MPI_SUCCESS;
}

ABI_BODY(int, Sendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Status *status))
{
    struct exchange x = {.replace = 0};
    START(comm);
    class = pair(&x, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag);
    if (class == MPI_SUCCESS)
        class = golciExchange(&x, c->place, status);
    DONE;
}

ABI_BODY(int, Sendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
    int recvtag, MPI_Comm comm, MPI_Status *status))
{
    struct exchange x = {.replace = 1};
    START(comm);
    class = pair(&x, buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag);
    if (class == MPI_SUCCESS)
        class = golciExchange(&x, c->place, status);
    DONE;
}

ABI_BODY(int, Isendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Request *request))
{
    struct exchange x = {.replace = 0};
    START(comm);
    class = request ? pair(&x, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
        recvtag) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        class = golciIexchange(&x, c->place, NUMBERS(request));
    DONE;
}

ABI_BODY(int, Isendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
    int recvtag, MPI_Comm comm, MPI_Request *request))
{
    struct exchange x = {.replace = 1};
    START(comm);
    class = request ? pair(&x, buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag)
        : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        class = golciIexchange(&x, c->place, NUMBERS(request));
    DONE;
}
