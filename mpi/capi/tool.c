/* The start of the interface for tools, its control variables and its enumerations (15.3.4 to 15.3.6 of the standard).
   Its functions return classes, and call no handler. They work before MPI_Init and after MPI_Finalize. */
#include "tool.h"
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tool_gen.h"

enum { control_count = sizeof(controls) / sizeof(controls[0]) };

/* How often the interface has been started and not ended. It changes under mutex. */
static _Atomic int begun;

/* mutex guards the list of handles. Go is not called under it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* A handle of a control variable. The program has its address. */
struct cvar {
    struct cvar *next;
    int control;
};
static struct cvar *cvars; /* under mutex */

int tool_begun(void) { return atomic_load(&begun) > 0; }

void tool_copy(const char *from, char *text, int *len)
{
    size_t n = strlen(from) + 1;
    if (!len)
        return;
    if (text && *len > 0) {
        size_t room = (size_t)*len, part = n < room ? n : room;
        memcpy(text, from, part - 1);
        text[part - 1] = 0;
    }
    *len = (int)n;
}

ABI(int, T_init_thread, (int required, int *provided))
{
    int count;
    if (!forked() && golciControl(0, NULL, &count) != MPI_SUCCESS)
        return MPI_T_ERR_CANNOT_INIT; /* a setting cannot be read */
    pthread_mutex_lock(&mutex);
    atomic_fetch_add(&begun, 1);
    pthread_mutex_unlock(&mutex);
    TOOL_SET(provided, MPI_THREAD_MULTIPLE);
    return MPI_SUCCESS;
}

int tool_end(void)
{
    int left;
    pthread_mutex_lock(&mutex);
    left = atomic_load(&begun) - 1;
    if (left >= 0)
        atomic_store(&begun, left);
    if (left == 0)
        for (struct cvar *c; (c = cvars) != NULL;) {
            cvars = c->next;
            free(c);
        }
    pthread_mutex_unlock(&mutex);
    return left;
}

ABI(int, T_cvar_get_num, (int *num_cvar))
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(num_cvar, MPI_T_ERR_INVALID);
    *num_cvar = control_count;
    return MPI_SUCCESS;
}

/* An enumeration has the address of its variable. */
static MPI_T_enum enum_of(const struct control *c) { return c->words ? (MPI_T_enum)c : MPI_T_ENUM_NULL; }

ABI(int, T_cvar_get_info, (int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
    MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope))
{
    const struct control *c;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(cvar_index >= 0 && cvar_index < control_count, MPI_T_ERR_INVALID_INDEX);
    c = &controls[cvar_index];
    tool_copy(c->name, name, name_len);
    tool_copy(c->doc, desc, desc_len);
    TOOL_SET(verbosity, c->verbosity);
    TOOL_SET(datatype, c->type);
    TOOL_SET(enumtype, enum_of(c));
    TOOL_SET(bind, MPI_T_BIND_NO_OBJECT);
    TOOL_SET(scope, c->scope);
    return MPI_SUCCESS;
}

ABI(int, T_cvar_get_index, (const char *name, int *cvar_index))
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(name && cvar_index, MPI_T_ERR_INVALID);
    for (int i = 0; i < control_count; i++)
        if (strcmp(name, controls[i].name) == 0) {
            *cvar_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

ABI(int, T_cvar_handle_alloc, (int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count))
{
    struct cvar *made;
    int n;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(cvar_index >= 0 && cvar_index < control_count, MPI_T_ERR_INVALID_INDEX);
    ENDS_UNLESS(handle, MPI_T_ERR_INVALID);
    ENDS_UNLESS(!forked(), MPI_T_ERR_NOT_ACCESSIBLE);
    ENDS_UNLESS(golciControl(cvar_index, NULL, &n) == MPI_SUCCESS, MPI_T_ERR_NOT_ACCESSIBLE);
    ENDS_UNLESS((made = malloc(sizeof(*made))), MPI_T_ERR_OUT_OF_HANDLES);
    made->control = cvar_index;
    pthread_mutex_lock(&mutex);
    made->next = cvars;
    cvars = made;
    pthread_mutex_unlock(&mutex);
    *handle = (MPI_T_cvar_handle)made;
    TOOL_SET(count, n);
    return MPI_SUCCESS;
}

/* control_of is the place of the variable of a handle, -1 if there is no such handle. taken gets the handle itself, which
   is no longer in the list then. */
static int control_of(MPI_T_cvar_handle handle, struct cvar **taken)
{
    int control = -1;
    pthread_mutex_lock(&mutex);
    for (struct cvar **at = &cvars; *at; at = &(*at)->next)
        if ((MPI_T_cvar_handle)*at == handle) {
            control = (*at)->control;
            if (taken) {
                *taken = *at;
                *at = (*at)->next;
            }
            break;
        }
    pthread_mutex_unlock(&mutex);
    return control;
}

ABI(int, T_cvar_handle_free, (MPI_T_cvar_handle *handle))
{
    struct cvar *taken;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(handle, MPI_T_ERR_INVALID);
    ENDS_UNLESS(control_of(*handle, &taken) >= 0, MPI_T_ERR_INVALID_HANDLE);
    free(taken);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

ABI(int, T_cvar_read, (MPI_T_cvar_handle handle, void *buf))
{
    int control, count;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS((control = control_of(handle, NULL)) >= 0, MPI_T_ERR_INVALID_HANDLE);
    ENDS_UNLESS(buf, MPI_T_ERR_INVALID);
    ENDS_UNLESS(!forked(), MPI_T_ERR_NOT_ACCESSIBLE);
    return golciControl(control, buf, &count) == MPI_SUCCESS ? MPI_SUCCESS : MPI_T_ERR_NOT_ACCESSIBLE;
}

/* All variables are constant. */
ABI(int, T_cvar_write, (MPI_T_cvar_handle handle, const void *buf))
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(control_of(handle, NULL) >= 0, MPI_T_ERR_INVALID_HANDLE);
    return MPI_T_ERR_CVAR_SET_NEVER;
}

/* control_with is the variable of an enumeration, NULL if there is no such enumeration. */
static const struct control *control_with(MPI_T_enum enumtype)
{
    for (int i = 0; i < control_count; i++)
        if (controls[i].words && enumtype == enum_of(&controls[i]))
            return &controls[i];
    return NULL;
}

static int items(const struct control *c)
{
    int n = 0;
    while (c->words[n])
        n++;
    return n;
}

ABI(int, T_enum_get_info, (MPI_T_enum enumtype, int *num, char *name, int *name_len))
{
    const struct control *c;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS((c = control_with(enumtype)), MPI_T_ERR_INVALID_HANDLE);
    TOOL_SET(num, items(c));
    tool_copy(c->name, name, name_len);
    return MPI_SUCCESS;
}

ABI(int, T_enum_get_item, (MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len))
{
    const struct control *c;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS((c = control_with(enumtype)), MPI_T_ERR_INVALID_HANDLE);
    ENDS_UNLESS(indx >= 0 && indx < items(c), MPI_T_ERR_INVALID_ITEM);
    TOOL_SET(value, indx);
    tool_copy(c->words[indx], name, name_len);
    return MPI_SUCCESS;
}

enum { category_count = sizeof(categories) / sizeof(categories[0]), counter_count = sizeof(counters) / sizeof(counters[0]) };

const struct category *tool_category(int index)
{
    return index >= 0 && index < category_count ? &categories[index] : NULL;
}

const struct counter *tool_counter(int index)
{
    return index >= 0 && index < counter_count ? &counters[index] : NULL;
}
