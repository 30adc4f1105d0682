/* The collectives. A row has the name, that of the form that does not wait, the kind, the letters of the arguments, the
   arguments and their declarations. The persistent form and those for large counts follow from these. coll.c defines
   COLLECTIVE (arguments that are values), COLLECTIVE_V (arrays), COLLECTIVE_ONE (no counts), COUNT and UNIT. */
COLLECTIVE_ONE(Barrier, Ibarrier, barrier, "c", (comm), (MPI_Comm comm))
COLLECTIVE(Bcast, Ibcast, bcast, "bntrc", (buffer, count, datatype, root, comm), (void *buffer, COUNT count,
    MPI_Datatype datatype, int root, MPI_Comm comm))
COLLECTIVE(Gather, Igather, gather, "bntbntrc", (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
    comm), (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm))
COLLECTIVE_V(Gatherv, Igatherv, gatherv, "bntbpptrc", (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
    recvtype, root, comm), (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,
    const COUNT recvcounts[], const UNIT displs[], MPI_Datatype recvtype, int root, MPI_Comm comm))
COLLECTIVE(Scatter, Iscatter, scatter, "bntbntrc", (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
    comm), (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
    MPI_Datatype recvtype, int root, MPI_Comm comm))
COLLECTIVE_V(Scatterv, Iscatterv, scatterv, "bpptbntrc", (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
    recvtype, root, comm), (const void *sendbuf, const COUNT sendcounts[], const UNIT displs[], MPI_Datatype sendtype,
    void *recvbuf, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
COLLECTIVE(Allgather, Iallgather, allgather, "bntbntc", (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
    comm), (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
    MPI_Datatype recvtype, MPI_Comm comm))
COLLECTIVE_V(Allgatherv, Iallgatherv, allgatherv, "bntbpptc", (sendbuf, sendcount, sendtype, recvbuf, recvcounts,
    displs, recvtype, comm), (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,
    const COUNT recvcounts[], const UNIT displs[], MPI_Datatype recvtype, MPI_Comm comm))
COLLECTIVE(Alltoall, Ialltoall, alltoall, "bntbntc", (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
    (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount, MPI_Datatype recvtype,
    MPI_Comm comm))
COLLECTIVE_V(Alltoallv, Ialltoallv, alltoallv, "bpptbpptc", (sendbuf, sendcounts, sdispls, sendtype, recvbuf,
    recvcounts, rdispls, recvtype, comm), (const void *sendbuf, const COUNT sendcounts[], const UNIT sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[], const UNIT rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm))
COLLECTIVE_V(Alltoallw, Ialltoallw, alltoallw, "bpppbpppc", (sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
    recvcounts, rdispls, recvtypes, comm), (const void *sendbuf, const COUNT sendcounts[], const UNIT sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const COUNT recvcounts[], const UNIT rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm))
COLLECTIVE(Reduce, Ireduce, reduce, "bbntorc", (sendbuf, recvbuf, count, datatype, op, root, comm),
    (const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm))
COLLECTIVE(Allreduce, Iallreduce, allreduce, "bbntoc", (sendbuf, recvbuf, count, datatype, op, comm),
    (const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
COLLECTIVE_V(Reduce_scatter, Ireduce_scatter, reduce_scatter, "bbptoc", (sendbuf, recvbuf, recvcounts, datatype, op,
    comm), (const void *sendbuf, void *recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter_block, "bbntoc", (sendbuf, recvbuf, recvcount,
    datatype, op, comm), (const void *sendbuf, void *recvbuf, COUNT recvcount, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm))
COLLECTIVE(Scan, Iscan, scan, "bbntoc", (sendbuf, recvbuf, count, datatype, op, comm), (const void *sendbuf,
    void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
COLLECTIVE(Exscan, Iexscan, exscan, "bbntoc", (sendbuf, recvbuf, count, datatype, op, comm), (const void *sendbuf,
    void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, neighbor_allgather, "bntbntc", (sendbuf, sendcount, sendtype,
    recvbuf, recvcount, recvtype, comm), (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,
    COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm))
COLLECTIVE_V(Neighbor_allgatherv, Ineighbor_allgatherv, neighbor_allgatherv, "bntbpptc", (sendbuf, sendcount, sendtype,
    recvbuf, recvcounts, displs, recvtype, comm), (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype,
    void *recvbuf, const COUNT recvcounts[], const UNIT displs[], MPI_Datatype recvtype, MPI_Comm comm))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, neighbor_alltoall, "bntbntc", (sendbuf, sendcount, sendtype, recvbuf,
    recvcount, recvtype, comm), (const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,
    COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm))
COLLECTIVE_V(Neighbor_alltoallv, Ineighbor_alltoallv, neighbor_alltoallv, "bpptbpptc", (sendbuf, sendcounts, sdispls,
    sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), (const void *sendbuf, const COUNT sendcounts[],
    const UNIT sdispls[], MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[], const UNIT rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm))
COLLECTIVE_V(Neighbor_alltoallw, Ineighbor_alltoallw, neighbor_alltoallw, "bpppbpppc", (sendbuf, sendcounts, sdispls,
    sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), (const void *sendbuf, const COUNT sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const COUNT recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm))
