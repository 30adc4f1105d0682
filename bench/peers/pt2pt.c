//go:build ignore

// latency, bandwidth, bibw, rate: the loops of osu_latency, osu_bw, osu_bibw and of osu_mbw_mr with one pair. vector and
// packed: that of osu_latency with a column of a matrix.
#include "peer.h"
#include <stdlib.h>
#include <string.h>

enum { TAG_DATA = 1, TAG_BACK = 2 };

// A loop runs n iterations and returns rank 0's seconds. whole fills and checks every byte of every message.
typedef double loop(struct job *j, size_t size, long n, int whole);

static int due(long i) { return i % CHECK_EVERY == 0; }

static void put(char *buf, size_t size, long i, int whole) {
	if (whole)
		fill(buf, size, (uint64_t)i);
	else if (due(i))
		stamp(buf, size, (uint64_t)i);
}

static void look(const char *buf, size_t size, long i, int whole) {
	if (whole)
		check_fill(buf, size, (uint64_t)i);
	else if (due(i))
		check_stamp(buf, size, (uint64_t)i);
}

static double latency(struct job *j, size_t size, long n, int whole) {
	int c = (int)size;
	double t = MPI_Wtime();
	if (j->rank == 0)
		for (long i = 0; i < n; i++) {
			put(j->send, size, i, whole);
			MPI_Send(j->send, c, MPI_CHAR, 1, TAG_DATA, MPI_COMM_WORLD);
			MPI_Recv(j->recv, c, MPI_CHAR, 1, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			look(j->recv, size, i, whole);
		}
	else if (j->rank == 1)
		for (long i = 0; i < n; i++) {
			put(j->send, size, i, whole);
			MPI_Recv(j->recv, c, MPI_CHAR, 0, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			look(j->recv, size, i, whole);
			MPI_Send(j->send, c, MPI_CHAR, 0, TAG_DATA, MPI_COMM_WORLD);
		}
	return MPI_Wtime() - t;
}

static double stream(struct job *j, size_t size, long n, int whole) {
	MPI_Request reqs[WINDOW];
	int c = (int)size;
	char ack[4] = {0};
	double t = MPI_Wtime();
	for (long i = 0; i < n && j->rank < 2; i++) {
		if (j->rank == 0) {
			put(j->send, size, i, whole);
			for (int w = 0; w < WINDOW; w++)
				MPI_Isend(j->send, c, MPI_CHAR, 1, TAG_DATA, MPI_COMM_WORLD, &reqs[w]);
			MPI_Waitall(WINDOW, reqs, MPI_STATUSES_IGNORE);
			MPI_Recv(ack, 4, MPI_CHAR, 1, TAG_BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			for (int w = 0; w < WINDOW; w++)
				MPI_Irecv(j->recv, c, MPI_CHAR, 0, TAG_DATA, MPI_COMM_WORLD, &reqs[w]);
			MPI_Waitall(WINDOW, reqs, MPI_STATUSES_IGNORE);
			look(j->recv, size, i, whole);
			MPI_Send(ack, 4, MPI_CHAR, 0, TAG_BACK, MPI_COMM_WORLD);
		}
	}
	return MPI_Wtime() - t;
}

// both needs no acknowledgement of its own: a rank that has its peer's window knows that the peer has begun it.
static double both(struct job *j, size_t size, long n, int whole) {
	MPI_Request in[WINDOW], out[WINDOW];
	int c = (int)size, peer = 1 - j->rank;
	double t = MPI_Wtime();
	for (long i = 0; i < n && j->rank < 2; i++) {
		put(j->send, size, i, whole);
		for (int w = 0; w < WINDOW; w++)
			MPI_Irecv(j->recv, c, MPI_CHAR, peer, TAG_DATA, MPI_COMM_WORLD, &in[w]);
		for (int w = 0; w < WINDOW; w++)
			MPI_Isend(j->send, c, MPI_CHAR, peer, TAG_DATA, MPI_COMM_WORLD, &out[w]);
		MPI_Waitall(WINDOW, out, MPI_STATUSES_IGNORE);
		MPI_Waitall(WINDOW, in, MPI_STATUSES_IGNORE);
		look(j->recv, size, i, whole);
	}
	return MPI_Wtime() - t;
}

// A column of a matrix of 8-byte elements with 8 columns, which goes as a vector or is packed by hand.
enum { COLUMNS = 8 };

static struct {
	int64_t *out, *in, *line;
	size_t n;
	MPI_Datatype type;
} column;

static void column_open(size_t size) {
	column.n = size / sizeof(int64_t);
	column.out = calloc(column.n * COLUMNS, sizeof(int64_t));
	column.in = calloc(column.n * COLUMNS, sizeof(int64_t));
	column.line = calloc(column.n, sizeof(int64_t));
	if (!column.out || !column.in || !column.line)
		fail("out of memory");
	MPI_Type_vector((int)column.n, 1, COLUMNS, MPI_INT64_T, &column.type);
	MPI_Type_commit(&column.type);
}

static void column_close(void) {
	MPI_Type_free(&column.type);
	free(column.out), free(column.in), free(column.line);
}

static void column_put(long i, int whole) {
	for (size_t k = 0; k < column.n && (whole || due(i)); k += whole || column.n < 2 ? 1 : column.n - 1)
		column.out[k * COLUMNS] = i;
}

static void column_look(long i, int whole) {
	for (size_t k = 0; k < column.n && (whole || due(i)); k += whole || column.n < 2 ? 1 : column.n - 1)
		if (column.in[k * COLUMNS] != i)
			fail("a column differs");
}

static void vector_send(int to) { MPI_Send(column.out, 1, column.type, to, TAG_DATA, MPI_COMM_WORLD); }

static void vector_recv(int from) {
	MPI_Recv(column.in, 1, column.type, from, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void packed_send(int to) {
	for (size_t k = 0; k < column.n; k++)
		column.line[k] = column.out[k * COLUMNS];
	MPI_Send(column.line, (int)column.n, MPI_INT64_T, to, TAG_DATA, MPI_COMM_WORLD);
}

static void packed_recv(int from) {
	MPI_Recv(column.line, (int)column.n, MPI_INT64_T, from, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (size_t k = 0; k < column.n; k++)
		column.in[k * COLUMNS] = column.line[k];
}

static double columns(struct job *j, size_t size, long n, int whole, void send(int), void recv(int)) {
	column_open(size);
	double t = MPI_Wtime();
	for (long i = 0; i < n && j->rank < 2; i++) {
		column_put(i, whole);
		if (j->rank == 0)
			send(1);
		recv(1 - j->rank);
		column_look(i, whole);
		if (j->rank == 1)
			send(0);
	}
	t = MPI_Wtime() - t;
	column_close();
	return t;
}

static double vector(struct job *j, size_t size, long n, int whole) {
	return columns(j, size, n, whole, vector_send, vector_recv);
}

static double packed(struct job *j, size_t size, long n, int whole) {
	return columns(j, size, n, whole, packed_send, packed_recv);
}

static int one_way(const char *bench) {
	return strcmp(bench, "latency") == 0 || strcmp(bench, "vector") == 0 || strcmp(bench, "packed") == 0;
}

static double value(const char *bench, size_t size, long n, double t) {
	if (one_way(bench))
		return t * 1e6 / (2.0 * (double)n);
	double messages = (double)n * WINDOW / t;
	if (strcmp(bench, "rate") == 0)
		return messages;
	return messages * (double)size / 1e6 * (strcmp(bench, "bibw") == 0 ? 2 : 1);
}

static const struct {
	const char *name, *unit;
	loop *run;
	long small, large; // iterations up to LARGE bytes and above
} table[] = {
	{"latency", "us", latency, 10000, 1000},
	{"bandwidth", "MB/s", stream, 100, 20},
	{"bibw", "MB/s", both, 100, 20},
	{"rate", "messages/s", stream, 100, 20},
	{"vector", "us", vector, 1000, 100},
	{"packed", "us", packed, 1000, 100},
};

int run_pt2pt(struct job *j, const char *bench, size_t size) {
	for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
		if (strcmp(bench, table[k].name) != 0)
			continue;
		if (j->size < 2)
			fail("this benchmark needs two ranks");
		long least = size > LARGE ? table[k].large : table[k].small;
		struct row r = {.bench = bench, .size = size, .threads = 1, .unit = table[k].unit, .min_share = 1};
		table[k].run(j, size, least / 10, 1);
		double t = table[k].run(j, size, least, 0);
		long n = agree(j, t, least, least);
		r.before = line_crossing(j);
		t = table[k].run(j, size, n, 0);
		r.after = line_crossing(j);
		r.value = value(bench, size, n, t);
		if (j->rank == 0)
			print_row(j->impl, &r);
		return 1;
	}
	return 0;
}
