//go:build ignore

// am BENCH IMPL SIZES THREADS SECONDS: active messages of UCX between two processes, with the loops of bench/amrank.
// BENCH and THREADS are for other programs.
#include "../pair/pair.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#define LEAST 10000
#define CHECK_EVERY 64

enum { ECHO = 1, ANSWER, TAKE, CHECK, OVER };

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static char *payload;
static uint64_t answers, seen;
static int over;

void fail(const char *what) {
	fprintf(stderr, "ucx am, process %d: %s\n", pair.rank, what);
	exit(1);
}

static void need(ucs_status_t s, const char *what) {
	if (s != UCS_OK) {
		fprintf(stderr, "ucx: %s\n", ucs_status_string(s));
		fail(what);
	}
}

static void compare(uint64_t i, const char *data, size_t n) {
	if (i % CHECK_EVERY != 0)
		return;
	for (size_t at = 0; at < n; at++)
		if (data[at] != (char)at)
			fail("payload differs");
}

// give sends and, when it has not been sent at once, waits until the buffers may be reused.
static void give(unsigned id, uint64_t i, size_t n) {
	ucp_request_param_t p = {.op_attr_mask = 0};
	ucs_status_ptr_t r = ucp_am_send_nbx(ep, id, &i, sizeof i, n ? payload : NULL, n, &p);
	if (UCS_PTR_IS_ERR(r))
		fail("send");
	if (r == NULL)
		return;
	while (ucp_request_check_status(r) == UCS_INPROGRESS)
		ucp_worker_progress(worker);
	ucp_request_free(r);
}

static size_t owed; // length of the answer that on_echo owes
static uint64_t owed_index;
static int owes;

static ucs_status_t on_any(void *arg, const void *head, size_t head_n, void *data, size_t n,
                           const ucp_am_recv_param_t *param) {
	uint64_t i;
	(void)param;
	if (head_n != sizeof i)
		fail("header length");
	memcpy(&i, head, sizeof i);
	switch ((int)(intptr_t)arg) {
	case ECHO:
	case CHECK:
		if ((int)(intptr_t)arg == CHECK) {
			if (i != seen)
				fail("requests lost");
			seen = i = 0;
		}
		owes = 1, owed = n, owed_index = i; // answered outside the callback: a send there must not wait
		break;
	case ANSWER:
		if (i != answers)
			fail("answer out of turn");
		compare(i, data, n);
		answers++;
		break;
	case TAKE:
		compare(i, data, n);
		seen++;
		break;
	case OVER:
		over = 1;
		break;
	}
	return UCS_OK;
}

static void poll_once(void) {
	ucp_worker_progress(worker);
	if (owes) {
		owes = 0;
		give(ANSWER, owed_index, owed);
	}
}

static void round_trips(size_t n, long count) {
	answers = 0;
	for (uint64_t i = 0; i < (uint64_t)count; i++) {
		give(ECHO, i, n);
		while (answers == i)
			poll_once();
	}
}

static void flood(size_t n, long count) {
	answers = 0;
	for (uint64_t i = 0; i < (uint64_t)count; i++)
		give(TAKE, i, n);
	give(CHECK, (uint64_t)count, 0);
	while (answers == 0)
		poll_once();
}

static void measure(const char *impl, const char *name, size_t n, double window, void (*run)(size_t, long)) {
	struct row r = {.bench = name, .size = n, .threads = 1, .min_share = 1};
	int trip = run == round_trips;
	r.unit = trip ? "us" : "ns";
	r.before = pair_crossing();
	if (pair.rank == 0) {
		double t = seconds();
		run(n, LEAST);
		double want = window * LEAST / (seconds() - t);
		long count = want > LEAST ? (long)want : LEAST;
		t = seconds();
		run(n, count);
		r.value = (seconds() - t) * (trip ? 1e6 : 1e9) / (double)count;
		give(OVER, 0, 0);
	} else {
		for (over = 0; !over;)
			poll_once();
	}
	r.after = pair_crossing();
	if (pair.rank == 0)
		print_row(impl, &r);
}

static void connect_peer(void) {
	ucp_params_t cp = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
	ucp_worker_params_t wp = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
	ucp_address_t *mine;
	size_t mine_n, theirs_n;
	need(ucp_init(&cp, NULL, &context), "init");
	need(ucp_worker_create(context, &wp, &worker), "worker");
	for (int id = ECHO; id <= OVER; id++) {
		ucp_am_handler_param_t hp = {
			.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
			              UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
			.id = (unsigned)id, .cb = on_any, .arg = (void *)(intptr_t)id, .flags = UCP_AM_FLAG_WHOLE_MSG,
		};
		need(ucp_worker_set_am_recv_handler(worker, &hp), "handler");
	}
	need(ucp_worker_get_address(worker, &mine, &mine_n), "address");
	pair_swap(&mine_n, &theirs_n, sizeof mine_n);
	ucp_address_t *theirs = malloc(theirs_n);
	if (!theirs)
		fail("out of memory");
	pair_trade(mine, mine_n, theirs, theirs_n);
	ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = theirs};
	need(ucp_ep_create(worker, &ep_params, &ep), "endpoint");
	ucp_worker_release_address(worker, mine);
	free(theirs);
}

static void play(char **argv) {
	double window = atof(argv[5]);
	payload = malloc(1 << 20);
	if (!payload)
		fail("out of memory");
	for (size_t i = 0; i < 1 << 20; i++)
		payload[i] = (char)i;
	connect_peer();
	for (int pass = 0; pass < 2; pass++)
		for (char *s = argv[3], *end; *s; s = *end == ',' ? end + 1 : end) {
			size_t n = strtoull(s, &end, 10);
			if (end == s || n > 1 << 20)
				fail("sizes");
			if (pass == 0)
				measure(argv[2], "am", n, window, round_trips);
			else
				measure(argv[2], "am-flood", n, window, flood);
		}
}

int main(int argc, char **argv) {
	if (argc != 6) {
		fprintf(stderr, "usage: am BENCH IMPL SIZES THREADS SECONDS\n");
		return 2;
	}
	return pair_run(argv, play);
}
