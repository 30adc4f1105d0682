/* The table of datatypes, for those who make them and end them. */
#ifndef GOLCI_TYPETABLE_H
#define GOLCI_TYPETABLE_H

#include "makers.h"

/* A datatype that is not predefined. */
struct entry {
    struct type type;
    unsigned handle; /* 0 of a free place */
    unsigned short turn; /* the generation */
    int permanent;       /* the program cannot free it */
};

/* entry_of is NULL if there is no such datatype, or it is predefined. */
HIDDEN struct entry *entry_of(MPI_Datatype datatype);

/* type_reserve gives the handle of a place that nobody uses, 0 if there is none. type_release gives it back. Until then
   entry_reserved is what it has. */
HIDDEN int type_reserve(void);
HIDDEN void type_release(int handle);
HIDDEN struct entry *entry_reserved(int handle);

#endif
