/* What the C files call in Go, and what Go calls in them. None of it is seen from outside the library.

   Go gets communicators as places in the table of comms.c. Buffers are memory of the program; their lengths are bytes
   or, of collectives, elements. Results are classes of errors. */
#ifndef GOLCI_CALLS_H
#define GOLCI_CALLS_H

#include "abi.h"

#include <stddef.h>
#include <stdint.h>

/* How a message is sent. The numbers are those of Go's table. */
enum mode { mode_send, mode_ssend, mode_rsend };

/* told keeps the text of an error for fail, which this thread is about to call. Go calls it. */
HIDDEN void told(const char *text, size_t n);

/* golciInit joins the job. It gives the rank and the number of ranks. */
HIDDEN int golciInit(int *rank, int *size);
HIDDEN int golciFinalize(void);
/* golciAbort ends the job with that exit code, and does not return. */
HIDDEN void golciAbort(int code, char *text, int64_t n);

/* Point to point. They fill status unless it is NULL, and give the request its handle. */
HIDDEN int golciSend(void *mem, int64_t bytes, int datatype, int dest, int tag, int comm, int mode);
HIDDEN int golciRecv(void *mem, int64_t bytes, int datatype, int source, int tag, int comm, MPI_Status *status);
HIDDEN int golciIsend(void *mem, int64_t bytes, int datatype, int dest, int tag, int comm, int mode,
    uintptr_t *request);
HIDDEN int golciIrecv(void *mem, int64_t bytes, int datatype, int source, int tag, int comm, uintptr_t *request);
HIDDEN int golciProbe(int source, int tag, int comm, MPI_Status *status);
HIDDEN int golciIprobe(int source, int tag, int comm, int *flag, MPI_Status *status);

enum { null_request = 0x180 }; /* MPI_REQUEST_NULL */

/* Requests: arrays of n, whose handles become null when they are done. Functions with at give the place of the
   communicator of a request that has failed, or of one that is none, where that is -1. */
HIDDEN int golciWait(uintptr_t *request, MPI_Status *status, int *at);
HIDDEN int golciTest(uintptr_t *request, int *flag, MPI_Status *status, int *at);
HIDDEN int golciCancel(uintptr_t *request);
HIDDEN int golciRequestFree(uintptr_t *request);
HIDDEN int golciAll(int n, uintptr_t *requests, int wait, int *flag, MPI_Status *statuses, int *at);
HIDDEN int golciAny(int n, uintptr_t *requests, int wait, int *index, int *flag, MPI_Status *status, int *at);
HIDDEN int golciSome(int n, uintptr_t *requests, int wait, int *done, int *indices, MPI_Status *statuses, int *at);

/* Making communicators. place is where the new one goes. */
HIDDEN int golciDup(int comm, int place);
HIDDEN int golciSplit(int comm, int color, int key, int place, int *rank, int *size);
HIDDEN int golciFree(int comm);
HIDDEN int golciCompare(int a, int b, int *result);

/* Collectives. */
enum kind {
    kind_barrier, kind_bcast, kind_reduce, kind_allreduce, kind_gather, kind_gatherv, kind_scatter, kind_scatterv,
    kind_allgather, kind_allgatherv, kind_alltoall, kind_alltoallv
};

/* Counts and displacements of the parts of a buffer, one for each rank. The arrays are of int, or of 64 bits where they
   are wide. */
struct parts {
    void *counts, *displs;
};

/* A call of a collective. Both buffers have elements of the one size. What a function does not have is 0. */
struct call {
    int kind, comm, root, op;
    int datatype, size; /* bytes of an element */
    int in_place;       /* of in; of out where the root scatters */
    int wide;
    void *in, *out;
    int64_t ins, outs; /* elements */
    struct parts in_parts, out_parts;
};

HIDDEN int golciCollective(struct call *call);

#endif
