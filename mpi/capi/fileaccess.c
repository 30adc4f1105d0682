/* Accesses to files (14.4 of the standard): at offsets, at pointers, collective, started, and split. */
#include "calls.h"
#include "fail.h"
#include "files.h"
#include "filesuse.h"
#include "types.h"

/* none stands for a request that the program has not given a place for. */
static uintptr_t none;

static uintptr_t *started(MPI_Request *request) { return request ? (uintptr_t *)request : &none; }

/* access looks at the arguments that Go cannot, and makes the call. */
static int access(MPI_File fh, struct file_call *call)
{
    int class = MPI_SUCCESS;
    if (!file_notes(fh))
        return file_done(fh, MPI_ERR_FILE);
    if (call->request == &none)
        class = MPI_ERR_ARG;
    else if (call->half != file_end && call->count < 0)
        class = MPI_ERR_COUNT;
    else if (call->half != file_end && !type_of(call->datatype))
        class = MPI_ERR_TYPE;
    if (class == MPI_SUCCESS) {
        call->file = (uintptr_t)fh;
        class = golciFileAccess(call);
    }
    return file_done(fh, class);
}

ABI_BODY(int, File_read_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read_at", .write = 0, .pointer = file_at,
        .collective = 0, .offset = offset, .mem = buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_iread_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iread_at", .write = 0, .pointer = file_at,
        .collective = 0, .offset = offset, .mem = buf, .count = count, .datatype = datatype,
        .request = started(request)});
}

ABI_BODY(int, File_read_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read_at_all", .write = 0, .pointer = file_at,
        .collective = 1, .offset = offset, .mem = buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_iread_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iread_at_all", .write = 0, .pointer = file_at,
        .collective = 1, .offset = offset, .mem = buf, .count = count, .datatype = datatype,
        .request = started(request)});
}

ABI_BODY(int, File_read_at_all_begin_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype))
{
    return access(fh, &(struct file_call){.name = "File_read_at_all_begin", .write = 0, .pointer = file_at,
        .collective = 1, .offset = offset, .mem = buf, .count = count, .datatype = datatype, .half = file_begin});
}

ABI_BODY(int, File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read_at_all_end", .write = 0, .pointer = file_at,
        .collective = 1, .mem = buf, .half = file_end, .status = status});
}

ABI_BODY(int, File_read_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read", .write = 0, .pointer = file_individual,
        .collective = 0, .mem = buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_iread_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iread", .write = 0, .pointer = file_individual,
        .collective = 0, .mem = buf, .count = count, .datatype = datatype, .request = started(request)});
}

ABI_BODY(int, File_read_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read_all", .write = 0, .pointer = file_individual,
        .collective = 1, .mem = buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_iread_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iread_all", .write = 0, .pointer = file_individual,
        .collective = 1, .mem = buf, .count = count, .datatype = datatype, .request = started(request)});
}

ABI_BODY(int, File_read_all_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
{
    return access(fh, &(struct file_call){.name = "File_read_all_begin", .write = 0, .pointer = file_individual,
        .collective = 1, .mem = buf, .count = count, .datatype = datatype, .half = file_begin});
}

ABI_BODY(int, File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read_all_end", .write = 0, .pointer = file_individual,
        .collective = 1, .mem = buf, .half = file_end, .status = status});
}

ABI_BODY(int, File_read_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read_shared", .write = 0, .pointer = file_shared,
        .collective = 0, .mem = buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_iread_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iread_shared", .write = 0, .pointer = file_shared,
        .collective = 0, .mem = buf, .count = count, .datatype = datatype, .request = started(request)});
}

ABI_BODY(int, File_read_ordered_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read_ordered", .write = 0, .pointer = file_ordered,
        .collective = 0, .mem = buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_read_ordered_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype))
{
    return access(fh, &(struct file_call){.name = "File_read_ordered_begin", .write = 0, .pointer = file_ordered,
        .collective = 0, .mem = buf, .count = count, .datatype = datatype, .half = file_begin});
}

ABI_BODY(int, File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_read_ordered_end", .write = 0, .pointer = file_ordered,
        .collective = 0, .mem = buf, .half = file_end, .status = status});
}

ABI_BODY(int, File_write_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write_at", .write = 1, .pointer = file_at,
        .collective = 0, .offset = offset, .mem = (void *)buf, .count = count, .datatype = datatype,
        .status = status});
}

ABI_BODY(int, File_iwrite_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iwrite_at", .write = 1, .pointer = file_at,
        .collective = 0, .offset = offset, .mem = (void *)buf, .count = count, .datatype = datatype,
        .request = started(request)});
}

ABI_BODY(int, File_write_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write_at_all", .write = 1, .pointer = file_at,
        .collective = 1, .offset = offset, .mem = (void *)buf, .count = count, .datatype = datatype,
        .status = status});
}

ABI_BODY(int, File_iwrite_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iwrite_at_all", .write = 1, .pointer = file_at,
        .collective = 1, .offset = offset, .mem = (void *)buf, .count = count, .datatype = datatype,
        .request = started(request)});
}

ABI_BODY(int, File_write_at_all_begin_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype))
{
    return access(fh, &(struct file_call){.name = "File_write_at_all_begin", .write = 1, .pointer = file_at,
        .collective = 1, .offset = offset, .mem = (void *)buf, .count = count, .datatype = datatype,
        .half = file_begin});
}

ABI_BODY(int, File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write_at_all_end", .write = 1, .pointer = file_at,
        .collective = 1, .mem = (void *)buf, .half = file_end, .status = status});
}

ABI_BODY(int, File_write_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write", .write = 1, .pointer = file_individual,
        .collective = 0, .mem = (void *)buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_iwrite_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iwrite", .write = 1, .pointer = file_individual,
        .collective = 0, .mem = (void *)buf, .count = count, .datatype = datatype, .request = started(request)});
}

ABI_BODY(int, File_write_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write_all", .write = 1, .pointer = file_individual,
        .collective = 1, .mem = (void *)buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_iwrite_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iwrite_all", .write = 1, .pointer = file_individual,
        .collective = 1, .mem = (void *)buf, .count = count, .datatype = datatype, .request = started(request)});
}

ABI_BODY(int, File_write_all_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype))
{
    return access(fh, &(struct file_call){.name = "File_write_all_begin", .write = 1, .pointer = file_individual,
        .collective = 1, .mem = (void *)buf, .count = count, .datatype = datatype, .half = file_begin});
}

ABI_BODY(int, File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write_all_end", .write = 1, .pointer = file_individual,
        .collective = 1, .mem = (void *)buf, .half = file_end, .status = status});
}

ABI_BODY(int, File_write_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write_shared", .write = 1, .pointer = file_shared,
        .collective = 0, .mem = (void *)buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_iwrite_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request))
{
    return access(fh, &(struct file_call){.name = "File_iwrite_shared", .write = 1, .pointer = file_shared,
        .collective = 0, .mem = (void *)buf, .count = count, .datatype = datatype, .request = started(request)});
}

ABI_BODY(int, File_write_ordered_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write_ordered", .write = 1, .pointer = file_ordered,
        .collective = 0, .mem = (void *)buf, .count = count, .datatype = datatype, .status = status});
}

ABI_BODY(int, File_write_ordered_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype))
{
    return access(fh, &(struct file_call){.name = "File_write_ordered_begin", .write = 1,
        .pointer = file_ordered, .collective = 0, .mem = (void *)buf, .count = count, .datatype = datatype,
        .half = file_begin});
}

ABI_BODY(int, File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status))
{
    return access(fh, &(struct file_call){.name = "File_write_ordered_end", .write = 1, .pointer = file_ordered,
        .collective = 0, .mem = (void *)buf, .half = file_end, .status = status});
}
