/* Three ranks, of which the last one dies. The others learn of it, agree, and go on. */
#include <signal.h>

static int rank;

static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

/* test_death has rank 2 die, and waits until the others know. */
static void test_death(MPI_Comm comm)
{
    MPI_Group failed, all;
    int x = 0, size = 0, place = -1, two = 2, flag, acked = -1, class;
    char text[MPI_MAX_ERROR_STRING];
    if (rank == 2)
        raise(SIGKILL);
    class = MPI_Recv(&x, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE);
    CHECK(class == MPIX_ERR_PROC_FAILED);
    CHECK(MPI_Error_string(class, text, &size) == MPI_SUCCESS && strstr(text, "MPIX_ERR_PROC_FAILED: "));
    CHECK(MPI_Error_class(class, &x) == MPI_SUCCESS && x == class);
    CHECK(MPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS);
    MPI_Group_size(failed, &size);
    MPI_Comm_group(comm, &all);
    MPI_Group_translate_ranks(all, 1, &two, failed, &place);
    CHECK(size == 1 && place == 0);
    MPI_Group_free(&failed);
    flag = rank ? 6 : 3;
    CHECK(MPIX_Comm_agree(comm, &flag) == MPIX_ERR_PROC_FAILED && flag == 2);
    CHECK(MPIX_Comm_failure_get_acked(comm, &failed) == MPI_SUCCESS && failed == MPI_GROUP_EMPTY);
    CHECK(MPIX_Comm_ack_failed(comm, 1, &acked) == MPI_SUCCESS && acked == 1);
    CHECK(MPIX_Comm_failure_ack(comm) == MPI_SUCCESS);
    CHECK(MPIX_Comm_failure_get_acked(comm, &failed) == MPI_SUCCESS && failed != MPI_GROUP_EMPTY);
    MPI_Group_free(&failed);
    MPI_Group_free(&all);
}

static void test_agree(MPI_Comm comm)
{
    MPI_Request r;
    int flag = rank ? -1 : 5;
    CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag == 5);
    flag = rank ? ~8 : -1;
    CHECK(MPIX_Comm_iagree(comm, &flag, &r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == ~8);
}

/* test_use sends around in a communicator of two. */
static void test_use(MPI_Comm comm)
{
    int n = -1, me = -1, sum = 0;
    CHECK(MPI_Comm_size(comm, &n) == MPI_SUCCESS && n == 2);
    CHECK(MPI_Comm_rank(comm, &me) == MPI_SUCCESS && me == rank);
    CHECK(MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == 4);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
}

static void test_shrink(MPI_Comm comm)
{
    MPI_Comm small = MPI_COMM_NULL;
    MPI_Request r;
    int revoked = -1, flag = 1;
    CHECK(MPIX_Comm_ishrink(comm, &small, NULL) == MPI_ERR_ARG);
    CHECK(MPIX_Comm_ishrink(comm, &small, &r) == MPI_SUCCESS && small != MPI_COMM_NULL);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    test_use(small);
    CHECK(MPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked == 0);
    CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS); /* both have asked */
    CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
    CHECK(MPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked == 1);
    CHECK(MPI_Barrier(comm) == MPIX_ERR_REVOKED);
    CHECK(MPIX_Comm_shrink(comm, &small) == MPI_SUCCESS);
    test_use(small);
    CHECK(MPIX_Comm_shrink(MPI_COMM_NULL, &small) == MPI_ERR_COMM);
    CHECK(MPIX_Comm_agree(comm, NULL) == MPI_ERR_ARG);
}

static void test(void)
{
    MPI_Comm comm;
    MPI_Errhandler h;
    MPI_Init(NULL, NULL);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_death(comm);
    test_agree(comm);
    test_shrink(comm);
    CHECK(MPI_Finalize() == MPI_SUCCESS);
}
