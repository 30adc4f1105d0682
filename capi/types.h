/* What is known of datatypes without asking Go. */
#ifndef GOLCI_TYPES_H
#define GOLCI_TYPES_H

#include "abi.h"

/* Sizes are bytes. The data of predefined datatypes begin at their address. */
struct type {
    short size;
    short extent;      /* from one element to the next */
    short true_extent; /* without what only aligns the next element */
    short first;       /* of the first part of a pair; 0 of what is no pair */
};

/* type_of is NULL if there is no such datatype. */
HIDDEN const struct type *type_of(MPI_Datatype datatype);

#endif
