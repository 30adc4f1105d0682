/* How the C files of this directory define functions of MPI. */
#ifndef GOLCI_ABI_H
#define GOLCI_ABI_H

#include "mpi.h"

/* ABI begins a function: PMPI_name, and MPI_name as another name of it. A program or a tool may define MPI_name itself
   and call PMPI_name (15.2 of the standard). The generator finds such lines, and writes no body of that name. */
#define ABI(type, name, params) \
    type MPI_##name params __attribute__((weak, alias("PMPI_" #name))); \
    type PMPI_##name params

/* What files share is not seen from outside the library. */
#define HIDDEN __attribute__((visibility("hidden")))

#endif
