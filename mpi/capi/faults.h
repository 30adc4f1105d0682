/* What the C file of faults calls in Go. Communicators are places, groups are numbers of handles, results are classes. */
#ifndef GOLCI_FAULTS_H
#define GOLCI_FAULTS_H

#include "groups.h"

HIDDEN int golciRevoke(int comm);
HIDDEN int golciRevoked(int comm, int *flag);
HIDDEN int golciShrink(int comm, struct newcomm *n);
/* golciIshrink fills the communicator at a place that has a handle already, when the request is done. */
HIDDEN int golciIshrink(int comm, int place, uintptr_t *request);
HIDDEN int golciAgree(int comm, int *flag);
HIDDEN int golciIagree(int comm, int *flag, uintptr_t *request);
/* golciFailed gives a group of the failed ranks: all that are known, or those that are acknowledged. */
HIDDEN int golciFailed(int comm, int acknowledged, uintptr_t *group);
HIDDEN int golciAckFailed(int comm, int n, int *acked);

#endif
