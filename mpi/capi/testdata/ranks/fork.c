/* Calls in a child of fork end in time. They are errors, or end the child; its parent goes on. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

/* in_child gives the exit code of a child that calls f, which also prints nothing but what is wrong. */
static int in_child(void (*f)(void))
{
    int status = 0;
    pid_t child;
    fflush(stdout);
    if ((child = fork()) == 0) {
        alarm(20);
        freopen("/dev/null", "w", stderr);
        f();
        exit(wrong ? 99 : 0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void returned(void)
{
    int x = 1, flag = 0;
    MPI_Request request = (MPI_Request)4096;
    MPI_Comm comm;
    CHECK(MPI_Send(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD) == MPI_ERR_COMM);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_ERR_COMM);
    CHECK(MPI_Comm_dup(MPI_COMM_SELF, &comm) == MPI_ERR_COMM);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_OTHER);
    CHECK(MPI_Init(NULL, NULL) == MPI_ERR_OTHER);
    CHECK(MPI_Finalize() == MPI_ERR_OTHER);
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag);
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && !flag);
}

static void ended(void)
{
    MPI_Info info;
    MPI_Info_create(&info); /* asks Go */
}

static void fatal(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void aborted(void) { MPI_Abort(MPI_COMM_WORLD, 7); }
static void first_init(void) { MPI_Init(NULL, NULL); }
static void left(void) { }

static void test(void)
{
    int token = 0;
    CHECK(in_child(first_init) == MPI_ERR_OTHER);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(in_child(fatal) == MPI_ERR_COMM);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(in_child(returned) == 0);
    CHECK(in_child(ended) == MPI_ERR_OTHER);
    CHECK(in_child(aborted) == 7);
    CHECK(in_child(left) == 0);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &token, 1, MPI_INT, (rank + size - 1) % size, 0,
        MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(token == (rank + size - 1) % size);
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    CHECK(in_child(left) == 0);
}
