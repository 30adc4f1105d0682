/* Making communicators (7.4.2 and 7.6.2 of the standard). */
#include "attrs.h"
#include "calls.h"
#include "fail.h"
#include "groups.h"
#include "info.h"
#include "make.h"

#include <stdatomic.h>

/* That is an error of the arguments, not of c: a handler of c is asked if the program has set one. */
int no_result(struct comm *c)
{
    return fail(atomic_load(&c->handler) == MPI_ERRORS_ARE_FATAL ? NULL : c, MPI_ERR_ARG);
}

int comm_finish(struct comm *c, struct newcomm *n, int class, MPI_Comm *newcomm)
{
    *newcomm = MPI_COMM_NULL;
    if (class == MPI_SUCCESS && n->made)
        *newcomm = comm_made(c, n->place, n->rank, n->size, n->remote);
    else
        comm_release(n->place);
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class);
}

/* duplicated is comm_finish of a duplicate, which gets attributes. If a copy function fails, the duplicate is freed. */
static int duplicated(struct comm *c, struct newcomm *n, int class, MPI_Comm *newcomm)
{
    MPI_Comm made;
    class = comm_finish(c, n, class, &made);
    *newcomm = made;
    if (class != MPI_SUCCESS)
        return class;
    class = golciAttrCopy(attr_comm, atomic_load(&c->handle), (uintptr_t)made);
    if (class == MPI_SUCCESS)
        return MPI_SUCCESS;
    *newcomm = MPI_COMM_NULL;
    comm_unmade(comm_at(n->place));
    return fail(c, class);
}

ABI_BODY(int, Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = golciDup(c->place, &n);
    return duplicated(c, &n, class, newcomm);
}

ABI_BODY(int, Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = info_is(info) ? golciDup(c->place, &n) : MPI_ERR_INFO;
    if (class == MPI_SUCCESS)
        class = golciSetHints(n.place, (uintptr_t)info);
    return duplicated(c, &n, class, newcomm);
}

/* The communicator has its handle at once, but works when the request is done. */
ABI_BODY(int, Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request))
{
    MAKE(comm, newcomm);
    class = request ? golciIdup(c->place, &n, (uintptr_t *)request) : MPI_ERR_ARG;
    return duplicated(c, &n, class, newcomm);
}

ABI_BODY(int, Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request))
{
    MAKE(comm, newcomm);
    class = !request ? MPI_ERR_ARG : info_is(info) ? golciIdup(c->place, &n, (uintptr_t *)request) : MPI_ERR_INFO;
    if (class == MPI_SUCCESS)
        class = golciSetHints(n.place, (uintptr_t)info);
    return duplicated(c, &n, class, newcomm);
}

ABI_BODY(int, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = golciSplit(c->place, color, key, &n);
    return comm_finish(c, &n, class, newcomm);
}

ABI_BODY(int, Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = !info_is(info) ? MPI_ERR_INFO : golciSplitType(c->place, split_type, key, (uintptr_t)info, &n);
    return comm_finish(c, &n, class, newcomm);
}

ABI_BODY(int, Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = golciCreate(c->place, (uintptr_t)group, &n);
    return comm_finish(c, &n, class, newcomm);
}

ABI_BODY(int, Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = golciCreateGroup(c->place, (uintptr_t)group, tag, &n);
    return comm_finish(c, &n, class, newcomm);
}

/* Only the leader's peer_comm means something. */
ABI_BODY(int, Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
    MPI_Comm *newintercomm))
{
    struct comm *peer = comm_of(peer_comm);
    MAKE(local_comm, newintercomm);
    class = golciCreateInter(c->place, local_leader, peer ? peer->place : -1, remote_leader, tag, &n);
    return comm_finish(c, &n, class, newintercomm);
}

ABI_BODY(int, Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newintracomm))
{
    MAKE(intercomm, newintracomm);
    class = golciMerge(c->place, high != 0, &n);
    return comm_finish(c, &n, class, newintracomm);
}

ABI_BODY(int, Comm_test_inter, (MPI_Comm comm, int *flag))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return bad_comm();
    if (!flag)
        return fail(c, MPI_ERR_ARG);
    *flag = c->remote > 0;
    return MPI_SUCCESS;
}

ABI_BODY(int, Comm_remote_size, (MPI_Comm comm, int *size))
{
    struct comm *c = comm_of(comm);
    if (!c)
        return bad_comm();
    if (!size || c->remote == 0)
        return fail(c, size ? MPI_ERR_COMM : MPI_ERR_ARG);
    *size = c->remote;
    return MPI_SUCCESS;
}
