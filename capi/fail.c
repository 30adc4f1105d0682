/* What happens to errors (9.3 of the standard). Go gives a class; the handlers are here. */
#include "calls.h"
#include "comms.h"
#include "fork.h"
#include "handlers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The text of the last error that Go gave this thread, empty if there is none. */
static _Thread_local char why[512];

void told(const char *text, size_t n)
{
    if (n >= sizeof(why))
        n = sizeof(why) - 1;
    memcpy(why, text, n);
    why[n] = 0;
}

/* fatal ends the job. Its exit code is the class. */
static void fatal(int class)
{
    char text[MPI_MAX_ERROR_STRING + sizeof(why)];
    char of_class[MPI_MAX_ERROR_STRING];
    int length = 0, n;
    if (PMPI_Error_string(class, of_class, &length) != MPI_SUCCESS)
        snprintf(of_class, sizeof(of_class), "error %d", class);
    n = snprintf(text, sizeof(text), "%s%s%s", of_class, why[0] ? ": " : "", why);
    if (forked())
        child_ends(class, text);
    fflush(NULL);
    golciAbort(class, text, n < (int)sizeof(text) ? n : (int)sizeof(text) - 1);
}

/* outside says why a call fails, unless Go has. */
static void outside(void)
{
    const char *text =
        forked() ? "it has called MPI" : "the call is not between MPI_Init and MPI_Finalize";
    if (!why[0])
        told(text, strlen(text));
}

/* general has the handler of errors that are of no communicator. That is MPI_COMM_SELF, or MPI_COMM_WORLD where the
   program has set a handler of that only, as programs before MPI 4.0 do. */
static struct comm *general(void)
{
    struct comm *self = comm_at(self_place);
    return atomic_load(&self->handler) == MPI_ERRORS_ARE_FATAL ? comm_at(world_place) : self;
}

int fail_with(MPI_Errhandler handler, void *object, int class)
{
    if (handler != MPI_ERRORS_RETURN && !handler_call(handler, object, &class))
        fatal(class);
    why[0] = 0;
    return class;
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

int unsupported(void) { return fail(NULL, MPI_ERR_UNSUPPORTED_OPERATION); }
int bad_comm(void) { return fail(NULL, MPI_ERR_COMM); }

ABI(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return bad_comm();
    if (!handler_fits(errhandler, comm_handler))
        return fail(c, MPI_ERR_ERRHANDLER);
    handler_keep(errhandler);
    handler_drop(atomic_exchange(&c->handler, errhandler));
    return MPI_SUCCESS;
}

ABI(int, Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return bad_comm();
    if (!errhandler)
        return fail(c, MPI_ERR_ARG);
    *errhandler = atomic_load(&c->handler);
    handler_keep(*errhandler);
    return MPI_SUCCESS;
}

ABI(int, Comm_call_errhandler, (MPI_Comm comm, int errorcode))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return bad_comm();
    fail(c, errorcode);
    return MPI_SUCCESS;
}
