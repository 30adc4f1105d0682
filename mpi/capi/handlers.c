/* Error handlers that programs make, and those of communicators (9.3 of the standard). */
#include "handlers.h"
#include "codes.h"
#include "fail.h"

/* create makes a handler, which the program's variable uses. */
static int create(handler_function *call, int kind, MPI_Errhandler *errhandler)
{
    MPI_Errhandler made;
    if (!running() && kind != session_handler)
        return fail(NULL, MPI_ERR_OTHER);
    if (!call || !errhandler)
        return fail(NULL, MPI_ERR_ARG);
    if (!(made = handler_made(call, kind)))
        return fail(NULL, MPI_ERR_NO_MEM);
    *errhandler = made;
    return MPI_SUCCESS;
}

ABI_BODY(int, Comm_create_errhandler, (MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler))
{
    return create((handler_function *)comm_errhandler_fn, comm_handler, errhandler);
}

ABI_BODY(int, Win_create_errhandler, (MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler))
{
    return create((handler_function *)win_errhandler_fn, win_handler, errhandler);
}

ABI_BODY(int, File_create_errhandler, (MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler))
{
    return create((handler_function *)file_errhandler_fn, file_handler, errhandler);
}

ABI_BODY(int, Session_create_errhandler, (MPI_Session_errhandler_function *session_errhandler_fn,
    MPI_Errhandler *errhandler))
{
    return create((handler_function *)session_errhandler_fn, session_handler, errhandler);
}

ABI_BODY(int, Errhandler_free, (MPI_Errhandler *errhandler))
{
    if (!errhandler)
        return fail(NULL, MPI_ERR_ARG);
    if (!handler_fits(*errhandler, comm_handler) && !handler_fits(*errhandler, win_handler)
        && !handler_fits(*errhandler, file_handler) && !handler_fits(*errhandler, session_handler))
        return fail(NULL, MPI_ERR_ERRHANDLER);
    handler_drop(*errhandler);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

ABI_BODY(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))
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

ABI_BODY(int, Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler))
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

ABI_BODY(int, Comm_call_errhandler, (MPI_Comm comm, int errorcode))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return bad_comm();
    call_due(fail(c, errorcode));
    return MPI_SUCCESS;
}
