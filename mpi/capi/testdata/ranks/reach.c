/* Puts and gets that C makes, and those that it must leave to Go: outside of epochs, beyond the window, of other types.
   Errors come back with their classes. */
#include <stdint.h>

/* A rank's window has elements that the peer puts there, and as many that the peer gets. */
enum { elements = 100, all = 2 * elements };

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}

static void refused(MPI_Win win, int peer)
{
    int32_t x[2] = {1, 2};
    MPI_Datatype pair;
    CHECK(class_of(MPI_Put(x, 1, MPI_INT32_T, peer, all, 1, MPI_INT32_T, win)) == MPI_ERR_RMA_RANGE);
    CHECK(class_of(MPI_Put(x, 2, MPI_INT32_T, peer, all - 1, 2, MPI_INT32_T, win)) == MPI_ERR_RMA_RANGE);
    CHECK(class_of(MPI_Get(x, 1, MPI_INT32_T, peer, -1, 1, MPI_INT32_T, win)) == MPI_ERR_DISP);
    CHECK(class_of(MPI_Get(x, -1, MPI_INT32_T, peer, 0, -1, MPI_INT32_T, win)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Put(x, 1, MPI_INT32_T, 2, 0, 1, MPI_INT32_T, win)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Put(NULL, 1, MPI_INT32_T, peer, 0, 1, MPI_INT32_T, win)) == MPI_ERR_BUFFER);
    MPI_Type_contiguous(2, MPI_INT32_T, &pair);
    CHECK(class_of(MPI_Put(x, 1, pair, peer, 0, 1, pair, win)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Win_flush(2, win)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Win_flush(-2, win)) == MPI_ERR_RANK);
    CHECK(MPI_Put(x, 1, MPI_INT32_T, MPI_PROC_NULL, 0, 1, MPI_INT32_T, win) == MPI_SUCCESS);
    CHECK(MPI_Put(x, 0, MPI_INT32_T, peer, 0, 0, MPI_INT32_T, win) == MPI_SUCCESS);
    MPI_Type_free(&pair);
}

/* outside tells that no access is allowed to a rank. */
static void outside(MPI_Win win, int rank)
{
    int32_t x = 0;
    CHECK(class_of(MPI_Put(&x, 1, MPI_INT32_T, rank, 0, 1, MPI_INT32_T, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Get(&x, 1, MPI_INT32_T, rank, 0, 1, MPI_INT32_T, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_flush(rank, win)) == MPI_ERR_RMA_SYNC);
}

/* What gets have brought when the epoch is over. */
static int32_t got[elements], bytes, steps[3];

/* accesses writes to the peer and reads from it; types and lengths differ. */
static void accesses(MPI_Win win, int me, int passive)
{
    static int32_t out[elements];
    int peer = 1 - me;
    MPI_Datatype every;
    for (int i = 0; i < elements; i++)
        out[i] = 1000 * me + i;
    memset(got, -1, sizeof(got));
    CHECK(MPI_Put(out, elements - 1, MPI_INT32_T, peer, 0, elements - 1, MPI_INT32_T, win) == MPI_SUCCESS);
    CHECK(MPI_Put(&out[elements - 1], 4, MPI_BYTE, peer, elements - 1, 1, MPI_INT32_T, win) == MPI_SUCCESS);
    CHECK(MPI_Get(got, elements, MPI_INT32_T, peer, elements, elements, MPI_INT32_T, win) == MPI_SUCCESS);
    CHECK(MPI_Get(&bytes, 8, MPI_BYTE, peer, all - 1, 1, MPI_INT32_T, win) != MPI_SUCCESS);
    CHECK(MPI_Get(&bytes, 4, MPI_BYTE, peer, all - 1, 1, MPI_INT32_T, win) == MPI_SUCCESS);
    MPI_Type_vector(3, 1, 2, MPI_INT32_T, &every);
    MPI_Type_commit(&every);
    CHECK(MPI_Get(steps, 3, MPI_INT32_T, peer, elements + 10, 1, every, win) == MPI_SUCCESS);
    MPI_Type_free(&every);
    for (int i = 0; passive && i < 200; i++)
        CHECK(MPI_Win_flush(peer, win) == MPI_SUCCESS && MPI_Win_flush_local(peer, win) == MPI_SUCCESS);
}

/* came checks what an epoch of both ranks has moved, and removes what was put. */
static void came(int32_t *mem, int me)
{
    int theirs = 2000 * (1 - me);
    for (int i = 0; i < elements; i++)
        CHECK(mem[i] == 1000 * (1 - me) + i && got[i] == theirs + i);
    CHECK(bytes == theirs + elements - 1);
    CHECK(steps[0] == theirs + 10 && steps[1] == theirs + 12 && steps[2] == theirs + 14);
    memset(mem, 0, elements * sizeof(*mem));
}

static void use(MPI_Win win, int32_t *mem, int me)
{
    MPI_Group world, one;
    int peer = 1 - me;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < elements; i++)
        mem[elements + i] = 2000 * me + i;
    outside(win, peer);
    CHECK(class_of(MPI_Win_flush_all(win)) == MPI_ERR_RMA_SYNC);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
    accesses(win, me, 1);
    outside(win, me);
    refused(win, peer);
    MPI_Win_unlock(peer, win);
    MPI_Barrier(MPI_COMM_WORLD);
    came(mem, me);
    outside(win, peer);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, win);
    accesses(win, me, 1);
    CHECK(MPI_Win_flush_all(win) == MPI_SUCCESS && MPI_Win_flush_local_all(win) == MPI_SUCCESS);
    CHECK(MPI_Win_flush(me, win) == MPI_SUCCESS);
    refused(win, peer);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    came(mem, me);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_fence(0, win);
    accesses(win, me, 0);
    CHECK(class_of(MPI_Win_flush(peer, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_flush_all(win)) == MPI_ERR_RMA_SYNC);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    came(mem, me);
    outside(win, peer);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &one);
    for (int i = 0; i < 100; i++) {
        MPI_Win_post(one, 0, win);
        MPI_Win_start(one, 0, win);
        accesses(win, me, 0);
        outside(win, me);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        came(mem, me);
    }
    MPI_Group_free(&one);
    MPI_Group_free(&world);
    outside(win, peer);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* without_bytes queries a part of no bytes of a shared window. It begins where the part before it ends. If parts may
   lie apart, another rank is told of no place. */
static void without_bytes(int me, const char *apart)
{
    int32_t *mem, *first, *second;
    MPI_Aint size, left;
    MPI_Info info;
    MPI_Win win;
    int unit;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", apart);
    MPI_Win_allocate_shared(me ? 0 : sizeof(*mem), sizeof(*mem), info, MPI_COMM_WORLD, &mem, &win);
    MPI_Info_free(&info);
    CHECK(MPI_Win_shared_query(win, 0, &left, &unit, &first) == MPI_SUCCESS && left == sizeof(*mem) && first);
    CHECK(MPI_Win_shared_query(win, 1, &size, &unit, &second) == MPI_SUCCESS && size == 0);
    CHECK(second == (*apart == 't' ? NULL : first + 1) && mem == first + me);
    MPI_Win_free(&win);
}

static void test(void)
{
    int me;
    MPI_Win wins[70]; /* more than C has places for, of which some were freed before */
    int32_t *mem[70], own[all];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 70; i++) {
        MPI_Win_allocate(sizeof(own), sizeof(int32_t), MPI_INFO_NULL, MPI_COMM_WORLD, &mem[i], &wins[i]);
        if (i % 3 == 2)
            MPI_Win_free(&wins[i - 1]);
    }
    for (int i = 0; i < 70; i++)
        if (wins[i] != MPI_WIN_NULL) {
            if (i % 9 == 0)
                use(wins[i], mem[i], me);
            MPI_Win_free(&wins[i]);
        }
    MPI_Win_allocate_shared(sizeof(own), sizeof(int32_t), MPI_INFO_NULL, MPI_COMM_WORLD, &mem[0], &wins[0]);
    use(wins[0], mem[0], me);
    MPI_Win_free(&wins[0]);
    MPI_Win_create(own, sizeof(own), sizeof(int32_t), MPI_INFO_NULL, MPI_COMM_WORLD, &wins[0]);
    use(wins[0], own, me);
    MPI_Win_free(&wins[0]);
    CHECK(class_of(MPI_Win_flush(0, wins[0])) == MPI_ERR_WIN);
    without_bytes(me, "false");
    without_bytes(me, "true");
    MPI_Finalize();
}
