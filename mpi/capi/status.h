/* What a status has besides the three fields that programs see. */
#ifndef GOLCI_STATUS_H
#define GOLCI_STATUS_H

#include "abi.h"

#include <string.h>

/* Of MPI_internal the first two words are the bytes of the message, and the third tells that it was cancelled. Nothing
   there is aligned to eight bytes, so the bytes are copied. */
enum { status_bytes = 0, status_cancelled = 2 };

static inline MPI_Count get_bytes(const MPI_Status *s)
{
    MPI_Count bytes;
    memcpy(&bytes, &s->MPI_internal[status_bytes], sizeof(bytes));
    return bytes;
}

static inline void set_bytes(MPI_Status *s, MPI_Count bytes)
{
    memcpy(&s->MPI_internal[status_bytes], &bytes, sizeof(bytes));
}

#endif
