/* Buffers for buffered sends (3.6 of the standard): of the communicator at a place, else of the session that Go has
   under that number, else of the rank. All give the class of the error. */
#ifndef GOLCI_BUFFERED_H
#define GOLCI_BUFFERED_H

#include "abi.h"

#include <stdint.h>

enum { no_comm = -1 };

HIDDEN int buffer_attach(void *mem, MPI_Count size, int comm, uintptr_t session);

/* The address of the program's variable is given. */
HIDDEN int buffer_detach(void *variable, MPI_Count *size, int comm, uintptr_t session);

/* buffer_detach_int gives MPI_UNDEFINED for a size that is too large. */
HIDDEN int buffer_detach_int(void *variable, int *size, int comm, uintptr_t session);
HIDDEN int buffer_iflush(MPI_Request *request, int comm, uintptr_t session);
HIDDEN int buffer_flush(int comm, uintptr_t session);

#endif
