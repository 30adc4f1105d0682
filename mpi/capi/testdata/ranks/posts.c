/* Two ranks: receives that wait in C until the next call of Go. Order, and every way in which a request is used. */
enum { many = 200 }; /* more than wait at once */
static int rank, peer, in[many], out[many];
static MPI_Request r[many];
static MPI_Status s[many];

static void send(int value, int tag) { MPI_Send(&value, 1, MPI_INT, peer, tag, MPI_COMM_WORLD); }

static void irecv(int i, int tag) { MPI_Irecv(&in[i], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &r[i]); }

static void test_order(void)
{
    for (int i = 0; i < many; i++) { /* the same tag: receives are matched in the order in which they were started */
        if (i % 7 == 3) /* a wildcard goes to Go at once, and those before it first */
            MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r[i]);
        else
            irecv(i, 5);
    }
    for (int i = 0; i < many; i++)
        for (int j = 0; j < i && i < 80; j++)
            CHECK(r[i] != r[j]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < many; i++)
        send(i, 5);
    CHECK(MPI_Waitall(many, r, s) == MPI_SUCCESS);
    for (int i = 0; i < many; i++)
        CHECK(in[i] == i && r[i] == MPI_REQUEST_NULL && s[i].MPI_SOURCE == peer && s[i].MPI_TAG == 5);
}

static void test_uses(void)
{
    int flag, index, done, indices[4], count, x = -1;
    MPI_Message message;

    irecv(0, 10); /* Cancel */
    CHECK(MPI_Cancel(&r[0]) == MPI_SUCCESS && MPI_Wait(&r[0], s) == MPI_SUCCESS);
    CHECK(MPI_Test_cancelled(s, &flag) == MPI_SUCCESS && flag);

    irecv(0, 11); /* Test, get_status */
    CHECK(MPI_Test(&r[0], &flag, s) == MPI_SUCCESS && !flag && r[0] != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    send(11, 11);
    do
        CHECK(MPI_Request_get_status(r[0], &flag, s) == MPI_SUCCESS);
    while (!flag);
    CHECK(in[0] == 11 && MPI_Wait(&r[0], s) == MPI_SUCCESS && s[0].MPI_TAG == 11);

    in[1] = 0; /* Request_free: the receive goes on */
    irecv(1, 12);
    CHECK(MPI_Request_free(&r[1]) == MPI_SUCCESS && r[1] == MPI_REQUEST_NULL);
    send(12, 12);
    for (long i = 0; i < 1000000 && *(volatile int *)&in[1] != 12; i++)
        MPI_Iprobe(peer, 13, MPI_COMM_WORLD, &flag, s);
    CHECK(in[1] == 12);

    irecv(0, 20), irecv(1, 21), irecv(2, 22); /* Waitany, Waitsome, Testany */
    send(21, 21);
    CHECK(MPI_Waitany(3, r, &index, s) == MPI_SUCCESS && index == 1 && in[1] == 21);
    MPI_Barrier(MPI_COMM_WORLD);
    send(20, 20);
    CHECK(MPI_Waitsome(3, r, &done, indices, s) == MPI_SUCCESS && done == 1 && indices[0] == 0 && in[0] == 20);
    MPI_Barrier(MPI_COMM_WORLD);
    send(22, 22);
    do
        CHECK(MPI_Testany(3, r, &index, &flag, s) == MPI_SUCCESS);
    while (!flag);
    CHECK(index == 2 && in[2] == 22);

    irecv(0, 30); /* a receive that blocks comes after one that waits */
    send(30, 30), send(31, 30);
    CHECK(MPI_Recv(&x, 1, MPI_INT, peer, 30, MPI_COMM_WORLD, s) == MPI_SUCCESS && x == 31);
    CHECK(MPI_Wait(&r[0], s) == MPI_SUCCESS && in[0] == 30);

    irecv(0, 40); /* a probe sees what no receive has taken */
    send(40, 40), send(41, 40);
    CHECK(MPI_Mprobe(peer, 40, MPI_COMM_WORLD, &message, s) == MPI_SUCCESS);
    CHECK(MPI_Mrecv(&x, 1, MPI_INT, &message, s) == MPI_SUCCESS && x == 41);
    CHECK(MPI_Wait(&r[0], s) == MPI_SUCCESS && in[0] == 40);

    MPI_Irecv(in, 0, MPI_INT, peer, 50, MPI_COMM_WORLD, &r[0]); /* no bytes, and too many */
    MPI_Irecv(in, 1, MPI_SHORT, peer, 51, MPI_COMM_WORLD, &r[1]);
    MPI_Send(NULL, 0, MPI_INT, peer, 50, MPI_COMM_WORLD);
    send(51, 51);
    CHECK(MPI_Wait(&r[0], s) == MPI_SUCCESS && MPI_Get_count(s, MPI_INT, &count) == MPI_SUCCESS && count == 0);
    CHECK(MPI_Wait(&r[1], s) == MPI_ERR_TRUNCATE && r[1] == MPI_REQUEST_NULL);
}

static void test_peers(void)
{
    int reached = 0;
    MPI_Comm comm;
    irecv(0, 60); /* a synchronous send of the peer ends though this rank only meets it in a barrier */
    MPI_Ssend(&peer, 1, MPI_INT, peer, 60, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Wait(&r[0], s) == MPI_SUCCESS && in[0] == rank);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* on a communicator that is freed meanwhile */
    MPI_Irecv(&in[0], 1, MPI_INT, peer, 61, comm, &r[0]);
    MPI_Send(&rank, 1, MPI_INT, peer, 61, comm);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r[0], s) == MPI_SUCCESS && in[0] == peer);

    MPI_Irecv(&in[0], 1, MPI_INT, rank, 62, MPI_COMM_WORLD, &r[0]); /* from oneself */
    MPI_Send(&reached, 1, MPI_INT, rank, 62, MPI_COMM_WORLD);
    CHECK(MPI_Wait(&r[0], s) == MPI_SUCCESS && in[0] == 0);

    CHECK(MPI_Irecv(&in[0], 1, MPI_INT, 2, 63, MPI_COMM_WORLD, &r[0]) == MPI_ERR_RANK); /* bad ones are told at once */
    CHECK(MPI_Irecv(&in[0], 1, MPI_INT, peer, -7, MPI_COMM_WORLD, &r[0]) == MPI_ERR_TAG);
    CHECK(MPI_Irecv(&in[0], -1, MPI_INT, peer, 63, MPI_COMM_WORLD, &r[0]) == MPI_ERR_COUNT);
    CHECK(MPI_Irecv(&in[0], 1, MPI_INT, peer, 63, MPI_COMM_WORLD, NULL) != MPI_SUCCESS);
}

static void test(void)
{
    int level = -1;
    MPI_Init(NULL, NULL);
    MPI_Query_thread(&level);
    CHECK(level == MPI_THREAD_SERIALIZED);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    peer = 1 - rank;
    (void)out;
    for (int i = 0; i < 3; i++) {
        test_order();
        test_uses();
        test_peers();
    }
    irecv(0, 99); /* one that never comes */
    MPI_Finalize();
}
