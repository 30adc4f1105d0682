/* The table of error handlers that programs make. */
#include "handlers.h"

#include <pthread.h>
#include <stdlib.h>

/* The number of a handle is first plus the place, below the generation of the place. */
enum { first = 4096, place_bits = 20, generations = 1024 };

struct handler {
    handler_function *call; /* NULL of a free place */
    int kind, uses, turn;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under mutex. */
static struct handler *handlers;
static int used, room; /* places that were ever in use, and those that there is memory for */

int handler_predefined(MPI_Errhandler handler)
{
    return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT || handler == MPI_ERRORS_RETURN;
}

/* find is NULL if there is no such handler. mutex is held. */
static struct handler *find(MPI_Errhandler handler)
{
    uintptr_t number = (uintptr_t)handler - first, place = number & ((1 << place_bits) - 1);
    struct handler *h;
    if ((uintptr_t)handler < first || place >= (uintptr_t)used)
        return NULL;
    h = &handlers[place];
    return h->call && number >> place_bits == (uintptr_t)h->turn ? h : NULL;
}

/* reserve gives a free place, -1 if there is none. mutex is held. */
static int reserve(void)
{
    for (int i = used - 1; i >= 0 && i >= used - 64; i--) /* those of before are looked at when memory is short */
        if (!handlers[i].call)
            return i;
    if (used == room) {
        int more = room ? 2 * room : 64;
        struct handler *grown;
        for (int i = 0; i < used; i++)
            if (!handlers[i].call)
                return i;
        if (used == 1 << place_bits || !(grown = realloc(handlers, more * sizeof(*grown))))
            return -1;
        handlers = grown;
        room = more;
    }
    handlers[used].turn = 0;
    return used++;
}

MPI_Errhandler handler_made(handler_function *call, int kind)
{
    MPI_Errhandler made = NULL;
    int place;
    pthread_mutex_lock(&mutex);
    if ((place = reserve()) >= 0) {
        struct handler *h = &handlers[place];
        h->call = call;
        h->kind = kind;
        h->uses = 1;
        made = (MPI_Errhandler)(first + ((uintptr_t)h->turn << place_bits) + place);
    }
    pthread_mutex_unlock(&mutex);
    return made;
}

int handler_fits(MPI_Errhandler handler, int kind)
{
    struct handler *h;
    int fits;
    if (handler_predefined(handler))
        return 1;
    pthread_mutex_lock(&mutex);
    h = find(handler);
    fits = h && h->kind == kind;
    pthread_mutex_unlock(&mutex);
    return fits;
}

/* use changes the number of uses. */
static void use(MPI_Errhandler handler, int by)
{
    struct handler *h;
    pthread_mutex_lock(&mutex);
    if ((h = find(handler)) && (h->uses += by) == 0) {
        h->call = NULL;
        h->turn = (h->turn + 1) % generations;
    }
    pthread_mutex_unlock(&mutex);
}

void handler_keep(MPI_Errhandler handler) { use(handler, 1); }
void handler_drop(MPI_Errhandler handler) { use(handler, -1); }

int handler_call(MPI_Errhandler handler, void *object, int *code)
{
    struct handler *h;
    handler_function *call;
    pthread_mutex_lock(&mutex);
    h = find(handler);
    call = h ? h->call : NULL;
    pthread_mutex_unlock(&mutex);
    if (!call)
        return 0;
    call(object, code);
    return 1;
}
