/* What the C files call in Go for dynamic processes (chapter 11 of the standard). Communicators are places in the table
   of comms.c. */
#ifndef GOLCI_PROCESS_H
#define GOLCI_PROCESS_H

#include "groups.h"

/* A command that is to be started. */
struct command {
    char *path, **argv; /* argv may be NULL */
    int n;
    uintptr_t info;
};

/* Of the commands only those of the root count. total is how many processes all of them are. */
HIDDEN int golciSpawn(int comm, int root, int count, struct command *commands, struct newcomm *n, int *total);
/* golciParent gives the communicator with the spawning processes its place, if there is one. */
HIDDEN int golciParent(struct newcomm *n);

HIDDEN int golciOpenPort(char *name);
HIDDEN int golciClosePort(char *name);
HIDDEN int golciAccept(int comm, int root, char *name, struct newcomm *n);
HIDDEN int golciConnect(int comm, int root, char *name, struct newcomm *n);
/* golciDisconnect waits until all processes of a communicator have called it. */
HIDDEN int golciDisconnect(int comm);
HIDDEN int golciJoin(int fd, struct newcomm *n);

HIDDEN int golciPublish(char *service, char *port);
HIDDEN int golciUnpublish(char *service);
HIDDEN int golciLookup(char *service, char *port);

/* parent_begin makes the communicator with the spawning processes known. */
HIDDEN void parent_begin(void);

#endif
