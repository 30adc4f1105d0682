/* What is known of communicators without asking Go. */
#ifndef GOLCI_COMMS_H
#define GOLCI_COMMS_H

#include "abi.h"

/* A communicator of the program. place, rank and size do not change while it lives. */
struct comm {
    _Atomic unsigned handle; /* its number; 0 of a free place */
    _Atomic(MPI_Errhandler) handler;
    int place; /* in the table, and in Go's */
    int rank, size;
};

/* Places of the predefined communicators. */
enum { world_place, self_place };

/* How many there can be at once. */
enum { comm_places = 1 << 15 };

/* comm_of is NULL if there is no such communicator. So it is before MPI_Init and after MPI_Finalize. */
HIDDEN struct comm *comm_of(MPI_Comm comm);

/* comm_at is the communicator at a place that is in use. */
HIDDEN struct comm *comm_at(int place);

/* comms_begin makes the predefined communicators, comms_end ends them. */
HIDDEN void comms_begin(int rank, int size);
HIDDEN void comms_end(void);

/* fail has the handler of c deal with an error, and returns its class if the handler lets the program go on. c is NULL
   if the error is of no communicator. */
HIDDEN int fail(struct comm *c, int class);

/* bad_comm is fail for a handle that is no communicator. */
HIDDEN int bad_comm(void);

/* running tells whether the program is between MPI_Init and MPI_Finalize. */
HIDDEN int running(void);

#endif
