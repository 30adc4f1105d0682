/* Dynamic processes (11.7 to 11.10 of the standard). */
#include "attrs.h"
#include "fail.h"
#include "info.h"
#include "make.h"
#include "process.h"

#include <stdlib.h>

static MPI_Comm parent = MPI_COMM_NULL; /* set by the first MPI_Init or session */

void parent_begin(void)
{
    struct newcomm n = {0};
    if ((n.place = comm_reserve()) < 0)
        return;
    if (golciParent(&n) == MPI_SUCCESS && n.made)
        parent = comm_made(comm_at(world_place), n.place, n.rank, n.size, n.remote);
    else
        comm_release(n.place);
}

ABI_BODY(int, Comm_get_parent, (MPI_Comm *comm))
{
    if (!running() || !comm)
        return fail(NULL, running() ? MPI_ERR_ARG : MPI_ERR_OTHER);
    *comm = comm_of(parent) ? parent : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* spawn_all starts processes and ends with comm_finish. */
static int spawn_all(struct comm *c, struct newcomm *n, int class, int root, int count, struct command *commands,
    MPI_Comm *intercomm, int *codes)
{
    int total = 0;
    class = class == MPI_SUCCESS ? golciSpawn(c->place, root, count, commands, n, &total) : class;
    for (int i = 0; codes && i < total; i++)
        codes[i] = class;
    return comm_finish(c, n, class, intercomm);
}

ABI_BODY(int, Comm_spawn, (const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm *intercomm, int array_of_errcodes[]))
{
    struct command one = {(char *)command, argv, maxprocs, (uintptr_t)info};
    MAKE(comm, intercomm);
    return spawn_all(c, &n, class, root, 1, &one, intercomm, array_of_errcodes);
}

ABI_BODY(int, Comm_spawn_multiple, (int count, char *array_of_commands[], char **array_of_argv[],
    const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
    int array_of_errcodes[]))
{
    struct command *all = NULL;
    MAKE(comm, intercomm);
    if (root == c->rank) {
        if (count <= 0 || !array_of_commands || !array_of_maxprocs || !array_of_info)
            class = MPI_ERR_ARG;
        else if (!(all = calloc(count, sizeof(*all))))
            class = MPI_ERR_NO_MEM;
        if (class != MPI_SUCCESS)
            return comm_finish(c, &n, class, intercomm);
        for (int i = 0; i < count; i++)
            all[i] = (struct command){array_of_commands[i], array_of_argv ? array_of_argv[i] : NULL,
                array_of_maxprocs[i], (uintptr_t)array_of_info[i]};
    }
    class = spawn_all(c, &n, class, root, all ? count : 0, all, intercomm, array_of_errcodes);
    free(all);
    return class;
}

ABI_BODY(int, Comm_disconnect, (MPI_Comm *comm))
{
    struct comm *c = comm ? comm_of(*comm) : NULL;
    int class;
    if (!c)
        return comm ? bad_comm() : fail(NULL, MPI_ERR_ARG);
    class = golciDisconnect(c->place);
    return class == MPI_SUCCESS ? PMPI_Comm_free(comm) : fail(c, class);
}

/* ended gives a call without a communicator its end. */
static int ended(int class) { return class == MPI_SUCCESS ? MPI_SUCCESS : fail(NULL, class); }

/* unready is the class of an error for a call with these arguments, or MPI_SUCCESS. */
static int unready(const void *a, const void *b, MPI_Info info)
{
    if (!running())
        return MPI_ERR_OTHER;
    return !a || !b ? MPI_ERR_ARG : info_is(info) ? MPI_SUCCESS : MPI_ERR_INFO;
}

ABI_BODY(int, Open_port, (MPI_Info info, char *port_name))
{
    int class = unready(port_name, port_name, info);
    return ended(class == MPI_SUCCESS ? golciOpenPort(port_name) : class);
}

ABI_BODY(int, Close_port, (const char *port_name))
{
    int class = unready(port_name, port_name, MPI_INFO_NULL);
    return ended(class == MPI_SUCCESS ? golciClosePort((char *)port_name) : class);
}

ABI_BODY(int, Comm_accept, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = info_is(info) ? golciAccept(c->place, root, (char *)port_name, &n) : MPI_ERR_INFO;
    return comm_finish(c, &n, class, newcomm);
}

ABI_BODY(int, Comm_connect, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = info_is(info) ? golciConnect(c->place, root, (char *)port_name, &n) : MPI_ERR_INFO;
    return comm_finish(c, &n, class, newcomm);
}

ABI_BODY(int, Comm_join, (int fd, MPI_Comm *intercomm))
{
    MAKE(MPI_COMM_SELF, intercomm);
    class = golciJoin(fd, &n);
    return comm_finish(c, &n, class, intercomm);
}

ABI_BODY(int, Publish_name, (const char *service_name, MPI_Info info, const char *port_name))
{
    int class = unready(service_name, port_name, info);
    return ended(class == MPI_SUCCESS ? golciPublish((char *)service_name, (char *)port_name) : class);
}

ABI_BODY(int, Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name))
{
    int class = unready(service_name, port_name, info);
    return ended(class == MPI_SUCCESS ? golciUnpublish((char *)service_name) : class);
}

ABI_BODY(int, Lookup_name, (const char *service_name, MPI_Info info, char *port_name))
{
    int class = unready(service_name, port_name, info);
    return ended(class == MPI_SUCCESS ? golciLookup((char *)service_name, port_name) : class);
}
