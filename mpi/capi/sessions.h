/* Sessions (11.3 of the standard). */
#ifndef GOLCI_SESSIONS_H
#define GOLCI_SESSIONS_H

#include "groups.h"

/* A session of the program. */
struct session {
    _Atomic uintptr_t handle;        /* 0 of a free place */
    _Atomic(MPI_Errhandler) handler; /* may be set at any time */
    uintptr_t inner;                 /* its number in Go; set before handle is */
};

/* session_of is NULL if there is no such session. */
HIDDEN struct session *session_of(MPI_Session session);

/* world_join joins the job, once. It gives the class of the error. */
HIDDEN int world_join(void);

HIDDEN int golciSessionOpen(uintptr_t info, uintptr_t *inner);
HIDDEN int golciSessionClose(uintptr_t inner);
HIDDEN int golciSessionGroup(uintptr_t inner, char *pset, uintptr_t *group);
HIDDEN int golciSessionInfo(uintptr_t inner, char *pset, uintptr_t *info); /* of the session itself if pset is NULL */
HIDDEN int golciFromGroup(uintptr_t group, char *tag, struct newcomm *n);
HIDDEN int golciFromGroups(uintptr_t local, int leader, uintptr_t remote, int far, char *tag, struct newcomm *n);

#endif
