/* The table of communicators: what C knows of them. */
#include "comms.h"
#include "calls.h"
#include "handlers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The number of a handle is first plus the generation of its place, above the place. So the handle of a communicator
   that was freed is not soon that of another one. */
enum { first = 4096, place_bits = 21, generations = 512, slab_bits = 8, slab_size = 1 << slab_bits,
    slabs = comm_places >> slab_bits };

/* Slabs are made at need and stay where they are. */
static _Atomic(struct comm *) table[slabs];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under mutex. */
static int used = self_place + 1; /* places that were ever in use */
static int idle[comm_places];     /* those that are free again */
static int idles;

/* How often a place was in use, up to generations. Who holds the place may touch it. */
static unsigned short turns[comm_places];

struct comm *comm_at(int place)
{
    return &atomic_load_explicit(&table[place >> slab_bits], memory_order_acquire)[place & (slab_size - 1)];
}

struct comm *comm_of(MPI_Comm comm)
{
    uintptr_t number = (uintptr_t)comm, place = (number - first) & ((1 << place_bits) - 1);
    struct comm *c, *slab;
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
        place = comm == MPI_COMM_WORLD ? world_place : self_place;
    else if (number < first)
        return NULL;
    if (place >= comm_places)
        return NULL;
    slab = atomic_load_explicit(&table[place >> slab_bits], memory_order_acquire);
    if (!slab)
        return NULL;
    c = &slab[place & (slab_size - 1)];
    return atomic_load_explicit(&c->handle, memory_order_acquire) == number ? c : NULL;
}

/* publish lets others find a communicator. */
static void publish(struct comm *c, uintptr_t number, int rank, int size, int remote, MPI_Errhandler handler)
{
    c->rank = rank;
    c->size = size;
    c->remote = remote;
    atomic_store(&c->handler, handler);
    atomic_store_explicit(&c->handle, (unsigned)number, memory_order_release);
}

/* slab_of makes the slab of a place, if there is none. mutex is held. */
static struct comm *slab_of(int place)
{
    struct comm *slab = atomic_load(&table[place >> slab_bits]);
    if (slab || !(slab = calloc(slab_size, sizeof(*slab))))
        return slab;
    for (int i = 0; i < slab_size; i++)
        slab[i].place = (place & ~(slab_size - 1)) + i;
    atomic_store(&table[place >> slab_bits], slab);
    return slab;
}

void comms_begin(int rank, int size)
{
    pthread_mutex_lock(&mutex);
    if (!slab_of(world_place))
        abort();
    pthread_mutex_unlock(&mutex);
    publish(comm_at(world_place), (uintptr_t)MPI_COMM_WORLD, rank, size, 0, MPI_ERRORS_ARE_FATAL);
    publish(comm_at(self_place), (uintptr_t)MPI_COMM_SELF, 0, 1, 0, MPI_ERRORS_ARE_FATAL);
}

void comms_forget(void)
{
    for (int place = 0; place < used; place++)
        atomic_store(&comm_at(place)->handle, 0);
}

void comms_end(void)
{
    pthread_mutex_lock(&mutex);
    comms_forget();
    pthread_mutex_unlock(&mutex);
}

int comm_reserve(void)
{
    int place = -1;
    pthread_mutex_lock(&mutex);
    if (idles > 0)
        place = idle[--idles];
    else if (used < comm_places && slab_of(used))
        place = used++;
    pthread_mutex_unlock(&mutex);
    return place;
}

void comm_release(int place)
{
    pthread_mutex_lock(&mutex);
    idle[idles++] = place;
    pthread_mutex_unlock(&mutex);
}

MPI_Comm comm_made(const struct comm *parent, int place, int rank, int size, int remote)
{
    uintptr_t number = first + ((uintptr_t)turns[place] << place_bits) + place;
    MPI_Errhandler handler = atomic_load(&parent->handler);
    handler_keep(handler);
    publish(comm_at(place), number, rank, size, remote, handler);
    return (MPI_Comm)number;
}

void comm_fill(int place, int rank, int size)
{
    comm_at(place)->rank = rank;
    comm_at(place)->size = size;
}

void comm_unpublish(struct comm *c)
{
    handler_drop(atomic_load(&c->handler));
    atomic_store(&c->handle, 0);
    turns[c->place] = (turns[c->place] + 1) % generations;
    comm_release(c->place);
}

int comm_unmade(struct comm *c)
{
    int class = golciFree(c->place);
    if (class == MPI_SUCCESS)
        comm_unpublish(c);
    return class;
}
