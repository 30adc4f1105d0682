//go:build ignore

// threads: T threads in each of two processes; thread i ping-pongs 8 bytes with its twin under tag i for a sustained
// window. The main thread calls no MPI meanwhile, so it can end the program however the MPI starves its threads.
#define _GNU_SOURCE
#include "peer.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STACK (256 << 10)
#define DRAIN 3.0 // s a process waits for its threads after the window
#define LAST UINT64_MAX

struct worker {
	_Alignas(128) _Atomic uint64_t trips; // written by its thread, read by the main thread at the end of the window
	int tag, rank;
	pthread_t id;
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static enum { SHUT, OPEN, CANCEL } gate; // protected by mu
static atomic_int stop, left;

static int enter(void) {
	pthread_mutex_lock(&mu);
	while (gate == SHUT)
		pthread_cond_wait(&cond, &mu);
	int go = gate == OPEN;
	pthread_mutex_unlock(&mu);
	return go;
}

static void set_gate(int to) {
	pthread_mutex_lock(&mu);
	gate = to;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mu);
}

static uint64_t get(struct worker *w) {
	uint64_t v = 0;
	MPI_Recv(&v, 8, MPI_CHAR, 1 - w->rank, w->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return v;
}

static void give(struct worker *w, uint64_t v) {
	MPI_Send(&v, 8, MPI_CHAR, 1 - w->rank, w->tag, MPI_COMM_WORLD);
}

static void lead(struct worker *w) {
	for (uint64_t i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++) {
		give(w, i);
		if (get(w) != i)
			fail("threads: wrong payload");
		atomic_store_explicit(&w->trips, i + 1, memory_order_relaxed);
	}
	give(w, LAST);
}

static void follow(struct worker *w) {
	uint64_t v, i = 0;
	while ((v = get(w)) != LAST) {
		if (v != i++)
			fail("threads: wrong payload");
		give(w, v);
	}
}

static void *body(void *arg) {
	struct worker *w = arg;
	if (enter())
		(w->rank == 0 ? lead : follow)(w);
	atomic_fetch_sub(&left, 1);
	return NULL;
}

static void pause_for(double s) {
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
	nanosleep(&t, NULL);
}

static int start(struct worker *ws, int n, int rank) {
	pthread_attr_t attr;
	int made = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (; made < n; made++) {
		ws[made].tag = made;
		ws[made].rank = rank;
		atomic_fetch_add(&left, 1);
		if (pthread_create(&ws[made].id, &attr, body, &ws[made]) != 0) {
			atomic_fetch_sub(&left, 1);
			break;
		}
	}
	pthread_attr_destroy(&attr);
	return made;
}

static void tally(struct worker *ws, int n, double elapsed, struct row *r) {
	uint64_t total = 0, least = UINT64_MAX;
	for (int i = 0; i < n; i++) {
		uint64_t t = atomic_load_explicit(&ws[i].trips, memory_order_relaxed);
		total += t;
		least = t < least ? t : least;
	}
	r->value = 2.0 * (double)total / elapsed;
	r->min_share = total ? (double)least * n / (double)total : 0;
}

// drain joins the threads, or ends the process when they do not come: an MPI that starves them would not come to an end.
static void drain(struct worker *ws, int n, double limit) {
	double end = seconds() + limit;
	while (atomic_load(&left) > 0 && seconds() < end)
		pause_for(0.002);
	if (atomic_load(&left) > 0)
		_exit(86);
	for (int i = 0; i < n; i++)
		pthread_join(ws[i].id, NULL);
}

static void window(struct job *j, struct worker *ws, int n, struct row *r) {
	double t = seconds();
	set_gate(OPEN);
	if (j->rank == 0) {
		pause_for(j->seconds);
		tally(ws, n, seconds() - t, r);
		atomic_store(&stop, 1);
		r->after = r->before; // until the threads are gone, the cores cannot be measured again
	}
}

static int print_later(struct job *j, struct row *r) {
	double end = seconds() + DRAIN;
	while (atomic_load(&left) > 0 && seconds() < end)
		pause_for(0.002);
	if (atomic_load(&left) == 0)
		return 1;
	r->note = "threads starved: not drained";
	print_row(j->impl, r);
	return 0;
}

int run_threads(struct job *j, const char *bench, int threads) {
	if (strcmp(bench, "threads") != 0)
		return 0;
	if (j->size != 2)
		fail("threads needs two ranks");
	struct row r = {.bench = bench, .size = 8, .threads = threads, .unit = "messages/s", .min_share = 0};
	struct worker *ws = aligned_alloc(128, sizeof *ws * (size_t)threads);
	if (!ws)
		fail("out of memory");
	memset(ws, 0, sizeof *ws * (size_t)threads);
	atomic_store(&stop, 0);
	gate = SHUT;
	r.before = line_crossing(j);
	int made = start(ws, threads, j->rank), least = 0;
	MPI_Allreduce(&made, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (least < threads) {
		set_gate(CANCEL);
		r.note = "cannot create the threads";
		r.after = r.before;
		if (j->rank == 0)
			print_row(j->impl, &r);
		drain(ws, made, DRAIN);
		free(ws);
		return 1;
	}
	window(j, ws, threads, &r);
	if (j->rank == 0 && !print_later(j, &r))
		_exit(86);
	drain(ws, threads, j->rank == 0 ? DRAIN : j->seconds + 2 * DRAIN);
	r.after = line_crossing(j);
	if (j->rank == 0)
		print_row(j->impl, &r);
	free(ws);
	return 1;
}
