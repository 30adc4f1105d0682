/* Classes of errors and their texts (9.4 of the standard). A code of the standard is its class. */
#include "codes.h"
#include "comms.h"

#include <stddef.h>
#include <string.h>

#include "errors_gen.h"

const char *error_text(int code)
{
    enum { extensions = sizeof(extension_texts) / sizeof(extension_texts[0]) };
    enum { classes = sizeof(class_texts) / sizeof(class_texts[0]), tools = sizeof(tool_texts) / sizeof(tool_texts[0]) };
    if (code >= 0 && code < classes)
        return class_texts[code];
    if (code >= first_extension && code < first_extension + extensions)
        return extension_texts[code - first_extension];
    if (code >= first_tool_class && code < first_tool_class + tools)
        return tool_texts[code - first_tool_class];
    return NULL;
}

int codes_predefined(int code) { return error_text(code) != NULL; }

int codes_fail(int class) { return running() ? fail(NULL, class) : class; }

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
    const char *text = error_last(errorcode);
    if (!text)
        text = error_text(errorcode);
    if (!string || !resultlen || (!text && !codes_text(errorcode, string)))
        return MPI_ERR_ARG;
    if (text)
        strcpy(string, text);
    *resultlen = (int)strlen(string);
    return MPI_SUCCESS;
}
