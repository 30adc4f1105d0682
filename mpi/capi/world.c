/* The beginning and the end of the program's part in the job (11.2 to 11.4 of the standard). */
#include "attrs.h"
#include "calls.h"
#include "comms.h"
#include "fork.h"
#include "posts.h"
#include "process.h"
#include "sessions.h"
#include "vain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* States only go up. A child of fork has the last one from its beginning. */
enum { before, starting, active, ending, after, gone };
static _Atomic int state;
static pthread_t main_thread;
static int thread_level; /* set before active */

int running(void)
{
    int now = atomic_load_explicit(&state, memory_order_acquire);
    return now == active || (sessions_open() > 0 && now != gone);
}

int world_forked(void)
{
    int was = running();
    atomic_store(&state, gone);
    return was;
}

/* Whether the process is in its job. A session or MPI_Init joins, and nobody joins again after the end. */
enum { outside_job, in_job, past_job };
static _Atomic int joined;
static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER; /* held while joined changes */

/* leave_job ends the process's part in the job, once. */
static int leave_job(void)
{
    int class = MPI_SUCCESS;
    pthread_mutex_lock(&joining);
    if (atomic_load(&joined) == in_job) {
        class = golciFinalize();
        atomic_store(&joined, past_job);
    }
    pthread_mutex_unlock(&joining);
    return class;
}

/* at_exit ends the part of a process that had sessions, and has none now. Another session may come until then. */
static void at_exit(void)
{
    int now = atomic_load(&state);
    if (sessions_open() == 0 && (now == before || now == after))
        (void)leave_job();
}

int world_join(void)
{
    int rank, size, class = MPI_SUCCESS;
    pthread_mutex_lock(&joining);
    if (atomic_load(&joined) == past_job)
        class = MPI_ERR_OTHER;
    else if (atomic_load(&joined) == outside_job && (class = golciInit(&rank, &size)) == MPI_SUCCESS) {
        comms_begin(rank, size);
        parent_begin();
        atomic_store(&joined, in_job);
        atexit(at_exit);
    }
    pthread_mutex_unlock(&joining);
    return class;
}

ABI_BODY(int, Init_thread, (int *argc, char ***argv, int required, int *provided))
{
    int was = before, class;
    if (!atomic_compare_exchange_strong(&state, &was, starting))
        return fail(NULL, MPI_ERR_OTHER);
    class = world_join();
    if (class != MPI_SUCCESS) {
        atomic_store(&state, before);
        return fail(NULL, class);
    }
    main_thread = pthread_self();
    thread_level = required < MPI_THREAD_MULTIPLE ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
    if (thread_level == MPI_THREAD_SERIALIZED && sessions_open() == 0) {
        (void)golciPosts(); /* without it each receive is given to Go by itself */
        vain.on = 1;
    }
    atomic_store(&state, active);
    if (provided)
        *provided = thread_level;
    return MPI_SUCCESS;
}

ABI_BODY(int, Init, (int *argc, char ***argv))
{
    return PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, NULL);
}

ABI_BODY(int, Finalize, (void))
{
    int was = active, class;
    if (!atomic_compare_exchange_strong(&state, &was, ending))
        return fail(NULL, MPI_ERR_OTHER);
    (void)golciAttrDiscard(attr_comm, (uintptr_t)MPI_COMM_SELF); /* before all else: 11.2.4 */
    class = sessions_open() == 0 ? leave_job() : MPI_SUCCESS;
    if (class != MPI_SUCCESS)
        class = fail(comm_at(self_place), class);
    if (sessions_open() == 0)
        comms_end();
    atomic_store(&state, after);
    return class;
}

ABI_BODY(int, Initialized, (int *flag))
{
    if (!flag)
        return fail(NULL, MPI_ERR_ARG);
    *flag = atomic_load(&state) >= active;
    return MPI_SUCCESS;
}

ABI_BODY(int, Finalized, (int *flag))
{
    if (!flag)
        return fail(NULL, MPI_ERR_ARG);
    *flag = atomic_load(&state) == after;
    return MPI_SUCCESS;
}

ABI_BODY(int, Query_thread, (int *provided))
{
    if (!running() || !provided)
        return fail(NULL, running() ? MPI_ERR_ARG : MPI_ERR_OTHER);
    *provided = atomic_load(&state) == active ? thread_level : MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

ABI_BODY(int, Is_thread_main, (int *flag))
{
    if (!running() || !flag)
        return fail(NULL, running() ? MPI_ERR_ARG : MPI_ERR_OTHER);
    *flag = pthread_equal(main_thread, pthread_self()) != 0;
    return MPI_SUCCESS;
}

/* All ranks of the job end, whatever comm is: the standard allows that. */
ABI_BODY(int, Abort, (MPI_Comm comm, int errorcode))
{
    char text[64];
    int n = snprintf(text, sizeof(text), "MPI_Abort was called with code %d", errorcode);
    if (forked())
        child_ends(errorcode, text);
    fflush(NULL);
    golciAbort(errorcode, text, n);
    return MPI_ERR_OTHER;
}
