/* Sends in buffered mode, and the buffers for them (3.4 and 3.6 of the standard). */
#include "pt2pt.h"
#include "buffered.h"

ABI_BODY(int, Bsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
{
    START(comm);
    class = buffer(buf, count, datatype);
    if (class == MPI_SUCCESS)
        class = golciBsend((void *)buf, count, NUMBER(datatype), dest, tag, c->place);
    DONE;
}

static int begin(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request, int start)
{
    START(comm);
    class = request ? buffer(buf, count, datatype) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        class = golciBsendInit((void *)buf, count, NUMBER(datatype), dest, tag, c->place, start, NUMBERS(request));
    DONE;
}

ABI_BODY(int, Ibsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return begin(buf, count, datatype, dest, tag, comm, request, 1);
}

ABI_BODY(int, Bsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return begin(buf, count, datatype, dest, tag, comm, request, 0);
}

int buffer_attach(void *mem, MPI_Count size, int comm, uintptr_t session)
{
    if (size < 0 || (size > 0 && !mem))
        return MPI_ERR_ARG;
    return golciAttach(mem, size, mem == MPI_BUFFER_AUTOMATIC, comm, session);
}

int buffer_detach(void *variable, MPI_Count *size, int comm, uintptr_t session)
{
    uintptr_t mem = 0;
    int64_t n = 0;
    int class = variable && size ? golciDetach(&mem, &n, comm, session) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS) {
        *(void **)variable = (void *)mem;
        *size = n;
    }
    return class;
}

int buffer_detach_int(void *variable, int *size, int comm, uintptr_t session)
{
    MPI_Count n = 0;
    int class = buffer_detach(variable, size ? &n : NULL, comm, session);
    if (class == MPI_SUCCESS)
        *size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
    return class;
}

int buffer_iflush(MPI_Request *request, int comm, uintptr_t session)
{
    return request ? golciFlush(NUMBERS(request), comm, session) : MPI_ERR_ARG;
}

int buffer_flush(int comm, uintptr_t session)
{
    MPI_Request request = MPI_REQUEST_NULL; /* nobody has seen it */
    int class = golciFlush(NUMBERS(&request), comm, session);
    return class == MPI_SUCCESS ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : class;
}

/* The rank's own buffer. */
#define RANK(call) \
    if (!running()) \
        return fail(NULL, MPI_ERR_OTHER); \
    int class = call; \
    return class == MPI_SUCCESS ? class : fail(NULL, class)

ABI_BODY(int, Buffer_attach_c, (void *buffer, MPI_Count size)) { RANK(buffer_attach(buffer, size, no_comm, 0)); }

ABI_BODY(int, Buffer_detach_c, (void *buffer_addr, MPI_Count *size)) { RANK(buffer_detach(buffer_addr, size, no_comm, 0)); }

ABI_BODY(int, Buffer_detach, (void *buffer_addr, int *size)) { RANK(buffer_detach_int(buffer_addr, size, no_comm, 0)); }

ABI_BODY(int, Buffer_iflush, (MPI_Request *request)) { RANK(buffer_iflush(request, no_comm, 0)); }

ABI_BODY(int, Buffer_flush, (void)) { RANK(buffer_flush(no_comm, 0)); }

/* That of a communicator. */
#define COMM(call) \
    struct comm *c = comm_of(comm); \
    if (!c) \
        return bad_comm(); \
    int class = call; \
    return class == MPI_SUCCESS ? class : fail(c, class)

ABI_BODY(int, Comm_attach_buffer_c, (MPI_Comm comm, void *buffer, MPI_Count size))
{
    COMM(buffer_attach(buffer, size, c->place, 0));
}

ABI_BODY(int, Comm_detach_buffer_c, (MPI_Comm comm, void *buffer_addr, MPI_Count *size))
{
    COMM(buffer_detach(buffer_addr, size, c->place, 0));
}

ABI_BODY(int, Comm_detach_buffer, (MPI_Comm comm, void *buffer_addr, int *size))
{
    COMM(buffer_detach_int(buffer_addr, size, c->place, 0));
}

ABI_BODY(int, Comm_iflush_buffer, (MPI_Comm comm, MPI_Request *request)) { COMM(buffer_iflush(request, c->place, 0)); }

ABI_BODY(int, Comm_flush_buffer, (MPI_Comm comm)) { COMM(buffer_flush(c->place, 0)); }
