//go:build ignore

// What every program here has in common, with MPI or without: rows, and the time a cache line takes from core to core.
#ifndef GOLCI_ROW_H
#define GOLCI_ROW_H

#include <stddef.h>
#include <stdint.h>

struct row {
	const char *bench;
	size_t size;
	int threads;
	double value;
	const char *unit;
	double min_share;
	double before, after; // crossing, ns
	const char *note;     // or NULL
};

// print_row writes r as one line of JSON.
void print_row(const char *impl, const struct row *r);

double seconds(void); // of a clock that only goes forward

// Two mailbox lines, as bench/crossing lays them out, at the start of a page of zeros.
struct lines;

// lines_lead runs while another process runs lines_follow, and returns ns one way.
double lines_lead(struct lines *l);
void lines_follow(struct lines *l);

#endif
