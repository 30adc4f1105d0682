/* What calls do in a child of fork. */
#include "fork.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* Written by the only thread of a child before fork returns to it. */
static int in_child;

int forked(void) { return in_child; }
void child_is(int what) { in_child = what; }

void child_ends(int code, const char *text)
{
    fprintf(stderr, "golci: a child of fork ends: %s\n", text);
    fflush(NULL);
    _exit(code & 255 ? code & 255 : 1);
}

/* All functions that Go exports begin with a call of this one, which the linker sends here. Calls that no check in C
   has stopped would wait for ever. */
size_t __real__cgo_wait_runtime_init_done(void);
HIDDEN size_t __wrap__cgo_wait_runtime_init_done(void);

size_t __wrap__cgo_wait_runtime_init_done(void)
{
    if (__builtin_expect(in_child, 0))
        child_ends(MPI_ERR_OTHER, "it has called MPI");
    return __real__cgo_wait_runtime_init_done();
}

int quit_is_free(void)
{
    struct sigaction now;
    return sigaction(SIGQUIT, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
}
