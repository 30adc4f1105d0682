/* Datatypes that the program makes. */
static void test_bounds(void)
{
    MPI_Datatype vector, small, twice;
    MPI_Aint lb, extent;
    int size, combiner, ni, na, nt, ints[8];
    CHECK(MPI_Type_vector(3, 1, 4, MPI_INT, &vector) == MPI_SUCCESS);
    CHECK(MPI_Type_size(vector, &size) == MPI_SUCCESS && size == 12);
    CHECK(MPI_Type_get_extent(vector, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == 36);
    CHECK(MPI_Type_create_resized(vector, -4, 4, &small) == MPI_SUCCESS);
    CHECK(MPI_Type_get_extent(small, &lb, &extent) == MPI_SUCCESS && lb == -4 && extent == 4);
    CHECK(MPI_Type_get_true_extent(small, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == 36);
    CHECK(MPI_Type_get_envelope(small, &ni, &na, &nt, &combiner) == MPI_SUCCESS);
    CHECK(ni == 0 && na == 2 && nt == 1 && combiner == MPI_COMBINER_RESIZED);
    CHECK(MPI_Type_get_envelope(vector, &ni, &na, &nt, &combiner) == MPI_SUCCESS);
    CHECK(ni == 3 && na == 0 && nt == 1 && combiner == MPI_COMBINER_VECTOR);
    CHECK(MPI_Type_get_contents(vector, 3, 0, 1, ints, NULL, &twice) == MPI_SUCCESS);
    CHECK(ints[0] == 3 && ints[1] == 1 && ints[2] == 4 && twice == MPI_INT);
    CHECK(MPI_Type_get_contents(vector, 2, 0, 1, ints, NULL, &twice) == MPI_ERR_ARG);
    CHECK(MPI_Type_get_contents(MPI_INT, 8, 0, 1, ints, NULL, &twice) == MPI_ERR_TYPE);
    CHECK(MPI_Type_free(&small) == MPI_SUCCESS && small == MPI_DATATYPE_NULL);
    twice = vector;
    CHECK(MPI_Type_free(&vector) == MPI_SUCCESS);
    CHECK(MPI_Type_size(twice, &size) == MPI_ERR_TYPE);
    CHECK(MPI_Type_free(&twice) == MPI_ERR_TYPE);
}

static void test_large(void)
{
    MPI_Datatype t, part;
    MPI_Count n[4], counts[4];
    int combiner, ni, na, nt, ints[2];
    MPI_Aint addrs[1];
    CHECK(MPI_Type_contiguous_c(5, MPI_SHORT, &t) == MPI_SUCCESS);
    CHECK(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner) == MPI_ERR_TYPE);
    CHECK(MPI_Type_get_envelope_c(t, &n[0], &n[1], &n[2], &n[3], &combiner) == MPI_SUCCESS);
    CHECK(n[0] == 0 && n[1] == 0 && n[2] == 1 && n[3] == 1 && combiner == MPI_COMBINER_CONTIGUOUS);
    CHECK(MPI_Type_get_contents_c(t, 2, 1, 4, 1, ints, addrs, counts, &part) == MPI_SUCCESS);
    CHECK(counts[0] == 5 && part == MPI_SHORT);
    CHECK(MPI_Type_free(&t) == MPI_SUCCESS);
}

static void test_parametric(void)
{
    MPI_Datatype a, b, pair;
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    CHECK(MPI_Type_create_f90_integer(9, &a) == MPI_SUCCESS);
    CHECK(MPI_Type_create_f90_integer(9, &b) == MPI_SUCCESS && a == b);
    CHECK(MPI_Type_create_f90_integer(8, &b) == MPI_SUCCESS && a != b);
    CHECK(MPI_Type_free(&a) == MPI_ERR_TYPE);
    CHECK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair) == MPI_SUCCESS && pair == MPI_DOUBLE_INT);
    CHECK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &pair) == MPI_SUCCESS);
    CHECK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &a) == MPI_SUCCESS && a == pair);
    CHECK(MPI_Type_get_value_index(MPI_FLOAT, MPI_LONG, &a) == MPI_SUCCESS && a != pair);
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &a) == MPI_SUCCESS && a == MPI_REAL8);
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 7, &a) == MPI_ERR_ARG);
    CHECK(MPI_Type_get_name(MPI_INT, name, &n) == MPI_SUCCESS && n == 7 && strcmp(name, "MPI_INT") == 0);
    CHECK(MPI_Type_dup(MPI_INT, &a) == MPI_SUCCESS);
    CHECK(MPI_Type_get_name(a, name, &n) == MPI_SUCCESS && n == 0 && name[0] == 0);
    CHECK(MPI_Type_set_name(a, "mine") == MPI_SUCCESS);
    CHECK(MPI_Type_get_name(a, name, &n) == MPI_SUCCESS && n == 4 && strcmp(name, "mine") == 0);
    CHECK(MPI_Type_free(&a) == MPI_SUCCESS);
}

/* A column of a 3 by 3 matrix goes to a row, by messages and by packing. */
static void test_moves(void)
{
    int from[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, to[3], position = 0, back[9] = {0}, n;
    char bytes[64];
    MPI_Datatype column;
    MPI_Request r;
    MPI_Status s;
    MPI_Type_vector(3, 1, 3, MPI_INT, &column);
    CHECK(MPI_Send(from, 1, column, 0, 0, MPI_COMM_SELF) == MPI_ERR_TYPE);
    CHECK(MPI_Type_commit(&column) == MPI_SUCCESS);
    CHECK(MPI_Irecv(to, 3, MPI_INT, 0, 0, MPI_COMM_SELF, &r) == MPI_SUCCESS);
    CHECK(MPI_Send(from + 1, 1, column, 0, 0, MPI_COMM_SELF) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && to[0] == 2 && to[1] == 5 && to[2] == 8);
    CHECK(MPI_Get_count(&s, column, &n) == MPI_SUCCESS && n == 1);
    CHECK(MPI_Get_elements(&s, column, &n) == MPI_SUCCESS && n == 3);
    CHECK(MPI_Sendrecv(to, 3, MPI_INT, 0, 1, back + 2, 1, column, 0, 1, MPI_COMM_SELF, &s) == MPI_SUCCESS);
    CHECK(back[2] == 2 && back[5] == 5 && back[8] == 8 && back[0] == 0 && back[3] == 0);
    CHECK(MPI_Sendrecv_replace(back + 2, 1, column, 0, 1, 0, 1, MPI_COMM_SELF, &s) == MPI_SUCCESS && back[5] == 5);
    CHECK(MPI_Pack_size(1, column, MPI_COMM_SELF, &n) == MPI_SUCCESS && n >= 12);
    CHECK(MPI_Pack(from, 1, column, bytes, 64, &position, MPI_COMM_SELF) == MPI_SUCCESS && position == 12);
    CHECK(MPI_Pack(from + 2, 1, column, bytes, 64, &position, MPI_COMM_SELF) == MPI_SUCCESS && position == 24);
    CHECK(MPI_Pack(from, 4, column, bytes, 64, &position, MPI_COMM_SELF) != MPI_SUCCESS && position == 24);
    position = 12;
    CHECK(MPI_Unpack(bytes, 24, &position, to, 3, MPI_INT, MPI_COMM_SELF) == MPI_SUCCESS && position == 24);
    CHECK(to[0] == 3 && to[1] == 6 && to[2] == 9);
    CHECK(MPI_Type_free(&column) == MPI_SUCCESS);
}

static void test_external(void)
{
    short x = 0x102, y = 0;
    unsigned char bytes[2];
    MPI_Aint position = 0, size;
    CHECK(MPI_Pack_external_size("external32", 1, MPI_LONG, &size) == MPI_SUCCESS && size == 4);
    CHECK(MPI_Pack_external("external32", &x, 1, MPI_SHORT, bytes, 2, &position) == MPI_SUCCESS && position == 2);
    CHECK(bytes[0] == 1 && bytes[1] == 2);
    position = 0;
    CHECK(MPI_Unpack_external("external32", bytes, 2, &position, &y, 1, MPI_SHORT) == MPI_SUCCESS && y == x);
    CHECK(MPI_Pack_external("native", &x, 1, MPI_SHORT, bytes, 2, &position) == MPI_ERR_ARG);
}

/* A structure at absolute addresses. */
static void test_bottom(void)
{
    int x = 5;
    double y = 2.5;
    struct { int x; double y; } got;
    int lengths[] = {1, 1};
    MPI_Aint at[2], there[] = {0, 8};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, absolute, plain;
    MPI_Get_address(&x, &at[0]);
    MPI_Get_address(&y, &at[1]);
    CHECK(MPI_Type_create_struct(2, lengths, at, types, &absolute) == MPI_SUCCESS);
    CHECK(MPI_Type_create_struct(2, lengths, there, types, &plain) == MPI_SUCCESS);
    MPI_Type_commit(&absolute);
    MPI_Type_commit(&plain);
    CHECK(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 0, 0, &got, 1, plain, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
        == MPI_SUCCESS && got.x == 5 && got.y == 2.5);
    CHECK(MPI_Send(MPI_BOTTOM, 1, plain, 0, 0, MPI_COMM_SELF) == MPI_ERR_BUFFER);
    MPI_Type_free(&absolute);
    MPI_Type_free(&plain);
}

static void test_errors(void)
{
    int lengths[] = {1, -1};
    MPI_Aint at[] = {0, 8};
    MPI_Datatype t, types[] = {MPI_INT, MPI_DATATYPE_NULL};
    CHECK(MPI_Type_contiguous(-1, MPI_INT, &t) == MPI_ERR_COUNT);
    CHECK(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t) == MPI_ERR_TYPE);
    CHECK(MPI_Type_contiguous(1, MPI_INT, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &t) == MPI_ERR_ARG);
    CHECK(MPI_Type_create_hindexed(2, NULL, at, MPI_INT, &t) == MPI_ERR_ARG);
    CHECK(MPI_Type_create_struct(2, lengths, at, types, &t) == MPI_ERR_TYPE);
    t = MPI_INT;
    CHECK(MPI_Type_free(&t) == MPI_ERR_TYPE);
}

static void test(void)
{
    CHECK(MPI_Init(NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    test_bounds();
    test_large();
    test_parametric();
    test_moves();
    test_external();
    test_bottom();
    test_errors();
    CHECK(MPI_Finalize() == MPI_SUCCESS);
}
