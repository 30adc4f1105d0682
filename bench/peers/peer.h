//go:build ignore

// One MPI program with the loops of the OSU benchmarks of the same purpose. It prints one JSON object per line, in the
// format of `golci bench -json`.
#ifndef GOLCI_PEER_H
#define GOLCI_PEER_H

#include "row.h"
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

// LARGE is the size above which the OSU programs take fewer iterations.
#define LARGE 8192
// WINDOW is the number of messages in flight in bandwidth, bibw and rate.
#define WINDOW 64
// CHECK_EVERY says which share of the payloads is verified inside a timed loop.
#define CHECK_EVERY 64

struct job {
	const char *impl;  // name printed in every row
	double seconds;    // least length of a timed loop
	int rank, size;    // in MPI_COMM_WORLD
	char *send, *recv; // page-aligned, as long as the largest message
};

// util.c
void fill(char *buf, size_t n, uint64_t x);                  // whole payload
void check_fill(const char *buf, size_t n, uint64_t x);      // ends the job when it differs
void stamp(char *buf, size_t n, uint64_t x);                 // head, middle and tail
void check_stamp(const char *buf, size_t n, uint64_t x);
void fail(const char *what);
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
