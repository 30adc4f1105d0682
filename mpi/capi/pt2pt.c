/* Point to point (3.2 to 3.10 of the standard). */
#include "pt2pt.h"
#include "posts.h"
#include "status.h"
#include "types.h"
#include "vain.h"

int buffer(const void *mem, MPI_Count count, MPI_Datatype datatype)
{
    const struct type *t = in_message(datatype);
    int class = MPI_SUCCESS;
    if (count < 0)
        class = MPI_ERR_COUNT;
    else if (!t) /* no elements need no datatype */
        class = count == 0 && datatype == MPI_DATATYPE_NULL ? MPI_SUCCESS : MPI_ERR_TYPE;
    else if (mem == MPI_IN_PLACE && count > 0)
        class = MPI_ERR_BUFFER;
    if (class != MPI_SUCCESS)
        tell_args(class, "bnt(buf, count, datatype)", (unsigned long[]){(uintptr_t)mem, count, (uintptr_t)datatype});
    return class;
}

/* missing tells that an argument is NULL. */
static int missing(const char *kind)
{
    tell_args(MPI_ERR_ARG, kind, (unsigned long[]){0});
    return MPI_ERR_ARG;
}

/* direct gives the bytes of a buffer that may take the shortest way; negative if it may not. The elements are of a
   predefined type in one piece, so they have at most 32 bytes. */
static inline int64_t direct(const void *mem, MPI_Count count, MPI_Datatype datatype)
{
    const struct type *t = type_of(datatype);
    if (!t || t->derived || !dense(t) || !mem || mem == MPI_IN_PLACE || count < 0 || count > INT64_MAX / 32)
        return -1;
    return count * t->size;
}

/* DIRECT makes a call of the shortest way, if that can be: the function ends there. */
#define DIRECT(condition, mem, count, datatype, call) \
    int64_t n = direct(mem, count, datatype); \
    if (__builtin_expect((condition) && n >= 0, 1)) { \
        class = call; \
        if (__builtin_expect(class != not_direct, 1)) \
            DONE; \
    }

static inline __attribute__((always_inline)) int send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int mode)
{
    START_FAST(comm);
    DIRECT(mode == mode_send, buf, count, datatype, golciSendBytes((void *)buf, n, dest, tag, c->place));
    class = buffer(buf, count, datatype);
    if (class == MPI_SUCCESS)
        class = golciSend((void *)buf, count, NUMBER(datatype), dest, tag, c->place, mode);
    DONE;
}

ABI_FAST(int, Send_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
    (buf, count, datatype, dest, tag, comm))
{
    return send(buf, count, datatype, dest, tag, comm, mode_send);
}

ABI_FAST(int, Ssend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
    (buf, count, datatype, dest, tag, comm))
{
    return send(buf, count, datatype, dest, tag, comm, mode_ssend);
}

ABI_FAST(int, Rsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm),
    (buf, count, datatype, dest, tag, comm))
{
    return send(buf, count, datatype, dest, tag, comm, mode_rsend);
}

static inline __attribute__((always_inline)) int isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int mode,
    MPI_Request *request)
{
    START_FAST(comm);
    DIRECT(mode == mode_send && request, buf, count, datatype,
        golciIsendBytes((void *)buf, n, dest, tag, c->place, NUMBERS(request)));
    class = request ? buffer(buf, count, datatype) : missing("p(request)");
    if (class == MPI_SUCCESS)
        class = golciIsend((void *)buf, count, NUMBER(datatype), dest, tag, c->place, mode,
            (uintptr_t *)request);
    DONE;
}

ABI_FAST(int, Isend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request),
    (buf, count, datatype, dest, tag, comm, request))
{
    return isend(buf, count, datatype, dest, tag, comm, mode_send, request);
}

ABI_FAST(int, Issend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request),
    (buf, count, datatype, dest, tag, comm, request))
{
    return isend(buf, count, datatype, dest, tag, comm, mode_ssend, request);
}

ABI_FAST(int, Irsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request),
    (buf, count, datatype, dest, tag, comm, request))
{
    return isend(buf, count, datatype, dest, tag, comm, mode_rsend, request);
}

ABI_FAST(int, Recv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status *status),
    (buf, count, datatype, source, tag, comm, status))
{
    START_FAST(comm);
    DIRECT(1, buf, count, datatype, golciRecvBytes(buf, n, source, tag, c->place, status));
    class = buffer(buf, count, datatype);
    if (class == MPI_SUCCESS)
        class = golciRecv((void *)buf, count, NUMBER(datatype), source, tag, c->place, status);
    DONE;
}

struct posts posts;
struct vain vain = {.turn = 1, .n = -1};

/* wait_in_c has a receive of n bytes wait for the next call of Go, and gives its request; 0: it must not. */
static inline int wait_in_c(const struct comm *c, void *buf, int64_t n, int source, int tag, MPI_Request *request)
{
    if (posts.n >= posts.room || n < 0 || n > posts.longest || (unsigned)source >= (unsigned)c->size || c->remote ||
        (unsigned)tag > (unsigned)posts.tags || !request)
        return 0;
    struct post *p = &posts.post[posts.n++];
    p->mem = buf;
    p->n = n;
    p->source = source;
    p->tag = tag;
    p->place = c->place;
    *request = (MPI_Request)p->request;
    return 1;
}

ABI_FAST(int, Irecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request),
    (buf, count, datatype, source, tag, comm, request))
{
    START_FAST(comm);
    if (wait_in_c(c, buf, direct(buf, count, datatype), source, tag, request))
        return MPI_SUCCESS;
    DIRECT(request, buf, count, datatype, golciIrecvBytes(buf, n, source, tag, c->place, NUMBERS(request)));
    class = request ? buffer(buf, count, datatype) : missing("p(request)");
    if (class == MPI_SUCCESS)
        class = golciIrecv((void *)buf, count, NUMBER(datatype), source, tag, c->place, (uintptr_t *)request);
    DONE;
}

ABI_FAST(int, Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status),
    (source, tag, comm, status))
{
    START_FAST(comm);
    class = golciProbe(source, tag, c->place, status);
    DONE;
}

ABI_FAST(int, Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
    (source, tag, comm, flag, status))
{
    START_FAST(comm);
    uint64_t what = vain_message(source, c->place);
    if (flag && in_vain(what, tag)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    class = flag ? golciIprobe(source, tag, c->place, flag, status) : missing("p(flag)");
    if (class == MPI_SUCCESS && !*flag)
        was_in_vain(what, tag);
    DONE;
}
