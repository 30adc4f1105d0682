/* Two ranks: messages back and forth, requests, collectives, communicators, errors that return. */
static int rank, size;

static void test_messages(void)
{
    double x[3] = {0};
    int count = -1;
    MPI_Status status = {.MPI_ERROR = 77};
    for (int i = 0; i < 100; i++) {
        if (rank == 0) {
            x[0] = i, x[2] = -i;
            CHECK(MPI_Send(x, 3, MPI_DOUBLE, 1, i, MPI_COMM_WORLD) == MPI_SUCCESS);
            CHECK(MPI_Recv(x, 3, MPI_DOUBLE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(x[0] == i + 1 && x[2] == -i);
        } else {
            CHECK(MPI_Recv(x, 3, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
            CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == i && status.MPI_ERROR == 77);
            CHECK(MPI_Get_count(&status, MPI_DOUBLE, &count) == MPI_SUCCESS && count == 3);
            x[0]++;
            CHECK(MPI_Ssend(x, 3, MPI_DOUBLE, 0, i, MPI_COMM_WORLD) == MPI_SUCCESS);
        }
    }
    CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 3, &count, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &status) == 0);
    CHECK(count == 1 - rank && status.MPI_SOURCE == 1 - rank);
    CHECK(MPI_Recv(&count, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

static void test_requests(void)
{
    enum { n = 6 };
    int in[n], out[n], indices[n], index, flag, some, done = 0;
    MPI_Request r[2 * n], one = MPI_REQUEST_NULL;
    MPI_Status s[2 * n];
    for (int i = 0; i < n; i++) {
        out[i] = 10 * rank + i;
        CHECK(MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &r[i]) == MPI_SUCCESS);
    }
    for (int i = 0; i < n; i++)
        CHECK(MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &r[n + i]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2 * n, r, s) == MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == 10 * (1 - rank) + i && s[i].MPI_TAG == i && r[i] == MPI_REQUEST_NULL);
    CHECK(MPI_Waitall(2 * n, r, s) == MPI_SUCCESS && s[0].MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK(MPI_Waitany(n, r, &index, s) == MPI_SUCCESS && index == MPI_UNDEFINED);
    CHECK(MPI_Wait(&one, s) == MPI_SUCCESS && MPI_Test(&one, &flag, s) == MPI_SUCCESS && flag);

    for (int i = 0; i < n; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, 50 + i, MPI_COMM_WORLD, &r[i]);
    CHECK(MPI_Testall(n, r, &flag, s) == MPI_SUCCESS && !flag && r[0] != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = n - 1; i >= 0; i--)
        MPI_Send(&out[i], 1, MPI_INT, 1 - rank, 50 + i, MPI_COMM_WORLD);
    CHECK(MPI_Waitany(n, r, &index, s) == MPI_SUCCESS && s[0].MPI_TAG == 50 + index);
    CHECK(r[index] == MPI_REQUEST_NULL);
    for (done = 1; done < n; done += some) {
        CHECK(MPI_Waitsome(n, r, &some, indices, s) == MPI_SUCCESS && some > 0);
        for (int i = 0; i < some; i++)
            CHECK(s[i].MPI_TAG == 50 + indices[i] && in[indices[i]] == 10 * (1 - rank) + indices[i]);
    }
    CHECK(MPI_Testsome(n, r, &some, indices, s) == MPI_SUCCESS && some == MPI_UNDEFINED);

    MPI_Irecv(in, 1, MPI_INT, 1 - rank, 99, MPI_COMM_WORLD, &one);
    CHECK(MPI_Test(&one, &flag, s) == MPI_SUCCESS && !flag && one != MPI_REQUEST_NULL);
    CHECK(MPI_Cancel(&one) == MPI_SUCCESS && MPI_Wait(&one, s) == MPI_SUCCESS);
    CHECK(MPI_Test_cancelled(s, &flag) == MPI_SUCCESS && flag);
}

/* Small sends have left when they return. Their requests are like any others until the program has looked at them. */
static void test_left(void)
{
    enum { n = 4 };
    int in[n], out[n], index, flag, some, indices[2 * n];
    MPI_Request r[2 * n];
    MPI_Status s[2 * n];
    for (int i = 0; i < n; i++) {
        out[i] = 100 * rank + i;
        CHECK(MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, 200 + i, MPI_COMM_WORLD, &r[i]) == MPI_SUCCESS);
        CHECK(r[i] != MPI_REQUEST_NULL && MPI_Request_fromint(MPI_Request_toint(r[i])) == r[i]);
    }
    CHECK(MPI_Request_get_status(r[0], &flag, s) == MPI_SUCCESS && flag && r[0] != MPI_REQUEST_NULL);
    CHECK(MPI_Wait(&r[0], s) == MPI_SUCCESS && r[0] == MPI_REQUEST_NULL && s[0].MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK(MPI_Test_cancelled(s, &flag) == MPI_SUCCESS && !flag);
    CHECK(MPI_Test(&r[1], &flag, s) == MPI_SUCCESS && flag && r[1] == MPI_REQUEST_NULL);
    CHECK(MPI_Request_free(&r[2]) == MPI_SUCCESS && r[2] == MPI_REQUEST_NULL);
    CHECK(MPI_Cancel(&r[3]) == MPI_SUCCESS && MPI_Wait(&r[3], s) == MPI_SUCCESS);
    CHECK(MPI_Test_cancelled(s, &flag) == MPI_SUCCESS && !flag);
    for (int i = 0; i < n; i++) {
        MPI_Recv(&in[i], 1, MPI_INT, 1 - rank, 200 + i, MPI_COMM_WORLD, &s[i]);
        CHECK(in[i] == 100 * (1 - rank) + i && s[i].MPI_SOURCE == 1 - rank && s[i].MPI_TAG == 200 + i);
    }

    for (int round = 0; round < 4; round++) { /* among receives, in each call for several */
        for (int i = 0; i < n; i++) {
            MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, 300 + i, MPI_COMM_WORLD, &r[2 * i]);
            MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, 300 + i, MPI_COMM_WORLD, &r[2 * i + 1]);
        }
        for (int left = 2 * n; left > 0;) {
            if (round == 0) {
                CHECK(MPI_Waitall(2 * n, r, s) == MPI_SUCCESS && s[0].MPI_TAG == 300 && s[6].MPI_TAG == 303);
                left = 0;
            } else if (round == 1) {
                CHECK(MPI_Waitany(2 * n, r, &index, s) == MPI_SUCCESS && index >= 0 && r[index] == MPI_REQUEST_NULL);
                left--;
            } else if (round == 2) {
                CHECK(MPI_Waitsome(2 * n, r, &some, indices, s) == MPI_SUCCESS && some > 0);
                left -= some;
            } else {
                CHECK(MPI_Testall(2 * n, r, &flag, s) == MPI_SUCCESS);
                left = flag ? 0 : left;
            }
        }
        for (int i = 0; i < n; i++)
            CHECK(in[i] == 100 * (1 - rank) + i && r[2 * i] == MPI_REQUEST_NULL && r[2 * i + 1] == MPI_REQUEST_NULL);
    }
    MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
    CHECK(MPI_Waitall(1, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS && r[0] == MPI_REQUEST_NULL);
    r[0] = MPI_REQUEST_NULL;
    r[1] = MPI_Request_fromint(99999);
    CHECK(MPI_Waitall(2, r, s) == MPI_ERR_REQUEST);
}

/* A message that ends within an element of the receiver's type was of another type. */
static void test_parts(void)
{
    MPI_Datatype holes;
    char out[3] = "abc";
    int in[4] = {0}, count;
    MPI_Status s;
    MPI_Type_vector(2, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    for (int n = 3; n <= 4; n++) {
        MPI_Sendrecv(NULL, 0, MPI_CHAR, 1 - rank, 9, NULL, 0, MPI_CHAR, 1 - rank, 9, MPI_COMM_WORLD, &s);
        MPI_Send(n == 3 ? out : (char *)&rank, n, MPI_CHAR, 1 - rank, 8, MPI_COMM_WORLD);
        CHECK(MPI_Recv(in, 1, holes, 1 - rank, 8, MPI_COMM_WORLD, &s) == (n == 3 ? MPI_ERR_TYPE : MPI_SUCCESS));
        CHECK(MPI_Get_count(&s, MPI_CHAR, &count) == MPI_SUCCESS && count == n);
    }
    CHECK(in[0] == 1 - rank && in[1] == 0 && in[2] == 0);
    MPI_Type_free(&holes);
}

static void test_collectives(void)
{
    double x = rank + 1.5, sum = 0;
    int a[2] = {rank, 7 + rank}, b[4] = {0}, value = rank == 1 ? 42 : 0;
    struct { double value; int place; } pair = {1 - rank, rank}, least;
    CHECK(MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == 4);
    CHECK(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS && x == 2.5);
    CHECK(MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(least.value == 0 && least.place == 1);
    CHECK(MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD) == MPI_SUCCESS && value == 42);
    CHECK(MPI_Reduce(a, b, 2, MPI_INT, MPI_BXOR, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(rank == 0 || (b[0] == 1 && b[1] == (7 ^ 8)));
    CHECK(MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(b[0] == 0 && b[1] == 7 && b[2] == 1 && b[3] == 8);
    CHECK(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(b[0] == (rank ? 7 : 0) && b[1] == (rank ? 8 : 1));
    CHECK(MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(rank == 1 || (b[2] == 1 && b[3] == 8));
    CHECK(MPI_Scatter(rank == 0 ? b : MPI_IN_PLACE, 2, MPI_INT, a, 2, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(a[0] == rank && a[1] == 7 + rank);
}

static void test_communicators(void)
{
    MPI_Comm dup, split, old;
    int result, r, n;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &dup) == MPI_SUCCESS);
    CHECK(MPI_Comm_compare(dup, MPI_COMM_WORLD, &result) == MPI_SUCCESS && result == MPI_CONGRUENT);
    CHECK(MPI_Comm_compare(dup, dup, &result) == MPI_SUCCESS && result == MPI_IDENT);
    CHECK(MPI_Comm_split(dup, 0, -rank, &split) == MPI_SUCCESS);
    CHECK(MPI_Comm_compare(dup, split, &result) == MPI_SUCCESS && result == MPI_SIMILAR);
    CHECK(MPI_Comm_rank(split, &r) == MPI_SUCCESS && r == 1 - rank);
    CHECK(MPI_Comm_size(split, &n) == MPI_SUCCESS && n == 2);
    CHECK(MPI_Bcast(&r, 1, MPI_INT, 0, split) == MPI_SUCCESS && r == 0);
    old = split;
    CHECK(MPI_Comm_free(&split) == MPI_SUCCESS && split == MPI_COMM_NULL);
    CHECK(MPI_Comm_rank(old, &r) == MPI_ERR_COMM);
    CHECK(MPI_Comm_split(dup, rank == 0 ? 0 : MPI_UNDEFINED, 0, &split) == MPI_SUCCESS);
    CHECK((split == MPI_COMM_NULL) == (rank == 1) && split != old);
    CHECK(rank == 1 || MPI_Comm_compare(split, dup, &result) != MPI_SUCCESS || result == MPI_UNEQUAL);
    CHECK(rank == 1 || MPI_Comm_free(&split) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&dup) == MPI_SUCCESS);
}

static void test_errors(void)
{
    int x[4] = {0};
    MPI_Status s[2];
    MPI_Request r[2];
    MPI_Errhandler handler;
    CHECK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) == MPI_SUCCESS && handler == MPI_ERRORS_RETURN);
    CHECK(MPI_Errhandler_free(&handler) == MPI_SUCCESS && handler == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER) == MPI_SUCCESS);
    CHECK(MPI_Send(x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD) == MPI_ERR_RANK);
    CHECK(MPI_Send(x, 1, MPI_INT, 0, -1, MPI_COMM_WORLD) == MPI_ERR_TAG);
    CHECK(MPI_Send(x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT);
    CHECK(MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD) == MPI_ERR_TYPE);
    CHECK(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
    CHECK(MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_NULL) == MPI_ERR_COMM);
    CHECK(MPI_Bcast(x, 1, MPI_INT, 0, (MPI_Comm)5000) == MPI_ERR_COMM);
    r[0] = (MPI_Request)123456;
    CHECK(MPI_Wait(r, s) == MPI_ERR_REQUEST);
    if (rank == 0) {
        CHECK(MPI_Send(x, 4, MPI_INT, 1, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Send(x, 4, MPI_INT, 1, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Send(x, 2, MPI_INT, 1, 2, MPI_COMM_WORLD) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Recv(x, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, s) == MPI_ERR_TRUNCATE);
        MPI_Irecv(x, 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(x + 2, 2, MPI_INT, 0, 2, MPI_COMM_WORLD, &r[1]);
        CHECK(MPI_Waitall(2, r, s) == MPI_ERR_IN_STATUS);
        CHECK(s[0].MPI_ERROR == MPI_ERR_TRUNCATE && s[1].MPI_ERROR == MPI_SUCCESS);
    }
}

/* The status of a null request has no error, and so has each of several that have none. Other calls for one request leave
   the error as it is. */
static void test_status_errors(void)
{
    MPI_Request none = MPI_REQUEST_NULL, two[2];
    MPI_Status s[2];
    int flag, index, got[2], sent[2] = {rank, rank};
    s[0].MPI_ERROR = 99;
    CHECK(MPI_Wait(&none, s) == MPI_SUCCESS && s[0].MPI_ERROR == MPI_SUCCESS);
    s[0].MPI_ERROR = 99;
    CHECK(MPI_Request_get_status(none, &flag, s) == MPI_SUCCESS && s[0].MPI_ERROR == MPI_SUCCESS);
    s[0].MPI_ERROR = 99;
    CHECK(MPI_Waitany(1, &none, &index, s) == MPI_SUCCESS && s[0].MPI_ERROR == MPI_SUCCESS);
    for (int i = 0; i < 2; i++) {
        CHECK(MPI_Irecv(&got[i], 1, MPI_INT, 1 - rank, 70 + i, MPI_COMM_WORLD, &two[i]) == MPI_SUCCESS);
        CHECK(MPI_Send(&sent[i], 1, MPI_INT, 1 - rank, 70 + i, MPI_COMM_WORLD) == MPI_SUCCESS);
        s[i].MPI_ERROR = 99;
    }
    CHECK(MPI_Waitall(2, two, s) == MPI_SUCCESS && s[0].MPI_ERROR == MPI_SUCCESS && s[1].MPI_ERROR == MPI_SUCCESS);
    CHECK(MPI_Irecv(got, 1, MPI_INT, 1 - rank, 72, MPI_COMM_WORLD, two) == MPI_SUCCESS);
    CHECK(MPI_Send(sent, 1, MPI_INT, 1 - rank, 72, MPI_COMM_WORLD) == MPI_SUCCESS);
    s[0].MPI_ERROR = 99;
    CHECK(MPI_Wait(two, s) == MPI_SUCCESS && s[0].MPI_ERROR == 99 && got[0] == 1 - rank);
}

/* is_said tells whether an info object has that value for a key. */
static int is_said(MPI_Info info, const char *key, const char *want)
{
    char value[40];
    int flag = 0, room = sizeof(value);
    return MPI_Info_get_string(info, key, &room, value, &flag) == MPI_SUCCESS && flag && strcmp(value, want) == 0;
}

/* split is the size of the communicator that a type of split gives, 0 if there is none. */
static int split(int type, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Comm comm = MPI_COMM_WORLD;
    int members = 0;
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, key, value) == MPI_SUCCESS);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, type, -rank, info, &comm) == MPI_SUCCESS);
    if (comm != MPI_COMM_NULL) {
        CHECK(MPI_Comm_size(comm, &members) == MPI_SUCCESS && MPI_Comm_free(&comm) == MPI_SUCCESS);
        CHECK(type != MPI_COMM_TYPE_HW_UNGUIDED || !is_said(info, "mpi_hw_resource_type", "nothing"));
    }
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    return members;
}

static void test_hardware(void)
{
    const char *key = "mpi_hw_resource_type", *set = "mpi_pset_name";
    MPI_Comm comm;
    MPI_Info info;
    CHECK(split(MPI_COMM_TYPE_SHARED, key, "nothing") == 2);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, key, "mpi_shared_memory") == 2);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, key, "no such thing") == 0);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, set, "mpi://WORLD") == 0);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, key, rank ? "machine" : "core") == 0);
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://world") == 2);
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, set, "mpi://SELF") == 1);
    CHECK(split(MPI_COMM_TYPE_HW_UNGUIDED, key, "nothing") < 2);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &comm) == MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
    CHECK(MPI_Get_hw_resource_info(&info) == MPI_SUCCESS && is_said(info, "mpi_shared_memory", "true"));
    CHECK(is_said(info, "hwloc://Core", "true") || is_said(info, "hwloc://Core", "false"));
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
}

static void test_abi(void)
{
    MPI_Info info;
    CHECK(MPI_Abi_get_info(&info) == MPI_SUCCESS && is_said(info, "mpi_aint_size", "8"));
    CHECK(is_said(info, "mpi_count_size", "8") && is_said(info, "mpi_offset_size", "8"));
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(MPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && is_said(info, "mpi_integer_size", "4"));
    CHECK(is_said(info, "mpi_real8_supported", "true") && MPI_Abi_set_fortran_info(info) == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "mpi_real8_supported", "false") == MPI_SUCCESS);
    CHECK(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "mpi_integer_size", "8") == MPI_SUCCESS);
    CHECK(MPI_Abi_set_fortran_info(info) == MPI_ERR_ABI);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
}

static void test(void)
{
    int flag;
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);
    CHECK(MPI_Init(NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag);
    CHECK(MPI_Is_thread_main(&flag) == MPI_SUCCESS && flag);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS);
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS && size == 2);
    test_messages();
    test_requests();
    test_left();
    test_status_errors();
    test_parts();
    test_collectives();
    test_communicators();
    test_hardware();
    test_abi();
    test_errors();
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && flag);
}
