//go:build ignore

#include "peer.h"
#include <stdio.h>

void fail(const char *what) {
	fprintf(stderr, "peer: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

// agree turns a first measurement into the iterations of the timed loop, the same number on every rank.
long agree(const struct job *j, double elapsed, long done, long least) {
	long n = least;
	if (elapsed > 0) {
		double want = j->seconds * (double)done / elapsed;
		if (want > (double)n)
			n = want > 1e9 ? 1000000000L : (long)want;
	}
	MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	return n;
}
