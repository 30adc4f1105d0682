//go:build ignore

#include "payload.h"
#include <string.h>

static char pattern(size_t i, uint64_t x) { return (char)(i * 31 + (i >> 8) + x); }

void fill(char *buf, size_t n, uint64_t x) {
	for (size_t i = 0; i < n; i++)
		buf[i] = pattern(i, x);
}

void check_fill(const char *buf, size_t n, uint64_t x) {
	for (size_t i = 0; i < n; i++)
		if (buf[i] != pattern(i, x))
			fail("payload differs in the verification pass");
}

void stamp(char *buf, size_t n, uint64_t x) {
	if (n < sizeof x) {
		memset(buf, (int)(x & 0xff), n);
		return;
	}
	memcpy(buf, &x, sizeof x);
	memcpy(buf + (n - sizeof x) / 2, &x, sizeof x);
	memcpy(buf + n - sizeof x, &x, sizeof x);
}

void check_stamp(const char *buf, size_t n, uint64_t x) {
	char want[24];
	if (n < sizeof x) {
		memset(want, (int)(x & 0xff), n);
		if (memcmp(buf, want, n) != 0)
			fail("payload differs");
		return;
	}
	// The middle stamp may lie over the head of the tail's or the head's: the tail is written last.
	if (memcmp(buf + n - sizeof x, &x, sizeof x) != 0)
		fail("payload differs at its end");
	if (n < 4 * sizeof x)
		return;
	if (memcmp(buf, &x, sizeof x) != 0 || memcmp(buf + (n - sizeof x) / 2, &x, sizeof x) != 0)
		fail("payload differs");
}
