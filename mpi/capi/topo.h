/* What the C files call in Go for topologies (chapter 8 of the standard). Communicators are places. */
#ifndef GOLCI_TOPO_H
#define GOLCI_TOPO_H

#include "groups.h"

HIDDEN int golciDims(int nodes, int n, int *dims);
HIDDEN int golciTopoTest(int comm, int *status);

HIDDEN int golciCartCreate(int comm, int n, int *dims, int *periods, int reorder, struct newcomm *new);
HIDDEN int golciCartSub(int comm, int *remain, struct newcomm *new);
HIDDEN int golciCartMap(int comm, int n, int *dims, int *periods, int *rank);
HIDDEN int golciCartDim(int comm, int *n);
/* Lists of at most max numbers. */
HIDDEN int golciCartGet(int comm, int max, int *dims, int *periods, int *coords);
HIDDEN int golciCartCoords(int comm, int rank, int max, int *coords);
HIDDEN int golciCartRank(int comm, int *coords, int *rank);
HIDDEN int golciCartShift(int comm, int direction, int disp, int *source, int *dest);

HIDDEN int golciGraphCreate(int comm, int n, int *index, int *edges, int reorder, struct newcomm *new);
HIDDEN int golciGraphMap(int comm, int n, int *index, int *edges, int *rank);
HIDDEN int golciGraphDims(int comm, int *nodes, int *edges);
HIDDEN int golciGraphGet(int comm, int max_index, int max_edges, int *index, int *edges);
/* n is the number of neighbours; list, unless it is NULL, gets at most max of them. */
HIDDEN int golciGraphNeighbors(int comm, int rank, int max, int *list, int *n);

/* weights is NULL where the graph has none. */
HIDDEN int golciDistCreate(int comm, int n, int *sources, int *degrees, int *dests, int *weights, int weighted,
    struct newcomm *new);
HIDDEN int golciDistAdjacent(int comm, int in, int *sources, int *source_weights, int out, int *dests,
    int *dest_weights, int weighted, struct newcomm *new);
HIDDEN int golciDistCount(int comm, int *in, int *out, int *weighted);
HIDDEN int golciDistNeighbors(int comm, int max_in, int *sources, int *source_weights, int max_out, int *dests,
    int *dest_weights);

#endif
