/* How datatypes are made: what C gives Go. */
#ifndef GOLCI_MAKERS_H
#define GOLCI_MAKERS_H

#include "types.h"

#include <stdint.h>

/* Numbers of the handles of datatypes that are not predefined: the first one, and the bits for their places. */
enum { null_type = 0x200, first_type = 4096, type_place_bits = 21, type_places = 1 << 17 };

/* A list of n numbers of the program, of int or of 64 bits. */
struct list {
    const void *mem;
    int wide;
};

/* The arguments of a constructor, in the order of the standard. */
struct maker {
    int by;            /* the combiner; match_size of MPI_Type_match_size, component of MPI_Type_get_contents */
    int large;         /* the form for large counts */
    MPI_Count n;       /* the first count, and how many numbers the lists have */
    MPI_Count args[3]; /* other numbers */
    struct list lists[4];
    const MPI_Datatype *types; /* n of a structure, else one; two of a pair */
    int permanent;             /* Go sets it: the program cannot free the new type */
};

enum { match_size = 1, component = 2 };

/* make_type gives the handle of the datatype that Go makes. It ends a function. */
HIDDEN int make_type(struct maker *m, MPI_Datatype *newtype);

/* type_drop frees a datatype without attributes, and sets the handle to MPI_DATATYPE_NULL. */
HIDDEN void type_drop(MPI_Datatype *datatype);

/* golciTypeMake makes a datatype and tells what C knows of it. handle is the number that it gets. It is changed, and
   the reserved one is not used, where there is such a type that nobody frees. */
HIDDEN int golciTypeMake(struct maker *m, int *handle, struct type *t);
HIDDEN void golciTypeFree(int datatype);
HIDDEN void golciTypeCommit(int datatype);

/* golciElements is how many basic elements a message of so many bytes has, MPI_UNDEFINED if the last one is not
   complete. golciElementBytes is how many bytes n basic elements have; it tells whether there is such a number. */
HIDDEN int64_t golciElements(int datatype, int64_t bytes);
HIDDEN int golciElementBytes(int datatype, int64_t n, MPI_Count *bytes);

/* How a datatype was made. contents fills arrays that have room. name gives the length of the name. */
HIDDEN void golciTypeEnvelope(int datatype, int64_t *n, int *combiner);
HIDDEN void golciTypeContents(int datatype, int *integers, MPI_Aint *addresses, MPI_Count *counts);
HIDDEN void golciTypeSetName(int datatype, char *name);
HIDDEN int golciTypeName(int datatype, char *name);

/* golciPack packs or unpacks, from position on, which it moves. */
enum { way_pack, way_unpack, way_external, way_from_external };
HIDDEN int golciPack(void *mem, int64_t count, int datatype, void *packed, int64_t size, MPI_Count *position, int way);
HIDDEN int64_t golciExternalSize(int64_t count, int datatype);

#endif
