/* What the C files of files share. */
#ifndef GOLCI_FILESUSE_H
#define GOLCI_FILESUSE_H

#include "files.h"

/* file_notes is NULL if there is no such file. */
HIDDEN struct file_notes *file_notes(MPI_File fh);

/* file_done ends a function on a file with the class of its error, which its handler deals with; that of MPI_FILE_NULL
   if there is no such file. */
HIDDEN int file_done(MPI_File fh, int class);

#endif
