/* Attributes of datatypes (7.7.4). */
static int copies, deletes, refuse_copy, refuse_delete;
static MPI_Datatype last;

static int copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    copies++;
    last = type;
    *(void **)out = (char *)in + (extra == &copies);
    *flag = 1;
    return refuse_copy ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    deletes++;
    last = type;
    return refuse_delete ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int value_is(MPI_Datatype type, int keyval, char *want)
{
    char *value = NULL;
    int flag = -1;
    return MPI_Type_get_attr(type, keyval, &value, &flag) == MPI_SUCCESS && flag == (want != NULL) && value == want;
}

static void test(void)
{
    MPI_Datatype type, twin, old;
    MPI_Win win;
    char text[] = "attribute";
    int mine, none, other, here;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Type_create_keyval(copy, delete, &mine, &copies) == MPI_SUCCESS);
    CHECK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &none, NULL) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL) == MPI_SUCCESS);
    CHECK(MPI_Type_contiguous(2, MPI_INT, &type) == MPI_SUCCESS);
    CHECK(MPI_Type_set_attr(type, other, text) == MPI_ERR_KEYVAL);
    CHECK(MPI_Type_set_attr(type, mine, text) == MPI_SUCCESS && MPI_Type_set_attr(type, none, text) == MPI_SUCCESS);

    CHECK(MPI_Type_dup(type, &twin) == MPI_SUCCESS && copies == 1 && last == type);
    CHECK(value_is(twin, mine, text + 1) && value_is(twin, none, NULL));
    CHECK(value_is(type, mine, text) && value_is(type, none, text));
    refuse_copy = 1;
    old = type;
    CHECK(MPI_Type_dup(type, &old) == MPI_ERR_OTHER && old == MPI_DATATYPE_NULL && copies == 2 && deletes == 0);

    refuse_delete = 1;
    old = twin;
    CHECK(MPI_Type_free(&twin) == MPI_ERR_OTHER && twin == old && deletes == 1 && value_is(twin, mine, text + 1));
    refuse_delete = 0;
    CHECK(MPI_Type_free(&twin) == MPI_SUCCESS && twin == MPI_DATATYPE_NULL && deletes == 2 && last == old);
    CHECK(MPI_Type_set_attr(old, mine, text) == MPI_ERR_TYPE);

    CHECK(MPI_Type_free_keyval(&mine) == MPI_SUCCESS && mine == MPI_KEYVAL_INVALID && deletes == 2);
    CHECK(MPI_Type_free(&type) == MPI_SUCCESS && deletes == 3); /* the value has kept the key */

    CHECK(MPI_Type_set_attr(MPI_INT, none, text) == MPI_SUCCESS && value_is(MPI_INT, none, text));
    CHECK(MPI_Type_delete_attr(MPI_INT, none) == MPI_SUCCESS && value_is(MPI_INT, none, NULL));
    CHECK(MPI_Type_free_keyval(&none) == MPI_SUCCESS);

    /* The handler of the window is not asked about keys that are not of windows. */
    CHECK(MPI_Win_create(&here, sizeof(here), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_SUCCESS);
    CHECK(MPI_Win_set_attr(win, other, text) == MPI_ERR_KEYVAL && MPI_Win_delete_attr(win, other) == MPI_ERR_KEYVAL);
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS && MPI_Comm_free_keyval(&other) == MPI_SUCCESS);
    MPI_Finalize();
}
