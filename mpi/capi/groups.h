/* What the C files of groups and of the making of communicators call in Go. Handles of groups are numbers, communicators
   are places in the table of comms.c. Results are classes of errors. */
#ifndef GOLCI_GROUPS_H
#define GOLCI_GROUPS_H

#include "abi.h"

#include <stddef.h>
#include <stdint.h>

enum { null_group = 0x108, empty_group = 0x109 }; /* MPI_GROUP_NULL, MPI_GROUP_EMPTY */

HIDDEN int golciGroupSize(uintptr_t group, int *size);
HIDDEN int golciGroupRank(uintptr_t group, int *rank);
HIDDEN int golciGroupTranslate(uintptr_t from, int n, int *ranks, uintptr_t to, int *found);
HIDDEN int golciGroupCompare(uintptr_t a, uintptr_t b, int *result);
HIDDEN int golciGroupFree(uintptr_t group);

enum combine { combine_union, combine_intersection, combine_difference };
HIDDEN int golciGroupCombine(int how, uintptr_t a, uintptr_t b, uintptr_t *made);

/* ranks has n ranks, or n triplets. */
enum pick { pick_incl, pick_excl, pick_range_incl, pick_range_excl };
HIDDEN int golciGroupPick(int how, uintptr_t group, int n, int *ranks, uintptr_t *made);

/* The own group of a communicator, or the other one. */
HIDDEN int golciCommGroup(int comm, int remote, uintptr_t *group);

/* A communicator that is being made. place is where it goes; Go fills the rest, unless the rank gets none. */
struct newcomm {
    int place, made, rank, size;
    int remote; /* ranks of the other group; 0 without one */
};

HIDDEN int golciDup(int comm, struct newcomm *n);
HIDDEN int golciIdup(int comm, struct newcomm *n, uintptr_t *request);
HIDDEN int golciSplit(int comm, int color, int key, struct newcomm *n);
HIDDEN int golciSplitType(int comm, int type, int key, uintptr_t info, struct newcomm *n);
HIDDEN int golciCreate(int comm, uintptr_t group, struct newcomm *n);
HIDDEN int golciCreateGroup(int comm, uintptr_t group, int tag, struct newcomm *n);
HIDDEN int golciCreateInter(int comm, int leader, int peer, int remote, int tag, struct newcomm *n);
HIDDEN int golciMerge(int comm, int high, struct newcomm *n);

/* Names and hints. */
HIDDEN int golciSetName(int comm, char *name);
HIDDEN int golciName(int comm, char *name, int *n);
HIDDEN int golciSetHints(int comm, uintptr_t info);
HIDDEN int golciHints(int comm, uintptr_t *info);

#endif
