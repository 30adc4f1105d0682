/* Reads lines "kind hi lo hi lo" of two numbers, and prints each with the bits of their sum and product. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct { uint64_t lo, hi; } words;

#define BOTH(type, size)                                            \
    {                                                               \
        type x = 0, y = 0, s, p;                                    \
        memcpy(&x, &a, size);                                       \
        memcpy(&y, &b, size);                                       \
        s = x + y;                                                  \
        p = x * y;                                                  \
        memcpy(&sum, &s, size);                                     \
        memcpy(&product, &p, size);                                 \
    }

int main(void)
{
    char kind[16];
    words a, b;
    while (scanf("%15s %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, kind, &a.hi, &a.lo, &b.hi, &b.lo) == 5) {
        words sum = {0, 0}, product = {0, 0};
        if (!strcmp(kind, "extended"))
            BOTH(long double, 10)
        else if (!strcmp(kind, "quad"))
            BOTH(__float128, 16)
        else if (!strcmp(kind, "half"))
            BOTH(_Float16, 2)
        else
            return 1;
        printf("%s %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64, kind, a.hi, a.lo, b.hi, b.lo);
        printf(" %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", sum.hi, sum.lo, product.hi, product.lo);
    }
    return 0;
}
