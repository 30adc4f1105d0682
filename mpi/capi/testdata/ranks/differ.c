/* Two ranks that call different things, with errors that return. Both get an error, in the call or in the barriers after
   it, and neither waits for ever. */
static int rank, x, y, all[2];
static double d[2];
static MPI_Comm comm;

/* A rank has one of two calls. A call that does not wait is waited for. */
static int waited(int class, MPI_Request *r) { return class ? class : MPI_Wait(r, MPI_STATUS_IGNORE); }

static int call(int kind)
{
    MPI_Request r;
    MPI_Op op = rank ? MPI_MAX : MPI_SUM;
    switch (kind) {
    case 0: return MPI_Allreduce(&x, &y, 1, MPI_INT, op, comm);
    case 1: return MPI_Bcast(&x, 1, MPI_INT, rank, comm);
    case 2: return MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 1 - rank, comm);
    case 3: return MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 1 - rank, comm);
    case 4: return MPI_Scatter(all, 1, MPI_INT, &x, 1, MPI_INT, rank, comm);
    case 5: return rank ? MPI_Barrier(comm) : MPI_Bcast(&x, 1, MPI_INT, 0, comm);
    case 6: return rank ? MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm)
                        : waited(MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm, &r), &r);
    case 7: return rank ? waited(MPI_Ibarrier(comm, &r), &r) : MPI_Barrier(comm);
    case 8: return rank ? MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, comm) : MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, comm);
    case 9: return MPI_Reduce(&x, &y, 1, MPI_INT, op, 0, comm);
    default: return MPI_Bcast(d, 1, rank ? MPI_INT : MPI_FLOAT, 0, comm);
    }
}

static void test_differ(void)
{
    for (int kind = 0; kind <= 10; kind++) {
        int class;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < 10; i++) /* over shared memory, if the ranks have that */
            CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
        class = call(kind);
        for (int i = 0; class == MPI_SUCCESS && i < 2; i++)
            class = MPI_Barrier(comm);
        if (class == MPI_SUCCESS)
            printf("kind %d\n", kind);
        CHECK(class != MPI_SUCCESS);
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
        MPI_Comm_free(&comm);
    }
}

/* A message that is too long for its receiver is an error of the receiver alone. Both go on. */
static void test_length(void)
{
    int class;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 10; i++)
        CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    class = MPI_Bcast(all, 2 - rank, MPI_INT, 0, comm);
    CHECK(rank == 0 || class != MPI_SUCCESS);
    for (int i = 0; i < 10; i++)
        CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    MPI_Comm_free(&comm);
}

/* Rank 0 has a call under way that rank 1 does not make, and waits in another one. */
static void test_under_way(void)
{
    MPI_Request r;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) {
        CHECK(MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm, &r) == MPI_SUCCESS);
        CHECK(MPI_Barrier(comm) != MPI_SUCCESS);
        CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        CHECK(MPI_Send(&x, 1, MPI_INT, 1, 9, comm) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Barrier(comm) != MPI_SUCCESS);
        CHECK(MPI_Recv(&x, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    MPI_Comm_free(&comm);
}

/* Types that differ, but have equal signatures, are no mistake. */
static void test_legal(void)
{
    MPI_Datatype pair;
    int two[2] = {rank, rank};
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 30; i++) {
        MPI_Datatype other = i % 3 == 0 ? MPI_INT : i % 3 == 1 ? pair : MPI_2INT;
        int n = other == MPI_INT ? 2 : 1;
        CHECK((rank ? MPI_Bcast(two, n, other, 0, comm) : MPI_Bcast(two, 2, MPI_INT, 0, comm)) == MPI_SUCCESS);
        CHECK((rank ? MPI_Gather(two, n, other, 0, 0, MPI_INT, 0, comm)
                    : MPI_Gather(two, 2, MPI_INT, (int[4]){0}, 1, pair, 0, comm)) == MPI_SUCCESS);
        CHECK((rank ? MPI_Bcast(two, 8, MPI_PACKED, 0, comm) : MPI_Bcast(two, 2, MPI_INT, 0, comm)) == MPI_SUCCESS);
        CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    }
    MPI_Comm_free(&comm);
    MPI_Type_free(&pair);
}

static void test(void)
{
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    test_legal();
    test_differ();
    test_length();
    test_under_way();
    CHECK(MPI_Finalize() == MPI_SUCCESS);
}
