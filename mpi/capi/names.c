/* Names and hints of communicators (7.4.4 and 7.8 of the standard). */
#include "calls.h"
#include "fail.h"
#include "groups.h"
#include "info.h"

#include <string.h>

ABI_BODY(int, Comm_set_name, (MPI_Comm comm, const char *comm_name))
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    class = comm_name ? golciSetName(c->place, (char *)comm_name) : MPI_ERR_ARG;
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class);
}

/* MPI_COMM_NULL has a name, too. */
ABI_BODY(int, Comm_get_name, (MPI_Comm comm, char *comm_name, int *resultlen))
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c && comm != MPI_COMM_NULL)
        return bad_comm();
    if (!comm_name || !resultlen)
        return fail(c, MPI_ERR_ARG);
    if (!c) {
        strcpy(comm_name, "MPI_COMM_NULL");
        *resultlen = (int)strlen(comm_name);
        return MPI_SUCCESS;
    }
    class = golciName(c->place, comm_name, resultlen);
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class);
}

static int hints(MPI_Comm comm, int set, MPI_Info *info)
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    if (!info)
        return fail(c, MPI_ERR_ARG);
    class = set ? golciSetHints(c->place, (uintptr_t)*info) : golciHints(c->place, (uintptr_t *)info);
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class);
}

ABI_BODY(int, Comm_set_info, (MPI_Comm comm, MPI_Info info)) { return hints(comm, 1, &info); }

ABI_BODY(int, Comm_get_info, (MPI_Comm comm, MPI_Info *info_used)) { return hints(comm, 0, info_used); }
