#include "fail.h"

#define OK(class) __builtin_expect((class) == MPI_SUCCESS, 1)

#include "calls_gen.h"

#include "shim_gen.h"
