/* Where the process is between its first call and its last. All files may ask; world.c and sessions.c change it. */
#ifndef GOLCI_STATE_H
#define GOLCI_STATE_H

#include "abi.h"

#include <stdatomic.h>

/* The life of the world only goes up. A child of fork has the last state from its beginning. */
enum { world_before, world_starting, world_active, world_ending, world_after, world_gone };
HIDDEN extern _Atomic int world_state;

/* How many sessions there are. */
HIDDEN extern _Atomic int open_sessions;
static inline int sessions_open(void) { return atomic_load(&open_sessions); }

/* running tells whether the program is between MPI_Init and MPI_Finalize, or has a session. */
HIDDEN int running(void);

#endif
