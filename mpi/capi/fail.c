/* What happens to errors (9.3 of the standard). Go gives a class; the handlers are here. */
#include "calls.h"
#include "fail.h"
#include "explain.h"
#include "fork.h"
#include "handlers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a thread knows of its errors. */
struct notes {
    char why[MPI_MAX_ERROR_STRING];  /* the cause of the one that is under way, if it is known; else "" */
    int class;                       /* of the last one that has left the library; 0: none yet */
    char text[MPI_MAX_ERROR_STRING]; /* of that */
    MPI_Errhandler handler;          /* is to be called when the function ends; kept; NULL: there is no error */
    uintptr_t handle;                /* of the object whose handler that is */
};

/* Memory that the linker lays out for each thread is short in programs that load the library late. */
static pthread_key_t key;
static struct notes spare; /* of all threads that have no memory */

__attribute__((constructor)) static void make_key(void)
{
    if (pthread_key_create(&key, free) != 0)
        abort();
}

static struct notes *notes(void)
{
    struct notes *n = pthread_getspecific(key);
    if (n)
        return n;
    n = calloc(1, sizeof(*n));
    if (n && pthread_setspecific(key, n) != 0) {
        free(n);
        n = NULL;
    }
    return n ? n : &spare;
}

void told(const char *text, size_t n)
{
    char *why = notes()->why;
    if (n >= MPI_MAX_ERROR_STRING)
        n = MPI_MAX_ERROR_STRING - 1;
    memcpy(why, text, n);
    why[n] = 0;
}

const char *error_last(int class)
{
    struct notes *n = notes();
    return class != MPI_SUCCESS && class == n->class ? n->text : NULL;
}

/* fatal ends the job. Its exit code is the class. */
static void fatal(int class, const char *text)
{
    if (forked())
        child_ends(class, text);
    fflush(NULL);
    golciAbort(class, (char *)text, (int64_t)strlen(text));
}

/* outside says why a call fails, unless Go has. */
static void outside(void)
{
    const char *text =
        forked() ? "it has called MPI" : "the call is not between MPI_Init and MPI_Finalize";
    if (!notes()->why[0])
        told(text, strlen(text));
}

/* general has the handler of errors that are of no communicator. That is MPI_COMM_SELF, or MPI_COMM_WORLD where the
   program has set a handler of that only, as programs before MPI 4.0 do. */
static struct comm *general(void)
{
    struct comm *self = comm_at(self_place);
    return atomic_load(&self->handler) == MPI_ERRORS_ARE_FATAL ? comm_at(world_place) : self;
}

int fail_with(MPI_Errhandler handler, const void *object, int class)
{
    struct notes *n = notes();
    handler_keep(handler);
    if (n->handler)
        handler_drop(n->handler);
    n->handler = handler;
    n->handle = object ? *(const uintptr_t *)object : 0;
    return class;
}

/* handled calls the handler of a thread's error, and gives the code that the function returns. */
static int handled(struct notes *n, int code, const char *text)
{
    MPI_Errhandler handler = n->handler;
    uintptr_t handle = n->handle;
    n->handler = NULL;
    if (handler != MPI_ERRORS_RETURN && !handler_call(handler, &handle, &code))
        fatal(code, text);
    handler_drop(handler);
    return code;
}

void call_noted(int code, const char *text)
{
    struct notes *n = notes();
    if (n->handler)
        (void)handled(n, code, text);
}

int left(int class, const char *name, const char *kinds, const unsigned long *values)
{
    struct notes *n = notes();
    if (!n->handler)
        return class;
    if (!n->why[0] && kinds)
        tell_args(class, kinds, values);
    n->class = class;
    explain(n->text, class, n->why, name, kinds, values);
    n->why[0] = 0;
    return handled(n, class, n->text);
}

void tell_args(int class, const char *kinds, const unsigned long *values)
{
    char text[256];
    int n = explain_wrong(text, sizeof(text), class, kinds, values);
    told(text, n);
}

int fail(struct comm *c, int class)
{
    MPI_Comm handle;
    if (!c && (running() || forked() == child_of_rank))
        c = general();
    if (!c) {
        outside();
        return fail_with(MPI_ERRORS_ARE_FATAL, NULL, class);
    }
    handle = (MPI_Comm)(uintptr_t)atomic_load(&c->handle);
    return fail_with(atomic_load(&c->handler), &handle, class);
}

int fail_if_running(int class) { return running() ? fail(NULL, class) : class; }

int unsupported(void) { return fail(NULL, MPI_ERR_UNSUPPORTED_OPERATION); }
int bad_comm(void) { return fail(NULL, MPI_ERR_COMM); }

int unknown_comm(MPI_Comm comm)
{
    if (running())
        tell_args(MPI_ERR_COMM, "c(comm)", (unsigned long[]){(uintptr_t)comm});
    return bad_comm();
}
