/* The sizes are those of the compiler that made this program. */

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

static void test_type(MPI_Datatype datatype, int size, int extent, int data)
{
    int n = -1;
    MPI_Count large = -1, x = -1, lb = -1, bytes = -1;
    MPI_Aint from = -1, span = -1;
    CHECK(MPI_Type_size(datatype, &n) == MPI_SUCCESS && n == size);
    CHECK(MPI_Type_size_c(datatype, &large) == MPI_SUCCESS && large == size);
    CHECK(MPI_Type_size_x(datatype, &x) == MPI_SUCCESS && x == size);
    CHECK(MPI_Type_get_extent(datatype, &from, &span) == MPI_SUCCESS && from == 0 && span == extent);
    CHECK(MPI_Type_get_extent_c(datatype, &lb, &bytes) == MPI_SUCCESS && lb == 0 && bytes == extent);
    lb = bytes = -1;
    CHECK(MPI_Type_get_extent_x(datatype, &lb, &bytes) == MPI_SUCCESS && lb == 0 && bytes == extent);
    from = span = -1;
    CHECK(MPI_Type_get_true_extent(datatype, &from, &span) == MPI_SUCCESS && from == 0 && span == data);
    lb = bytes = -1;
    CHECK(MPI_Type_get_true_extent_c(datatype, &lb, &bytes) == MPI_SUCCESS && lb == 0 && bytes == data);
    lb = bytes = -1;
    CHECK(MPI_Type_get_true_extent_x(datatype, &lb, &bytes) == MPI_SUCCESS && lb == 0 && bytes == data);
}

#define VALUE(datatype, type) test_type(datatype, sizeof(type), sizeof(type), sizeof(type))

#define PAIR(datatype, type) \
    do { \
        typedef struct { type value; int index; } pair; \
        test_type(datatype, sizeof(type) + sizeof(int), sizeof(pair), offsetof(pair, index) + sizeof(int)); \
    } while (0)

static void test_bad(MPI_Datatype datatype)
{
    int n = 7;
    MPI_Count lb = 7, extent = 7;
    MPI_Aint from = 7, span = 7;
    CHECK(MPI_Type_size(datatype, &n) == MPI_ERR_TYPE && n == 7);
    CHECK(MPI_Type_size_c(datatype, &lb) == MPI_ERR_TYPE);
    CHECK(MPI_Type_get_extent(datatype, &from, &span) == MPI_ERR_TYPE);
    CHECK(MPI_Type_get_extent_c(datatype, &lb, &extent) == MPI_ERR_TYPE);
    CHECK(MPI_Type_get_true_extent(datatype, &from, &span) == MPI_ERR_TYPE);
    CHECK(MPI_Type_get_true_extent_c(datatype, &lb, &extent) == MPI_ERR_TYPE);
    CHECK(lb == 7 && extent == 7 && from == 7 && span == 7);
}

static void test_null(void)
{
    MPI_Count n;
    MPI_Aint a;
    CHECK(MPI_Type_size(MPI_INT, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Type_size_c(MPI_INT, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Type_get_extent(MPI_INT, NULL, &a) == MPI_ERR_ARG);
    CHECK(MPI_Type_get_extent(MPI_INT, &a, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Type_get_true_extent(MPI_INT, NULL, &a) == MPI_ERR_ARG);
    CHECK(MPI_Type_get_true_extent(MPI_INT, &a, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Type_get_extent_c(MPI_INT, &n, NULL) == MPI_ERR_ARG);
    CHECK(MPI_Type_get_true_extent_c(MPI_INT, NULL, &n) == MPI_ERR_ARG);
}

static void test(void)
{
    VALUE(MPI_CHAR, char);
    VALUE(MPI_BYTE, char);
    VALUE(MPI_SHORT, short);
    VALUE(MPI_INT, int);
    VALUE(MPI_LONG, long);
    VALUE(MPI_LONG_LONG_INT, long long);
    VALUE(MPI_UNSIGNED_LONG, unsigned long);
    VALUE(MPI_FLOAT, float);
    VALUE(MPI_DOUBLE, double);
    VALUE(MPI_LONG_DOUBLE, long double);
    VALUE(MPI_C_COMPLEX, float complex);
    VALUE(MPI_C_DOUBLE_COMPLEX, double complex);
    VALUE(MPI_C_LONG_DOUBLE_COMPLEX, long double complex);
    VALUE(MPI_C_BOOL, bool);
    VALUE(MPI_WCHAR, wchar_t);
    VALUE(MPI_INT16_T, int16_t);
    VALUE(MPI_UINT64_T, uint64_t);
    VALUE(MPI_AINT, MPI_Aint);
    VALUE(MPI_COUNT, MPI_Count);
    VALUE(MPI_OFFSET, MPI_Offset);
    PAIR(MPI_FLOAT_INT, float);
    PAIR(MPI_DOUBLE_INT, double);
    PAIR(MPI_LONG_INT, long);
    PAIR(MPI_2INT, int);
    PAIR(MPI_SHORT_INT, short);
    PAIR(MPI_LONG_DOUBLE_INT, long double);
    test_bad(MPI_DATATYPE_NULL);
    test_bad((MPI_Datatype)0x1ff);
    test_bad((MPI_Datatype)0x204);
    test_bad((MPI_Datatype)0x2ec);
    test_bad((MPI_Datatype)0x1000);
    test_bad((MPI_Datatype)-1);
    test_bad((MPI_Datatype)0);
    test_null();
}
