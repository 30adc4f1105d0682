//go:build ignore

// peer BENCH IMPL SIZES THREADS SECONDS: sizes and threads are lists with commas.
#define _GNU_SOURCE
#include "peer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST 64

static int parse(const char *s, size_t *out) {
	int n = 0;
	for (char *end; *s && n < MAX_LIST; s = *end == ',' ? end + 1 : end) {
		out[n] = strtoull(s, &end, 10);
		if (end == s)
			return -1;
		n++;
	}
	return n;
}

static char *buffer(size_t n) {
	char *p = aligned_alloc(4096, (n + 8191) / 4096 * 4096);
	if (!p)
		fail("out of memory");
	memset(p, 'a', n);
	return p;
}

static void run(struct job *j, const char *bench, const size_t *sizes, int ns, const size_t *threads, int nt) {
	if (strcmp(bench, "threads") == 0) {
		for (int i = 0; i < nt; i++)
			run_threads(j, bench, (int)threads[i]);
		return;
	}
	for (int i = 0; i < ns; i++)
		if (!run_pt2pt(j, bench, sizes[i]) && !run_first(j, bench, sizes[i]) && !run_win(j, bench, sizes[i])
			&& !run_access(j, bench, sizes[i]) && !run_coll(j, bench, sizes[i]))
			fail("no such benchmark");
}

int main(int argc, char **argv) {
	size_t sizes[MAX_LIST], threads[MAX_LIST], largest = 64;
	int ns, nt, level;
	if (argc != 6 || (ns = parse(argv[3], sizes)) < 0 || (nt = parse(argv[4], threads)) < 0) {
		fprintf(stderr, "usage: peer BENCH IMPL SIZES THREADS SECONDS\n");
		return 2;
	}
	struct job j = {.impl = argv[2], .seconds = atof(argv[5])};
	int want = strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
	MPI_Init_thread(&argc, &argv, want, &level);
	if (level < want)
		fail("no MPI_THREAD_MULTIPLE");
	MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &j.size);
	for (int i = 0; i < ns; i++)
		largest = sizes[i] > largest ? sizes[i] : largest;
	j.send = buffer(largest);
	j.recv = buffer(largest);
	line_open(&j);
	run(&j, argv[1], sizes, ns, threads, nt);
	MPI_Finalize();
	return 0;
}
