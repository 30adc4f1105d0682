/* Windows whose memory C reaches.

   Where all ranks of a window reach the memory of all by loads and stores, a put or a get is a copy. Go tells C where
   that memory is. So a put or a get of elements of a predefined type in one piece, in an epoch for its target, costs no
   call of Go. All else is left to Go, which also tells what is wrong. */
#ifndef GOLCI_REACH_H
#define GOLCI_REACH_H

#include "types.h"

#include <stdint.h>

enum { reach_windows = 64, reach_flushes = 64 };

/* The memory of a rank. */
struct reach_part {
    char *mem;
    int64_t size, unit; /* bytes; of displacements */
};

/* A window has a place from when it is made until it is freed, so nobody else writes it while calls use the window. */
HIDDEN extern struct reach {
    uintptr_t win;        /* the handle; 0: the place is free */
    const int64_t *open;  /* what the epoch allows, in memory of Go: Window.Open of package win */
    unsigned ranks, flushes;
    struct reach_part *part;
} reach[reach_windows];

/* reach_of is NULL if C does not reach the window. */
static inline struct reach *reach_of(uintptr_t win)
{
    struct reach *w = &reach[win % reach_windows];
    return __atomic_load_n(&w->win, __ATOMIC_ACQUIRE) == win && win ? w : NULL;
}

/* reach_open tells whether the epoch allows accesses to a rank: passive target ones, or any. -1: to all ranks. */
static inline int reach_open(const struct reach *w, int rank, int passive)
{
    int64_t open = __atomic_load_n(w->open, __ATOMIC_ACQUIRE), target = (open >> 1) - 2;
    return (target == -1 || target == rank) && (open & 1 || !passive);
}

/* reach_place is where n elements are at a rank; NULL: Go is to be asked. */
static inline void *reach_place(uintptr_t win, int rank, MPI_Aint disp, MPI_Count n, MPI_Datatype datatype,
    size_t *bytes)
{
    const struct reach *w = reach_of(win);
    const int64_t most = (int64_t)1 << 40;
    const struct reach_part *p;
    const struct type *t;
    int64_t at;
    if (!w || rank < 0 || (unsigned)rank >= w->ranks || !reach_open(w, rank, 0) || disp < 0 || n <= 0 || n > most)
        return NULL;
    p = &w->part[rank];
    t = in_message(datatype);
    if (!t || t->derived || !dense(t) || disp > most || p->unit > 1 << 20)
        return NULL;
    at = disp * p->unit;
    *bytes = (size_t)(n * t->size);
    return at <= p->size && (int64_t)*bytes <= p->size - at ? p->mem + at : NULL;
}

#endif
