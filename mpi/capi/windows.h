/* What the C files of windows call in Go. Windows are their handles as numbers, communicators places in the table of
   comms.c. Results are classes of errors. */
#ifndef GOLCI_WINDOWS_H
#define GOLCI_WINDOWS_H

#include "abi.h"

#include <stddef.h>
#include <stdint.h>

/* golciWinHandler gives the error handler of a window; 0 if there is no such window. */
HIDDEN uintptr_t golciWinHandler(uintptr_t win);
HIDDEN void golciWinSetHandler(uintptr_t win, uintptr_t handler);

/* Hints of a window, as an info object. */
HIDDEN int golciWinSetHints(uintptr_t win, uintptr_t info);
HIDDEN int golciWinHints(uintptr_t win, uintptr_t *info);

/* Making windows. The memory of one that makes it is stored at base. */
enum win_maker { win_create, win_allocate, win_shared, win_dynamic };
HIDDEN int golciWinMake(int maker, void **base, int64_t size, int64_t unit, int comm, uintptr_t *win);
HIDDEN int golciWinFree(uintptr_t win);
HIDDEN int golciWinAttach(uintptr_t win, void *base, int64_t size);
HIDDEN int golciWinDetach(uintptr_t win, void *base);
HIDDEN int golciWinQuery(uintptr_t win, int rank, int64_t *size, int64_t *unit, void **base);
HIDDEN int golciWinGroup(uintptr_t win, uintptr_t *group);

/* What the attributes of a window point to. Go fills it when it makes the window. It stays where it is. */
struct win_facts {
    void *base;
    MPI_Aint size;
    int unit, flavor, model;
    int name_length;
    char name[MPI_MAX_OBJECT_NAME];
};
HIDDEN struct win_facts *golciWinFacts(uintptr_t win);

/* Synchronisation. arg is a rank, or a kind of lock; group is of start and post. */
enum win_sync {
    sync_fence, sync_start, sync_complete, sync_post, sync_wait, sync_test, sync_lock, sync_unlock, sync_lock_all,
    sync_unlock_all, sync_flush, sync_flush_all, sync_sync
};
HIDDEN int golciWinSync(uintptr_t win, int call, int rank, int kind, int assert, uintptr_t group, int *flag);

/* A buffer of an access: count elements of a datatype. */
struct win_buffer {
    void *mem;
    int64_t count;
    uintptr_t datatype;
};

enum win_access {
    access_put, access_get, access_accumulate, access_get_accumulate, access_fetch, access_swap
};

/* An access. request is NULL but for the forms that give one. */
struct win_call {
    int access, rank;
    uintptr_t win, op;
    int64_t disp;
    struct win_buffer origin, result, target, compare;
    uintptr_t *request;
};
HIDDEN int golciWinAccess(struct win_call *call);

#endif
