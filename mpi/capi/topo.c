/* Topologies (chapter 8 of the standard). */
#include "topo.h"
#include "calls.h"
#include "fail.h"
#include "info.h"
#include "make.h"

/* ON begins a function on a communicator; its arguments are right if ok. */
#define ON(comm, ok) \
    struct comm *c = comm_of(comm); \
    if (!c) \
        return bad_comm(); \
    if (!(ok)) \
    return fail(c, MPI_ERR_ARG)

/* GIVE ends it with the class that a call gives. */
#define GIVE(call) \
    do { \
        int class_ = call; \
        return class_ == MPI_SUCCESS ? MPI_SUCCESS : fail(c, class_); \
    } while (0)

/* LIST tells whether a list of n has memory, if it needs some. */
#define LIST(list, n) ((n) == 0 || (list))

ABI_BODY(int, Dims_create, (int nnodes, int ndims, int dims[]))
{
    int class = ndims >= 0 && LIST(dims, ndims) ? golciDims(nnodes, ndims, dims) : MPI_ERR_DIMS;
    return class == MPI_SUCCESS ? MPI_SUCCESS : fail(NULL, class);
}

ABI_BODY(int, Topo_test, (MPI_Comm comm, int *status))
{
    ON(comm, status);
    GIVE(golciTopoTest(c->place, status));
}

ABI_BODY(int, Cart_create, (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
    MPI_Comm *comm_cart))
{
    MAKE(comm_old, comm_cart);
    class = MPI_ERR_ARG;
    if (ndims >= 0 && LIST(dims, ndims) && LIST(periods, ndims))
        class = golciCartCreate(c->place, ndims, (int *)dims, (int *)periods, reorder, &n);
    return comm_finish(c, &n, class, comm_cart);
}

ABI_BODY(int, Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm))
{
    MAKE(comm, newcomm);
    class = golciCartSub(c->place, (int *)remain_dims, &n);
    return comm_finish(c, &n, class, newcomm);
}

ABI_BODY(int, Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank))
{
    ON(comm, newrank && ndims >= 0 && LIST(dims, ndims) && LIST(periods, ndims));
    GIVE(golciCartMap(c->place, ndims, (int *)dims, (int *)periods, newrank));
}

ABI_BODY(int, Cartdim_get, (MPI_Comm comm, int *ndims))
{
    ON(comm, ndims);
    GIVE(golciCartDim(c->place, ndims));
}

ABI_BODY(int, Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]))
{
    ON(comm, maxdims >= 0 && LIST(dims && periods && coords, maxdims));
    GIVE(golciCartGet(c->place, maxdims, dims, periods, coords));
}

ABI_BODY(int, Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]))
{
    ON(comm, maxdims >= 0 && LIST(coords, maxdims));
    GIVE(golciCartCoords(c->place, rank, maxdims, coords));
}

ABI_BODY(int, Cart_rank, (MPI_Comm comm, const int coords[], int *rank))
{
    ON(comm, rank);
    GIVE(golciCartRank(c->place, (int *)coords, rank));
}

ABI_BODY(int, Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest))
{
    ON(comm, rank_source && rank_dest);
    GIVE(golciCartShift(c->place, direction, disp, rank_source, rank_dest));
}

ABI_BODY(int, Graph_create, (MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
    MPI_Comm *comm_graph))
{
    MAKE(comm_old, comm_graph);
    class = MPI_ERR_ARG;
    if (nnodes >= 0 && LIST(indx, nnodes))
        class = golciGraphCreate(c->place, nnodes, (int *)indx, (int *)edges, reorder, &n);
    return comm_finish(c, &n, class, comm_graph);
}

ABI_BODY(int, Graph_map, (MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank))
{
    ON(comm, newrank && nnodes >= 0 && LIST(indx, nnodes));
    GIVE(golciGraphMap(c->place, nnodes, (int *)indx, (int *)edges, newrank));
}

ABI_BODY(int, Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges))
{
    ON(comm, nnodes && nedges);
    GIVE(golciGraphDims(c->place, nnodes, nedges));
}

ABI_BODY(int, Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]))
{
    ON(comm, maxindex >= 0 && maxedges >= 0 && LIST(indx, maxindex) && LIST(edges, maxedges));
    GIVE(golciGraphGet(c->place, maxindex, maxedges, indx, edges));
}

ABI_BODY(int, Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors))
{
    ON(comm, nneighbors);
    GIVE(golciGraphNeighbors(c->place, rank, 0, NULL, nneighbors));
}

ABI_BODY(int, Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]))
{
    int n;
    ON(comm, maxneighbors >= 0 && LIST(neighbors, maxneighbors));
    GIVE(golciGraphNeighbors(c->place, rank, maxneighbors, neighbors, &n));
}

/* weights_of is NULL for the marks that stand for no weights. weighted tells whether the graph has some. */
static int *weights_of(const int *weights, int *weighted)
{
    if (weights == MPI_UNWEIGHTED)
        *weighted = 0;
    return weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY ? NULL : (int *)weights;
}

ABI_BODY(int, Dist_graph_create, (MPI_Comm comm_old, int count, const int sources[], const int degrees[],
    const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph))
{
    int weighted = 1, *w = weights_of(weights, &weighted);
    MAKE(comm_old, comm_dist_graph);
    class = MPI_ERR_ARG;
    if (!info_is(info))
        class = MPI_ERR_INFO;
    else if (count >= 0 && LIST(sources, count) && LIST(degrees, count))
        class = golciDistCreate(c->place, count, (int *)sources, (int *)degrees, (int *)destinations, w, weighted, &n);
    return comm_finish(c, &n, class, comm_dist_graph);
}

ABI_BODY(int, Dist_graph_create_adjacent, (MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
    int outdegree, const int destinations[], const int destweights[], MPI_Info info, int reorder,
    MPI_Comm *comm_dist_graph))
{
    int weighted = 1, *in = weights_of(sourceweights, &weighted), *out = weights_of(destweights, &weighted);
    MAKE(comm_old, comm_dist_graph);
    class = MPI_ERR_ARG;
    if (!info_is(info))
        class = MPI_ERR_INFO;
    else if (indegree >= 0 && outdegree >= 0 && LIST(sources, indegree) && LIST(destinations, outdegree))
        class = golciDistAdjacent(c->place, indegree, (int *)sources, in, outdegree, (int *)destinations, out, weighted,
            &n);
    return comm_finish(c, &n, class, comm_dist_graph);
}

ABI_BODY(int, Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted))
{
    ON(comm, indegree && outdegree && weighted);
    GIVE(golciDistCount(c->place, indegree, outdegree, weighted));
}

ABI_BODY(int, Dist_graph_neighbors, (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
    int destinations[], int destweights[]))
{
    int weighted = 1;
    ON(comm, maxindegree >= 0 && maxoutdegree >= 0 && LIST(sources, maxindegree) && LIST(destinations, maxoutdegree));
    GIVE(golciDistNeighbors(c->place, maxindegree, sources, weights_of(sourceweights, &weighted), maxoutdegree,
        destinations, weights_of(destweights, &weighted)));
}
