/* Children of fork (11.2 of the standard leaves them to the library). Only the thread that forked lives on in a child:
   the threads of Go and of the job do not. So nothing may enter Go there. */
#ifndef GOLCI_FORK_H
#define GOLCI_FORK_H

#include "abi.h"

/* forked tells whether this process is a child of one that had loaded the library, and what that was: a process that is
   in no job, or a rank. Then the error handlers of its communicators are those of the child. */
enum { no_child, child_outside, child_of_rank };
HIDDEN int forked(void);

/* child_is says what forked is to tell. Only the child itself calls it, before fork returns to it. */
HIDDEN void child_is(int what);

/* child_ends ends such a process with an exit code and a text. */
HIDDEN void child_ends(int code, const char *text) __attribute__((noreturn));

/* quit_is_free tells whether the program has left SIGQUIT to others. */
HIDDEN int quit_is_free(void);

#endif
