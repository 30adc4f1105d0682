/* The interface for tools (15.3 of the standard). Its tables are made of package tool. */
#ifndef GOLCI_TOOL_H
#define GOLCI_TOOL_H

#include "abi.h"

#include <stdint.h>

/* A control variable. words ends with NULL; it is NULL for a variable without an enumeration. */
struct control {
    const char *name, *doc;
    int verbosity;
    MPI_Datatype type;
    const char *const *words;
    int scope;
};

/* A performance variable. All are read only, continuous, and of 64 bits. */
struct counter {
    const char *name, *doc;
    int verbosity, class;
};

/* A category, with the places of its variables. */
struct category {
    const char *name, *doc;
    const int *controls;
    int control_count;
    const int *counters;
    int counter_count;
};

/* tool_category and tool_counter are NULL beyond the last one. */
HIDDEN const struct category *tool_category(int index);
HIDDEN const struct counter *tool_counter(int index);

/* tool_begun tells whether the interface has been started, and not ended as often. */
HIDDEN int tool_begun(void);

/* tool_copy gives a text to a caller with *len bytes of room. *len becomes the length of the whole text, with its zero
   byte. text or len may be NULL (15.3.3). */
HIDDEN void tool_copy(const char *from, char *text, int *len);

/* tool_end counts one start less, and gives those that are left; negative: there was none. After the last one it frees
   handles of control variables. */
HIDDEN int tool_end(void);

/* golciControl gives the value of a control variable and its number of elements. value may be NULL. */
HIDDEN int golciControl(int control, void *value, int *count);

/* golciCounter gives the value of a performance variable: 0 before the process is in its job. */
HIDDEN int golciCounter(int counter, uint64_t *value);

#define ENDS_UNLESS(condition, class) \
    do { \
        if (!(condition)) \
            return class; \
    } while (0)

#define ENDS_UNLESS_BEGUN() ENDS_UNLESS(tool_begun(), MPI_T_ERR_NOT_INITIALIZED)

/* TOOL_SET writes a result, which the caller may not want. */
#define TOOL_SET(to, value) \
    do { \
        if (to) \
            *(to) = (value); \
    } while (0)

#endif
