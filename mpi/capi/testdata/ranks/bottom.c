/* Displacements that are addresses, with MPI_BOTTOM, where a function takes them as MPI_Aint. */
static void exchange(MPI_Comm cart, int how)
{
    int rank, sb[2], rb[2] = {-1, -1}, cnt[2] = {1, 1}, class = -1;
    MPI_Aint sd[2], rd[2];
    MPI_Datatype ty[2] = {MPI_INT, MPI_INT};
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm_rank(cart, &rank);
    for (int i = 0; i < 2; i++) {
        sb[i] = 10 * rank + i;
        MPI_Get_address(&sb[i], &sd[i]);
        MPI_Get_address(&rb[i], &rd[i]);
    }
    if (how == 0)
        class = MPI_Neighbor_alltoallw(MPI_BOTTOM, cnt, sd, ty, MPI_BOTTOM, cnt, rd, ty, cart);
    if (how == 1)
        class = MPI_Ineighbor_alltoallw(MPI_BOTTOM, cnt, sd, ty, MPI_BOTTOM, cnt, rd, ty, cart, &r);
    if (how == 2) {
        class = MPI_Neighbor_alltoallw_init(MPI_BOTTOM, cnt, sd, ty, MPI_BOTTOM, cnt, rd, ty, cart, MPI_INFO_NULL, &r);
        CHECK(class != MPI_SUCCESS || MPI_Start(&r) == MPI_SUCCESS);
    }
    CHECK(class == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(rb[0] == 10 * (1 - rank) + 1 && rb[1] == 10 * (1 - rank));
    if (how == 2)
        MPI_Request_free(&r);
    sd[1] = 0; /* lies nowhere */
    CHECK(MPI_Neighbor_alltoallw(MPI_BOTTOM, cnt, sd, ty, MPI_BOTTOM, cnt, rd, ty, cart) == MPI_ERR_BUFFER);
}

static void test(void)
{
    int periodic = 1, n = 2;
    MPI_Comm cart;
    MPI_Init(NULL, NULL);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &cart);
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    for (int how = 0; how < 3; how++)
        exchange(cart, how);
    MPI_Comm_free(&cart);
    MPI_Finalize();
}
