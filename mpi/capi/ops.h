/* How Go calls an operation of the program. */
#ifndef GOLCI_OPS_H
#define GOLCI_OPS_H

#include "abi.h"

#include <stdint.h>

/* op_call has the function set inout to in op inout, for n elements. large tells that it is of the form for large
   counts. Memory comes as numbers: Go looks into the objects that a pointer leads to, and the function needs not. */
HIDDEN void op_call(void *function, int large, uintptr_t in, uintptr_t inout, int64_t n, uintptr_t datatype);

#endif
