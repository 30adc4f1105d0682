//go:build ignore

// What is in messages, and how it is checked, with MPI or without.
#ifndef GOLCI_PAYLOAD_H
#define GOLCI_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

// LARGE is the size above which the OSU programs take fewer iterations.
#define LARGE 8192
// WINDOW is the number of messages in flight in bandwidth, bibw and rate.
#define WINDOW 64
// CHECK_EVERY says which share of the payloads is verified inside a timed loop.
#define CHECK_EVERY 64

void fill(char *buf, size_t n, uint64_t x);             // whole payload
void check_fill(const char *buf, size_t n, uint64_t x); // fails when it differs
void stamp(char *buf, size_t n, uint64_t x);            // head, middle and tail
void check_stamp(const char *buf, size_t n, uint64_t x);

void fail(const char *what); // ends the job; each program has its own

#endif
