//go:build ignore

// The loops of osu_barrier, osu_bcast, osu_allreduce, osu_reduce and osu_reduce_scatter_block (float, sum), osu_allgather,
// osu_alltoall and osu_alltoallv. Each call is timed by itself, a barrier follows it outside the timer, and the value is the mean over the ranks.
#include "peer.h"
#include <stdlib.h>
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

static double reduce(struct job *j, size_t size, long i, int check) {
	float *in = (float *)j->send, *out = (float *)j->recv;
	size_t n = size / sizeof *in;
	float x = (float)(i % 1024);
	if (check && n > 0)
		mark(in, n, x + (float)j->rank);
	double t = MPI_Wtime();
	MPI_Reduce(in, out, (int)n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
	t = MPI_Wtime() - t;
	if (check && n > 0 && j->rank == 0) {
		float p = (float)j->size, want = p * x + p * (p - 1) / 2;
		if (out[0] != want || out[n / 2] != want || out[n - 1] != want)
			fail("reduce: wrong sum");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return t;
}

// Buffers of all from reduce_scatter on, made for one size, and the counts of alltoallv.
static char *all_in, *all_out;
static int *all_counts, *all_displs;

static void all_open(const struct job *j, size_t size) {
	size_t p = (size_t)j->size;
	all_in = calloc(p, size ? size : 1), all_out = calloc(p, size ? size : 1);
	all_counts = calloc(p, sizeof(int)), all_displs = calloc(p, sizeof(int));
	if (!all_in || !all_out || !all_counts || !all_displs)
		fail("out of memory");
	for (size_t r = 0; r < p; r++) {
		all_counts[r] = (int)size;
		all_displs[r] = (int)(r * size);
	}
}

static void all_close(void) {
	free(all_in), free(all_out), free(all_counts), free(all_displs);
}

static void all_stamp(const struct job *j, size_t size, long i) {
	for (int r = 0; r < j->size; r++)
		stamp(all_in + (size_t)r * size, size, (uint64_t)(i + j->rank * j->size + r));
}

static void all_check(const struct job *j, size_t size, long i) {
	for (int r = 0; r < j->size; r++)
		check_stamp(all_out + (size_t)r * size, size, (uint64_t)(i + r * j->size + j->rank));
}

static double reduce_scatter(struct job *j, size_t size, long i, int check) {
	float *in = (float *)all_in, *out = (float *)all_out;
	size_t n = size / sizeof *in;
	float x = (float)(i % 1024);
	if (check && n > 0)
		for (int r = 0; r < j->size; r++)
			mark(in + (size_t)r * n, n, x + (float)j->rank);
	double t = MPI_Wtime();
	MPI_Reduce_scatter_block(in, out, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	t = MPI_Wtime() - t;
	if (check && n > 0) {
		float p = (float)j->size, want = p * x + p * (p - 1) / 2;
		if (out[0] != want || out[n / 2] != want || out[n - 1] != want)
			fail("reduce_scatter: wrong sum");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return t;
}

static double allgather(struct job *j, size_t size, long i, int check) {
	if (check)
		stamp(all_in, size, (uint64_t)(i + j->rank));
	double t = MPI_Wtime();
	MPI_Allgather(all_in, (int)size, MPI_CHAR, all_out, (int)size, MPI_CHAR, MPI_COMM_WORLD);
	t = MPI_Wtime() - t;
	for (int r = 0; check && r < j->size; r++)
		check_stamp(all_out + (size_t)r * size, size, (uint64_t)(i + r));
	MPI_Barrier(MPI_COMM_WORLD);
	return t;
}

static double alltoall(struct job *j, size_t size, long i, int check) {
	if (check)
		all_stamp(j, size, i);
	double t = MPI_Wtime();
	MPI_Alltoall(all_in, (int)size, MPI_CHAR, all_out, (int)size, MPI_CHAR, MPI_COMM_WORLD);
	t = MPI_Wtime() - t;
	if (check)
		all_check(j, size, i);
	MPI_Barrier(MPI_COMM_WORLD);
	return t;
}

static double alltoallv(struct job *j, size_t size, long i, int check) {
	if (check)
		all_stamp(j, size, i);
	double t = MPI_Wtime();
	MPI_Alltoallv(all_in, all_counts, all_displs, MPI_CHAR, all_out, all_counts, all_displs, MPI_CHAR, MPI_COMM_WORLD);
	t = MPI_Wtime() - t;
	if (check)
		all_check(j, size, i);
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
} table[] = {{"barrier", barrier}, {"bcast", bcast}, {"allreduce", allreduce},
	     {"reduce", reduce},   {"reduce_scatter", reduce_scatter}, {"allgather", allgather},
	     {"alltoall", alltoall}, {"alltoallv", alltoallv}};

int run_coll(struct job *j, const char *bench, size_t size) {
	for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
		if (strcmp(bench, table[k].name) != 0)
			continue;
		if (strcmp(bench, "allreduce") == 0 || strncmp(bench, "reduce", strlen("reduce")) == 0)
			size -= size % sizeof(float);
		memset(j->send, 0, size);
		all_open(j, size);
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
		all_close();
		return 1;
	}
	return 0;
}
