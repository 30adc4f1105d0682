/* The beginning and the end of the program's part in the job (11.2 to 11.4 of the standard). */
#include "attrs.h"
#include "calls.h"
#include "fail.h"
#include "fork.h"
#include "posts.h"
#include "process.h"
#include "sessions.h"
#include "vain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_t main_thread;
static int thread_level; /* set before world_active */

/* forked_world ends the part in the job that a child of fork has inherited. It tells whether there was one. */
static int forked_world(void)
{
    int was = running();
    atomic_store(&world_state, world_gone);
    return was;
}

static void forget(void)
{
    child_is(child_outside);
    if (forked_world()) {
        child_is(child_of_rank);
        comms_forget();
    }
}

__attribute__((constructor)) static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, forget); }

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
    int now = atomic_load(&world_state);
    if (sessions_open() == 0 && (now == world_before || now == world_after))
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
    int was = world_before, class;
    if (!atomic_compare_exchange_strong(&world_state, &was, world_starting))
        return fail(NULL, MPI_ERR_OTHER);
    class = world_join();
    if (class != MPI_SUCCESS) {
        atomic_store(&world_state, world_before);
        return fail(NULL, class);
    }
    main_thread = pthread_self();
    thread_level = required < MPI_THREAD_MULTIPLE ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
    if (thread_level == MPI_THREAD_SERIALIZED && sessions_open() == 0) {
        (void)golciPosts(); /* without it each receive is given to Go by itself */
        vain.on = 1;
    }
    atomic_store(&world_state, world_active);
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
    int was = world_active, class;
    if (!atomic_compare_exchange_strong(&world_state, &was, world_ending))
        return fail(NULL, MPI_ERR_OTHER);
    (void)golciAttrDiscard(attr_comm, (uintptr_t)MPI_COMM_SELF); /* before all else: 11.2.4 */
    class = sessions_open() == 0 ? leave_job() : MPI_SUCCESS;
    if (class != MPI_SUCCESS)
        class = fail(comm_at(self_place), class);
    if (sessions_open() == 0)
        comms_end();
    atomic_store(&world_state, world_after);
    return class;
}

ABI_BODY(int, Initialized, (int *flag))
{
    if (!flag)
        return fail(NULL, MPI_ERR_ARG);
    *flag = atomic_load(&world_state) >= world_active;
    return MPI_SUCCESS;
}

ABI_BODY(int, Finalized, (int *flag))
{
    if (!flag)
        return fail(NULL, MPI_ERR_ARG);
    *flag = atomic_load(&world_state) == world_after;
    return MPI_SUCCESS;
}

ABI_BODY(int, Query_thread, (int *provided))
{
    if (!running() || !provided)
        return fail(NULL, running() ? MPI_ERR_ARG : MPI_ERR_OTHER);
    *provided = atomic_load(&world_state) == world_active ? thread_level : MPI_THREAD_MULTIPLE;
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
