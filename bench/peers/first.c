//go:build ignore

// firstcall: the median time of one MPI_Iprobe after 2 ms in which the rank has only computed. firstcall-control: that
// of a system call in its place, which finds the caches as cold.
#define _GNU_SOURCE
#include "peer.h"
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMPUTING 2e-3
enum { TAG = 1, LEAST = 25 };

static volatile double sink;

// compute keeps the processor busy, and makes no system call.
static void compute(void) {
	double end = seconds() + COMPUTING, x = 1;
	do
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
	while (seconds() < end);
	sink = x;
}

static void probe(const struct job *j) {
	int flag;
	MPI_Iprobe(1 - j->rank, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void control(const struct job *j) {
	(void)j;
	syscall(SYS_getppid);
}

static int order(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

// median is that of the times of n calls, in us.
static double median(const struct job *j, long n, void call(const struct job *)) {
	double *all = malloc((size_t)n * sizeof *all), m;
	if (!all)
		fail("out of memory");
	for (long i = 0; i < n; i++) {
		compute();
		double t = seconds();
		call(j);
		all[i] = (seconds() - t) * 1e6;
	}
	qsort(all, (size_t)n, sizeof *all, order);
	m = all[n / 2];
	free(all);
	return m;
}

static void first_row(struct job *j, const char *name, size_t size, long n, void call(const struct job *)) {
	struct row r = {.bench = name, .size = size, .threads = 1, .unit = "us", .min_share = 1};
	r.before = line_crossing(j);
	r.value = j->rank < 2 ? median(j, n, call) : 0;
	r.after = line_crossing(j);
	if (j->rank == 0)
		print_row(j->impl, &r);
}

int run_first(struct job *j, const char *bench, size_t size) {
	if (strcmp(bench, "firstcall") != 0)
		return 0;
	if (j->size < 2)
		fail("this benchmark needs two ranks");
	long n = (long)(j->seconds / COMPUTING);
	n = n < LEAST ? LEAST : n;
	first_row(j, "firstcall", size, n, probe);
	first_row(j, "firstcall-control", size, n, control);
	return 1;
}
