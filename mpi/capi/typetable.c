/* The table of datatypes. */
#include "typetable.h"
#include "types_gen.h"

#include <pthread.h>
#include <stdlib.h>

/* The number of a handle is first plus the generation of its place, above the place, as for communicators. */
enum { generations = 512, slab_bits = 8, slab_size = 1 << slab_bits, slabs = type_places >> slab_bits };

/* Slabs are made at need and stay where they are. */
static struct entry *table[slabs];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under mutex. */
static int used;             /* places that were ever in use */
static int idle[type_places]; /* those that are free again */
static int idles;

static struct entry *entry_at(int place)
{
    struct entry *slab = __atomic_load_n(&table[place >> slab_bits], __ATOMIC_ACQUIRE);
    return slab ? &slab[place & (slab_size - 1)] : NULL;
}

static int place_of(uintptr_t number) { return (int)((number - first_type) & ((1 << type_place_bits) - 1)); }

struct entry *entry_of(MPI_Datatype datatype)
{
    uintptr_t number = (uintptr_t)datatype;
    struct entry *e;
    if (number < first_type || place_of(number) >= type_places || !(e = entry_at(place_of(number))))
        return NULL;
    return __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE) == number ? e : NULL;
}

const struct type *type_of(MPI_Datatype datatype)
{
    enum { known = sizeof(predefined) / sizeof(predefined[0]) };
    uintptr_t i = (uintptr_t)datatype - first_datatype; /* great where the handle is less */
    struct entry *e;
    if (i < known)
        return predefined[i].size != 0 ? &predefined[i] : NULL;
    e = entry_of(datatype);
    return e ? &e->type : NULL;
}

const struct type *in_message(MPI_Datatype datatype)
{
    const struct type *t = type_of(datatype);
    return t && !__atomic_load_n(&t->open, __ATOMIC_RELAXED) ? t : NULL;
}

struct entry *entry_reserved(int handle) { return entry_at(place_of((uintptr_t)handle)); }

int type_reserve(void)
{
    struct entry *slab;
    int place = -1;
    pthread_mutex_lock(&mutex);
    if (idles > 0) {
        place = idle[--idles];
    } else if (used < type_places) {
        if (entry_at(used)) {
            place = used++;
        } else if ((slab = calloc(slab_size, sizeof(*slab)))) {
            __atomic_store_n(&table[used >> slab_bits], slab, __ATOMIC_RELEASE);
            place = used++;
        }
    }
    pthread_mutex_unlock(&mutex);
    return place < 0 ? 0 : first_type + (entry_at(place)->turn << type_place_bits) + place;
}

void type_release(int handle)
{
    pthread_mutex_lock(&mutex);
    idle[idles++] = place_of((uintptr_t)handle);
    pthread_mutex_unlock(&mutex);
}

void type_drop(MPI_Datatype *datatype)
{
    struct entry *e = entry_of(*datatype);
    int handle = (int)e->handle;
    golciTypeFree(handle);
    e->turn = (e->turn + 1) % generations;
    __atomic_store_n(&e->handle, 0, __ATOMIC_RELEASE);
    type_release(handle);
    *datatype = MPI_DATATYPE_NULL;
}
