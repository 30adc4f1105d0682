#include <sys/wait.h>
#include <unistd.h>

static int cvar(const char *name)
{
    int index = -1;
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
    return index;
}

static int pvar(const char *name, int class)
{
    int index = -1;
    CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS);
    return index;
}

/* Nothing works before the interface has begun. */
static void test_outside(void)
{
    int n;
    char text[8];
    MPI_T_pvar_session session;
    CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_category_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_event_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, text, &n) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
}

/* The strings of 15.3.3: whole, cut, only measured, or not wanted. */
static void test_strings(void)
{
    char name[64], small[5] = "....";
    int index = cvar("GOLCI_SPIN"), whole = 64, length = 0, cut = 4;
    CHECK(MPI_T_cvar_get_info(index, name, &whole, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(strcmp(name, "GOLCI_SPIN") == 0 && whole == 11);
    CHECK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(length == 11);
    length = 7;
    CHECK(MPI_T_cvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(length == 11);
    CHECK(MPI_T_cvar_get_info(index, small, &cut, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(strcmp(small, "GOL") == 0 && cut == 11 && small[4] == 0);
    CHECK(MPI_T_cvar_get_info(index, small, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(strcmp(small, "GOL") == 0);
}

/* read gives the value of a variable with the datatype that it should have. */
static void read_as(const char *name, MPI_Datatype type, void *value)
{
    int index = cvar(name), count = -1, scope = -1, bind = -1, verbosity = -1, n = 0;
    MPI_Datatype got = MPI_DATATYPE_NULL;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    CHECK(MPI_T_cvar_get_info(index, NULL, &n, &verbosity, &got, NULL, NULL, NULL, &bind, &scope) == MPI_SUCCESS);
    CHECK(got == type && bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_CONSTANT);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(type == MPI_CHAR ? count > 1 : count == 1);
    CHECK(MPI_T_cvar_read(handle, value) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(handle, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_write(handle, value) == MPI_T_ERR_CVAR_SET_NEVER);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_read(handle, value) == MPI_T_ERR_INVALID_HANDLE);
}

static void test_enum(const char *variable, int value, const char *want)
{
    MPI_T_enum e = MPI_T_ENUM_NULL;
    char text[64];
    int n = 0, got = -1, length = sizeof(text);
    CHECK(MPI_T_cvar_get_info(cvar(variable), NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_T_enum_get_info(e, &n, text, &length) == MPI_SUCCESS);
    CHECK(n > 1 && strcmp(text, variable) == 0);
    length = sizeof(text);
    CHECK(MPI_T_enum_get_item(e, value, &got, text, &length) == MPI_SUCCESS);
    CHECK(got == value && strcmp(text, want) == 0 && length == (int)strlen(want) + 1);
    CHECK(MPI_T_enum_get_item(e, n, &got, text, &length) == MPI_T_ERR_INVALID_ITEM);
    CHECK(MPI_T_enum_get_item(e, -1, &got, text, &length) == MPI_T_ERR_INVALID_ITEM);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, text, &length) == MPI_T_ERR_INVALID_HANDLE);
}

/* The environment of the process has these values. */
static void test_controls(void)
{
    int number = -1, index;
    double seconds = -1;
    MPI_Count bytes = -1;
    char text[256] = "";
    MPI_T_enum e = (MPI_T_enum)&index;
    MPI_T_cvar_handle handle;
    read_as("GOLCI_LOAN", MPI_INT, &number);
    CHECK(number == 77);
    read_as("GOLCI_SPIN", MPI_DOUBLE, &seconds);
    CHECK(seconds > 0.000199 && seconds < 0.000201);
    read_as("GOLCI_UNEXPECTED", MPI_COUNT, &bytes);
    CHECK(bytes == 2 << 20);
    read_as("GOLCI_UDP_FAULTS", MPI_CHAR, text);
    CHECK(strcmp(text, "off") == 0);
    read_as("GOLCI_SERVER", MPI_INT, &number);
    CHECK(number == 3);
    test_enum("GOLCI_SERVER", 3, "waiter");
    read_as("GOLCI_DEBUG", MPI_INT, &number);
    CHECK(number == 0);
    test_enum("GOLCI_DEBUG", 1, "on");
    CHECK(MPI_T_cvar_get_info(cvar("GOLCI_SPIN"), NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(e == MPI_T_ENUM_NULL);
    CHECK(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number > 20);
    CHECK(MPI_T_cvar_get_num(NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_index("GOLCI_NONE", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_handle_alloc(number, NULL, &handle, &index) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, NULL, &index) == MPI_T_ERR_INVALID);
}

static unsigned long long counted(MPI_T_pvar_session session, const char *name, int class)
{
    unsigned long long value = ~0ull;
    int count = -1;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK(MPI_T_pvar_handle_alloc(session, pvar(name, class), NULL, &handle, &count) == MPI_SUCCESS && count == 1);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS && handle == MPI_T_PVAR_HANDLE_NULL);
    return value;
}

/* Variables only go on by themselves, and a handle is of its session. */
static void test_handles(MPI_T_pvar_session session)
{
    MPI_T_pvar_session other;
    MPI_T_pvar_handle handle;
    unsigned long long value = 0;
    int count, n, class, readonly = -1, continuous = -1, atomic = -1, bind = -1;
    MPI_Datatype type;
    MPI_T_enum e;
    CHECK(MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &count) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_info(0, NULL, NULL, &n, &class, &type, &e, NULL, NULL, &bind, &readonly, &continuous, &atomic) ==
        MPI_SUCCESS);
    CHECK(type == MPI_UNSIGNED_LONG_LONG && e == MPI_T_ENUM_NULL && bind == MPI_T_BIND_NO_OBJECT);
    CHECK(readonly == 1 && continuous == 1 && atomic == 0);
    CHECK(MPI_T_pvar_read(other, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_handle_free(other, &handle) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_write(session, handle, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_readreset(session, handle, &value) == MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS && other == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_session_free(&other) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_get_num(&n) == MPI_SUCCESS && n > 20);
    CHECK(MPI_T_pvar_handle_alloc(session, n, NULL, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_pvar_get_index("workers", MPI_T_PVAR_CLASS_TIMER, &n) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_pvar_get_index("none", MPI_T_PVAR_CLASS_SIZE, &n) == MPI_T_ERR_INVALID_NAME);
}

/* A message of 100 bytes without a receive is counted as long as it waits. */
static void test_counters(MPI_T_pvar_session session)
{
    char out[100] = {1}, in[100];
    unsigned long long before = counted(session, "requests_received", MPI_T_PVAR_CLASS_COUNTER);
    int flag = 0;
    CHECK(counted(session, "workers", MPI_T_PVAR_CLASS_SIZE) > 0);
    CHECK(counted(session, "unexpected_messages", MPI_T_PVAR_CLASS_LEVEL) == 0);
    MPI_Send(out, 100, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
    while (!flag)
        MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(counted(session, "unexpected_messages", MPI_T_PVAR_CLASS_LEVEL) == 1);
    CHECK(counted(session, "unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL) >= 100);
    CHECK(counted(session, "requests_received", MPI_T_PVAR_CLASS_COUNTER) > before);
    MPI_Recv(in, 100, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(counted(session, "unexpected_messages", MPI_T_PVAR_CLASS_LEVEL) == 0);
    CHECK(counted(session, "unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL) == 0);
    CHECK(counted(session, "datagrams_sent", MPI_T_PVAR_CLASS_COUNTER) == 0);
}

/* Each variable is in one category. */
static void test_categories(void)
{
    int categories, cvars, pvars, subs, all_cvars, all_pvars, index, list[128], n;
    char name[64];
    CHECK(MPI_T_category_get_num(&categories) == MPI_SUCCESS && categories > 3);
    CHECK(MPI_T_cvar_get_num(&all_cvars) == MPI_SUCCESS && MPI_T_pvar_get_num(&all_pvars) == MPI_SUCCESS);
    for (int i = 0; i < categories; i++) {
        n = sizeof(name);
        CHECK(MPI_T_category_get_info(i, name, &n, NULL, NULL, &cvars, &pvars, &subs) == MPI_SUCCESS && subs == 0);
        CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
        memset(list, -1, sizeof(list));
        CHECK(MPI_T_category_get_cvars(i, 128, list) == MPI_SUCCESS);
        CHECK((cvars == 0 || list[cvars - 1] >= 0) && list[cvars] == -1);
        CHECK(MPI_T_category_get_pvars(i, 1, list) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_categories(i, 0, NULL) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_num_events(i, &n) == MPI_SUCCESS && n == 0);
        all_cvars -= cvars;
        all_pvars -= pvars;
    }
    CHECK(all_cvars == 0 && all_pvars == 0);
    CHECK(MPI_T_category_get_index("none", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_get_cvars(categories, 1, list) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_get_cvars(0, 1, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_category_changed(&n) == MPI_SUCCESS && n == 0);
}

static void test_events(void)
{
    int n = -1, index;
    MPI_Count stamp;
    MPI_T_event_registration registration;
    CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n == 0);
    CHECK(MPI_T_source_get_num(&n) == MPI_SUCCESS && n == 0);
    CHECK(MPI_T_event_get_index("none", &index) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_timestamp(0, &stamp) == MPI_T_ERR_INVALID_INDEX);
}

/* In a child of fork descriptions are there, and values cannot be read. */
static void test_fork(MPI_T_pvar_session session)
{
    MPI_T_cvar_handle variable;
    MPI_T_pvar_handle counter;
    int n, number, status = -1;
    unsigned long long value;
    pid_t child;
    CHECK(MPI_T_cvar_handle_alloc(cvar("GOLCI_LOAN"), NULL, &variable, &n) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, &counter, &n) == MPI_SUCCESS);
    fflush(NULL);
    if ((child = fork()) == 0) {
        int good = MPI_T_cvar_get_num(&n) == MPI_SUCCESS &&
            MPI_T_cvar_read(variable, &number) == MPI_T_ERR_NOT_ACCESSIBLE &&
            MPI_T_cvar_handle_alloc(0, NULL, &variable, &n) == MPI_T_ERR_NOT_ACCESSIBLE &&
            MPI_T_pvar_read(session, counter, &value) == MPI_T_ERR_NOT_ACCESSIBLE &&
            MPI_T_init_thread(MPI_THREAD_SINGLE, NULL) == MPI_SUCCESS;
        _exit(good ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(MPI_T_cvar_handle_free(&variable) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_free(session, &counter) == MPI_SUCCESS);
}

static void test(void)
{
    int provided = -1;
    MPI_T_pvar_session session;
    test_outside();
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE);
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, NULL) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(counted(session, "requests_received", MPI_T_PVAR_CLASS_COUNTER) == 0);
    test_strings();
    test_controls();
    MPI_Init(NULL, NULL);
    test_controls();
    test_handles(session);
    test_counters(session);
    test_categories();
    test_events();
    test_fork(session);
    MPI_Finalize();
    CHECK(counted(session, "requests_received", MPI_T_PVAR_CLASS_COUNTER) > 0);
    test_strings();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    test_outside();
}
