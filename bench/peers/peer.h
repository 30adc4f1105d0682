//go:build ignore

// One MPI program with the loops of the OSU benchmarks of the same purpose. It prints one JSON object per line, in the
// format of `golci bench -json`.
#ifndef GOLCI_PEER_H
#define GOLCI_PEER_H

#include "payload.h"
#include "row.h"
#include <mpi.h>

struct job {
	const char *impl;  // name printed in every row
	double seconds;    // least length of a timed loop
	int rank, size;    // in MPI_COMM_WORLD
	char *send, *recv; // page-aligned, as long as the largest message
};

// util.c
long agree(const struct job *j, double elapsed, long done, long least);

// line.c
void line_open(const struct job *j);
double line_crossing(const struct job *j);

// pt2pt.c, first.c, win.c, access.c, coll.c, threads.c: 0 when the name is not theirs
int run_pt2pt(struct job *j, const char *bench, size_t size);
int run_first(struct job *j, const char *bench, size_t size);
int run_win(struct job *j, const char *bench, size_t size);
int run_access(struct job *j, const char *bench, size_t size);
int run_coll(struct job *j, const char *bench, size_t size);
int run_threads(struct job *j, const char *bench, int threads);

#endif
