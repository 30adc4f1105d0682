/* Error handlers that programs make (9.3 of the standard). */
#ifndef GOLCI_HANDLERS_H
#define GOLCI_HANDLERS_H

#include "abi.h"

/* What a handler is for. */
enum handler_kind { comm_handler = 1, win_handler, file_handler, session_handler };

/* A function of the program. object is the address of a handle. */
typedef void handler_function(void *object, int *code, ...);

/* handler_made makes a handler of that kind with one use; NULL if there is no memory or no place. */
HIDDEN MPI_Errhandler handler_made(handler_function *call, int kind);

/* handler_predefined tells whether a handler is one of those that need no function. */
HIDDEN int handler_predefined(MPI_Errhandler handler);

/* handler_fits tells whether an object of that kind may have the handler. */
HIDDEN int handler_fits(MPI_Errhandler handler, int kind);

/* handler_keep counts one more use of a handler: by an object, or by a variable of the program. handler_drop counts one
   less; the last one ends the handler. Predefined ones stay. */
HIDDEN void handler_keep(MPI_Errhandler handler);
HIDDEN void handler_drop(MPI_Errhandler handler);

/* handler_call calls the function of a handler that the program has made; 0 if it is none. object is the address of a
   handle. The function may change the code, which the caller returns. */
HIDDEN int handler_call(MPI_Errhandler handler, void *object, int *code);

#endif
