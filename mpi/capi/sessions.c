/* Sessions (11.3 of the standard), and communicators without a parent (7.4.2, 7.6.2). */
#include "sessions.h"
#include "handlers.h"
#include "codes.h"
#include "fail.h"
#include "posts.h"
#include "buffered.h"
#include "info.h"
#include "vain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* The number of a handle is first plus the generation of its place, above the place. */
enum { places = 256, first = 4096, place_bits = 21, generations = 512 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct session table[places]; /* handles are set under mutex */
static unsigned short turns[places]; /* under mutex */

struct session *session_of(MPI_Session session)
{
    uintptr_t number = (uintptr_t)session, place = (number - first) & ((1 << place_bits) - 1);
    if (number < first || place >= places || atomic_load(&table[place].handle) != number)
        return NULL;
    return &table[place];
}

/* failed has the handler of a session deal with an error. */
static int failed(struct session *s, int class)
{
    MPI_Session handle;
    if (!s)
        return fail(NULL, class);
    handle = (MPI_Session)(uintptr_t)atomic_load(&s->handle);
    return fail_with(atomic_load(&s->handler), &handle, class);
}

static struct session *add(MPI_Errhandler handler, uintptr_t inner)
{
    struct session *s = NULL;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < places && !s; i++)
        if (!atomic_load(&table[i].handle)) {
            s = &table[i];
            turns[i] = (turns[i] + 1) % generations;
            handler_keep(handler);
            atomic_store(&s->handler, handler);
            s->inner = inner;
            atomic_store(&s->handle, first + ((uintptr_t)turns[i] << place_bits) + i);
        }
    pthread_mutex_unlock(&mutex);
    return s;
}

ABI_BODY(int, Session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session))
{
    struct session *s;
    uintptr_t inner = 0;
    int class;
    if (!session)
        return MPI_ERR_ARG;
    posts_end(); /* several threads may have a session each */
    vain_end();
    class = world_join();
    if (class == MPI_SUCCESS) {
        atomic_fetch_add(&open_sessions, 1);
        class = info_is(info) ? golciSessionOpen((uintptr_t)info, &inner) : MPI_ERR_INFO;
        if (class == MPI_SUCCESS && !(s = add(errhandler, inner))) {
            golciSessionClose(inner);
            class = MPI_ERR_OTHER;
        }
        if (class == MPI_SUCCESS) {
            *session = (MPI_Session)atomic_load(&s->handle);
            return MPI_SUCCESS;
        }
        atomic_fetch_sub(&open_sessions, 1);
    }
    return errhandler == MPI_ERRORS_RETURN ? class : fail(NULL, class);
}

ABI_BODY(int, Session_finalize, (MPI_Session *session))
{
    struct session *s = session ? session_of(*session) : NULL;
    uintptr_t inner;
    if (!s)
        return failed(NULL, session ? MPI_ERR_SESSION : MPI_ERR_ARG);
    pthread_mutex_lock(&mutex);
    handler_drop(atomic_load(&s->handler));
    inner = s->inner;
    atomic_store(&s->handle, 0);
    pthread_mutex_unlock(&mutex);
    golciSessionClose(inner);
    atomic_fetch_sub(&open_sessions, 1);
    *session = MPI_SESSION_NULL;
    return MPI_SUCCESS;
}

/* IN begins a function of a session; its arguments are right if ok. */
#define IN(session, ok) \
    struct session *s = session_of(session); \
    int class; \
    if (!s) \
        return failed(NULL, MPI_ERR_SESSION); \
    if (!(ok)) \
    return failed(s, MPI_ERR_ARG)

#define OUT return class == MPI_SUCCESS ? MPI_SUCCESS : failed(s, class)

ABI_BODY(int, Session_get_info, (MPI_Session session, MPI_Info *info_used))
{
    IN(session, info_used);
    class = golciSessionInfo(s->inner, NULL, (uintptr_t *)info_used);
    OUT;
}

static const char *const psets[] = {"mpi://WORLD", "mpi://SELF"};
enum { pset_count = sizeof(psets) / sizeof(psets[0]) };

ABI_BODY(int, Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names))
{
    IN(session, npset_names);
    *npset_names = pset_count;
    class = info_is(info) ? MPI_SUCCESS : MPI_ERR_INFO;
    OUT;
}

/* A length of 0 only asks. */
ABI_BODY(int, Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name))
{
    int room;
    IN(session, pset_len && n >= 0 && n < pset_count && *pset_len >= 0 && (*pset_len == 0 || pset_name));
    room = *pset_len;
    if (room > 0) {
        strncpy(pset_name, psets[n], room - 1);
        pset_name[room - 1] = 0;
    }
    *pset_len = (int)strlen(psets[n]) + 1;
    class = info_is(info) ? MPI_SUCCESS : MPI_ERR_INFO;
    OUT;
}

ABI_BODY(int, Session_get_pset_info, (MPI_Session session, const char *pset_name, MPI_Info *info))
{
    IN(session, pset_name && info);
    class = golciSessionInfo(s->inner, (char *)pset_name, (uintptr_t *)info);
    OUT;
}

ABI_BODY(int, Group_from_session_pset, (MPI_Session session, const char *pset_name, MPI_Group *newgroup))
{
    IN(session, pset_name && newgroup);
    class = golciSessionGroup(s->inner, (char *)pset_name, (uintptr_t *)newgroup);
    OUT;
}

/* bad_create has the handler that the program gives deal with an error. There is no communicator yet, so a function of
   the program gets MPI_COMM_SELF. */
static int bad_create(MPI_Errhandler handler, int class)
{
    MPI_Comm self = MPI_COMM_SELF;
    if (!handler_fits(handler, comm_handler) || handler == MPI_ERRORS_ARE_FATAL)
        return fail(NULL, class);
    return fail_with(handler, &self, class);
}

/* created ends the making of a communicator without a parent. It has the handler that the program gives. */
static int created(struct newcomm *n, int class, MPI_Errhandler handler, MPI_Comm *newcomm)
{
    if (class == MPI_SUCCESS && n->made) {
        *newcomm = comm_made(comm_at(self_place), n->place, n->rank, n->size, n->remote);
        return PMPI_Comm_set_errhandler(*newcomm, handler);
    }
    *newcomm = MPI_COMM_NULL;
    comm_release(n->place);
    return class == MPI_SUCCESS ? class : bad_create(handler, class);
}

ABI_BODY(int, Comm_create_from_group, (MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler,
    MPI_Comm *newcomm))
{
    struct newcomm n = {0};
    if (!stringtag || !newcomm || !info_is(info))
        return bad_create(errhandler, stringtag && newcomm ? MPI_ERR_INFO : MPI_ERR_ARG);
    if ((n.place = comm_reserve()) < 0)
        return bad_create(errhandler, MPI_ERR_OTHER);
    return created(&n, golciFromGroup((uintptr_t)group, (char *)stringtag, &n), errhandler, newcomm);
}

ABI_BODY(int, Intercomm_create_from_groups, (MPI_Group local_group, int local_leader, MPI_Group remote_group,
    int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm))
{
    struct newcomm n = {0};
    int class;
    if (!stringtag || !newintercomm || !info_is(info))
        return bad_create(errhandler, stringtag && newintercomm ? MPI_ERR_INFO : MPI_ERR_ARG);
    if ((n.place = comm_reserve()) < 0)
        return bad_create(errhandler, MPI_ERR_OTHER);
    class = golciFromGroups((uintptr_t)local_group, local_leader, (uintptr_t)remote_group, remote_leader,
        (char *)stringtag, &n);
    return created(&n, class, errhandler, newintercomm);
}

ABI_BODY(int, Session_attach_buffer_c, (MPI_Session session, void *buffer, MPI_Count size))
{
    IN(session, 1);
    class = buffer_attach(buffer, size, no_comm, s->inner);
    OUT;
}

ABI_BODY(int, Session_detach_buffer_c, (MPI_Session session, void *buffer_addr, MPI_Count *size))
{
    IN(session, 1);
    class = buffer_detach(buffer_addr, size, no_comm, s->inner);
    OUT;
}

ABI_BODY(int, Session_detach_buffer, (MPI_Session session, void *buffer_addr, int *size))
{
    IN(session, 1);
    class = buffer_detach_int(buffer_addr, size, no_comm, s->inner);
    OUT;
}

ABI_BODY(int, Session_iflush_buffer, (MPI_Session session, MPI_Request *request))
{
    IN(session, 1);
    class = buffer_iflush(request, no_comm, s->inner);
    OUT;
}

ABI_BODY(int, Session_flush_buffer, (MPI_Session session))
{
    IN(session, 1);
    class = buffer_flush(no_comm, s->inner);
    OUT;
}

ABI_BODY(int, Session_set_errhandler, (MPI_Session session, MPI_Errhandler errhandler))
{
    struct session *s = session_of(session);
    if (!s)
        return failed(NULL, MPI_ERR_SESSION);
    if (!handler_fits(errhandler, session_handler))
        return failed(s, MPI_ERR_ERRHANDLER);
    handler_keep(errhandler);
    handler_drop(atomic_exchange(&s->handler, errhandler));
    return MPI_SUCCESS;
}

ABI_BODY(int, Session_get_errhandler, (MPI_Session session, MPI_Errhandler *errhandler))
{
    struct session *s = session_of(session);
    if (!s || !errhandler)
        return failed(s, s ? MPI_ERR_ARG : MPI_ERR_SESSION);
    *errhandler = atomic_load(&s->handler);
    handler_keep(*errhandler);
    return MPI_SUCCESS;
}

ABI_BODY(int, Session_call_errhandler, (MPI_Session session, int errorcode))
{
    struct session *s = session_of(session);
    if (!s)
        return failed(NULL, MPI_ERR_SESSION);
    call_due(failed(s, errorcode));
    return MPI_SUCCESS;
}
