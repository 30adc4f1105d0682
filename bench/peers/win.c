//go:build ignore

// notify: puts into a window, there and back, each told of by general active target synchronization (MPI-4 12.5.2): the
// target posts, the origin starts, puts and completes, the target waits. Exposures are posted before the put that will be
// answered into them, so that no start has to wait for the post.
#include "peer.h"
#include <string.h>

struct ends {
	MPI_Win win;
	MPI_Group peer;
	char *mem; // of the window
};

// Of windows of 8 bytes on each rank MPICH 4.0.2 does not see the peer's puts; with a page it does.
#define LEAST_WINDOW 4096

static void open_window(const struct job *j, size_t size, struct ends *e) {
	MPI_Group all;
	int other = 1 - j->rank;
	MPI_Win_allocate((MPI_Aint)(size < LEAST_WINDOW ? LEAST_WINDOW : size), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &e->mem, &e->win);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &other, &e->peer);
	MPI_Group_free(&all);
}

static void close_window(struct ends *e) {
	MPI_Group_free(&e->peer);
	MPI_Win_free(&e->win);
}

static void put(const struct job *j, struct ends *e, size_t size, uint64_t number) {
	memcpy(j->send, &number, sizeof number);
	MPI_Win_start(e->peer, 0, e->win);
	MPI_Put(j->send, (int)size, MPI_CHAR, 1 - j->rank, 0, (int)size, MPI_CHAR, e->win);
	MPI_Win_complete(e->win);
}

static void look(const struct ends *e, uint64_t number) {
	uint64_t got;
	memcpy(&got, e->mem, sizeof got);
	if (got != number)
		fail("a put has another number than the one that is due");
}

static double ping_pong(struct job *j, struct ends *e, size_t size, long n) {
	MPI_Barrier(MPI_COMM_WORLD);
	if (j->rank == 1)
		MPI_Win_post(e->peer, 0, e->win);
	double t = MPI_Wtime();
	for (long i = 1; i <= n; i++) {
		if (j->rank == 0) {
			MPI_Win_post(e->peer, 0, e->win);
			put(j, e, size, (uint64_t)i);
			MPI_Win_wait(e->win);
			look(e, (uint64_t)i);
		} else {
			MPI_Win_wait(e->win);
			look(e, (uint64_t)i);
			if (i < n)
				MPI_Win_post(e->peer, 0, e->win);
			put(j, e, size, (uint64_t)i);
		}
	}
	return MPI_Wtime() - t;
}

int run_win(struct job *j, const char *bench, size_t size) {
	const long least = 1000;
	struct ends e;
	if (strcmp(bench, "notify") != 0)
		return 0;
	if (j->size != 2 || size < sizeof(uint64_t))
		fail("notify needs two ranks and 8 bytes");
	struct row r = {.bench = bench, .size = size, .threads = 1, .unit = "us", .min_share = 1};
	open_window(j, size, &e);
	ping_pong(j, &e, size, least / 10);
	double t = ping_pong(j, &e, size, least);
	long n = agree(j, t, least, least);
	r.before = line_crossing(j);
	t = ping_pong(j, &e, size, n);
	r.after = line_crossing(j);
	r.value = t * 1e6 / (2.0 * (double)n);
	if (j->rank == 0)
		print_row(j->impl, &r);
	close_window(&e);
	return 1;
}
