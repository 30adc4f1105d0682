/* What happens to errors (9.3 of the standard). Go gives a class; the handlers are here. */
#include "calls.h"
#include "comms.h"

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
    fflush(NULL);
    golciAbort(class, text, n < (int)sizeof(text) ? n : (int)sizeof(text) - 1);
}

/* outside says why a call fails, unless Go has. */
static void outside(void)
{
    static const char text[] = "the call is not between MPI_Init and MPI_Finalize";
    if (!why[0])
        told(text, sizeof(text) - 1);
}

/* general has the handler of errors that are of no communicator. That is MPI_COMM_SELF, or MPI_COMM_WORLD where the
   program has set a handler of that only, as programs before MPI 4.0 do. */
static struct comm *general(void)
{
    struct comm *self = comm_at(self_place);
    return atomic_load(&self->handler) == MPI_ERRORS_ARE_FATAL ? comm_at(world_place) : self;
}

int fail(struct comm *c, int class)
{
    if (!c && running())
        c = general();
    if (!c)
        outside();
    if (!c || atomic_load(&c->handler) != MPI_ERRORS_RETURN)
        fatal(class);
    why[0] = 0;
    return class;
}

int bad_comm(void) { return fail(NULL, MPI_ERR_COMM); }

/* predefined tells whether a handler is one of those that need no function. */
static int predefined(MPI_Errhandler handler)
{
    return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT || handler == MPI_ERRORS_RETURN;
}

ABI(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return bad_comm();
    if (!predefined(errhandler))
        return fail(c, MPI_ERR_ERRHANDLER);
    atomic_store(&c->handler, errhandler);
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

/* A predefined handler stays: only the variable is reset. */
ABI(int, Errhandler_free, (MPI_Errhandler *errhandler))
{
    if (!errhandler || !predefined(*errhandler))
        return fail(NULL, errhandler ? MPI_ERR_ERRHANDLER : MPI_ERR_ARG);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}
