//go:build ignore

// Two processes of one program, bound to a core each, for libraries that come without a launcher.
#ifndef GOLCI_PAIR_H
#define GOLCI_PAIR_H

#include "../row.h"

extern struct pair {
	int rank, sock; // sock leads to the other process
	struct lines *lines;
} pair;

// pair_run starts both, which call play and are over when it returns. It returns the status to exit with.
int pair_run(char **argv, void (*play)(char **argv));

// pair_trade exchanges mine and theirs, pair_swap the same number of bytes.
void pair_trade(const void *mine, size_t mine_n, void *theirs, size_t theirs_n);
void pair_swap(const void *mine, void *theirs, size_t n);

// pair_crossing is called by both; rank 0 gets nanoseconds one way.
double pair_crossing(void);

void fail(const char *what); // ends the process; each program has its own

#endif
