/* Partitioned communication (4 of the standard). */
#include "pt2pt.h"

static int part_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int peer, int tag,
    MPI_Comm comm, int send, MPI_Request *request)
{
    MPI_Count all;
    START(comm);
    class = !request || partitions < 0 ? MPI_ERR_ARG : buffer(buf, count, datatype);
    if (class == MPI_SUCCESS && __builtin_mul_overflow(count, partitions, &all))
        class = MPI_ERR_COUNT;
    if (class == MPI_SUCCESS)
        class = golciPart((void *)buf, all, partitions, NUMBER(datatype), peer, tag, c->place, send, NUMBERS(request));
    DONE;
}

ABI_BODY(int, Psend_init, (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Info info, MPI_Request *request))
{
    return part_init(buf, partitions, count, datatype, dest, tag, comm, 1, request);
}

ABI_BODY(int, Precv_init, (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Info info, MPI_Request *request))
{
    return part_init(buf, partitions, count, datatype, dest, tag, comm, 0, request);
}

ABI_BODY(int, Pready, (int partition, MPI_Request request))
{
    BEGIN(1);
    class = golciPready((uintptr_t)request, partition, partition, &at);
    return ended(class, at);
}

ABI_BODY(int, Pready_range, (int partition_low, int partition_high, MPI_Request request))
{
    BEGIN(1);
    class = golciPready((uintptr_t)request, partition_low, partition_high, &at);
    return ended(class, at);
}

ABI_BODY(int, Pready_list, (int length, const int array_of_partitions[], MPI_Request request))
{
    BEGIN(length >= 0 && (array_of_partitions || length == 0));
    class = MPI_SUCCESS;
    for (int i = 0; i < length && class == MPI_SUCCESS; i++)
        class = golciPready((uintptr_t)request, array_of_partitions[i], array_of_partitions[i], &at);
    return ended(class, at);
}

ABI_BODY(int, Parrived, (MPI_Request request, int partition, int *flag))
{
    BEGIN(flag);
    class = golciParrived((uintptr_t)request, partition, flag, &at);
    return ended(class, at);
}
