/* What C knows of requests and messages, to do without calls of Go.

   A look of the program (MPI_Test, MPI_Iprobe and their like) that finds nothing costs a call of Go. What comes to this
   rank shows in words of memory that ranks of a node share. If Go has found nothing, and these words have not changed
   since, the same look finds nothing again. After vain_looks such looks comes one of Go, which polls. It sees all else
   that ends requests, such as the death of a peer.

   A poll of Go may end several receives. Go tells C their statuses, so C ends these requests without a call of Go.

   This is done only in programs that have asked for less than MPI_THREAD_MULTIPLE, so one thread at a time is here. */
#ifndef GOLCI_VAIN_H
#define GOLCI_VAIN_H

#include "posts.h"

#include <time.h>

enum { vain_words = 64, vain_things = 256, vain_looks = 127, vain_spin = 128 };

struct thing {
    uint64_t what;
    int tag;
    unsigned turn;
    int looks; /* that C may still answer */
    int ended; /* the request is done, with status and no error: C may end it */
    uint32_t done; /* what the word at state holds when the request is done */
    uintptr_t state; /* where that word is, in memory of Go that the request keeps; 0: turn tells whether to look */
    MPI_Status status;
};

/* The program's thread that is in a call owns it, in C and in Go. */
HIDDEN extern struct vain {
    int on; /* looks may be answered in C */
    unsigned turn; /* goes on when something may have been done: what was looked at before is to be looked at again */
    int n; /* words; negative: what comes may show elsewhere */
    uint64_t last, at; /* what was looked at last, and when */
    int spins; /* the program does nothing but look at that */
    int taken; /* requests that C has ended and Go has not */
    uintptr_t take[vain_things];
    struct {
        const uint64_t *at;
        uint64_t held; /* while nothing comes */
    } word[vain_words];
    struct thing thing[vain_things]; /* what was not done when Go looked last, by hash */
} vain;

/* What is looked at: a request by its handle, several by a hash, a message by source, communicator and tag. */
static inline uint64_t vain_message(int source, int place)
{
    return 1ull << 63 | (uint64_t)place << 32 | (uint32_t)source;
}

static inline uint64_t vain_several(int count, const uintptr_t requests[], int kind)
{
    uint64_t h = (uint64_t)kind;
    for (int i = 0; i < count; i++) {
        h = (h ^ requests[i]) * 0x9e3779b97f4a7c15;
        h ^= h >> 32;
    }
    return (h | 1ull << 62) & ~(1ull << 63);
}

static inline unsigned vain_place(uint64_t what, int tag)
{
    return (unsigned)(what ^ what >> 32 ^ (unsigned)tag) % vain_things;
}

/* vain_ticks is a clock whose unit is about a third of a ns, or a ns. */
static inline uint64_t vain_ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
#endif
}

/* spins tells that the program does nothing but look at one thing: it did so right before. Then looks are left to Go. A
   call of Go that is under way when a message comes has its beginning behind it, so what comes is seen sooner. */
static inline int spins(uint64_t what)
{
    uint64_t now = vain_ticks(), before = vain.at;
    int same = what == vain.last;
    vain.last = what;
    vain.at = now;
    return vain.spins = same && now - before < vain_spin;
}

/* in_vain tells that a look would find nothing. */
static inline int in_vain(uint64_t what, int tag)
{
    struct thing *t = &vain.thing[vain_place(what, tag)];
    if (t->what != what || t->tag != tag || spins(what) || t->looks == 0 || vain.n < 0)
        return 0;
    if (t->state ? __atomic_load_n((const uint32_t *)t->state, __ATOMIC_ACQUIRE) == t->done : t->turn != vain.turn)
        return 0;
    for (int k = 0; k < vain.n; k++)
        if (__atomic_load_n(vain.word[k].at, __ATOMIC_ACQUIRE) != vain.word[k].held)
            return 0;
    t->looks--;
    return 1;
}

/* has_ended tells that C may end a request. */
static inline int has_ended(uintptr_t request)
{
    struct thing *t = &vain.thing[vain_place(request, 0)];
    return vain.on && t->ended && t->what == request;
}

/* end_in_c ends a request that has_ended tells of. Its place in Go is freed by the next call of Go. */
static inline void end_in_c(uintptr_t request, MPI_Status *status)
{
    struct thing *t = &vain.thing[vain_place(request, 0)];
    if (status != MPI_STATUS_IGNORE) {
        int error = status->MPI_ERROR; /* 3.2.5 */
        *status = t->status;
        status->MPI_ERROR = error;
    }
    t->what = 0;
    t->ended = 0;
    vain.take[vain.taken++] = request;
}

/* was_in_vain notes that Go has found nothing. Of a request Go has noted that itself if it has a word for its state. */
static inline void was_in_vain(uint64_t what, int tag)
{
    struct thing *t = &vain.thing[vain_place(what, tag)];
    if (!vain.on)
        return;
    if (t->what != what || t->tag != tag || !t->state)
        *t = (struct thing){.what = what, .tag = tag, .turn = vain.turn};
    t->looks = vain_looks;
    vain.last = what;
    vain.at = vain_ticks();
}

/* vain_end has each look be one of Go. */
static inline void vain_end(void)
{
    vain.on = 0;
    vain.n = -1;
}

#endif
