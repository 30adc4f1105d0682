/* What is known of datatypes without asking Go. */
#ifndef GOLCI_TYPES_H
#define GOLCI_TYPES_H

#include "abi.h"

/* Sizes are bytes. */
struct type {
    MPI_Count size;
    MPI_Count extent;      /* from one element to the next */
    MPI_Count true_extent; /* without what only aligns the next element */
    MPI_Count first;       /* of the first part of a pair; 0 of what is no pair */
    MPI_Count lb, true_lb; /* where an element and its data begin; 0 of predefined types */
    int derived;           /* Go knows how many basic elements some bytes are */
    int sparse;            /* derived, and its data are not one piece with the next element behind it */
    int open;              /* not committed */
};

/* type_of is NULL if there is no such datatype. */
HIDDEN const struct type *type_of(MPI_Datatype datatype);

/* in_message is type_of a datatype that may be used in messages: NULL if it is not committed. */
HIDDEN const struct type *in_message(MPI_Datatype datatype);

/* dense tells that elements are bytes in one piece. */
static inline int dense(const struct type *t) { return t->size == t->extent && !t->sparse; }

#endif
