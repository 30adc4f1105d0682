//go:build ignore

#define _GNU_SOURCE
#include "row.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCHES 7
#define TRIPS 500
#define STOP (1ULL << 63)
#define LIMIT 0.05 // s

struct lines {
	_Alignas(128) _Atomic uint64_t there; // written by lines_lead
	_Alignas(128) _Atomic uint64_t back;  // written by lines_follow
};

double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void print_row(const char *impl, const struct row *r) {
	printf("{\"bench\":\"%s\",\"impl\":\"%s\",\"size\":%zu,\"threads\":%d,\"value\":%.6g,\"unit\":\"%s\","
	       "\"min_share\":%.4f,\"crossing_ns\":%.1f,\"crossing_before_ns\":%.1f,\"crossing_after_ns\":%.1f",
	       r->bench, impl, r->size, r->threads, r->value, r->unit, r->min_share, (r->before + r->after) / 2,
	       r->before, r->after);
	if (r->note)
		printf(",\"note\":\"%s\"", r->note);
	printf("}\n");
	fflush(stdout);
}

static void relax(void) {
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void trip(struct lines *l, uint64_t v) {
	atomic_store_explicit(&l->there, v, memory_order_release);
	while (atomic_load_explicit(&l->back, memory_order_acquire) != v)
		relax();
}

double lines_lead(struct lines *l) {
	double took[BATCHES], start = seconds();
	uint64_t seq = atomic_load(&l->back) & ~STOP;
	int n = 0;
	while (n < BATCHES && seconds() - start < LIMIT) {
		double t = seconds();
		int i = 0;
		for (; i < TRIPS && ((i & 15) != 15 || seconds() - start < LIMIT); i++)
			trip(l, ++seq);
		if (i > 0)
			took[n++] = (seconds() - t) / (2.0 * i);
	}
	trip(l, ++seq | STOP);
	qsort(took, (size_t)n, sizeof took[0], ascending);
	return n ? took[n / 2] * 1e9 : 0;
}

void lines_follow(struct lines *l) {
	uint64_t last = atomic_load(&l->back), v;
	do {
		while ((v = atomic_load_explicit(&l->there, memory_order_acquire)) == last)
			relax();
		atomic_store_explicit(&l->back, v, memory_order_release);
		last = v;
	} while (!(v & STOP));
}
