/* Files: opening and closing them, views, and what is known of them (14.2 and 14.3 of the standard). */
#include "filesuse.h"
#include "calls.h"
#include "codes.h"
#include "fail.h"
#include "handlers.h"
#include "info.h"
#include "types.h"

#include <pthread.h>
#include <string.h>

#define NUMBER(handle) ((uintptr_t)(handle))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under mutex: the handler that files have at first, which is that of MPI_FILE_NULL (14.7). */
static MPI_Errhandler first_handler;

/* first gives that handler, counted once more. */
static MPI_Errhandler first(void)
{
    MPI_Errhandler h;
    pthread_mutex_lock(&mutex);
    h = first_handler ? first_handler : MPI_ERRORS_RETURN;
    handler_keep(h);
    pthread_mutex_unlock(&mutex);
    return h;
}

struct file_notes *file_notes(MPI_File fh) { return running() ? golciFileNotes(NUMBER(fh)) : NULL; }

int file_done(MPI_File fh, int class)
{
    struct file_notes *f;
    MPI_Errhandler h;
    if (class == MPI_SUCCESS)
        return class;
    if (!running())
        return fail(NULL, class);
    if ((f = file_notes(fh)))
        return fail_with(f->handler, &fh, class);
    h = first();
    class = fail_with(h, &fh, class);
    handler_drop(h);
    return class;
}

/* named tells that the handle of a predefined datatype may be kept, since nobody can free it. */
static int named(MPI_Datatype datatype)
{
    MPI_Count n[4];
    int combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope_c(datatype, &n[0], &n[1], &n[2], &n[3], &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX
        || combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_VALUE_INDEX;
}

/* kept is a datatype that stays when the program frees its own. */
static int kept(MPI_Datatype datatype, MPI_Datatype *copy)
{
    *copy = datatype;
    return named(datatype) ? MPI_SUCCESS : PMPI_Type_dup(datatype, copy);
}

static void forget(MPI_Datatype datatype)
{
    if (!named(datatype))
        PMPI_Type_free(&datatype);
}

ABI_BODY(int, File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh))
{
    struct comm *c = comm_of(comm);
    struct file_notes *f;
    int class;
    if (!c)
        return bad_comm();
    if (c->remote)
        return fail(c, MPI_ERR_COMM);
    if (!fh || !filename || !info_is(info))
        return file_done(MPI_FILE_NULL, fh && filename ? MPI_ERR_INFO : MPI_ERR_ARG);
    *fh = MPI_FILE_NULL;
    class = golciFileOpen(c->place, (char *)filename, amode, NUMBER(info), (uintptr_t *)fh);
    if (class != MPI_SUCCESS)
        return file_done(MPI_FILE_NULL, class);
    f = file_notes(*fh);
    f->handler = first();
    f->etype = f->filetype = MPI_BYTE;
    return MPI_SUCCESS;
}

ABI_BODY(int, File_close, (MPI_File *fh))
{
    struct file_notes *f = fh ? file_notes(*fh) : NULL, old;
    MPI_File file;
    int class;
    if (!f)
        return file_done(fh ? *fh : MPI_FILE_NULL, fh ? MPI_ERR_FILE : MPI_ERR_ARG);
    old = *f;
    file = *fh;
    class = golciFileClose(NUMBER(file));
    *fh = MPI_FILE_NULL;
    forget(old.etype);
    forget(old.filetype);
    if (class != MPI_SUCCESS)
        class = fail_with(old.handler, &file, class);
    handler_drop(old.handler);
    return class;
}

ABI_BODY(int, File_delete, (const char *filename, MPI_Info info))
{
    int class = filename ? MPI_SUCCESS : MPI_ERR_ARG;
    if (class == MPI_SUCCESS && !info_is(info))
        class = MPI_ERR_INFO;
    if (class == MPI_SUCCESS && running())
        class = golciFileDelete((char *)filename);
    else if (class == MPI_SUCCESS)
        class = MPI_ERR_OTHER;
    return file_done(MPI_FILE_NULL, class);
}

ABI_BODY(int, File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
    MPI_Info info))
{
    struct file_notes *f = file_notes(fh);
    MPI_Datatype copies[2];
    int class;
    if (!f || !datarep)
        return file_done(fh, f ? MPI_ERR_ARG : MPI_ERR_FILE);
    if (!type_of(etype) || !type_of(filetype) || !info_is(info))
        return file_done(fh, info_is(info) ? MPI_ERR_TYPE : MPI_ERR_INFO);
    class = golciFileSetView(NUMBER(fh), disp, (int)NUMBER(etype), (int)NUMBER(filetype), (char *)datarep,
        NUMBER(info));
    if (class == MPI_SUCCESS)
        class = kept(etype, &copies[0]);
    if (class == MPI_SUCCESS)
        class = kept(filetype, &copies[1]);
    if (class != MPI_SUCCESS)
        return file_done(fh, class);
    forget(f->etype);
    forget(f->filetype);
    f->etype = copies[0];
    f->filetype = copies[1];
    return MPI_SUCCESS;
}

ABI_BODY(int, File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep))
{
    struct file_notes *f = file_notes(fh);
    int class;
    if (!f || !disp || !etype || !filetype || !datarep)
        return file_done(fh, f ? MPI_ERR_ARG : MPI_ERR_FILE);
    class = golciFileView(NUMBER(fh), disp, datarep);
    if (class == MPI_SUCCESS)
        class = kept(f->etype, etype);
    if (class == MPI_SUCCESS)
        class = kept(f->filetype, filetype);
    return file_done(fh, class);
}

ABI_BODY(int, File_get_group, (MPI_File fh, MPI_Group *group))
{
    return file_done(fh, !file_notes(fh) ? MPI_ERR_FILE
        : group ? golciFileGroup(NUMBER(fh), (uintptr_t *)group) : MPI_ERR_ARG);
}

ABI_BODY(int, File_set_info, (MPI_File fh, MPI_Info info))
{
    if (!file_notes(fh) || !info_is(info))
        return file_done(fh, file_notes(fh) ? MPI_ERR_INFO : MPI_ERR_FILE);
    return file_done(fh, golciFileSetHints(NUMBER(fh), NUMBER(info)));
}

ABI_BODY(int, File_get_info, (MPI_File fh, MPI_Info *info_used))
{
    return file_done(fh, !file_notes(fh) ? MPI_ERR_FILE
        : info_used ? golciFileHints(NUMBER(fh), (uintptr_t *)info_used) : MPI_ERR_ARG);
}

ABI_BODY(int, File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent))
{
    int class = !file_notes(fh) ? MPI_ERR_FILE : !extent ? MPI_ERR_ARG : !type_of(datatype) ? MPI_ERR_TYPE
        : golciFileExtent(NUMBER(fh), (int)NUMBER(datatype), extent);
    return file_done(fh, class);
}

ABI_BODY(int, File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent))
{
    MPI_Count wide = 0;
    int class = extent ? PMPI_File_get_type_extent_c(fh, datatype, &wide) : file_done(fh, MPI_ERR_ARG);
    if (class == MPI_SUCCESS)
        *extent = wide;
    return class;
}

/* word asks for a number, or tells one. */
static int word(MPI_File fh, int what, MPI_Offset value, int whence, int64_t *result)
{
    int64_t ignored = 0;
    int class = MPI_ERR_FILE;
    if (file_notes(fh))
        class = golciFileWord(NUMBER(fh), what, value, whence, result ? result : &ignored);
    return file_done(fh, class);
}

/* ask is word of a number that fills n bytes. */
static int ask(MPI_File fh, int what, MPI_Offset value, void *result, size_t n)
{
    int64_t wide = 0;
    int narrow, class;
    if (!result)
        return file_done(fh, MPI_ERR_ARG);
    class = word(fh, what, value, 0, &wide);
    narrow = (int)wide;
    if (class == MPI_SUCCESS)
        memcpy(result, n == sizeof(wide) ? (void *)&wide : (void *)&narrow, n);
    return class;
}

ABI_BODY(int, File_get_amode, (MPI_File fh, int *amode)) { return ask(fh, file_mode, 0, amode, sizeof(*amode)); }
ABI_BODY(int, File_get_atomicity, (MPI_File fh, int *flag)) { return ask(fh, file_atomic, 0, flag, sizeof(*flag)); }
ABI_BODY(int, File_get_size, (MPI_File fh, MPI_Offset *size)) { return ask(fh, file_size, 0, size, sizeof(*size)); }

ABI_BODY(int, File_get_position, (MPI_File fh, MPI_Offset *offset))
{
    return ask(fh, file_position, 0, offset, sizeof(*offset));
}

ABI_BODY(int, File_get_position_shared, (MPI_File fh, MPI_Offset *offset))
{
    return ask(fh, file_position_shared, 0, offset, sizeof(*offset));
}

ABI_BODY(int, File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp))
{
    return ask(fh, file_offset, offset, disp, sizeof(*disp));
}

ABI_BODY(int, File_set_atomicity, (MPI_File fh, int flag)) { return word(fh, file_set_atomic, flag, 0, NULL); }
ABI_BODY(int, File_set_size, (MPI_File fh, MPI_Offset size)) { return word(fh, file_set_size, size, 0, NULL); }
ABI_BODY(int, File_preallocate, (MPI_File fh, MPI_Offset size)) { return word(fh, file_reserve, size, 0, NULL); }
ABI_BODY(int, File_sync, (MPI_File fh)) { return word(fh, file_sync, 0, 0, NULL); }
ABI_BODY(int, File_seek, (MPI_File fh, MPI_Offset offset, int whence)) { return word(fh, file_seek, offset, whence, NULL); }

ABI_BODY(int, File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence))
{
    return word(fh, file_seek_shared, offset, whence, NULL);
}

ABI_BODY(int, File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler))
{
    struct file_notes *f = file_notes(file);
    MPI_Errhandler old;
    if ((!f && file != MPI_FILE_NULL) || !running())
        return file_done(file, MPI_ERR_FILE);
    if (!handler_fits(errhandler, file_handler))
        return file_done(file, MPI_ERR_ERRHANDLER);
    handler_keep(errhandler);
    pthread_mutex_lock(&mutex);
    old = f ? f->handler : first_handler;
    *(f ? &f->handler : &first_handler) = errhandler;
    pthread_mutex_unlock(&mutex);
    if (old)
        handler_drop(old);
    return MPI_SUCCESS;
}

ABI_BODY(int, File_get_errhandler, (MPI_File file, MPI_Errhandler *errhandler))
{
    struct file_notes *f = file_notes(file);
    if ((!f && file != MPI_FILE_NULL) || !running() || !errhandler)
        return file_done(file, errhandler ? MPI_ERR_FILE : MPI_ERR_ARG);
    if (!f) {
        *errhandler = first();
        return MPI_SUCCESS;
    }
    *errhandler = f->handler;
    handler_keep(*errhandler);
    return MPI_SUCCESS;
}

ABI_BODY(int, File_call_errhandler, (MPI_File fh, int errorcode))
{
    if (!file_notes(fh) && fh != MPI_FILE_NULL)
        return file_done(fh, MPI_ERR_FILE);
    call_due(file_done(fh, errorcode));
    return MPI_SUCCESS;
}
