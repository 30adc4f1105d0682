/* Sends in buffered mode, and the buffers for them (3.4 and 3.6 of the standard). */
#include "pt2pt.h"

ABI(int, Bsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
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

ABI(int, Ibsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return begin(buf, count, datatype, dest, tag, comm, request, 1);
}

ABI(int, Bsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request))
{
    return begin(buf, count, datatype, dest, tag, comm, request, 0);
}

/* NONE is the place of the rank's own buffer, which is of no communicator. */
enum { none = -1 };

static int attach(void *mem, MPI_Count size, struct comm *c)
{
    int class = size < 0 || (size > 0 && !mem) ? MPI_ERR_ARG : MPI_SUCCESS;
    if (class == MPI_SUCCESS)
        class = golciAttach(mem, size, mem == MPI_BUFFER_AUTOMATIC, c ? c->place : none);
    return class == MPI_SUCCESS ? class : fail(c, class);
}

/* The address of the program's variable is given. */
static int detach(void *variable, MPI_Count *size, struct comm *c)
{
    uintptr_t mem = 0;
    int class = variable && size ? golciDetach(&mem, size, c ? c->place : none) : MPI_ERR_ARG;
    if (class != MPI_SUCCESS)
        return fail(c, class);
    *(void **)variable = (void *)mem;
    return MPI_SUCCESS;
}

static int flush(MPI_Request *request, struct comm *c)
{
    int at = none, class = request ? golciFlush(NUMBERS(request), c ? c->place : none) : MPI_ERR_ARG;
    return class == MPI_SUCCESS ? class : c ? fail(c, class) : ended(class, at);
}

/* wait is for a request that nobody has seen. */
static int wait(int class, MPI_Request *request)
{
    return class == MPI_SUCCESS ? PMPI_Wait(request, MPI_STATUS_IGNORE) : class;
}

#define RUNNING \
    if (!running()) \
    return fail(NULL, MPI_ERR_OTHER)

#define COMM \
    struct comm *c = comm_of(comm); \
    if (!c) \
    return bad_comm()

/* to_int stores a size as an int. */
static int to_int(int class, MPI_Count n, int *size)
{
    if (class == MPI_SUCCESS)
        *size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
    return class;
}

ABI(int, Buffer_attach_c, (void *buffer, MPI_Count size))
{
    RUNNING;
    return attach(buffer, size, NULL);
}

ABI(int, Buffer_detach_c, (void *buffer_addr, MPI_Count *size))
{
    RUNNING;
    return detach(buffer_addr, size, NULL);
}

ABI(int, Buffer_detach, (void *buffer_addr, int *size))
{
    MPI_Count n = 0;
    int class;
    RUNNING;
    class = detach(buffer_addr, size ? &n : NULL, NULL);
    return to_int(class, n, size);
}

ABI(int, Buffer_iflush, (MPI_Request *request))
{
    RUNNING;
    return flush(request, NULL);
}

ABI(int, Buffer_flush, (void))
{
    MPI_Request request = MPI_REQUEST_NULL;
    RUNNING;
    return wait(flush(&request, NULL), &request);
}

ABI(int, Comm_attach_buffer_c, (MPI_Comm comm, void *buffer, MPI_Count size))
{
    COMM;
    return attach(buffer, size, c);
}

ABI(int, Comm_detach_buffer_c, (MPI_Comm comm, void *buffer_addr, MPI_Count *size))
{
    COMM;
    return detach(buffer_addr, size, c);
}

ABI(int, Comm_detach_buffer, (MPI_Comm comm, void *buffer_addr, int *size))
{
    MPI_Count n = 0;
    int class;
    COMM;
    class = detach(buffer_addr, size ? &n : NULL, c);
    return to_int(class, n, size);
}

ABI(int, Comm_iflush_buffer, (MPI_Comm comm, MPI_Request *request))
{
    COMM;
    return flush(request, c);
}

ABI(int, Comm_flush_buffer, (MPI_Comm comm))
{
    MPI_Request request = MPI_REQUEST_NULL;
    COMM;
    return wait(flush(&request, c), &request);
}
