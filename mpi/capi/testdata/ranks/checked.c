/* Element types are checked (GOLCI_CHECK=types): what is right passes, and what differs is MPI_ERR_TYPE on all ranks. */
static int rank;
static MPI_Datatype pair;

static void test_right(void)
{
    int x[4] = {0}, y[4] = {5, 6, 7, 8}, counts[2], displs[2] = {0, 1};
    float none = 0;
    MPI_Request r[2];
    for (int i = 0; i < 2; i++)
        CHECK(MPI_Irecv(&x[2 * i], 1, i ? MPI_INT : pair, 1 - rank, i, MPI_COMM_WORLD, &r[i]) == MPI_SUCCESS);
    CHECK(MPI_Send(y, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Send(y + 2, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS && x[0] == 5 && x[1] == 6 && x[2] == 7);
    CHECK(MPI_Bcast(x, rank ? 2 : 1, rank ? MPI_INT : pair, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Allgather(y, 2, MPI_INT, x, 1, pair, MPI_COMM_WORLD) == MPI_SUCCESS && x[2] == 5);
    CHECK(MPI_Allreduce(y, x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && x[0] == 10);
    counts[0] = 1, counts[1] = 0; /* no elements match any */
    CHECK(MPI_Gatherv(rank ? (void *)&none : y, !rank, rank ? MPI_FLOAT : MPI_INT, x, counts, displs, MPI_INT, 0,
        MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
}

static void test_wrong(void)
{
    int x[4] = {0};
    float f[4] = {0};
    MPI_Request r;
    int classes[2] = {0};
    int class = MPI_Bcast(rank ? (void *)x : f, 1, rank ? MPI_INT : MPI_FLOAT, 0, MPI_COMM_WORLD);
    CHECK(class == MPI_ERR_TYPE || rank == 0);
    class = MPI_Allreduce(rank ? (void *)x : f, rank ? (void *)&x[1] : &f[1], 1, rank ? MPI_INT : MPI_FLOAT, MPI_SUM,
        MPI_COMM_WORLD);
    CHECK(class == MPI_ERR_TYPE);
    CHECK(MPI_Iallgather(rank ? (void *)&x[3] : &f[3], 1, rank ? MPI_INT : MPI_FLOAT, rank ? (void *)x : f, 1,
        rank ? MPI_INT : MPI_FLOAT, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_ERR_TYPE);
    CHECK(MPI_Alltoall(f, 1, MPI_FLOAT, x, 1, MPI_INT, MPI_COMM_WORLD) == MPI_ERR_TYPE);
    MPI_Irecv(x, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, &r);
    MPI_Send(f, 1, MPI_FLOAT, 1 - rank, 9, MPI_COMM_WORLD);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_ERR_TYPE);
    CHECK(MPI_Allgather(&rank, 1, MPI_INT, classes, 1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS && classes[1] == 1);
}

static void test(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    test_right();
    test_wrong();
    test_right();
    MPI_Finalize();
}
