/* The beginning and the end of the program's part in the job (11.2 to 11.4 of the standard). */
#include "calls.h"
#include "comms.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* States only go up. */
enum { before, starting, active, ending, after };
static _Atomic int state;
static pthread_t main_thread;

int running(void) { return atomic_load_explicit(&state, memory_order_acquire) == active; }

ABI(int, Init_thread, (int *argc, char ***argv, int required, int *provided))
{
    int was = before, rank, size, class;
    if (!atomic_compare_exchange_strong(&state, &was, starting))
        return fail(NULL, MPI_ERR_OTHER);
    class = golciInit(&rank, &size);
    if (class != MPI_SUCCESS) {
        atomic_store(&state, before);
        return fail(NULL, class);
    }
    main_thread = pthread_self();
    comms_begin(rank, size);
    atomic_store(&state, active);
    if (provided)
        *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

ABI(int, Init, (int *argc, char ***argv))
{
    return PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, NULL);
}

ABI(int, Finalize, (void))
{
    int was = active, class;
    if (!atomic_compare_exchange_strong(&state, &was, ending))
        return fail(NULL, MPI_ERR_OTHER);
    class = golciFinalize();
    if (class != MPI_SUCCESS)
        class = fail(comm_at(self_place), class);
    comms_end();
    atomic_store(&state, after);
    return class;
}

ABI(int, Initialized, (int *flag))
{
    if (!flag)
        return fail(NULL, MPI_ERR_ARG);
    *flag = atomic_load(&state) >= active;
    return MPI_SUCCESS;
}

ABI(int, Finalized, (int *flag))
{
    if (!flag)
        return fail(NULL, MPI_ERR_ARG);
    *flag = atomic_load(&state) == after;
    return MPI_SUCCESS;
}

ABI(int, Query_thread, (int *provided))
{
    if (!running() || !provided)
        return fail(NULL, running() ? MPI_ERR_ARG : MPI_ERR_OTHER);
    *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

ABI(int, Is_thread_main, (int *flag))
{
    if (!running() || !flag)
        return fail(NULL, running() ? MPI_ERR_ARG : MPI_ERR_OTHER);
    *flag = pthread_equal(main_thread, pthread_self()) != 0;
    return MPI_SUCCESS;
}

/* All ranks of the job end, whatever comm is: the standard allows that. */
ABI(int, Abort, (MPI_Comm comm, int errorcode))
{
    char text[64];
    int n = snprintf(text, sizeof(text), "MPI_Abort was called with code %d", errorcode);
    fflush(NULL);
    golciAbort(errorcode, text, n);
    return MPI_ERR_OTHER;
}
