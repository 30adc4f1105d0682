/* The texts of errors: what is wrong, and in which call. */
#include "explain.h"
#include "codes.h"
#include "fail.h"
#include "types.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "names_gen.h"

/* A text that is being written. What does not fit is left out. */
struct line {
    char *text;
    size_t size, n;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
    __builtin_va_list args;
    int n;
    __builtin_va_start(args, format);
    n = vsnprintf(l->text + l->n, l->size - l->n, format, args);
    __builtin_va_end(args);
    if (n > 0)
        l->n = l->n + n < l->size ? l->n + n : l->size - 1;
}

/* An argument: the letter of its kind, its name, which is no string, and its value. All are 0 before the first. */
struct arg {
    char kind;
    const char *name;
    int length;
    unsigned long value;
};

/* next goes on to the next argument, and takes its letter off kinds; 0: there is none. */
static int next(struct arg *a, const char **kinds, const unsigned long **values)
{
    if (**kinds == '(')
        return 0;
    a->name = a->name ? a->name + a->length + strlen(", ") : strchr(*kinds, '(') + 1;
    a->length = (int)strcspn(a->name, ",)");
    a->kind = *(*kinds)++;
    a->value = *(*values)++;
    return 1;
}

/* constant is the name of a predefined handle of that kind, NULL if it is none. */
static const char *constant(char kind, unsigned long value)
{
    for (size_t i = 0; i < sizeof(handle_names) / sizeof(handle_names[0]); i++)
        if (handle_names[i].kind == kind && handle_names[i].value == value)
            return handle_names[i].name;
    return NULL;
}

/* pointer writes an address, of a buffer if that is so. */
static void pointer(struct line *l, const struct arg *a)
{
    if (a->kind == 'b' && a->value == (uintptr_t)MPI_IN_PLACE)
        add(l, "MPI_IN_PLACE");
    else if (a->value == 0)
        add(l, "NULL");
    else
        add(l, "%#lx", a->value);
}

static void number(struct line *l, const struct arg *a)
{
    if (a->kind == 'r' && (int)a->value == MPI_PROC_NULL)
        add(l, "MPI_PROC_NULL");
    else if (a->kind == 'r' && (int)a->value == MPI_ANY_SOURCE)
        add(l, "MPI_ANY_SOURCE");
    else if (a->kind == 'g' && (int)a->value == MPI_ANY_TAG)
        add(l, "MPI_ANY_TAG");
    else
        add(l, "%ld", (long)a->value);
}

/* show writes the value of an argument. */
static void show(struct line *l, const struct arg *a)
{
    const char *name = constant(a->kind, a->value);
    struct comm *c;
    if (name)
        add(l, "%s", name);
    else if (strchr("bp", a->kind))
        pointer(l, a);
    else if (a->kind == 's')
        add(l, a->value ? "\"%.40s\"" : "NULL", (const char *)a->value);
    else if (a->kind == 'c' && (c = comm_of((MPI_Comm)a->value)))
        add(l, "%#lx (of %d ranks)", a->value, c->size);
    else if (strchr("nirg", a->kind))
        number(l, a);
    else
        add(l, "%#lx", a->value);
}

/* Which kind of arguments an error of a class is about, and what such a handle is. */
static const struct about {
    int class;
    char kind;
    const char *what;
} abouts[] = {
    {MPI_ERR_COMM, 'c', "communicator"}, {MPI_ERR_TYPE, 't', "datatype"}, {MPI_ERR_OP, 'o', "operation"},
    {MPI_ERR_GROUP, 'G', "group"}, {MPI_ERR_WIN, 'w', "window"}, {MPI_ERR_FILE, 'f', "file"},
    {MPI_ERR_INFO, 'I', "info"}, {MPI_ERR_SESSION, 'S', "session"}, {MPI_ERR_REQUEST, 'q', "request"},
    {MPI_ERR_ERRHANDLER, 'e', "error handler"}, {MPI_ERR_COUNT, 'n', NULL}, {MPI_ERR_RANK, 'r', NULL},
    {MPI_ERR_ROOT, 'r', NULL}, {MPI_ERR_TAG, 'g', NULL}, {MPI_ERR_BUFFER, 'b', NULL}, {MPI_ERR_ARG, 'p', NULL},
    {MPI_ERR_ARG, 'n', NULL},
};

/* handle tells what is wrong with one; 0: nothing is seen. */
static int handle(struct line *l, const struct arg *a, const char *what)
{
    const char *name = constant(a->kind, a->value);
    if (name && strstr(name, "_NULL"))
        add(l, "%.*s is %s", a->length, a->name, name);
    else if (a->kind == 'c' && comm_of((MPI_Comm)a->value))
        return 0;
    else if (a->kind == 't' && type_of((MPI_Datatype)a->value)) {
        if (in_message((MPI_Datatype)a->value))
            return 0;
        add(l, "%.*s (%#lx) has not been committed", a->length, a->name, a->value);
    } else if (strchr("ct", a->kind))
        add(l, "%.*s (%#lx) is no %s, or has been freed", a->length, a->name, a->value, what);
    else {
        add(l, "%.*s is ", a->length, a->name);
        show(l, a);
    }
    return 1;
}

/* wrong tells what is wrong with an argument that is of the kind of the error; 0: nothing is seen. */
static int wrong(struct line *l, const struct arg *a, const struct about *of)
{
    long v = (long)a->value;
    if (of->what)
        return handle(l, a, of->what);
    if ((a->kind == 'n' && v >= 0) || (strchr("bp", a->kind) && v > 1))
        return 0;
    add(l, "%.*s is ", a->length, a->name);
    show(l, a);
    return 1;
}

int explain_wrong(char *text, size_t size, int class, const char *kinds, const unsigned long *values)
{
    struct line l = {text, size, 0};
    for (size_t i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++) {
        struct arg a = {0};
        const char *k = kinds;
        const unsigned long *v = values;
        if (abouts[i].class != class)
            continue;
        while (next(&a, &k, &v))
            if (a.kind == abouts[i].kind && wrong(&l, &a, &abouts[i]))
                return (int)l.n;
    }
    return 0;
}

void explain(char *text, int class, const char *why, const char *name, const char *kinds, const unsigned long *values)
{
    struct line l = {text, MPI_MAX_ERROR_STRING, 0};
    const char *of_class = error_text(class), *gap = "", *phrase = of_class ? strstr(of_class, ": ") : NULL;
    struct arg a = {0};
    if (!of_class)
        add(&l, "error %d", class);
    else if (phrase && why[0] && (class == MPI_ERR_OTHER || !strncmp(why, phrase + 2, strlen(phrase + 2))))
        add(&l, "%.*s", (int)(phrase - of_class), of_class); /* what the class means says no more than the cause */
    else
        add(&l, "%s", of_class);
    if (why[0])
        add(&l, ": %s", why);
    add(&l, name[0] == 'X' ? "; in MPI%.*s" : "; in MPI_%.*s", (int)strlen(name) - (strlen(name) > 2 && !strcmp(name + strlen(name) - 2, "_c") ? 2 : 0),
        name);
    if (!kinds)
        return;
    for (add(&l, "("); next(&a, &kinds, &values); gap = ", ") {
        add(&l, "%s%.*s=", gap, a.length, a.name);
        show(&l, &a);
    }
    add(&l, ")");
}
