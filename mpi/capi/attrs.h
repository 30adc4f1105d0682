/* Attributes (7.7 of the standard): values under keyvals, of communicators, datatypes and windows. */
#ifndef GOLCI_ATTRS_H
#define GOLCI_ATTRS_H

#include "abi.h"

#include <stddef.h>
#include <stdint.h>

/* The numbers are those of package attr. */
enum attr_kind { attr_comm, attr_type, attr_win };

/* Functions of keyvals. Handles of all kinds are pointers, so one type does for all. */
typedef int attr_copy_function(void *object, int keyval, void *extra, void *in, void *out, int *flag);
typedef int attr_delete_function(void *object, int keyval, void *value, void *extra);

HIDDEN int golciKeyval(int kind, void *copy, void *delete, void *extra, int *keyval);
HIDDEN int golciKeyvalFree(int kind, int keyval);
HIDDEN int golciAttrSet(int kind, uintptr_t object, int keyval, uintptr_t value);
HIDDEN int golciAttrGet(int kind, uintptr_t object, int keyval, uintptr_t *value, int *flag);
HIDDEN int golciAttrDelete(int kind, uintptr_t object, int keyval);

/* For who makes and frees objects. A duplicate gets what the copy functions say: with an error it gets nothing, and the
   duplication fails. An object loses all before it is freed: with an error it stays. golciAttrDiscard goes on after
   errors. */
HIDDEN int golciAttrCopy(int kind, uintptr_t from, uintptr_t to);
HIDDEN int golciAttrClear(int kind, uintptr_t object);
HIDDEN int golciAttrDiscard(int kind, uintptr_t object);

/* What Go calls in C. */
HIDDEN int attr_call_copy(void *function, uintptr_t object, int keyval, void *extra, uintptr_t in, uintptr_t *out,
    int *flag);
HIDDEN int attr_call_delete(void *function, uintptr_t object, int keyval, uintptr_t value, void *extra);

#endif
