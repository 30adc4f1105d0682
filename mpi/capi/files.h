/* What the C files of files call in Go. Files are their handles as numbers, communicators places in the table of
   comms.c. Results are classes of errors. */
#ifndef GOLCI_FILES_H
#define GOLCI_FILES_H

#include "abi.h"

#include <stddef.h>
#include <stdint.h>

/* What C keeps of a file. Go makes it, and frees it at the end. The datatypes are copies of the program's, unless they
   are predefined. */
struct file_notes {
    MPI_Errhandler handler;
    MPI_Datatype etype, filetype;
};
/* golciFileNotes is NULL if there is no such file. */
HIDDEN struct file_notes *golciFileNotes(uintptr_t file);

HIDDEN int golciFileOpen(int comm, char *name, int mode, uintptr_t info, uintptr_t *file);
HIDDEN int golciFileClose(uintptr_t file);
HIDDEN int golciFileDelete(char *name);
HIDDEN int golciFileGroup(uintptr_t file, uintptr_t *group);
HIDDEN int golciFileSetHints(uintptr_t file, uintptr_t info);
HIDDEN int golciFileHints(uintptr_t file, uintptr_t *info);
HIDDEN int golciFileSetView(uintptr_t file, int64_t disp, int etype, int filetype, char *datarep, uintptr_t info);
HIDDEN int golciFileView(uintptr_t file, MPI_Offset *disp, char *datarep);
HIDDEN int golciFileExtent(uintptr_t file, int datatype, MPI_Count *extent);

/* What a file is asked for or told, by one number. */
enum file_word {
    file_mode, file_atomic, file_size, file_position, file_position_shared, file_offset, file_set_atomic, file_set_size,
    file_reserve, file_sync, file_seek, file_seek_shared
};
HIDDEN int golciFileWord(uintptr_t file, int word, int64_t value, int whence, int64_t *result);

/* The numbers are those of package file. */
enum file_pointer { file_at, file_individual, file_shared, file_ordered };

/* An access. With a request it does not wait; half begins or ends a split collective. */
enum file_half { file_whole, file_begin, file_end };
struct file_call {
    const char *name;
    uintptr_t file;
    int write, pointer, collective, half;
    int64_t offset, count;
    void *mem;
    MPI_Datatype datatype;
    uintptr_t *request;
    MPI_Status *status;
};
HIDDEN int golciFileAccess(struct file_call *call);

#endif
