/* Groups (7.3 of the standard). */
#include "fail.h"
#include "groups.h"

#define NUMBER(handle) ((uintptr_t)(handle))

/* done ends a function with the class of its error, which is of no communicator. */
static int done(int class) { return class == MPI_SUCCESS ? MPI_SUCCESS : fail(NULL, class); }

/* result is where Go puts the handle of a group. */
static uintptr_t *result(MPI_Group *group) { return (uintptr_t *)group; }

ABI_BODY(int, Group_size, (MPI_Group group, int *size))
{
    return done(size ? golciGroupSize(NUMBER(group), size) : MPI_ERR_ARG);
}

ABI_BODY(int, Group_rank, (MPI_Group group, int *rank))
{
    return done(rank ? golciGroupRank(NUMBER(group), rank) : MPI_ERR_ARG);
}

ABI_BODY(int, Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]))
{
    if (n < 0 || (n > 0 && (!ranks1 || !ranks2)))
        return done(MPI_ERR_ARG);
    return done(golciGroupTranslate(NUMBER(group1), n, (int *)ranks1, NUMBER(group2), ranks2));
}

ABI_BODY(int, Group_compare, (MPI_Group group1, MPI_Group group2, int *result))
{
    return done(result ? golciGroupCompare(NUMBER(group1), NUMBER(group2), result) : MPI_ERR_ARG);
}

static int combine(int how, MPI_Group a, MPI_Group b, MPI_Group *made)
{
    return done(made ? golciGroupCombine(how, NUMBER(a), NUMBER(b), result(made)) : MPI_ERR_ARG);
}

ABI_BODY(int, Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
{
    return combine(combine_union, group1, group2, newgroup);
}

ABI_BODY(int, Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
{
    return combine(combine_intersection, group1, group2, newgroup);
}

ABI_BODY(int, Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
{
    return combine(combine_difference, group1, group2, newgroup);
}

static int pick(int how, MPI_Group group, int n, const int *ranks, MPI_Group *made)
{
    if (n < 0 || (n > 0 && !ranks) || !made)
        return done(MPI_ERR_ARG);
    return done(golciGroupPick(how, NUMBER(group), n, (int *)ranks, result(made)));
}

ABI_BODY(int, Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup))
{
    return pick(pick_incl, group, n, ranks, newgroup);
}

ABI_BODY(int, Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup))
{
    return pick(pick_excl, group, n, ranks, newgroup);
}

ABI_BODY(int, Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup))
{
    return pick(pick_range_incl, group, n, (int *)ranges, newgroup);
}

ABI_BODY(int, Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup))
{
    return pick(pick_range_excl, group, n, (int *)ranges, newgroup);
}

/* MPI_GROUP_EMPTY stays: only the variable is reset. */
ABI_BODY(int, Group_free, (MPI_Group *group))
{
    int class;
    if (!group)
        return done(MPI_ERR_ARG);
    class = *group == MPI_GROUP_EMPTY ? MPI_SUCCESS : golciGroupFree(NUMBER(*group));
    if (class == MPI_SUCCESS)
        *group = MPI_GROUP_NULL;
    return done(class);
}

static int group_of(MPI_Comm comm, int remote, MPI_Group *group)
{
    struct comm *c = comm_of(comm);
    int class;
    if (!c)
        return bad_comm();
    class = group ? golciCommGroup(c->place, remote, result(group)) : MPI_ERR_ARG;
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class);
}

ABI_BODY(int, Comm_group, (MPI_Comm comm, MPI_Group *group)) { return group_of(comm, 0, group); }

ABI_BODY(int, Comm_remote_group, (MPI_Comm comm, MPI_Group *group)) { return group_of(comm, 1, group); }
