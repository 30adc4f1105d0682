/* What Go needs of generalized requests. */
#ifndef GOLCI_GREQUEST_H
#define GOLCI_GREQUEST_H

#include "abi.h"

#include <stdint.h>

/* The functions of a generalized request, and their argument. */
struct grequest {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *state;
};

/* They call the functions. Go calls them. */
HIDDEN int grequest_query(const struct grequest *g, MPI_Status *status);
HIDDEN int grequest_free(const struct grequest *g);
HIDDEN int grequest_cancel(const struct grequest *g, int complete);

HIDDEN int golciGeneral(struct grequest *functions, uintptr_t *request);
HIDDEN int golciGeneralEnd(uintptr_t request);

#endif
