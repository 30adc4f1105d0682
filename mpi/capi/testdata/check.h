#include <mpi.h>

#include <stdio.h>
#include <string.h>

static int checks, wrong;

/* CHECK counts a condition, and prints it if it does not hold. */
#define CHECK(condition) \
    do { \
        checks++; \
        if (!(condition)) { \
            wrong++; \
            printf("line %d: %s\n", __LINE__, #condition); \
        } \
    } while (0)

static void test(void);

int main(void)
{
    test();
    if (wrong == 0)
        printf("%d checks\n", checks);
    return 0;
}
