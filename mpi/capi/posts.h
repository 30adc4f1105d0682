/* Receives that C has taken in and not given to Go yet.

   A call of Go costs as much as a message. So short receives from a rank wait here, at most until the next call of Go:
   each function in Go that may look at requests or wait begins with them (begun in posts.go). Nobody sees the
   difference but a sender that needs the receive posted: it may wait for that call. This is done only in programs
   that have asked for less than MPI_THREAD_MULTIPLE, so one thread at a time is here. */
#ifndef GOLCI_POSTS_H
#define GOLCI_POSTS_H

#include "abi.h"

#include <stdint.h>

struct post {
    void *mem;
    int64_t n; /* bytes */
    int source, tag;
    int place; /* of the communicator */
    uintptr_t request; /* its handle, which Go has set beforehand */
};

enum { posts_most = 64 };

/* The program's thread that is in a call owns it, in C and in Go. */
HIDDEN extern struct posts {
    int n; /* how many wait */
    int room; /* how many may wait; 0: none */
    int tags; /* the largest tag */
    int64_t longest; /* bytes of a receive that may wait */
    struct post post[posts_most];
} posts;

/* golciPosts lets receives wait. */
HIDDEN int golciPosts(void);

/* posts_end has receives not wait any more, from the next call of Go on. */
static inline void posts_end(void) { posts.room = 0; }

#endif
