/* What the files of point to point share. */
#ifndef GOLCI_PT2PT_H
#define GOLCI_PT2PT_H

#include "calls.h"
#include "fail.h"

/* buffer checks a buffer. What only Go knows of derived datatypes it checks there. */
HIDDEN int buffer(const void *mem, MPI_Count count, MPI_Datatype datatype);

/* START begins a function on comm. It declares c and class. */
#define START(comm) \
    struct comm *c = comm_of(comm); \
    int class; \
    if (!c) \
    return bad_comm()

/* START_FAST is START of a function whose arguments nobody shows. */
#define START_FAST(comm) \
    struct comm *c = comm_of(comm); \
    int class; \
    if (__builtin_expect(!c, 0)) \
    return unknown_comm(comm)

/* DONE ends a function with the class of its error. */
#define DONE return __builtin_expect(class == MPI_SUCCESS, 1) ? MPI_SUCCESS : fail(c, class)

#define NUMBER(datatype) ((int)(intptr_t)(datatype))
#define NUMBERS(requests) ((uintptr_t *)(requests))

/* ended is fail for the communicator at a place, or for none where that is negative. */
HIDDEN int ended(int class, int at);

/* BEGIN begins a function on requests. The condition tells that its arguments are right. */
#define BEGIN(condition) \
    int at = -1, class; \
    if (!running()) \
        return fail(NULL, MPI_ERR_OTHER); \
    if (!(condition)) \
    return fail(NULL, MPI_ERR_ARG)

/* BEGIN_FAST is BEGIN of a function whose arguments nobody shows: it tells of them itself. See left. */
#define BEGIN_FAST(condition, kinds, ...) \
    int at = -1, class; \
    if (!running()) \
        return fail(NULL, MPI_ERR_OTHER); \
    if (!(condition)) { \
        tell_args(MPI_ERR_ARG, kinds, (unsigned long[]){__VA_ARGS__}); \
        return fail(NULL, MPI_ERR_ARG); \
    }

#endif
