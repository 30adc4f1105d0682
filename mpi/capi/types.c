/* The table of datatypes, and the functions that need nothing else (5.1.5 to 5.1.9 of the standard). */
#include "types.h"

#include "attrs.h"
#include "calls.h"
#include "comms.h"
#include "makers.h"
#include "types_gen.h"

#include <pthread.h>
#include <stdlib.h>

/* The number of a handle is first plus the generation of its place, above the place, as for communicators. */
enum { generations = 512, slab_bits = 8, slab_size = 1 << slab_bits, slabs = type_places >> slab_bits };

/* A datatype that is not predefined. */
struct entry {
    struct type type;
    unsigned handle; /* 0 of a free place */
    unsigned short turn; /* the generation */
    int permanent;       /* the program cannot free it */
};

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

/* entry_of is NULL if there is no such datatype, or it is predefined. */
static struct entry *entry_of(MPI_Datatype datatype)
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

int bad_type(int class) { return running() ? fail(NULL, class) : class; }

/* reserve gives the handle of a place that nobody uses, 0 if there is none. */
static int reserve(void)
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

static void release(int handle)
{
    pthread_mutex_lock(&mutex);
    idle[idles++] = place_of((uintptr_t)handle);
    pthread_mutex_unlock(&mutex);
}

int make_type(struct maker *m, MPI_Datatype *newtype)
{
    int handle, place, class;
    struct entry *e;
    if (!newtype)
        return bad_type(MPI_ERR_ARG);
    if (!running())
        return fail(NULL, MPI_ERR_OTHER);
    if ((place = reserve()) == 0)
        return bad_type(MPI_ERR_NO_MEM);
    e = entry_at(place_of((uintptr_t)place));
    handle = place;
    class = golciTypeMake(m, &handle, &e->type);
    if (class != MPI_SUCCESS || handle != place) { /* or there has been such a type before */
        release(place);
    } else {
        e->permanent = m->permanent;
        __atomic_store_n(&e->handle, (unsigned)handle, __ATOMIC_RELEASE);
    }
    if (class != MPI_SUCCESS)
        return bad_type(class);
    *newtype = (MPI_Datatype)(intptr_t)handle;
    return MPI_SUCCESS;
}

void type_drop(MPI_Datatype *datatype)
{
    struct entry *e = entry_of(*datatype);
    int handle = (int)e->handle;
    golciTypeFree(handle);
    e->turn = (e->turn + 1) % generations;
    __atomic_store_n(&e->handle, 0, __ATOMIC_RELEASE);
    release(handle);
    *datatype = MPI_DATATYPE_NULL;
}

/* A type loses its attributes first. If a delete function fails it stays. */
ABI_BODY(int, Type_free, (MPI_Datatype *datatype))
{
    struct entry *e = datatype ? entry_of(*datatype) : NULL;
    int class;
    if (!e || e->permanent)
        return bad_type(datatype ? MPI_ERR_TYPE : MPI_ERR_ARG);
    class = golciAttrClear(attr_type, (uintptr_t)*datatype);
    if (class != MPI_SUCCESS)
        return bad_type(class);
    type_drop(datatype);
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_commit, (MPI_Datatype *datatype))
{
    const struct type *t = datatype ? type_of(*datatype) : NULL;
    struct entry *e;
    if (!t)
        return bad_type(datatype ? MPI_ERR_TYPE : MPI_ERR_ARG);
    if (t->open) {
        e = entry_of(*datatype);
        golciTypeCommit((int)e->handle);
        __atomic_store_n(&e->type.open, 0, __ATOMIC_RELEASE);
    }
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_size_c, (MPI_Datatype datatype, MPI_Count *size))
{
    const struct type *t = type_of(datatype);
    if (!t || !size)
        return bad_type(t ? MPI_ERR_ARG : MPI_ERR_TYPE);
    *size = t->size;
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_size_x, (MPI_Datatype datatype, MPI_Count *size))
{
    return PMPI_Type_size_c(datatype, size);
}

ABI_BODY(int, Type_size, (MPI_Datatype datatype, int *size))
{
    MPI_Count n;
    int code = PMPI_Type_size_c(datatype, size ? &n : NULL);
    if (code == MPI_SUCCESS)
        *size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
    return code;
}

ABI_BODY(int, Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
{
    const struct type *t = type_of(datatype);
    if (!t || !lb || !extent)
        return bad_type(t ? MPI_ERR_ARG : MPI_ERR_TYPE);
    *lb = t->lb;
    *extent = t->extent;
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
{
    return PMPI_Type_get_extent_c(datatype, lb, extent);
}

ABI_BODY(int, Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
{
    const struct type *t = type_of(datatype);
    if (!t || !true_lb || !true_extent)
        return bad_type(t ? MPI_ERR_ARG : MPI_ERR_TYPE);
    *true_lb = t->true_lb;
    *true_extent = t->true_extent;
    return MPI_SUCCESS;
}

ABI_BODY(int, Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
{
    return PMPI_Type_get_true_extent_c(datatype, true_lb, true_extent);
}

/* to_aints stores bounds as addresses, which are no wider than counts. */
static int to_aints(int code, MPI_Count lb, MPI_Count extent, MPI_Aint *to_lb, MPI_Aint *to_extent)
{
    if (code != MPI_SUCCESS)
        return code;
    *to_lb = lb < INTPTR_MIN || lb > INTPTR_MAX ? MPI_UNDEFINED : (MPI_Aint)lb;
    *to_extent = extent < INTPTR_MIN || extent > INTPTR_MAX ? MPI_UNDEFINED : (MPI_Aint)extent;
    return code;
}

ABI_BODY(int, Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent))
{
    MPI_Count from = 0, bytes = 0;
    int code = PMPI_Type_get_extent_c(datatype, lb ? &from : NULL, extent ? &bytes : NULL);
    return to_aints(code, from, bytes, lb, extent);
}

ABI_BODY(int, Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent))
{
    MPI_Count from = 0, bytes = 0;
    int code = PMPI_Type_get_true_extent_c(datatype, true_lb ? &from : NULL, true_extent ? &bytes : NULL);
    return to_aints(code, from, bytes, true_lb, true_extent);
}
