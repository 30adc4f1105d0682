/* The text of an error. */
#ifndef GOLCI_EXPLAIN_H
#define GOLCI_EXPLAIN_H

#include "abi.h"

/* explain writes the text of an error into MPI_MAX_ERROR_STRING bytes: its class, its cause, and the call with all
   arguments. See left for kinds and values. */
HIDDEN void explain(char *text, int class, const char *why, const char *name, const char *kinds,
    const unsigned long *values);

/* explain_wrong names the argument that makes an error of that class, and gives the length; 0 if none is seen to. */
HIDDEN int explain_wrong(char *text, size_t size, int class, const char *kinds, const unsigned long *values);

#endif
