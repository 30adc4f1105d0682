/* The text of an error names the call, and the argument that is wrong with its value. */
static char text[MPI_MAX_ERROR_STRING];

/* SAYS checks that a call fails with a class, and with a text that has a part. */
#define SAYS(call, class, part) \
    do { \
        int length = 0, code = call; \
        text[0] = 0; \
        CHECK(code == class && MPI_Error_string(code, text, &length) == MPI_SUCCESS); \
        CHECK(length == (int)strlen(text) && length < MPI_MAX_ERROR_STRING); \
        CHECK(strstr(text, part)); \
        if (!strstr(text, part)) \
            puts(text); \
    } while (0)

static int codes;
static void handler(MPI_Comm *comm, int *code, ...)
{
    int length;
    CHECK(MPI_Error_string(*code, text, &length) == MPI_SUCCESS && strstr(text, "count") && strstr(text, "-3"));
    CHECK(*comm != MPI_COMM_NULL);
    codes++;
}

static int refuse(MPI_Comm comm, int key, void *class, void *in, void *out, int *flag) { return *(int *)class; }

/* An error of the program's own class has the program's text. */
static void test_own_class(void)
{
    int class, key, length;
    MPI_Comm comm, copy;
    CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS && MPI_Add_error_string(class, "own") == MPI_SUCCESS);
    MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, &class);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_attr(comm, key, NULL);
    CHECK(MPI_Comm_dup(comm, &copy) == class);
    CHECK(MPI_Error_string(class, text, &length) == MPI_SUCCESS && length == 3 && strcmp(text, "own") == 0);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

static void test(void)
{
    int x = 0, flag, length;
    MPI_Datatype open, made;
    MPI_Request r;
    MPI_Comm dup, freed;
    MPI_Errhandler h;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &open);
    CHECK(MPI_Error_string(MPI_ERR_COMM, text, &length) == MPI_SUCCESS && !strstr(text, " in "));
    SAYS(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM, "comm is MPI_COMM_NULL; in MPI_Send");
    SAYS(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT, "count is -1; in MPI_Send");
    SAYS(MPI_Irecv(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &r), MPI_ERR_TYPE,
        "datatype is MPI_DATATYPE_NULL; in MPI_Irecv");
    SAYS(MPI_Send(&x, 1, open, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "has not been committed; in MPI_Send");
    SAYS(MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD), MPI_ERR_RANK, "99");
    SAYS(MPI_Wait(NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG, "request is NULL; in MPI_Wait");
    SAYS(MPI_Waitall(-1, &r, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "count is -1; in MPI_Waitall");
    SAYS(MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "request is NULL; in MPI_Isend");
    SAYS(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "rank is NULL; in MPI_Comm_rank");
    SAYS(MPI_Type_contiguous(-1, MPI_INT, &made), MPI_ERR_COUNT,
        "in MPI_Type_contiguous(count=-1, oldtype=MPI_INT, newtype=0x");
    SAYS(MPI_Comm_split(MPI_COMM_WORLD, 0, 5, NULL), MPI_ERR_ARG,
        "newcomm is NULL; in MPI_Comm_split(comm=MPI_COMM_WORLD, color=0, key=5, newcomm=NULL)");
    SAYS(MPI_Allreduce(&x, &flag, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP, "op=MPI_OP_NULL, comm=MPI_COMM_WORLD)");
    SAYS(MPI_Allreduce(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_BUFFER, "in MPI_Allreduce(sendbuf=0x");
    SAYS(MPI_Bcast(&x, 1, MPI_INT, 7, MPI_COMM_WORLD), MPI_ERR_ROOT, "root=7");
    SAYS(MPI_Group_size(MPI_GROUP_NULL, &x), MPI_ERR_GROUP, "in MPI_Group_size(group=MPI_GROUP_NULL, size=");
    SAYS(MPI_Op_free(NULL), MPI_ERR_ARG, "in MPI_Op_free(op=NULL)");
    MPI_Comm_dup(MPI_COMM_SELF, &dup);
    freed = dup;
    MPI_Comm_free(&dup);
    SAYS(MPI_Barrier(freed), MPI_ERR_COMM, "or has been freed; in MPI_Barrier(comm=0x");
    CHECK(MPI_Error_string(MPI_ERR_TAG, text, &length) == MPI_SUCCESS && !strstr(text, " in "));

    test_own_class();

    /* A handler of the program finds the text; one that is freed when its file is closed is still called. */
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
    MPI_Errhandler_free(&h);
    CHECK(MPI_Send(&x, -3, MPI_INT, 0, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT && codes == 1);
    CHECK(MPI_Bcast(&x, -3, MPI_INT, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT && codes == 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_free(&open);
    MPI_Finalize();
}
