/* Looks that C may answer, and receives that it may end: what MPI_Test, MPI_Iprobe and their like say is what Go would
   say, whichever way the request ends. */
#include <string.h>

enum { window = 24, tag_go = 900 };

static int rank, other;

/* vain looks at r in vain, so often that both C and Go have answered. */
static void vain(MPI_Request *r, int n)
{
    for (int i = 0; i < 300; i++) {
        int flag = 1, index = 7, done = 7, indices[window];
        MPI_Status status;
        CHECK(MPI_Test(r, &flag, &status) == MPI_SUCCESS && !flag && *r != MPI_REQUEST_NULL);
        CHECK(MPI_Testall(n, r, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS && !flag);
        CHECK(MPI_Testany(n, r, &index, &flag, &status) == MPI_SUCCESS && !flag && index == MPI_UNDEFINED);
        CHECK(MPI_Testsome(n, r, &done, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS && done == 0);
    }
}

/* say lets the other rank go on, and hear waits for that. */
static void say(void) { MPI_Send(NULL, 0, MPI_INT, other, tag_go, MPI_COMM_WORLD); }
static void hear(void) { MPI_Recv(NULL, 0, MPI_INT, other, tag_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/* got checks the status of message i. */
static void got(const MPI_Status *status, int i, int source)
{
    int n;
    MPI_Get_count(status, MPI_INT, &n);
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == i && n == 1);
}

/* by_turns tells that the sender waits for the receiver now and then, where that ends receives in order. */
static int by_turns(int way) { return way % 2 && way / 2 != 2 && way / 2 != 5; }

/* windows has receives end in each way, after looks in vain, with messages that come one by one or all at once. */
static void windows(int way, int wild)
{
    int in[window], n = 0, index, flag, done, indices[window];
    MPI_Request r[window];
    MPI_Status status[window];
    if (rank == 1) {
        hear();
        for (int i = 0; i < window; i++) {
            MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
            if (by_turns(way) && i % 5 == 0)
                hear();
        }
        return;
    }
    memset(in, -1, sizeof(in));
    for (int i = 0; i < window; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, wild ? MPI_ANY_SOURCE : 1, i, MPI_COMM_WORLD, &r[i]);
    vain(r, window);
    say();
    for (int i = 0; i < window; i++) {
        if (by_turns(way) && i % 5 == 0) {
            for (flag = 0; !flag;)
                MPI_Request_get_status(r[i], &flag, &status[i]);
            got(&status[i], i, 1);
            if (i < window - 1)
                vain(&r[window - 1], 1);
            say();
        }
        status[i].MPI_ERROR = 77;
        switch (way / 2) {
        case 0:
            for (flag = 0; !flag;)
                CHECK(MPI_Test(&r[i], &flag, &status[i]) == MPI_SUCCESS);
            CHECK(status[i].MPI_ERROR == 77);
            break;
        case 1:
            CHECK(MPI_Wait(&r[i], &status[i]) == MPI_SUCCESS && status[i].MPI_ERROR == 77);
            break;
        case 2:
            for (flag = 0; !flag;)
                CHECK(MPI_Testany(window, r, &index, &flag, &status[i]) == MPI_SUCCESS);
            got(&status[i], index, 1);
            status[i].MPI_TAG = i; /* any of them */
            CHECK(r[index] == MPI_REQUEST_NULL);
            break;
        case 3: /* all at once, below */
            if (way % 2)
                continue;
            for (flag = 0; !flag;)
                CHECK(MPI_Testall(window, r, &flag, status) == MPI_SUCCESS);
            i = window;
            continue;
        case 4: /* Go ends what C could */
            for (flag = 0; !flag;)
                MPI_Request_get_status(r[i], &flag, &status[i]);
            MPI_Cancel(&r[i]);
            MPI_Wait(&r[i], &status[i]);
            MPI_Test_cancelled(&status[i], &flag);
            CHECK(!flag);
            break;
        case 5:
            for (done = 0; done == 0;)
                CHECK(MPI_Testsome(window, r, &done, indices, status) == MPI_SUCCESS);
            for (int k = 0; k < done; k++)
                got(&status[k], indices[k], 1);
            n += done;
            i = n - 1;
            continue;
        }
        got(&status[i], i, 1);
        CHECK(r[i] == MPI_REQUEST_NULL || way / 2 == 2);
    }
    if (way / 2 == 3 && way % 2) {
        CHECK(MPI_Waitall(window, r, status) == MPI_SUCCESS);
        for (int i = 0; i < window; i++)
            got(&status[i], i, 1);
    }
    for (int i = 0; i < window; i++)
        CHECK(in[i] == i && r[i] == MPI_REQUEST_NULL);
}

/* probes looks for messages in vain, then finds one: of the other rank, then of this rank itself. */
static void probes(void)
{
    int x = 5, flag = 1;
    MPI_Status status;
    if (rank == 1) {
        hear();
        MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        return;
    }
    for (int i = 0; i < 300; i++) {
        CHECK(MPI_Iprobe(1, 3, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && !flag);
        CHECK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && !flag);
        CHECK(MPI_Iprobe(0, 4, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && !flag);
    }
    say();
    for (flag = 0; !flag;)
        MPI_Iprobe(1, 3, MPI_COMM_WORLD, &flag, &status);
    got(&status, 3, 1);
    CHECK(MPI_Iprobe(1, 3, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && flag);
    MPI_Recv(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &status);
    CHECK(MPI_Iprobe(1, 3, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && !flag);
    MPI_Send(&x, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    CHECK(MPI_Iprobe(0, 4, MPI_COMM_WORLD, &flag, &status) == MPI_SUCCESS && flag); /* at once: it is there */
    MPI_Recv(&x, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &status);
}

/* own ends receives by messages of the rank to itself, by cancelling, and by an error. */
static void own(void)
{
    int in[2], x = 3, flag;
    MPI_Request r[2];
    MPI_Status status;
    MPI_Irecv(&in[0], 1, MPI_INT, rank, 11, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, other, 12, MPI_COMM_WORLD, &r[1]);
    vain(r, 2);
    MPI_Send(&x, 1, MPI_INT, rank, 11, MPI_COMM_WORLD);
    CHECK(MPI_Test(&r[0], &flag, &status) == MPI_SUCCESS && flag && in[0] == 3);
    got(&status, 11, rank);
    MPI_Cancel(&r[1]);
    CHECK(MPI_Test(&r[1], &flag, &status) == MPI_SUCCESS && flag);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Irecv(&in[0], 1, MPI_INT, other, 13, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, other, 14, MPI_COMM_WORLD, &r[1]);
    vain(r, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&(int[2]){1, 2}, 2, MPI_INT, other, 13, MPI_COMM_WORLD); /* too long */
    MPI_Send(&x, 1, MPI_INT, other, 14, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        CHECK(MPI_Test(&r[1], &flag, &status) == MPI_SUCCESS);
    got(&status, 14, other);
    CHECK(MPI_Wait(&r[0], &status) == MPI_ERR_TRUNCATE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* many starts more receives than C keeps, of which the first one comes last. */
static void many(void)
{
    enum { n = 700 };
    static int in[n];
    static MPI_Request r[n];
    int flag;
    MPI_Status status;
    if (rank == 1) {
        hear();
        for (int i = n - 1; i >= 0; i--)
            MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        return;
    }
    for (int i = 0; i < n; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]);
    vain(r, window);
    say();
    for (int i = n - 1; i >= 0; i--) {
        for (flag = 0; !flag;)
            MPI_Test(&r[i], &flag, &status);
        got(&status, i, 1);
        CHECK(in[i] == i);
    }
}

static void test(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int way = 0; way < 12; way++)
        for (int wild = 0; wild < 2; wild++)
            windows(way, wild);
    probes();
    own();
    many();
    MPI_Finalize();
}
