/* Classes of errors and their texts (9.4 of the standard). A code is its class, as long as a program adds none. */
#include "abi.h"

#include <stddef.h>
#include <string.h>

#include "errors_gen.h"

/* error_text is the text of a code, NULL if there is no such code. */
static const char *error_text(int code)
{
    enum { classes = sizeof(class_texts) / sizeof(class_texts[0]), tools = sizeof(tool_texts) / sizeof(tool_texts[0]) };
    if (code >= 0 && code < classes)
        return class_texts[code];
    if (code >= first_tool_class && code < first_tool_class + tools)
        return tool_texts[code - first_tool_class];
    return NULL;
}

ABI(int, Error_class, (int errorcode, int *errorclass))
{
    if (!errorclass || !error_text(errorcode))
        return MPI_ERR_ARG;
    *errorclass = errorcode;
    return MPI_SUCCESS;
}

ABI(int, Error_string, (int errorcode, char *string, int *resultlen))
{
    const char *text = error_text(errorcode);
    if (!string || !resultlen || !text)
        return MPI_ERR_ARG;
    *resultlen = (int)strlen(text);
    memcpy(string, text, *resultlen + 1);
    return MPI_SUCCESS;
}
