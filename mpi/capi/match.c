/* Matched probes and receives (3.8.2 and 3.8.3 of the standard). */
#include "pt2pt.h"

ABI_BODY(int, Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
{
    int flag;
    START(comm);
    class = message ? golciMprobe(source, tag, c->place, 1, &flag, (uintptr_t *)message, status) : MPI_ERR_ARG;
    DONE;
}

ABI_BODY(int, Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
{
    START(comm);
    class = message && flag ? golciMprobe(source, tag, c->place, 0, flag, (uintptr_t *)message, status) : MPI_ERR_ARG;
    DONE;
}

/* room is buffer for what receives a message. A message from MPI_PROC_NULL has no data, so nothing of it is used. */
static int room(void *mem, MPI_Count count, MPI_Datatype datatype, MPI_Message message)
{
    return message == MPI_MESSAGE_NO_PROC ? MPI_SUCCESS : buffer(mem, count, datatype);
}

ABI_BODY(int, Mrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status))
{
    BEGIN(message);
    class = room(buf, count, datatype, *message);
    if (class == MPI_SUCCESS)
        class = golciMrecv(buf, count, NUMBER(datatype), (uintptr_t *)message, status, &at);
    return ended(class, at);
}

ABI_BODY(int, Imrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request))
{
    BEGIN(message && request);
    class = room(buf, count, datatype, *message);
    if (class == MPI_SUCCESS)
        class = golciImrecv(buf, count, NUMBER(datatype), (uintptr_t *)message, NUMBERS(request), &at);
    return ended(class, at);
}
