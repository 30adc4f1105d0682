//go:build ignore

// winput, winget, accumulate, fetch_and_op: the loops of osu_put_latency and its like. Rank 0 locks the window of rank 1
// and completes each access by a flush; the others wait in a barrier.
#include "peer.h"
#include <stdlib.h>
#include <string.h>

struct space {
	MPI_Win win;
	int64_t *mem, *buf; // of the window, and rank 0's own
	int n;              // elements of both
};

static void ends(int64_t *p, int n, int64_t v) { p[0] = p[n - 1] = v; }

static void ends_are(const int64_t *p, int n, int64_t v) {
	if (p[0] != v || p[n - 1] != v)
		fail("a window differs");
}

static void put(struct space *s, long i) {
	ends(s->buf, s->n, i);
	MPI_Put(s->buf, s->n, MPI_INT64_T, 1, 0, s->n, MPI_INT64_T, s->win);
	MPI_Win_flush(1, s->win);
}

static void get(struct space *s, long i) {
	(void)i;
	ends(s->buf, s->n, -1);
	MPI_Get(s->buf, s->n, MPI_INT64_T, 1, 0, s->n, MPI_INT64_T, s->win);
	MPI_Win_flush(1, s->win);
	ends_are(s->buf, s->n, 0);
}

static void accumulate(struct space *s, long i) {
	(void)i;
	ends(s->buf, s->n, 1);
	MPI_Accumulate(s->buf, s->n, MPI_INT64_T, 1, 0, s->n, MPI_INT64_T, MPI_SUM, s->win);
	MPI_Win_flush(1, s->win);
}

static void fetch_and_op(struct space *s, long i) {
	int64_t one = 1;
	MPI_Fetch_and_op(&one, s->buf, MPI_INT64_T, 1, 0, MPI_SUM, s->win);
	MPI_Win_flush(1, s->win);
	if (s->buf[0] != i)
		fail("a wrong number was fetched");
}

static const struct {
	const char *name;
	void (*one)(struct space *s, long i);
} table[] = {{"winput", put}, {"winget", get}, {"accumulate", accumulate}, {"fetch_and_op", fetch_and_op}};

static void verify(const char *bench, const struct space *s, long n) {
	if (strcmp(bench, "winput") == 0)
		ends_are(s->mem, s->n, n - 1);
	else if (strcmp(bench, "accumulate") == 0)
		ends_are(s->mem, s->n, n);
	else if (strcmp(bench, "fetch_and_op") == 0)
		ends_are(s->mem, 1, n);
}

// Of windows of 8 bytes on each rank MPICH 4.0.2 does not see the peer's puts; with a page it does.
#define LEAST_WINDOW 4096

static double loop(const struct job *j, size_t k, size_t size, long n) {
	struct space s = {.n = (int)(size / sizeof(int64_t)), .buf = calloc(1, size)};
	double t = 0;
	if (!s.buf)
		fail("out of memory");
	MPI_Win_allocate((MPI_Aint)(size < LEAST_WINDOW ? LEAST_WINDOW : size), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
		&s.mem, &s.win);
	memset(s.mem, 0, size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (j->rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, s.win);
		t = MPI_Wtime();
		for (long i = 0; i < n; i++)
			table[k].one(&s, i);
		t = MPI_Wtime() - t;
		MPI_Win_unlock(1, s.win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (j->rank == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, s.win);
		verify(table[k].name, &s, n);
		MPI_Win_unlock(1, s.win);
	}
	MPI_Win_free(&s.win);
	free(s.buf);
	return t;
}

int run_access(struct job *j, const char *bench, size_t size) {
	for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
		if (strcmp(bench, table[k].name) != 0)
			continue;
		if (j->size < 2 || size < sizeof(int64_t))
			fail("accesses need two ranks and 8 bytes");
		long least = size > LARGE ? 100 : 1000;
		struct row r = {.bench = bench, .size = size, .threads = 1, .unit = "us", .min_share = 1};
		loop(j, k, size, least / 10);
		long n = agree(j, loop(j, k, size, least), least, least);
		r.before = line_crossing(j);
		double t = loop(j, k, size, n);
		r.after = line_crossing(j);
		r.value = t * 1e6 / (double)n;
		if (j->rank == 0)
			print_row(j->impl, &r);
		return 1;
	}
	return 0;
}
