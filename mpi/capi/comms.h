/* What is known of communicators without asking Go. */
#ifndef GOLCI_COMMS_H
#define GOLCI_COMMS_H

#include "abi.h"

/* A communicator of the program. What has no note does not change while it lives. */
struct comm {
    _Atomic unsigned handle; /* its number; 0 of a free place */
    _Atomic(MPI_Errhandler) handler; /* may be set at any time */
    int place; /* in the table, and in Go's */
    int rank, size;
    int remote; /* ranks of the other group; 0 of a communicator of one group */
};

/* Places of the predefined communicators. */
enum { world_place, self_place };

/* How many there can be at once. */
enum { comm_places = 1 << 15 };

/* comm_of is NULL if there is no such communicator. So it is before MPI_Init and after MPI_Finalize. */
HIDDEN struct comm *comm_of(MPI_Comm comm);

/* comm_at is the communicator at a place that is in use. */
HIDDEN struct comm *comm_at(int place);

/* comm_reserve gives a place that nobody uses, -1 if there is none. comm_release gives it back. */
HIDDEN int comm_reserve(void);
HIDDEN void comm_release(int place);

/* comm_made publishes a communicator at its place, as a child of parent, and gives its handle. */
HIDDEN MPI_Comm comm_made(const struct comm *parent, int place, int rank, int size, int remote);

/* comm_fill sets rank and size of a communicator that comm_made has published without. comm_unpublish takes the handle of
   one back that has come to nothing. */
HIDDEN void comm_fill(int place, int rank, int size);
HIDDEN void comm_unpublish(struct comm *c);

/* comm_unmade frees a communicator without attributes, and gives the class of the error. */
HIDDEN int comm_unmade(struct comm *c);

/* comms_begin makes the predefined communicators, comms_end ends them. */
HIDDEN void comms_begin(int rank, int size);
HIDDEN void comms_end(void);
/* comms_forget ends all in a child of fork, which has no other thread. Their handlers stay. */
HIDDEN void comms_forget(void);

#endif
