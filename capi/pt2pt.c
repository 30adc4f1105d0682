/* Point to point (3.2 to 3.10 of the standard). */
#include "calls.h"
#include "comms.h"
#include "status.h"
#include "types.h"

/* buffer checks a buffer and gives its bytes. It takes datatypes without holes only. */
static int buffer(const void *mem, MPI_Count count, MPI_Datatype datatype, int64_t *bytes)
{
    const struct type *t = type_of(datatype);
    if (count < 0)
        return MPI_ERR_COUNT;
    if (!t)
        return MPI_ERR_TYPE;
    if (t->size != t->extent)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    if (__builtin_mul_overflow(count, t->size, bytes))
        return MPI_ERR_COUNT;
    if (*bytes > 0 && (mem == NULL || mem == MPI_IN_PLACE))
        return MPI_ERR_BUFFER;
    return MPI_SUCCESS;
}

/* START begins a function on comm. It declares c and class. */
#define START(comm) \
    struct comm *c = comm_of(comm); \
    int class; \
    if (!c) \
    return bad_comm()

/* DONE ends a function with the class of its error. */
#define DONE return __builtin_expect(class == MPI_SUCCESS, 1) ? MPI_SUCCESS : fail(c, class)

#define NUMBER(datatype) ((int)(intptr_t)(datatype))

/* memory is what Go is given for a buffer: nothing of one that is empty, whose address may be anything. */
static void *memory(const void *mem, int64_t bytes) { return bytes > 0 ? (void *)mem : NULL; }

static int send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int mode)
{
    int64_t bytes;
    START(comm);
    class = buffer(buf, count, datatype, &bytes);
    if (class == MPI_SUCCESS)
        class = golciSend(memory(buf, bytes), bytes, NUMBER(datatype), dest, tag, c->place, mode);
    DONE;
}

ABI(int, Send_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
{
    return send(buf, count, datatype, dest, tag, comm, mode_send);
}

ABI(int, Ssend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
{
    return send(buf, count, datatype, dest, tag, comm, mode_ssend);
}

ABI(int, Rsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
{
    return send(buf, count, datatype, dest, tag, comm, mode_rsend);
}

static int isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int mode,
    MPI_Request *request)
{
    int64_t bytes;
    START(comm);
    class = request ? buffer(buf, count, datatype, &bytes) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        class = golciIsend(memory(buf, bytes), bytes, NUMBER(datatype), dest, tag, c->place, mode,
            (uintptr_t *)request);
    DONE;
}

ABI(int, Isend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return isend(buf, count, datatype, dest, tag, comm, mode_send, request);
}

ABI(int, Issend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return isend(buf, count, datatype, dest, tag, comm, mode_ssend, request);
}

ABI(int, Irsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return isend(buf, count, datatype, dest, tag, comm, mode_rsend, request);
}

ABI(int, Recv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status *status))
{
    int64_t bytes;
    START(comm);
    class = buffer(buf, count, datatype, &bytes);
    if (class == MPI_SUCCESS)
        class = golciRecv(memory(buf, bytes), bytes, NUMBER(datatype), source, tag, c->place, status);
    DONE;
}

ABI(int, Irecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    int64_t bytes;
    START(comm);
    class = request ? buffer(buf, count, datatype, &bytes) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        class = golciIrecv(memory(buf, bytes), bytes, NUMBER(datatype), source, tag, c->place, (uintptr_t *)request);
    DONE;
}

/* exchange receives and sends at the same time. */
static int exchange(struct comm *c, const void *out, int64_t sent, MPI_Datatype sendtype, int dest, int sendtag,
    void *in, int64_t room, MPI_Datatype recvtype, int source, int recvtag, MPI_Status *status)
{
    uintptr_t receive, send;
    int at, class, other;
    class = golciIrecv(memory(in, room), room, NUMBER(recvtype), source, recvtag, c->place, &receive);
    if (class != MPI_SUCCESS)
        return class;
    class = golciIsend(memory(out, sent), sent, NUMBER(sendtype), dest, sendtag, c->place, mode_send, &send);
    if (class != MPI_SUCCESS) {
        golciCancel(&receive);
        golciWait(&receive, NULL, &at);
        return class;
    }
    class = golciWait(&receive, status, &at);
    other = golciWait(&send, NULL, &at);
    return class != MPI_SUCCESS ? class : other;
}

ABI(int, Sendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Status *status))
{
    int64_t sent, room;
    START(comm);
    class = buffer(sendbuf, sendcount, sendtype, &sent);
    if (class == MPI_SUCCESS)
        class = buffer(recvbuf, recvcount, recvtype, &room);
    if (class == MPI_SUCCESS)
        class = exchange(c, sendbuf, sent, sendtype, dest, sendtag, recvbuf, room, recvtype, source, recvtag, status);
    DONE;
}

ABI(int, Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
{
    START(comm);
    class = golciProbe(source, tag, c->place, status);
    DONE;
}

ABI(int, Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
{
    START(comm);
    class = flag ? golciIprobe(source, tag, c->place, flag, status) : MPI_ERR_ARG;
    DONE;
}
