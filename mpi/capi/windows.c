/* Windows: making and ending them, what is known of them, and the calls that order accesses (12.2 and 12.5). */
#include "windows.h"
#include "attrs.h"
#include "codes.h"
#include "fail.h"
#include "handlers.h"
#include "reach.h"

#include <stdatomic.h>
#include <string.h>

struct reach reach[reach_windows];

#define NUMBER(handle) ((uintptr_t)(handle))

/* done ends a function on a window with the class of its error, which its handler deals with. */
static int done(MPI_Win win, int class)
{
    uintptr_t handler;
    if (class == MPI_SUCCESS)
        return class;
    handler = running() ? golciWinHandler(NUMBER(win)) : 0;
    if (!handler)
        return fail(NULL, class);
    return fail_with((MPI_Errhandler)handler, &win, class);
}

/* facts is NULL if there is no such window. */
static struct win_facts *facts(MPI_Win win) { return running() ? golciWinFacts(NUMBER(win)) : NULL; }

/* make makes a window. */
static int make(int maker, void **base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct comm *c = comm_of(comm);
    int class = MPI_ERR_ARG;
    if (!c)
        return bad_comm();
    if (c->remote)
        return fail(c, MPI_ERR_COMM);
    if (win && base)
        class = golciWinMake(maker, base, size, unit, c->place, (uintptr_t *)win);
    if (class == MPI_SUCCESS)
        class = golciWinSetHints(NUMBER(*win), NUMBER(info));
    return class == MPI_SUCCESS ? class : fail(c, class);
}

ABI_BODY(int, Win_create_c, (void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    return make(win_create, &base, size, disp_unit, info, comm, win);
}

ABI_BODY(int, Win_allocate_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
    MPI_Win *win))
{
    return make(win_allocate, baseptr, size, disp_unit, info, comm, win);
}

ABI_BODY(int, Win_allocate_shared_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
    MPI_Win *win))
{
    return make(win_shared, baseptr, size, disp_unit, info, comm, win);
}

ABI_BODY(int, Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    void *base = NULL;
    return make(win_dynamic, &base, 0, 1, info, comm, win);
}

ABI_BODY(int, Win_free, (MPI_Win *win))
{
    MPI_Win old = win ? *win : MPI_WIN_NULL;
    int class = MPI_ERR_ARG;
    if (win)
        class = facts(old) ? golciAttrClear(attr_win, NUMBER(old)) : MPI_ERR_WIN;
    if (class == MPI_SUCCESS)
        class = golciWinFree(NUMBER(old));
    if (class != MPI_SUCCESS)
        return done(old, class);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

ABI_BODY(int, Win_attach, (MPI_Win win, void *base, MPI_Aint size))
{
    return done(win, golciWinAttach(NUMBER(win), base, size));
}

ABI_BODY(int, Win_detach, (MPI_Win win, const void *base))
{
    return done(win, golciWinDetach(NUMBER(win), (void *)base));
}

ABI_BODY(int, Win_shared_query_c, (MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr))
{
    int64_t bytes = 0, unit = 0;
    int class = size && disp_unit && baseptr ? golciWinQuery(NUMBER(win), rank, &bytes, &unit, baseptr) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS) {
        *size = bytes;
        *disp_unit = unit;
    }
    return done(win, class);
}

ABI_BODY(int, Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr))
{
    MPI_Aint unit = 0;
    int class;
    if (!disp_unit)
        return done(win, MPI_ERR_ARG);
    class = PMPI_Win_shared_query_c(win, rank, size, &unit, baseptr);
    if (class == MPI_SUCCESS)
        *disp_unit = (int)unit;
    return class;
}

ABI_BODY(int, Win_get_group, (MPI_Win win, MPI_Group *group))
{
    return done(win, group ? golciWinGroup(NUMBER(win), (uintptr_t *)group) : MPI_ERR_ARG);
}

ABI_BODY(int, Win_set_name, (MPI_Win win, const char *win_name))
{
    struct win_facts *f = facts(win);
    size_t n;
    if (!f || !win_name)
        return done(win, f ? MPI_ERR_ARG : MPI_ERR_WIN);
    n = strnlen(win_name, sizeof(f->name) - 1);
    memcpy(f->name, win_name, n);
    f->name[n] = 0;
    f->name_length = (int)n;
    return MPI_SUCCESS;
}

ABI_BODY(int, Win_get_name, (MPI_Win win, char *win_name, int *resultlen))
{
    struct win_facts *f = facts(win);
    static const char null[] = "MPI_WIN_NULL"; /* the standard gives it a name */
    if (!win_name || !resultlen || (!f && win != MPI_WIN_NULL))
        return done(win, win_name && resultlen ? MPI_ERR_WIN : MPI_ERR_ARG);
    if (!f) {
        memcpy(win_name, null, sizeof(null));
        *resultlen = sizeof(null) - 1;
        return MPI_SUCCESS;
    }
    memcpy(win_name, f->name, f->name_length + 1);
    *resultlen = f->name_length;
    return MPI_SUCCESS;
}

/* value is what a predefined attribute gives: an address, or the memory itself; NULL if there is no such attribute. */
static void *value(struct win_facts *f, int keyval)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        return f->base;
    case MPI_WIN_SIZE:
        return &f->size;
    case MPI_WIN_DISP_UNIT:
        return &f->unit;
    case MPI_WIN_CREATE_FLAVOR:
        return &f->flavor;
    case MPI_WIN_MODEL:
        return &f->model;
    }
    return NULL;
}

/* named ends a function on an attribute. What is wrong with one is no fault of the window: its handler, which ends the
   job until the program sets another one, is for accesses (12.6.1). */
static int named(int class) { return class == MPI_SUCCESS ? class : fail(NULL, class); }

ABI_BODY(int, Win_get_attr, (MPI_Win win, int win_keyval, void *attribute_val, int *flag))
{
    struct win_facts *f = facts(win);
    if (!f || !attribute_val || !flag)
        return done(win, f ? MPI_ERR_ARG : MPI_ERR_WIN);
    if (win_keyval < MPI_WIN_BASE || win_keyval > MPI_WIN_MODEL)
        return named(golciAttrGet(attr_win, NUMBER(win), win_keyval, attribute_val, flag));
    *(void **)attribute_val = value(f, win_keyval);
    *flag = 1;
    return MPI_SUCCESS;
}

ABI_BODY(int, Win_set_attr, (MPI_Win win, int win_keyval, void *attribute_val))
{
    if (!facts(win))
        return done(win, MPI_ERR_WIN);
    return named(golciAttrSet(attr_win, NUMBER(win), win_keyval, NUMBER(attribute_val)));
}

ABI_BODY(int, Win_delete_attr, (MPI_Win win, int win_keyval))
{
    if (!facts(win))
        return done(win, MPI_ERR_WIN);
    return named(golciAttrDelete(attr_win, NUMBER(win), win_keyval));
}

ABI_BODY(int, Win_set_info, (MPI_Win win, MPI_Info info)) { return done(win, golciWinSetHints(NUMBER(win), NUMBER(info))); }

ABI_BODY(int, Win_get_info, (MPI_Win win, MPI_Info *info_used))
{
    return done(win, info_used ? golciWinHints(NUMBER(win), (uintptr_t *)info_used) : MPI_ERR_ARG);
}

ABI_BODY(int, Win_set_errhandler, (MPI_Win win, MPI_Errhandler errhandler))
{
    if (!facts(win))
        return done(win, MPI_ERR_WIN);
    if (!handler_fits(errhandler, win_handler))
        return done(win, MPI_ERR_ERRHANDLER);
    handler_keep(errhandler);
    handler_drop((MPI_Errhandler)golciWinHandler(NUMBER(win)));
    golciWinSetHandler(NUMBER(win), NUMBER(errhandler));
    return MPI_SUCCESS;
}

ABI_BODY(int, Win_get_errhandler, (MPI_Win win, MPI_Errhandler *errhandler))
{
    if (!facts(win) || !errhandler)
        return done(win, errhandler ? MPI_ERR_WIN : MPI_ERR_ARG);
    *errhandler = (MPI_Errhandler)golciWinHandler(NUMBER(win));
    handler_keep(*errhandler);
    return MPI_SUCCESS;
}

ABI_BODY(int, Win_call_errhandler, (MPI_Win win, int errorcode))
{
    if (!facts(win))
        return done(win, MPI_ERR_WIN);
    call_due(done(win, errorcode));
    return MPI_SUCCESS;
}

/* order is golciWinSync of a function, with its arguments; what it does not have is 0. */
static int order(MPI_Win win, int call, int rank, int kind, int assert, uintptr_t group, int *flag)
{
    return done(win, golciWinSync(NUMBER(win), call, rank, kind, assert, group, flag));
}

ABI_BODY(int, Win_fence, (int assert, MPI_Win win)) { return order(win, sync_fence, 0, 0, assert, 0, NULL); }

ABI_BODY(int, Win_start, (MPI_Group group, int assert, MPI_Win win))
{
    return order(win, sync_start, 0, 0, assert, NUMBER(group), NULL);
}

ABI_BODY(int, Win_complete, (MPI_Win win)) { return order(win, sync_complete, 0, 0, 0, 0, NULL); }

ABI_BODY(int, Win_post, (MPI_Group group, int assert, MPI_Win win))
{
    return order(win, sync_post, 0, 0, assert, NUMBER(group), NULL);
}

ABI_BODY(int, Win_wait, (MPI_Win win)) { return order(win, sync_wait, 0, 0, 0, 0, NULL); }

ABI_BODY(int, Win_test, (MPI_Win win, int *flag))
{
    return flag ? order(win, sync_test, 0, 0, 0, 0, flag) : done(win, MPI_ERR_ARG);
}

ABI_BODY(int, Win_lock, (int lock_type, int rank, int assert, MPI_Win win))
{
    return order(win, sync_lock, rank, lock_type, assert, 0, NULL);
}

ABI_BODY(int, Win_unlock, (int rank, MPI_Win win)) { return order(win, sync_unlock, rank, 0, 0, 0, NULL); }

ABI_BODY(int, Win_lock_all, (int assert, MPI_Win win)) { return order(win, sync_lock_all, 0, 0, assert, 0, NULL); }

ABI_BODY(int, Win_unlock_all, (MPI_Win win)) { return order(win, sync_unlock_all, 0, 0, 0, 0, NULL); }

/* flush is golciWinSync of a flush, to a rank or -1. Where accesses are copies, none is under way. Go makes progress in
   some of these calls. */
static int flush(MPI_Win win, int call, int rank)
{
    struct reach *w = reach_of(NUMBER(win));
    if (w && running() && reach_open(w, rank, 1) && rank < (int)w->ranks &&
        __atomic_add_fetch(&w->flushes, 1, __ATOMIC_SEQ_CST) % reach_flushes)
        return MPI_SUCCESS;
    return order(win, call, rank, 0, 0, 0, NULL);
}

ABI_BODY(int, Win_flush, (int rank, MPI_Win win))
{
    return rank < 0 ? order(win, sync_flush, rank, 0, 0, 0, NULL) : flush(win, sync_flush, rank);
}

ABI_BODY(int, Win_flush_local, (int rank, MPI_Win win)) { return do_Win_flush(rank, win); }

ABI_BODY(int, Win_flush_all, (MPI_Win win)) { return flush(win, sync_flush_all, -1); }

ABI_BODY(int, Win_flush_local_all, (MPI_Win win)) { return flush(win, sync_flush_all, -1); }

ABI_BODY(int, Win_sync, (MPI_Win win)) { return order(win, sync_sync, 0, 0, 0, 0, NULL); }

/* Accesses. */

static struct win_buffer buffer(const void *mem, MPI_Count count, MPI_Datatype datatype)
{
    return (struct win_buffer){(void *)mem, count, NUMBER(datatype)};
}

/* direct is where a put or get is a copy of n bytes; NULL: Go makes it. */
static void *direct(MPI_Win win, int rank, MPI_Aint disp, const struct win_buffer *b, MPI_Count count,
    MPI_Datatype datatype, size_t *n)
{
    if (!running() || b->datatype != NUMBER(datatype) || b->count != count || !b->mem)
        return NULL;
    return reach_place(NUMBER(win), rank, disp, count, datatype, n);
}

/* run makes an access of a call whose buffers are set. */
static int run(struct win_call *call, int access, MPI_Win win, int rank, MPI_Aint disp, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op)
{
    call->access = access;
    call->win = NUMBER(win);
    call->rank = rank;
    call->disp = disp;
    call->target = buffer(NULL, count, datatype);
    call->op = NUMBER(op);
    return done(win, golciWinAccess(call));
}

/* asked is run of a form with a request. */
static int asked(struct win_call *call, int access, MPI_Win win, int rank, MPI_Aint disp, MPI_Count count,
    MPI_Datatype datatype, MPI_Op op, MPI_Request *request)
{
    if (!request)
        return done(win, MPI_ERR_ARG);
    call->request = (uintptr_t *)request;
    return run(call, access, win, rank, disp, count, datatype, op);
}

ABI_BODY(int, Put_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win))
{
    struct win_call x = {.origin = buffer(origin_addr, origin_count, origin_datatype)};
    size_t n;
    void *to = direct(win, target_rank, target_disp, &x.origin, target_count, target_datatype, &n);
    if (to) {
        memmove(to, origin_addr, n);
        return MPI_SUCCESS;
    }
    return run(&x, access_put, win, target_rank, target_disp, target_count, target_datatype, MPI_OP_NULL);
}

ABI_BODY(int, Get_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win))
{
    struct win_call x = {.origin = buffer(origin_addr, origin_count, origin_datatype)};
    size_t n;
    const void *from = direct(win, target_rank, target_disp, &x.origin, target_count, target_datatype, &n);
    if (from) {
        memmove(origin_addr, from, n);
        return MPI_SUCCESS;
    }
    return run(&x, access_get, win, target_rank, target_disp, target_count, target_datatype, MPI_OP_NULL);
}

ABI_BODY(int, Accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
    MPI_Win win))
{
    struct win_call x = {.origin = buffer(origin_addr, origin_count, origin_datatype)};
    return run(&x, access_accumulate, win, target_rank, target_disp, target_count, target_datatype, op);
}

ABI_BODY(int, Get_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win))
{
    struct win_call x = {.origin = buffer(origin_addr, origin_count, origin_datatype),
        .result = buffer(result_addr, result_count, result_datatype)};
    return run(&x, access_get_accumulate, win, target_rank, target_disp, target_count, target_datatype, op);
}

ABI_BODY(int, Fetch_and_op, (const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
    MPI_Aint target_disp, MPI_Op op, MPI_Win win))
{
    struct win_call x = {.origin = buffer(origin_addr, 1, datatype), .result = buffer(result_addr, 1, datatype)};
    return run(&x, access_fetch, win, target_rank, target_disp, 1, datatype, op);
}

ABI_BODY(int, Compare_and_swap, (const void *origin_addr, const void *compare_addr, void *result_addr,
    MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win))
{
    struct win_call x = {.origin = buffer(origin_addr, 1, datatype), .result = buffer(result_addr, 1, datatype),
        .compare = buffer(compare_addr, 1, datatype)};
    return run(&x, access_swap, win, target_rank, target_disp, 1, datatype, MPI_OP_NULL);
}

ABI_BODY(int, Rput_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request))
{
    struct win_call x = {.origin = buffer(origin_addr, origin_count, origin_datatype)};
    return asked(&x, access_put, win, target_rank, target_disp, target_count, target_datatype, MPI_OP_NULL, request);
}

ABI_BODY(int, Rget_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request))
{
    struct win_call x = {.origin = buffer(origin_addr, origin_count, origin_datatype)};
    return asked(&x, access_get, win, target_rank, target_disp, target_count, target_datatype, MPI_OP_NULL, request);
}

ABI_BODY(int, Raccumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
    MPI_Win win, MPI_Request *request))
{
    struct win_call x = {.origin = buffer(origin_addr, origin_count, origin_datatype)};
    return asked(&x, access_accumulate, win, target_rank, target_disp, target_count, target_datatype, op, request);
}

ABI_BODY(int, Rget_accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request))
{
    struct win_call x = {.origin = buffer(origin_addr, origin_count, origin_datatype),
        .result = buffer(result_addr, result_count, result_datatype)};
    return asked(&x, access_get_accumulate, win, target_rank, target_disp, target_count, target_datatype, op, request);
}
