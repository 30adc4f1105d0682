/* What happens to errors (9.3 of the standard). All files above the tables of handles use it. */
#ifndef GOLCI_FAIL_H
#define GOLCI_FAIL_H

#include "comms.h"
#include "state.h"

/* fail has the handler of c deal with an error when the function leaves the library, and returns its class. c is NULL
   if the error is of no communicator. */
HIDDEN int fail(struct comm *c, int class);

/* fail_with is fail of any object: its handler, and the address of its handle. */
HIDDEN int fail_with(MPI_Errhandler handler, const void *object, int class);

/* error_last is the text of the last error of this thread if that was of this class; NULL if it was another one. */
HIDDEN const char *error_last(int class);

/* bad_comm is fail for a handle that is no communicator. */
HIDDEN int bad_comm(void);
/* unknown_comm is bad_comm that tells the handle. */
HIDDEN int unknown_comm(MPI_Comm comm);

/* tell_args tells which argument makes an error of that class, and nothing where that is not seen. See left. */
HIDDEN void tell_args(int class, const char *kinds, const unsigned long *values);

/* fail_if_running is fail where there is a handler, else the class. */
HIDDEN int fail_if_running(int class);

/* call_noted calls the handler that fail or fail_with has noted, if there is one, with the text of an error. */
HIDDEN void call_noted(int code, const char *text);

/* unsupported is what the functions without a body do. */
HIDDEN int unsupported(void);

#endif
