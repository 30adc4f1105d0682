/* Reads recipes of datatypes, one a line, and prints what an MPI library makes of each: size, lower bound, extent, true
   lower bound, true extent, and the FNV-1a hash of two elements packed. The memory has a pattern that depends on the
   distance from the address of the first element. What the library refuses gets a line of one word. In C, because it asks other libraries. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 1 << 20, MOST = 4096 };

static unsigned char memory[2 * REACH], packed[REACH];

static const struct { const char *name; MPI_Datatype type; } basics[] = {
    {"SHORT", MPI_SHORT}, {"INT", MPI_INT}, {"LONG", MPI_LONG}, {"FLOAT", MPI_FLOAT}, {"DOUBLE", MPI_DOUBLE},
    {"LONG_DOUBLE", MPI_LONG_DOUBLE}, {"CHAR", MPI_CHAR}, {"BYTE", MPI_BYTE}, {"UNSIGNED_SHORT", MPI_UNSIGNED_SHORT},
    {"C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX}, {"C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX}, {"FLOAT_INT", MPI_FLOAT_INT},
    {"DOUBLE_INT", MPI_DOUBLE_INT}, {"LONG_INT", MPI_LONG_INT}, {"2INT", MPI_2INT}, {"SHORT_INT", MPI_SHORT_INT},
    {"LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT}, {"C_BOOL", MPI_C_BOOL}, {"WCHAR", MPI_WCHAR}, {"INT8_T", MPI_INT8_T},
    {"UINT64_T", MPI_UINT64_T}, {"AINT", MPI_AINT},
};

static char *word(void) {
    char *w = strtok(NULL, " \n");
    if (!w) {
        fprintf(stderr, "a recipe ends early\n");
        exit(1);
    }
    return w;
}

static int num(void) { return atoi(word()); }

static void nums(int n, int *list) {
    for (int i = 0; i < n; i++)
        list[i] = num();
}

static MPI_Datatype next(char *w) {
    MPI_Datatype t = MPI_DATATYPE_NULL, o;
    int *a = malloc(MOST * sizeof *a), *b = malloc(MOST * sizeof *b), *c = malloc(MOST * sizeof *c);
    MPI_Aint *d = malloc(MOST * sizeof *d);
    MPI_Datatype *ts = malloc(MOST * sizeof *ts);
    for (size_t i = 0; i < sizeof basics / sizeof *basics; i++)
        if (!strcmp(w, basics[i].name))
            return basics[i].type;
    if (!strcmp(w, "contig")) {
        int n = num();
        MPI_Type_contiguous(n, next(word()), &t);
    } else if (!strcmp(w, "vector")) {
        nums(3, a);
        MPI_Type_vector(a[0], a[1], a[2], next(word()), &t);
    } else if (!strcmp(w, "hvector")) {
        nums(3, a);
        MPI_Type_create_hvector(a[0], a[1], a[2], next(word()), &t);
    } else if (!strcmp(w, "indexed") || !strcmp(w, "hindexed")) {
        int n = num();
        for (int i = 0; i < n; i++)
            a[i] = num(), b[i] = num(), d[i] = b[i];
        o = next(word());
        if (w[0] == 'i')
            MPI_Type_indexed(n, a, b, o, &t);
        else
            MPI_Type_create_hindexed(n, a, d, o, &t);
    } else if (!strcmp(w, "iblock") || !strcmp(w, "hiblock")) {
        int n = num(), len = num();
        for (int i = 0; i < n; i++)
            b[i] = num(), d[i] = b[i];
        o = next(word());
        if (w[0] == 'i')
            MPI_Type_create_indexed_block(n, len, b, o, &t);
        else
            MPI_Type_create_hindexed_block(n, len, d, o, &t);
    } else if (!strcmp(w, "struct")) {
        int n = num();
        for (int i = 0; i < n; i++)
            a[i] = num(), d[i] = num(), ts[i] = next(word());
        MPI_Type_create_struct(n, a, d, ts, &t);
    } else if (!strcmp(w, "resized")) {
        nums(2, a);
        MPI_Type_create_resized(next(word()), a[0], a[1], &t);
    } else if (!strcmp(w, "dup")) {
        MPI_Type_dup(next(word()), &t);
    } else if (!strcmp(w, "subarray")) {
        int n = num(), order = word()[0] == 'F' ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
        nums(n, a), nums(n, b), nums(n, c);
        MPI_Type_create_subarray(n, a, b, c, order, next(word()), &t);
    } else if (!strcmp(w, "darray")) {
        int size = num(), rank = num(), n = num(), order = word()[0] == 'F' ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
        int how[8], p[8];
        nums(n, a);
        for (int i = 0; i < n; i++) {
            char k = word()[0];
            how[i] = k == 'n' ? MPI_DISTRIBUTE_NONE : k == 'b' ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        }
        nums(n, b), nums(n, p);
        for (int i = 0; i < n; i++)
            if (b[i] == 0)
                b[i] = MPI_DISTRIBUTE_DFLT_DARG;
        MPI_Type_create_darray(size, rank, n, a, how, b, p, order, next(word()), &t);
    } else {
        fprintf(stderr, "there is no constructor %s\n", w);
        exit(1);
    }
    return t;
}

int main(int argc, char **argv) {
    static char line[1 << 16];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int64_t i = -REACH; i < REACH; i++)
        memory[i + REACH] = (uint64_t)i * 2654435761u >> 13;
    while (fgets(line, sizeof line, stdin)) {
        int size, end = 0;
        MPI_Aint lb, extent, true_lb, true_extent;
        MPI_Datatype t = next(strtok(line, " \n"));
        if (t == MPI_DATATYPE_NULL || MPI_Type_commit(&t) != MPI_SUCCESS) {
            printf("refused\n");
            continue;
        }
        MPI_Type_size(t, &size);
        MPI_Type_get_extent(t, &lb, &extent);
        MPI_Type_get_true_extent(t, &true_lb, &true_extent);
        MPI_Pack(memory + REACH, 2, t, packed, sizeof packed, &end, MPI_COMM_SELF);
        uint64_t hash = 14695981039346656037u;
        for (int i = 0; i < end; i++)
            hash = (hash ^ packed[i]) * 1099511628211u;
        printf("%d %ld %ld %ld %ld %016lx\n", size, (long)lb, (long)extent, (long)true_lb, (long)true_extent,
               (unsigned long)hash);
    }
    MPI_Finalize();
    return 0;
}
