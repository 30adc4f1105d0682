/* Classes and texts of codes (9.4 of the standard), those of the program too. */
#include "codes.h"
#include "fail.h"

#include <stdio.h>
#include <string.h>

ABI(int, Error_class, (int errorcode, int *errorclass))
{
    int class = codes_predefined(errorcode) ? errorcode : codes_class(errorcode);
    if (!errorclass || (class == 0 && errorcode != MPI_SUCCESS))
        return MPI_ERR_ARG;
    *errorclass = class;
    return MPI_SUCCESS;
}

ABI(int, Error_string, (int errorcode, char *string, int *resultlen))
{
    /* A code of the program has the text that the program gives it, and no other. */
    const char *text = error_text(errorcode), *last = error_last(errorcode);
    if (text && last)
        text = last;
    if (!string || !resultlen || (!text && !codes_text(errorcode, string)))
        return MPI_ERR_ARG;
    if (text)
        strcpy(string, text);
    *resultlen = (int)strlen(string);
    return MPI_SUCCESS;
}

void call_due(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (PMPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof(text), "error %d", code);
    call_noted(code, text);
}
