/* Classes and codes of errors that programs add (9.5 of the standard). */
#ifndef GOLCI_CODES_H
#define GOLCI_CODES_H

#include "abi.h"

/* codes_last is the last code that was ever in use. */
HIDDEN int codes_last(void);

/* codes_class is the class of a code that the program has added; 0 of others. */
HIDDEN int codes_class(int code);

/* codes_text copies the text of a code that the program has added, with MPI_MAX_ERROR_STRING bytes of room; 0 if there
   is no such code. */
HIDDEN int codes_text(int code, char *text);

/* error_text is the text of a code of the standard or of the interface for tools, NULL if it is none. */
HIDDEN const char *error_text(int code);

/* codes_predefined tells whether a code is of the standard, or of the interface of tools. */
HIDDEN int codes_predefined(int code);

/* call_due calls the handler that fail or fail_with has noted, with a code that the program gives. */
HIDDEN void call_due(int code);

#endif
