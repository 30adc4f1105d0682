/* Attributes of communicators and datatypes (7.7 of the standard). Those of windows have the same keyvals. */
#include "codes.h"
#include "attrs.h"
#include "calls.h"
#include "fail.h"
#include "types.h"

#include <stdlib.h>

int attr_call_copy(void *function, uintptr_t object, int keyval, void *extra, uintptr_t in, uintptr_t *out, int *flag)
{
    return ((attr_copy_function *)function)((void *)object, keyval, extra, (void *)in, out, flag);
}

int attr_call_delete(void *function, uintptr_t object, int keyval, uintptr_t value, void *extra)
{
    return ((attr_delete_function *)function)((void *)object, keyval, (void *)value, extra);
}

#define NUMBER(handle) ((uintptr_t)(handle))

static int done(int class) { return class == MPI_SUCCESS ? MPI_SUCCESS : fail(NULL, class); }

static int create(int kind, void *copy, void *delete, void *extra, int *keyval)
{
    return done(keyval ? golciKeyval(kind, copy, delete, extra, keyval) : MPI_ERR_ARG);
}

static int release(int kind, int *keyval)
{
    int class = keyval ? golciKeyvalFree(kind, *keyval) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        *keyval = MPI_KEYVAL_INVALID;
    return done(class);
}

ABI_BODY(int, Comm_create_keyval, (MPI_Comm_copy_attr_function *comm_copy_attr_fn,
    MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state))
{
    return create(attr_comm, comm_copy_attr_fn, comm_delete_attr_fn, extra_state, comm_keyval);
}

ABI_BODY(int, Keyval_create, (MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state))
{
    return create(attr_comm, copy_fn, delete_fn, extra_state, keyval);
}

ABI_BODY(int, Type_create_keyval, (MPI_Type_copy_attr_function *type_copy_attr_fn,
    MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state))
{
    return create(attr_type, type_copy_attr_fn, type_delete_attr_fn, extra_state, type_keyval);
}

ABI_BODY(int, Win_create_keyval, (MPI_Win_copy_attr_function *win_copy_attr_fn,
    MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state))
{
    return create(attr_win, win_copy_attr_fn, win_delete_attr_fn, extra_state, win_keyval);
}

ABI_BODY(int, Comm_free_keyval, (int *comm_keyval)) { return release(attr_comm, comm_keyval); }

ABI_BODY(int, Keyval_free, (int *keyval)) { return release(attr_comm, keyval); }

ABI_BODY(int, Type_free_keyval, (int *type_keyval)) { return release(attr_type, type_keyval); }

ABI_BODY(int, Win_free_keyval, (int *win_keyval)) { return release(attr_win, win_keyval); }

ABI_BODY(int, Comm_set_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val))
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    class = golciAttrSet(attr_comm, NUMBER(comm), comm_keyval, NUMBER(attribute_val));
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class);
}

/* predefined gives the address of the value of a keyval of the standard; NULL if it is none, or has no value. */
static int *predefined(int keyval)
{
    static int tag_ub = (1 << 28) - 1, io = MPI_ANY_SOURCE, host = MPI_PROC_NULL, global = 0;
    static int last_code, universe, app;
    switch (keyval) {
    case MPI_TAG_UB:
        return &tag_ub;
    case MPI_IO:
        return &io;
    case MPI_HOST:
        return &host;
    case MPI_WTIME_IS_GLOBAL:
        return &global;
    case MPI_LASTUSEDCODE:
        last_code = codes_last();
        return &last_code;
    case MPI_UNIVERSE_SIZE:
        universe = golciUniverse();
        return &universe;
    case MPI_APPNUM:
        app = golciAppNum();
        return &app;
    }
    return NULL;
}

static int is_predefined(int keyval) { return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE; }

ABI_BODY(int, Comm_get_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag))
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    if (!attribute_val || !flag)
        return fail(c, MPI_ERR_ARG);
    if (is_predefined(comm_keyval)) {
        *(int **)attribute_val = predefined(comm_keyval);
        *flag = *(int **)attribute_val != NULL;
        return MPI_SUCCESS;
    }
    class = golciAttrGet(attr_comm, NUMBER(comm), comm_keyval, attribute_val, flag);
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class);
}

ABI_BODY(int, Comm_delete_attr, (MPI_Comm comm, int comm_keyval))
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    class = golciAttrDelete(attr_comm, NUMBER(comm), comm_keyval);
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class);
}

ABI_BODY(int, Attr_put, (MPI_Comm comm, int keyval, void *attribute_val))
{
    return do_Comm_set_attr(comm, keyval, attribute_val);
}

ABI_BODY(int, Attr_get, (MPI_Comm comm, int keyval, void *attribute_val, int *flag))
{
    return do_Comm_get_attr(comm, keyval, attribute_val, flag);
}

ABI_BODY(int, Attr_delete, (MPI_Comm comm, int keyval)) { return do_Comm_delete_attr(comm, keyval); }

ABI_BODY(int, Type_set_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val))
{
    if (!type_of(datatype))
        return done(MPI_ERR_TYPE);
    return done(golciAttrSet(attr_type, NUMBER(datatype), type_keyval, NUMBER(attribute_val)));
}

ABI_BODY(int, Type_get_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag))
{
    if (!type_of(datatype))
        return done(MPI_ERR_TYPE);
    if (!attribute_val || !flag)
        return done(MPI_ERR_ARG);
    return done(golciAttrGet(attr_type, NUMBER(datatype), type_keyval, attribute_val, flag));
}

ABI_BODY(int, Type_delete_attr, (MPI_Datatype datatype, int type_keyval))
{
    if (!type_of(datatype))
        return done(MPI_ERR_TYPE);
    return done(golciAttrDelete(attr_type, NUMBER(datatype), type_keyval));
}

/* Memory for messages and windows (9.2 of the standard). Any memory does. */
ABI_BODY(int, Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr))
{
    enum { alignment = 64 };
    void *mem;
    if (size < 0 || !baseptr)
        return done(MPI_ERR_ARG);
    if (posix_memalign(&mem, alignment, size > 0 ? (size_t)size : 1) != 0)
        return done(MPI_ERR_NO_MEM);
    *(void **)baseptr = mem;
    return MPI_SUCCESS;
}

ABI_BODY(int, Free_mem, (void *base))
{
    free(base);
    return MPI_SUCCESS;
}
