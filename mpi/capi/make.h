/* How functions that make a communicator begin and end. */
#ifndef GOLCI_MAKE_H
#define GOLCI_MAKE_H

#include "fail.h"
#include "groups.h"

/* MAKE begins a function that makes a communicator. It declares c, n and class, and reserves a place. */
#define MAKE(handle, result) \
    struct comm *c = comm_of(handle); \
    struct newcomm n = {0}; \
    int class = MPI_SUCCESS; \
    if (!c) \
        return bad_comm(); \
    if (!(result)) \
        return no_result(c); \
    if ((n.place = comm_reserve()) < 0) \
    return fail(c, MPI_ERR_OTHER)

/* no_result has an error dealt with: there is no place for the result. */
HIDDEN int no_result(struct comm *c);

/* comm_finish ends such a function: it publishes the communicator that Go has made, as a child of c. */
HIDDEN int comm_finish(struct comm *c, struct newcomm *n, int class, MPI_Comm *newcomm);

#endif
