/* Performance variables of the interface for tools (15.3.7 of the standard). All of them go on by themselves, and can
   only be read. */
#include "tool.h"
#include "fork.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* mutex guards sessions and what they have. Go is not called under it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct pvar {
    struct pvar *next;
    int counter;
};

/* A session. The program has its address, and those of its handles. */
struct session {
    struct session *next;
    struct pvar *pvars;
};
static struct session *sessions; /* under mutex */

static void discard(struct session *s)
{
    for (struct pvar *p; (p = s->pvars) != NULL;) {
        s->pvars = p->next;
        free(p);
    }
    free(s);
}

/* forget frees what the program has left of sessions. */
static void forget(void)
{
    pthread_mutex_lock(&mutex);
    for (struct session *s; (s = sessions) != NULL;) {
        sessions = s->next;
        discard(s);
    }
    pthread_mutex_unlock(&mutex);
}

ABI(int, T_finalize, (void))
{
    int left = tool_end();
    if (left == 0)
        forget();
    return left >= 0 ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED;
}

/* session_place is where a session hangs in the list, NULL if there is no such session. Under mutex. */
static struct session **session_place(MPI_T_pvar_session session)
{
    for (struct session **at = &sessions; *at; at = &(*at)->next)
        if ((MPI_T_pvar_session)*at == session)
            return at;
    return NULL;
}

/* pvar_place is where a handle hangs in the list of its session. Under mutex. */
static struct pvar **pvar_place(struct session *s, MPI_T_pvar_handle handle)
{
    for (struct pvar **at = &s->pvars; *at; at = &(*at)->next)
        if ((MPI_T_pvar_handle)*at == handle)
            return at;
    return NULL;
}

/* look finds the variable of a handle. taken, if it is not NULL, gets the handle, which the session does not have any
   more then. */
static int look(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int *counter, struct pvar **taken)
{
    struct session **s;
    struct pvar **p;
    int class = MPI_SUCCESS;
    pthread_mutex_lock(&mutex);
    if (!(s = session_place(session)))
        class = MPI_T_ERR_INVALID_SESSION;
    else if (!(p = pvar_place(*s, handle)))
        class = MPI_T_ERR_INVALID_HANDLE;
    else {
        *counter = (*p)->counter;
        if (taken) {
            *taken = *p;
            *p = (*p)->next;
        }
    }
    pthread_mutex_unlock(&mutex);
    return class;
}

ABI(int, T_pvar_get_num, (int *num_pvar))
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(num_pvar, MPI_T_ERR_INVALID);
    for (*num_pvar = 0; tool_counter(*num_pvar); ++*num_pvar)
        ;
    return MPI_SUCCESS;
}

ABI(int, T_pvar_get_info, (int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
    MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
    int *atomic))
{
    const struct counter *c = tool_counter(pvar_index);
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(c, MPI_T_ERR_INVALID_INDEX);
    tool_copy(c->name, name, name_len);
    tool_copy(c->doc, desc, desc_len);
    TOOL_SET(verbosity, c->verbosity);
    TOOL_SET(var_class, c->class);
    TOOL_SET(datatype, MPI_UNSIGNED_LONG_LONG);
    TOOL_SET(enumtype, MPI_T_ENUM_NULL);
    TOOL_SET(bind, MPI_T_BIND_NO_OBJECT);
    TOOL_SET(readonly, 1);
    TOOL_SET(continuous, 1);
    TOOL_SET(atomic, 0);
    return MPI_SUCCESS;
}

ABI(int, T_pvar_get_index, (const char *name, int var_class, int *pvar_index))
{
    const struct counter *c;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(name && pvar_index, MPI_T_ERR_INVALID);
    for (int i = 0; (c = tool_counter(i)) != NULL; i++)
        if (c->class == var_class && strcmp(name, c->name) == 0) {
            *pvar_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

ABI(int, T_pvar_session_create, (MPI_T_pvar_session *session))
{
    struct session *s;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(session, MPI_T_ERR_INVALID);
    ENDS_UNLESS((s = calloc(1, sizeof(*s))), MPI_T_ERR_OUT_OF_SESSIONS);
    pthread_mutex_lock(&mutex);
    s->next = sessions;
    sessions = s;
    pthread_mutex_unlock(&mutex);
    *session = (MPI_T_pvar_session)s;
    return MPI_SUCCESS;
}

ABI(int, T_pvar_session_free, (MPI_T_pvar_session *session))
{
    struct session **at, *s = NULL;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(session, MPI_T_ERR_INVALID);
    pthread_mutex_lock(&mutex);
    if ((at = session_place(*session)) != NULL) {
        s = *at;
        *at = s->next;
    }
    pthread_mutex_unlock(&mutex);
    ENDS_UNLESS(s, MPI_T_ERR_INVALID_SESSION);
    discard(s);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

ABI(int, T_pvar_handle_alloc, (MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle,
    int *count))
{
    struct session **s;
    struct pvar *made;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(handle, MPI_T_ERR_INVALID);
    ENDS_UNLESS(tool_counter(pvar_index), MPI_T_ERR_INVALID_INDEX);
    ENDS_UNLESS((made = malloc(sizeof(*made))), MPI_T_ERR_OUT_OF_HANDLES);
    made->counter = pvar_index;
    pthread_mutex_lock(&mutex);
    if ((s = session_place(session)) != NULL) {
        made->next = (*s)->pvars;
        (*s)->pvars = made;
    }
    pthread_mutex_unlock(&mutex);
    if (!s) {
        free(made);
        return MPI_T_ERR_INVALID_SESSION;
    }
    *handle = (MPI_T_pvar_handle)made;
    TOOL_SET(count, 1);
    return MPI_SUCCESS;
}

ABI(int, T_pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle *handle))
{
    struct pvar *taken;
    int counter, class;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(handle, MPI_T_ERR_INVALID);
    if ((class = look(session, *handle, &counter, &taken)) != MPI_SUCCESS)
        return class;
    free(taken);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

ABI(int, T_pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
{
    unsigned long long value;
    uint64_t read;
    int counter, class;
    ENDS_UNLESS_BEGUN();
    if ((class = look(session, handle, &counter, NULL)) != MPI_SUCCESS)
        return class;
    ENDS_UNLESS(buf, MPI_T_ERR_INVALID);
    ENDS_UNLESS(!forked(), MPI_T_ERR_NOT_ACCESSIBLE);
    ENDS_UNLESS(golciCounter(counter, &read) == MPI_SUCCESS, MPI_T_ERR_NOT_ACCESSIBLE);
    value = read;
    memcpy(buf, &value, sizeof(value));
    return MPI_SUCCESS;
}

/* refused is the class of what no variable can do. All handles together may be asked, where those that cannot are left
   out (15.3.7). */
static int refused(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int all, int refusal)
{
    int counter, class;
    ENDS_UNLESS_BEGUN();
    class = look(session, handle, &counter, NULL);
    if (all && handle == MPI_T_PVAR_ALL_HANDLES && class == MPI_T_ERR_INVALID_HANDLE)
        return MPI_SUCCESS;
    return class == MPI_SUCCESS ? refusal : class;
}

ABI(int, T_pvar_start, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
{
    return refused(session, handle, 1, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

ABI(int, T_pvar_stop, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
{
    return refused(session, handle, 1, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

ABI(int, T_pvar_reset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
{
    return refused(session, handle, 1, MPI_T_ERR_PVAR_NO_WRITE);
}

ABI(int, T_pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf))
{
    return refused(session, handle, 0, MPI_T_ERR_PVAR_NO_WRITE);
}

ABI(int, T_pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
{
    return refused(session, handle, 0, MPI_T_ERR_PVAR_NO_ATOMIC);
}
