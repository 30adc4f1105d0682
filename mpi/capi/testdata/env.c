#include <time.h>

/* A tool defines a function of MPI itself, and calls the library's by its other name. */
static int profiled;

int MPI_Pcontrol(const int level, ...)
{
    profiled = level;
    return PMPI_Pcontrol(level) == MPI_SUCCESS ? 77 : 78;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* What the clock says passes between what the system's clock says. */
static void test_clock(void)
{
    double tick = MPI_Wtick(), first = now(), begin = MPI_Wtime(), end = begin, last;
    CHECK(tick > 0 && tick < 0.1);
    for (int i = 0; i < 1000000000 && end == begin; i++)
        end = MPI_Wtime();
    last = now();
    CHECK(end > begin);
    CHECK(first <= begin && end <= last);
}

static void test_addresses(void)
{
    char a[10] = {0};
    MPI_Aint low = (MPI_Aint)&a[2], high = (MPI_Aint)&a[9];
    MPI_Aint got = 0;
    CHECK(MPI_Get_address(&a[2], &got) == MPI_SUCCESS && got == low);
    CHECK(MPI_Get_address(&a[2], NULL) == MPI_ERR_ARG);
    CHECK(MPI_Aint_add(low, 7) == high);
    CHECK(MPI_Aint_diff(high, low) == 7);
    CHECK(MPI_Aint_diff(low, high) == -7);
    CHECK(MPI_Aint_add(INTPTR_MAX, 1) == INTPTR_MIN);
    CHECK(MPI_Aint_diff(INTPTR_MIN, 1) == INTPTR_MAX);
}

static void test_handles(void)
{
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101);
    CHECK(MPI_Comm_fromint(0x102) == MPI_COMM_SELF);
    CHECK(MPI_Type_toint(MPI_DOUBLE) == 0x214);
    CHECK(MPI_Type_fromint(0x209) == MPI_INT);
    CHECK(MPI_Group_fromint(MPI_Group_toint(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
    CHECK(MPI_Op_toint(MPI_SUM) == 0x21);
    CHECK(MPI_Op_fromint(0x3d) == MPI_NO_OP);
    CHECK(MPI_Errhandler_toint(MPI_ERRORS_RETURN) == 0x143);
    CHECK(MPI_Errhandler_fromint(0x141) == MPI_ERRORS_ARE_FATAL);
    CHECK(MPI_File_toint(MPI_FILE_NULL) == 0x118);
    CHECK(MPI_File_fromint(0x118) == MPI_FILE_NULL);
    CHECK(MPI_Info_fromint(MPI_Info_toint(MPI_INFO_ENV)) == MPI_INFO_ENV);
    CHECK(MPI_Message_fromint(0x129) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Message_toint(MPI_MESSAGE_NULL) == 0x128);
    CHECK(MPI_Request_fromint(0x180) == MPI_REQUEST_NULL);
    CHECK(MPI_Request_toint(MPI_REQUEST_NULL) == 0x180);
    CHECK(MPI_Session_fromint(0x120) == MPI_SESSION_NULL);
    CHECK(MPI_Session_toint(MPI_SESSION_NULL) == 0x120);
    CHECK(MPI_Win_fromint(0x110) == MPI_WIN_NULL);
    CHECK(MPI_Win_toint(MPI_WIN_NULL) == 0x110);
    CHECK(MPI_Comm_toint(MPI_Comm_fromint(0x7fffffff)) == 0x7fffffff);
}

static void test_versions(void)
{
    int major = -1, minor = -1, length = -1;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    CHECK(MPI_Get_version(&major, &minor) == MPI_SUCCESS && major == 5 && minor == 0);
    CHECK(MPI_Get_version(NULL, &minor) == MPI_ERR_ARG && MPI_Get_version(&major, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0);
    CHECK(MPI_Abi_get_version(NULL, &minor) == MPI_ERR_ARG && MPI_Abi_get_version(&major, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Get_library_version(text, &length) == MPI_SUCCESS && length == (int)strlen(text));
    CHECK(strncmp(text, "golci", 5) == 0);
    CHECK(MPI_Get_library_version(NULL, &length) == MPI_ERR_ARG);
    length = -1;
    CHECK(MPI_Get_processor_name(name, &length) == MPI_SUCCESS && length == (int)strlen(name) && length > 0);
    CHECK(MPI_Get_processor_name(name, NULL) == MPI_ERR_ARG);
}

static void test_booleans(void)
{
    int yes = -1, no = 0, set = 7, got_yes = 5, got_no = 5;
    CHECK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &set) == MPI_SUCCESS && set == 0);
    CHECK(MPI_Abi_set_fortran_booleans(3, &yes, &no) == MPI_ERR_ARG);
    CHECK(MPI_Abi_set_fortran_booleans(4, NULL, &no) == MPI_ERR_ARG);
    CHECK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &set) == MPI_SUCCESS && set == 0 && got_yes == 5);
    CHECK(MPI_Abi_set_fortran_booleans(4, &yes, &no) == MPI_SUCCESS);
    CHECK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &set) == MPI_SUCCESS && set == 1);
    CHECK(got_yes == -1 && got_no == 0);
    CHECK(MPI_Abi_get_fortran_booleans(8, &got_yes, &got_no, &set) == MPI_ERR_ABI);
    CHECK(MPI_Abi_set_fortran_booleans(4, &no, &yes) == MPI_ERR_ABI);
    CHECK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &set) == MPI_SUCCESS && got_yes == -1);
    CHECK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, NULL) == MPI_ERR_ARG);
}

static void test(void)
{
    test_versions();
    test_booleans();
    test_clock();
    test_addresses();
    test_handles();
    CHECK(PMPI_Pcontrol(1, "text") == MPI_SUCCESS && profiled == 0);
    CHECK(MPI_Pcontrol(2) == 77 && profiled == 2);
}
