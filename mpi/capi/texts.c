/* The texts of errors of the standard (9.4). A code of the standard is its class. */
#include "codes.h"

#include <stddef.h>

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
