/* What the C files call in Go for info objects (chapter 10 of the standard). Handles are numbers. */
#ifndef GOLCI_INFO_H
#define GOLCI_INFO_H

#include "abi.h"

#include <stddef.h>
#include <stdint.h>

enum { null_info = 0x130, env_info = 0x131 }; /* MPI_INFO_NULL, MPI_INFO_ENV */

HIDDEN int golciInfoCreate(uintptr_t *info);
HIDDEN int golciInfoEnv(int argc, char **argv, uintptr_t *info);
HIDDEN int golciInfoDup(uintptr_t info, uintptr_t *copy);
HIDDEN int golciInfoFree(uintptr_t info);
HIDDEN int golciInfoSet(uintptr_t info, char *key, char *value);
HIDDEN int golciInfoDelete(uintptr_t info, char *key);
HIDDEN int golciInfoKeys(uintptr_t info, int *n);
HIDDEN int golciInfoKey(uintptr_t info, int n, char *key);

/* value gets room bytes at most, of which the last is zero. need is the length with that byte; 0: there is no key. */
HIDDEN int golciInfoGet(uintptr_t info, char *key, int room, char *value, int *need);

/* golciHardware makes an info object that tells for each kind of hardware whether the rank is within one instance. */
HIDDEN int golciHardware(uintptr_t *info);

/* info_done is the result of a call that is of no communicator: it tells the handler of an error. */
HIDDEN int info_done(int class);

/* info_is tells whether a handle is that of an info object or MPI_INFO_NULL. */
HIDDEN int info_is(MPI_Info info);

#endif
