/* Two ranks in a line without a way round: random collectives whose receive buffers have gaps. Each byte that no message
 * is for stays as it is: gaps, parts of length 0, and parts of neighbours that are not there. */
#include <stdlib.h>
#include <unistd.h>

enum { room = 4096, blank = 0x11, most = 40 };

static int rank;
static unsigned seed;
static unsigned char sent[room], got[room], want[room];

/* draw gives a number below n, the same on both ranks. */
static int draw(int n)
{
    static unsigned state;
    if (state == 0)
        state = seed | 1;
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)n);
}

/* gappy makes a type of size bytes that lie in two pieces, with bytes before, between and behind them. */
static MPI_Datatype gappy(int size, int *places, int *extent)
{
    int cut = draw(size + 1), lead = draw(3), gap = draw(4);
    int lengths[2] = {cut, size - cut}, displs[2] = {lead, lead + cut + gap};
    MPI_Datatype pieces, t;
    for (int i = 0; i < size; i++)
        places[i] = i < cut ? lead + i : lead + gap + i;
    *extent = lead + size + gap + draw(3);
    MPI_Type_indexed(2, lengths, displs, MPI_BYTE, &pieces);
    MPI_Type_create_resized(pieces, 0, *extent, &t);
    MPI_Type_commit(&t);
    MPI_Type_free(&pieces);
    return t;
}

/* value is byte i of what a rank sends as its part. */
static unsigned char value(int from, int part, int i) { return (unsigned char)(0x80 | ((from * 61 + part * 17 + i) & 0x7f)); }

/* arrives has the model receive n elements at a place. */
static void arrives(int at, int n, int size, const int *places, int extent, int from, int part)
{
    for (int i = 0; i < n * size; i++)
        want[at + i / size * extent + places[i % size]] = value(from, part, i);
}

enum { forms = 3 };

/* ended has a collective end that did not wait, or starts a persistent one twice. */
static void ended(int form, MPI_Request *r)
{
    if (form == 1)
        CHECK(MPI_Wait(r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; form == 2 && i < 2; i++)
        CHECK(MPI_Start(r) == MPI_SUCCESS && MPI_Wait(r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    if (form == 2)
        CHECK(MPI_Request_free(r) == MPI_SUCCESS);
}

#define IN_FORM(name, ...) \
    do { \
        MPI_Request r; \
        int form = draw(forms); \
        CHECK((form == 0   ? MPI_##name(__VA_ARGS__) \
               : form == 1 ? MPI_I##name(__VA_ARGS__, &r) \
                           : MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &r)) == MPI_SUCCESS); \
        ended(form, &r); \
    } while (0)

#define MPI_INeighbor_allgather(s, n, t, b, m, u, c, r) MPI_Ineighbor_allgather(s, n, t, b, m, u, c, r)
#define MPI_INeighbor_alltoall(s, n, t, b, m, u, c, r) MPI_Ineighbor_alltoall(s, n, t, b, m, u, c, r)
#define MPI_INeighbor_alltoallw(s, n, d, t, b, m, e, u, c, r) MPI_Ineighbor_alltoallw(s, n, d, t, b, m, e, u, c, r)
#define MPI_IAlltoallv(s, n, d, t, b, m, e, u, c, r) MPI_Ialltoallv(s, n, d, t, b, m, e, u, c, r)
#define MPI_IGatherv(s, n, t, b, m, e, u, o, c, r) MPI_Igatherv(s, n, t, b, m, e, u, o, c, r)

static void neighbors(MPI_Comm line, int kind, int n, int size)
{
    int places[most], extent, other = 1 - rank, there = rank == 0; /* the side on which there is a neighbour */
    MPI_Datatype t = gappy(size, places, &extent), none[2] = {MPI_BYTE, MPI_BYTE}, both[2] = {t, t};
    int bytes[2] = {n * size, n * size}, counts[2] = {n, n};
    MPI_Aint from[2] = {0, n * size}, to[2] = {0, n * extent + 8};
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < n * size; i++)
            sent[part * n * size + i] = value(rank, kind == 0 ? 0 : part, i);
    arrives(there * (int)(kind == 2 ? to[1] : n * extent), n, size, places, extent, other, kind == 0 ? 0 : 1 - there);
    if (kind == 0)
        IN_FORM(Neighbor_allgather, sent, n * size, MPI_BYTE, got, n, t, line);
    else if (kind == 1)
        IN_FORM(Neighbor_alltoall, sent, n * size, MPI_BYTE, got, n, t, line);
    else
        IN_FORM(Neighbor_alltoallw, sent, bytes, from, none, got, counts, to, both, line);
    MPI_Type_free(&t);
}

static void lengths(int kind, int n, int size)
{
    int places[most], extent, zero = draw(2); /* the rank that sends nothing */
    MPI_Datatype t = gappy(size, places, &extent);
    int own = rank == zero ? 0 : n, counts[2], displs[2] = {3, 3 + n + draw(3)}, both[2] = {own * size, own * size}, at[2] = {0, 0};
    for (int i = 0; i < n * size; i++)
        sent[i] = value(rank, 0, i);
    for (int r = 0; r < 2; r++) {
        counts[r] = r == zero ? 0 : n;
        if (kind == 0 || rank == 0)
            arrives(displs[r] * extent, counts[r], size, places, extent, r, 0);
    }
    if (kind == 0)
        IN_FORM(Alltoallv, sent, both, at, MPI_BYTE, got, counts, displs, t, MPI_COMM_WORLD);
    else
        IN_FORM(Gatherv, sent, own * size, MPI_BYTE, got, counts, displs, t, 0, MPI_COMM_WORLD);
    MPI_Type_free(&t);
}

static void test(void)
{
    int size, periods = 0;
    MPI_Comm line;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seed = getenv("GOLCI_TEST_SEED") ? (unsigned)atoi(getenv("GOLCI_TEST_SEED")) : (unsigned)getpid();
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &line) == MPI_SUCCESS);
    for (int i = 0; i < 300 && wrong == 0; i++) {
        int kind = draw(5), n = draw(20), bytes = 1 + draw(6);
        memset(got, blank, sizeof got);
        memset(want, blank, sizeof want);
        if (kind < 3)
            neighbors(line, kind, n, bytes);
        else
            lengths(kind - 3, n, bytes);
        CHECK(memcmp(got, want, sizeof got) == 0);
        if (wrong)
            printf("GOLCI_TEST_SEED=%u: rank %d, collective %d, kind %d, %d elements of %d bytes\n", seed, rank, i, kind, n, bytes);
    }
    MPI_Comm_free(&line);
    MPI_Finalize();
}
