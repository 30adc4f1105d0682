/* How the C files of this directory define functions of MPI. */
#ifndef GOLCI_ABI_H
#define GOLCI_ABI_H

#include "mpi.h"

#include <stddef.h>

/* ABI begins a function: PMPI_name, and MPI_name as another name of it. A program or a tool may define MPI_name itself
   and call PMPI_name (15.2 of the standard). The generator finds such lines, and writes no body of that name. */
#define ABI(type, name, params) \
    type MPI_##name params __attribute__((weak, alias("PMPI_" #name))); \
    type PMPI_##name params

/* ABI_BODY begins the body of a function whose PMPI_name is in table_gen.h. That tells the program of errors, with all
   arguments. */
#define ABI_BODY(type, name, params) \
    extern __typeof__(PMPI_##name) do_##name HIDDEN; \
    type do_##name params

/* ABIX_BODY is ABI_BODY of an extension, whose names begin with MPIX_. */
#define ABIX_BODY(type, name, params) \
    extern __typeof__(PMPIX_##name) dox_##name HIDDEN; \
    type dox_##name params
#define ABIX(type, name, params) \
    type MPIX_##name params __attribute__((weak, alias("PMPIX_" #name))); \
    type PMPIX_##name params

/* ABI_FAST begins a function whose success may not cost more than its body. args are the names of the parameters. */
#define ABI_FAST(type, name, params, args) \
    static inline __attribute__((always_inline)) type do_##name params; \
    type MPI_##name params __attribute__((weak, alias("PMPI_" #name))); \
    type PMPI_##name params \
    { \
        int class = do_##name args; \
        return __builtin_expect(class == MPI_SUCCESS, 1) ? class : left(class, #name, NULL, NULL); \
    } \
    static inline __attribute__((always_inline)) type do_##name params

/* What files share is not seen from outside the library. */
#define HIDDEN __attribute__((visibility("hidden")))

/* left is where each error leaves the library: the function of that name returns class. If a handler is to know, it is
   called here, with the text of the error. kinds has a letter for the kind of each argument, then their names in
   parentheses; values are the arguments as numbers. Both are NULL for functions whose errors have a text of their
   own. */
HIDDEN int left(int class, const char *name, const char *kinds, const unsigned long *values);

#endif
