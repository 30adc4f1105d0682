/* What the C files call in Go, and what Go calls in them. None of it is seen from outside the library.

   Go gets communicators as places in the table of comms.c, and datatypes as the numbers of their handles. Buffers are
   memory of the program; their lengths are elements. Results are classes of errors. */
#ifndef GOLCI_CALLS_H
#define GOLCI_CALLS_H

#include "abi.h"

#include <stddef.h>
#include <stdint.h>

/* How a message is sent. The numbers are those of Go's table. */
enum mode { mode_send, mode_ssend, mode_rsend, mode_recv };

/* told keeps the text of an error for fail, which this thread is about to call. Go calls it. */
HIDDEN void told(const char *text, size_t n);

/* golciInit joins the job. It gives the rank and the number of ranks. */
HIDDEN int golciInit(int *rank, int *size);
/* The most processes of the job, and the number of the command that has started this one. */
HIDDEN int golciUniverse(void);
HIDDEN int golciAppNum(void);
HIDDEN int golciFinalize(void);
/* golciAbort ends the job with that exit code, and does not return. */
HIDDEN void golciAbort(int code, char *text, int64_t n);

/* Point to point. They fill status unless it is NULL, and give the request its handle. */
HIDDEN int golciSend(void *mem, int64_t count, int datatype, int dest, int tag, int comm, int mode);
HIDDEN int golciRecv(void *mem, int64_t count, int datatype, int source, int tag, int comm, MPI_Status *status);
HIDDEN int golciIsend(void *mem, int64_t count, int datatype, int dest, int tag, int comm, int mode,
    uintptr_t *request);
HIDDEN int golciIrecv(void *mem, int64_t count, int datatype, int source, int tag, int comm, uintptr_t *request);
HIDDEN int golciProbe(int source, int tag, int comm, MPI_Status *status);
HIDDEN int golciIprobe(int source, int tag, int comm, int *flag, MPI_Status *status);

/* The shortest way, for n bytes in one piece. Where the arguments need the other one the class is not_direct. */
enum { not_direct = -1 };
HIDDEN int golciSendBytes(void *mem, int64_t n, int dest, int tag, int comm);
HIDDEN int golciRecvBytes(void *mem, int64_t n, int source, int tag, int comm, MPI_Status *status);
HIDDEN int golciIsendBytes(void *mem, int64_t n, int dest, int tag, int comm, uintptr_t *request);
HIDDEN int golciIrecvBytes(void *mem, int64_t n, int source, int tag, int comm, uintptr_t *request);

/* Matched probes, which take messages. flag tells whether there is one. */
HIDDEN int golciMprobe(int source, int tag, int comm, int wait, int *flag, uintptr_t *message, MPI_Status *status);
HIDDEN int golciMrecv(void *mem, int64_t count, int datatype, uintptr_t *message, MPI_Status *status, int *at);
HIDDEN int golciImrecv(void *mem, int64_t count, int datatype, uintptr_t *message, uintptr_t *request, int *at);

/* A send and a receive together. */
struct exchange {
    void *out, *in;
    int replace; /* the receive replaces what is sent: both are one */
    int64_t sent, room;
    int sendtype, dest, sendtag, recvtype, source, recvtag;
};
HIDDEN int golciExchange(struct exchange *x, int comm, MPI_Status *status);
HIDDEN int golciIexchange(struct exchange *x, int comm, uintptr_t *request);

/* Persistent requests. */
HIDDEN int golciPersist(void *mem, int64_t count, int datatype, int peer, int tag, int comm, int mode,
    uintptr_t *request);
HIDDEN int golciStart(int n, uintptr_t *requests, int *at);

/* Sends in buffered mode. The buffer is that of a communicator, or of the process where comm is negative. */
HIDDEN int golciBsend(void *mem, int64_t count, int datatype, int dest, int tag, int comm);
HIDDEN int golciBsendInit(void *mem, int64_t count, int datatype, int dest, int tag, int comm, int start,
    uintptr_t *request);
HIDDEN int golciAttach(void *mem, int64_t size, int automatic, int comm, uintptr_t session);
HIDDEN int golciDetach(uintptr_t *mem, int64_t *size, int comm, uintptr_t session);
HIDDEN int golciFlush(uintptr_t *request, int comm, uintptr_t session);

/* Partitioned requests. count is the elements of all partitions. */
HIDDEN int golciPart(void *mem, int64_t count, int parts, int datatype, int peer, int tag, int comm, int send,
    uintptr_t *request);
HIDDEN int golciPready(uintptr_t request, int first, int last, int *at);
HIDDEN int golciParrived(uintptr_t request, int part, int *flag, int *at);

/* null_request is MPI_REQUEST_NULL. done_request is the request of each send that had left when its function returned.
   It is no handle of the ABI, and below those of golci. */
enum { null_request = 0x180, done_request = 0xfff };

/* Requests: arrays of n, whose handles become null when they are done. Functions with at give the place of the
   communicator of a request that has failed, or of one that is none, where that is -1. */
HIDDEN int golciWait(uintptr_t *request, MPI_Status *status, int *at);
HIDDEN int golciTest(uintptr_t *request, int *flag, MPI_Status *status, int *at);
/* golciPeek is golciTest that leaves the request. The next three are like it. */
HIDDEN int golciPeek(uintptr_t request, int *flag, MPI_Status *status, int *at);
HIDDEN int golciPeekAll(int n, uintptr_t *requests, int *flag, MPI_Status *statuses, int *at);
HIDDEN int golciPeekAny(int n, uintptr_t *requests, int *index, int *flag, MPI_Status *status, int *at);
HIDDEN int golciPeekSome(int n, uintptr_t *requests, int *done, int *indices, MPI_Status *statuses, int *at);
HIDDEN int golciCancel(uintptr_t *request);
HIDDEN int golciRequestFree(uintptr_t *request);
HIDDEN int golciAll(int n, uintptr_t *requests, int wait, int *flag, MPI_Status *statuses, int *at);
HIDDEN int golciAny(int n, uintptr_t *requests, int wait, int *index, int *flag, MPI_Status *status, int *at);
HIDDEN int golciSome(int n, uintptr_t *requests, int wait, int *done, int *indices, MPI_Status *statuses, int *at);

/* The end of communicators; groups.h has their beginning. */
HIDDEN int golciFree(int comm);
HIDDEN int golciCompare(int a, int b, int *result);

/* Collectives, by the numbers of package core. */
enum kind {
    kind_barrier, kind_bcast, kind_gather, kind_gatherv, kind_scatter, kind_scatterv, kind_allgather, kind_allgatherv,
    kind_alltoall, kind_alltoallv, kind_alltoallw, kind_reduce, kind_allreduce, kind_reduce_scatter,
    kind_reduce_scatter_block, kind_scan, kind_exscan, kind_neighbor_allgather, kind_neighbor_allgatherv,
    kind_neighbor_alltoall, kind_neighbor_alltoallv, kind_neighbor_alltoallw
};

/* MPI_IN_PLACE as a number. */
enum { in_place = 1 };

/* A buffer of a collective as the program gives it. What the function does not have is 0. */
struct side {
    void *mem;
    int64_t n;
    const void *counts, *displs; /* one for each part: int, or 64 bits where they are wide */
    int wide_counts, wide_displs;
    MPI_Datatype type;
    const MPI_Datatype *types;
};

/* A call of a collective. */
struct coll {
    int kind, comm, root;
    MPI_Op op;
    struct side in, out;
};

HIDDEN int golciColl(struct coll *call);
HIDDEN int golciCollStart(struct coll *call, uintptr_t *request);
HIDDEN int golciCollInit(struct coll *call, uintptr_t *request);
HIDDEN int golciReduceLocal(struct coll *call);

/* Operations. function is the program's. */
HIDDEN int golciOpCreate(void *function, int large, int commutes, uintptr_t *op);
HIDDEN int golciOpFree(uintptr_t *op);
HIDDEN int golciOpCommutative(uintptr_t op, int *commutes);

#endif
