//go:build ignore

// barrier, bcast, allreduce: the loops of osu_barrier, osu_bcast and osu_allreduce (float, sum). Each call is timed by
// itself, a barrier follows it outside the timer, and the value is the mean over the ranks.
#include "peer.h"
#include <string.h>

typedef double call(struct job *j, size_t size, long i, int check);

static double barrier(struct job *j, size_t size, long i, int check) {
	(void)j, (void)size, (void)i, (void)check;
	double t = MPI_Wtime();
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Wtime() - t;
}

static double bcast(struct job *j, size_t size, long i, int check) {
	if (check && j->rank == 0)
		stamp(j->send, size, (uint64_t)i);
	double t = MPI_Wtime();
	MPI_Bcast(j->send, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
	t = MPI_Wtime() - t;
	if (check)
		check_stamp(j->send, size, (uint64_t)i);
	MPI_Barrier(MPI_COMM_WORLD);
	return t;
}

static void mark(float *v, size_t n, float x) {
	v[0] = v[n / 2] = v[n - 1] = x;
}

static double allreduce(struct job *j, size_t size, long i, int check) {
	float *in = (float *)j->send, *out = (float *)j->recv;
	size_t n = size / sizeof *in;
	float x = (float)(i % 1024);
	if (check && n > 0)
		mark(in, n, x + (float)j->rank);
	double t = MPI_Wtime();
	MPI_Allreduce(in, out, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	t = MPI_Wtime() - t;
	if (check && n > 0) {
		float p = (float)j->size, want = p * x + p * (p - 1) / 2;
		if (out[0] != want || out[n / 2] != want || out[n - 1] != want)
			fail("allreduce: wrong sum");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return t;
}

static double loop(struct job *j, call *f, size_t size, long n) {
	double sum = 0;
	for (long i = 0; i < n; i++)
		sum += f(j, size, i, i % CHECK_EVERY == 0);
	return sum;
}

static const struct {
	const char *name;
	call *run;
} table[] = {{"barrier", barrier}, {"bcast", bcast}, {"allreduce", allreduce}};

int run_coll(struct job *j, const char *bench, size_t size) {
	for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
		if (strcmp(bench, table[k].name) != 0)
			continue;
		if (strcmp(bench, "allreduce") == 0)
			size -= size % sizeof(float);
		memset(j->send, 0, size);
		long least = size > LARGE ? 100 : 1000;
		double t = MPI_Wtime(), mean = 0;
		loop(j, table[k].run, size, least);
		long n = agree(j, MPI_Wtime() - t, least, least);
		struct row r = {.bench = bench, .size = size, .threads = 1, .unit = "us", .min_share = 1};
		r.before = line_crossing(j);
		t = loop(j, table[k].run, size, n) / (double)n;
		MPI_Reduce(&t, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		r.after = line_crossing(j);
		r.value = mean / j->size * 1e6;
		if (j->rank == 0)
			print_row(j->impl, &r);
		return 1;
	}
	return 0;
}
