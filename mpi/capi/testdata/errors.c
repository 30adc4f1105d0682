static void test_class(int code, const char *text)
{
    char got[MPI_MAX_ERROR_STRING];
    int class = -1, length = -1;
    memset(got, 'x', sizeof(got));
    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS && class == code);
    CHECK(MPI_Error_string(code, got, &length) == MPI_SUCCESS);
    CHECK(strcmp(got, text) == 0);
    CHECK(length == (int)strlen(text));
}

static void test_unknown(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    CHECK(MPI_Error_class(code, &class) == MPI_ERR_ARG);
    CHECK(MPI_Error_string(code, text, &length) == MPI_ERR_ARG);
}

static void test(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int number;
    test_class(MPI_SUCCESS, "MPI_SUCCESS: no error");
    test_class(MPI_ERR_COUNT, "MPI_ERR_COUNT: invalid count");
    test_class(MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION: unsupported operation");
    test_class(MPI_ERR_ABI, "MPI_ERR_ABI: the ABI does not fit");
    test_class(MPI_T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT: the interface cannot start now");
    test_class(MPI_T_ERR_PVAR_NO_ATOMIC, "MPI_T_ERR_PVAR_NO_ATOMIC: the variable is not read and reset at once");
    for (int code = 0; code <= MPI_ERR_ABI; code++)
        CHECK(MPI_Error_string(code, text, &number) == MPI_SUCCESS && strncmp(text, "MPI_", 4) == 0);
    test_unknown(-1);
    test_unknown(INT32_MIN);
    test_unknown(63);
    test_unknown(1000);
    test_unknown(1019);
    test_unknown(MPI_ERR_LASTCODE);
    test_unknown(MPI_ERR_LASTCODE + 1);
    CHECK(MPI_Error_class(0, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Error_string(0, NULL, &number) == MPI_ERR_ARG);
    CHECK(MPI_Error_string(0, text, NULL) == MPI_ERR_ARG);
}
