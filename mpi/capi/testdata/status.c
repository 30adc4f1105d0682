static void test_fields(void)
{
    MPI_Status s;
    int n = -1;
    memset(&s, 0xff, sizeof(s));
    CHECK(MPI_Status_set_source(&s, 3) == MPI_SUCCESS && s.MPI_SOURCE == 3);
    CHECK(MPI_Status_set_tag(&s, 4) == MPI_SUCCESS && s.MPI_TAG == 4);
    CHECK(MPI_Status_set_error(&s, 5) == MPI_SUCCESS && s.MPI_ERROR == 5);
    CHECK(s.MPI_SOURCE == 3 && s.MPI_TAG == 4);
    CHECK(MPI_Status_get_source(&s, &n) == MPI_SUCCESS && n == 3);
    CHECK(MPI_Status_get_tag(&s, &n) == MPI_SUCCESS && n == 4);
    CHECK(MPI_Status_get_error(&s, &n) == MPI_SUCCESS && n == 5);
    CHECK(MPI_Status_set_cancelled(&s, 2) == MPI_SUCCESS);
    CHECK(MPI_Test_cancelled(&s, &n) == MPI_SUCCESS && n == 1);
    CHECK(MPI_Status_set_elements_c(&s, MPI_BYTE, INT64_MAX) == MPI_SUCCESS);
    CHECK(MPI_Test_cancelled(&s, &n) == MPI_SUCCESS && n == 1);
    CHECK(MPI_Status_set_cancelled(&s, 0) == MPI_SUCCESS);
    CHECK(MPI_Test_cancelled(&s, &n) == MPI_SUCCESS && n == 0);
    CHECK(s.MPI_SOURCE == 3 && s.MPI_TAG == 4 && s.MPI_ERROR == 5);
}

static void test_large(void)
{
    MPI_Status s = {0};
    int n = -1;
    MPI_Count c = -1;
    CHECK(MPI_Status_set_elements_c(&s, MPI_BYTE, (MPI_Count)INT32_MAX + 1) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&s, MPI_BYTE, &n) == MPI_SUCCESS && n == MPI_UNDEFINED);
    CHECK(MPI_Get_elements(&s, MPI_BYTE, &n) == MPI_SUCCESS && n == MPI_UNDEFINED);
    CHECK(MPI_Get_count_c(&s, MPI_BYTE, &c) == MPI_SUCCESS && c == (MPI_Count)INT32_MAX + 1);
    CHECK(MPI_Get_elements_x(&s, MPI_BYTE, &c) == MPI_SUCCESS && c == (MPI_Count)INT32_MAX + 1);
    CHECK(MPI_Get_count(&s, MPI_INT, &n) == MPI_SUCCESS && n == 1 << 29);
    CHECK(MPI_Status_set_elements_x(&s, MPI_BYTE, INT32_MAX) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&s, MPI_BYTE, &n) == MPI_SUCCESS && n == INT32_MAX);
    CHECK(MPI_Status_set_elements_c(&s, MPI_DOUBLE, INT64_MAX / 8) == MPI_SUCCESS);
    CHECK(MPI_Get_count_c(&s, MPI_DOUBLE, &c) == MPI_SUCCESS && c == INT64_MAX / 8);
    CHECK(MPI_Status_set_elements_c(&s, MPI_DOUBLE, INT64_MAX / 8 + 1) == MPI_ERR_COUNT);
    CHECK(MPI_Status_set_elements_c(&s, MPI_SHORT_INT, INT64_MAX / 3) == MPI_SUCCESS);
    CHECK(MPI_Status_set_elements_c(&s, MPI_SHORT_INT, INT64_MAX / 3 + 2) == MPI_ERR_COUNT);
    CHECK(MPI_Status_set_elements(&s, MPI_INT, -1) == MPI_ERR_COUNT);
    CHECK(MPI_Status_set_elements(&s, MPI_INT, INT32_MAX) == MPI_SUCCESS);
    CHECK(MPI_Get_elements(&s, MPI_INT, &n) == MPI_SUCCESS && n == INT32_MAX);
}

static void test_pairs(void)
{
    MPI_Status s = {0};
    int n = -1;
    CHECK(MPI_Status_set_elements(&s, MPI_SHORT_INT, 5) == MPI_SUCCESS);
    CHECK(MPI_Get_elements(&s, MPI_SHORT_INT, &n) == MPI_SUCCESS && n == 5);
    CHECK(MPI_Get_count(&s, MPI_SHORT_INT, &n) == MPI_SUCCESS && n == MPI_UNDEFINED);
    CHECK(MPI_Get_count(&s, MPI_BYTE, &n) == MPI_SUCCESS && n == 14);
    CHECK(MPI_Status_set_elements(&s, MPI_SHORT_INT, 6) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&s, MPI_SHORT_INT, &n) == MPI_SUCCESS && n == 3);
}

static void test_errors(void)
{
    MPI_Status s = {0};
    int n;
    MPI_Count c;
    CHECK(MPI_Status_set_source(MPI_STATUS_IGNORE, 1) == MPI_ERR_ARG);
    CHECK(MPI_Status_get_tag(&s, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Status_get_tag(MPI_STATUS_IGNORE, &n) == MPI_ERR_ARG);
    CHECK(MPI_Test_cancelled(&s, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &n) == MPI_ERR_ARG);
    CHECK(MPI_Get_count(&s, MPI_INT, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Get_elements(&s, MPI_INT, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Get_count(&s, MPI_DATATYPE_NULL, &n) == MPI_ERR_TYPE);
    CHECK(MPI_Get_elements_c(&s, MPI_DATATYPE_NULL, &c) == MPI_ERR_TYPE);
    CHECK(MPI_Get_elements_c(MPI_STATUS_IGNORE, MPI_INT, &c) == MPI_ERR_ARG);
    CHECK(MPI_Status_set_elements(&s, MPI_DATATYPE_NULL, 1) == MPI_ERR_TYPE);
    CHECK(MPI_Status_set_elements(MPI_STATUS_IGNORE, MPI_INT, 1) == MPI_ERR_ARG);
}

static void test(void)
{
    test_fields();
    test_large();
    test_pairs();
    test_errors();
}
