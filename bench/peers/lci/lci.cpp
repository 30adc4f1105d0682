//go:build ignore

// lci BENCH IMPL SIZES THREADS SECONDS: latency, rate, bandwidth and threads with the tagged sends and receives of LCI,
// between two processes, with the loops of pt2pt.c and threads.c. The environment variable PEER_DEVICES is the largest
// number of devices that the threads share; without it they all have one.
extern "C" {
#include "../pair/pair.h"
#include "../payload.h"
}
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lci.hpp>
#include <mutex>
#include <netinet/in.h>
#include <sched.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

enum { TAG_DATA = 1, TAG_BACK = 2 };
enum { PATIENCE = 64 }; // polls in vain before a thread yields its core: some answers come faster than another thread

extern "C" void fail(const char *what) {
	fprintf(stderr, "lci, process %d: %s\n", pair.rank, what);
	_exit(1);
}

static std::vector<lci::device_t> devices; // the first is the runtime's

// An end is where one thread sends and receives.
struct end {
	lci::device_t device;
	lci::comp_t one = lci::alloc_sync();    // of one operation
	lci::comp_t all = lci::alloc_counter(); // of the operations of a window
	lci::mr_t out = lci::MR_HOST, in = lci::MR_HOST;
	bool alone = true; // no other thread needs the core
	int idle = 0;      // polls in vain

	explicit end(lci::device_t d) : device(d) {}
	~end() { lci::free_comp(&one), lci::free_comp(&all); }

	void turn() {
		idle = lci::progress_x().device(device)().is_retry() ? idle + 1 : 0;
		if (!alone && idle >= PATIENCE) {
			idle = 0;
			sched_yield();
		}
	}

	// post returns whether the operation is still to be completed. It makes progress only when LCI asks for another try.
	template <typename F> bool post(F f) {
		lci::status_t s;
		while ((s = f()).is_retry())
			turn();
		return s.is_posted();
	}

	bool post_send(char *buf, size_t n, lci::tag_t tag, lci::comp_t done) {
		return post([&] { return lci::post_send_x(1 - pair.rank, buf, n, tag, done).device(device).mr(out)(); });
	}

	bool post_recv(char *buf, size_t n, lci::tag_t tag, lci::comp_t done) {
		return post([&] { return lci::post_recv_x(1 - pair.rank, buf, n, tag, done).device(device).mr(in)(); });
	}

	void wait_one() {
		lci::status_t s;
		while (!lci::sync_test(one, &s))
			turn();
	}

	void send(char *buf, size_t n, lci::tag_t tag) {
		if (post_send(buf, n, tag, one))
			wait_one();
	}

	void recv(char *buf, size_t n, lci::tag_t tag) {
		if (post_recv(buf, n, tag, one))
			wait_one();
	}

	void wait_all(int64_t n) {
		while (lci::counter_get(all) < n)
			turn();
		lci::counter_set(all, 0);
	}
};

// meet waits for the other process with all that was sent gone, because neither makes progress afterwards.
static void meet() {
	char a = 0;
	ssize_t n;
	for (auto d : devices)
		lci::wait_drained_x().device(d)();
	if (write(pair.sock, &a, 1) != 1)
		fail("meeting");
	while ((n = recv(pair.sock, &a, 1, MSG_DONTWAIT)) != 1) {
		if (n == 0)
			fail("the other process is gone");
		for (auto d : devices)
			lci::progress_x().device(d)();
	}
}

static double crossing() {
	meet();
	return pair_crossing();
}

// pt2pt.c

static char *out, *in; // messages

static bool due(long i) { return i % CHECK_EVERY == 0; }

static void put(size_t size, long i, bool whole) {
	if (whole)
		fill(out, size, (uint64_t)i);
	else if (due(i))
		stamp(out, size, (uint64_t)i);
}

static void look(size_t size, long i, bool whole) {
	if (whole)
		check_fill(in, size, (uint64_t)i);
	else if (due(i))
		check_stamp(in, size, (uint64_t)i);
}

static double latency(end &e, size_t size, long n, bool whole) {
	double t = seconds();
	for (long i = 0; i < n; i++) {
		put(size, i, whole);
		if (pair.rank == 0)
			e.send(out, size, TAG_DATA);
		e.recv(in, size, TAG_DATA);
		look(size, i, whole);
		if (pair.rank == 1)
			e.send(out, size, TAG_DATA);
	}
	return seconds() - t;
}

static double stream(end &e, size_t size, long n, bool whole) {
	char ack[4] = {0};
	lci::mr_t data_out = e.out, data_in = e.in;
	double t = seconds();
	for (long i = 0; i < n; i++) {
		int64_t left = 0;
		if (pair.rank == 0) {
			put(size, i, whole);
			for (int w = 0; w < WINDOW; w++)
				left += e.post_send(out, size, TAG_DATA, e.all);
			e.wait_all(left);
			e.in = lci::MR_HOST; // the acknowledgement is not in the memory that is registered
			e.recv(ack, 4, TAG_BACK);
			e.in = data_in;
		} else {
			for (int w = 0; w < WINDOW; w++)
				left += e.post_recv(in, size, TAG_DATA, e.all);
			e.wait_all(left);
			look(size, i, whole);
			e.out = lci::MR_HOST;
			e.send(ack, 4, TAG_BACK);
			e.out = data_out;
		}
	}
	return seconds() - t;
}

static long agree(double wanted, double elapsed, long done) {
	long mine = done, theirs;
	if (elapsed > 0)
		mine = std::max(done, (long)std::min(wanted * (double)done / elapsed, 1e9));
	meet();
	pair_swap(&mine, &theirs, sizeof mine);
	return pair.rank == 0 ? mine : theirs;
}

static void pt2pt(const char *bench, const char *impl, size_t size, double wanted) {
	bool trip = strcmp(bench, "latency") == 0, rate = strcmp(bench, "rate") == 0;
	auto run = trip ? latency : stream;
	long least = trip ? (size > LARGE ? 1000 : 10000) : (size > LARGE ? 20 : 100);
	struct row r = {};
	r.bench = bench, r.size = size, r.threads = 1, r.min_share = 1;
	r.unit = trip ? "us" : rate ? "messages/s" : "MB/s";
	end e(devices[0]);
	bool large = size > lci::get_max_bcopy_size(); // LCI copies the others into memory that is registered
	if (large) {
		e.out = lci::register_memory(out, size);
		e.in = lci::register_memory(in, size);
	}
	run(e, size, least / 10, true);
	double t = run(e, size, least, false);
	long n = agree(wanted, t, least);
	r.before = crossing();
	t = run(e, size, n, false);
	r.after = crossing();
	double messages = (double)n * WINDOW / t;
	r.value = trip ? t * 1e6 / (2.0 * (double)n) : rate ? messages : messages * (double)size / 1e6;
	if (large) {
		lci::deregister_memory(&e.out);
		lci::deregister_memory(&e.in);
	}
	if (pair.rank == 0)
		print_row(impl, &r);
}

// threads.c

static const uint64_t LAST = UINT64_MAX;
static const double DRAIN = 3.0; // s a process waits for its threads after the window

struct alignas(128) worker {
	std::atomic<uint64_t> trips{0}; // written by its thread, read by the main thread at the end of the window
};

static std::mutex mu;
static std::condition_variable cond;
static bool gate; // open; protected by mu
static std::atomic<int> left;
static std::atomic<bool> stop;

static void enter() {
	std::unique_lock<std::mutex> lock(mu);
	cond.wait(lock, [] { return gate; });
}

static void set_gate(bool to) {
	std::lock_guard<std::mutex> lock(mu);
	gate = to;
	cond.notify_all();
}

static uint64_t get(end &e, lci::tag_t tag) {
	uint64_t v = 0;
	e.recv((char *)&v, sizeof v, tag);
	return v;
}

static void give(end &e, lci::tag_t tag, uint64_t v) { e.send((char *)&v, sizeof v, tag); }

static void lead(end &e, lci::tag_t tag, worker &w) {
	for (uint64_t i = 0; !stop.load(std::memory_order_relaxed); i++) {
		give(e, tag, i);
		if (get(e, tag) != i)
			fail("threads: wrong payload");
		w.trips.store(i + 1, std::memory_order_relaxed);
	}
	give(e, tag, LAST);
}

static void follow(end &e, lci::tag_t tag) {
	uint64_t v, i = 0;
	while ((v = get(e, tag)) != LAST) {
		if (v != i++)
			fail("threads: wrong payload");
		give(e, tag, v);
	}
}

static void pause_for(double s) { std::this_thread::sleep_for(std::chrono::duration<double>(s)); }

static bool drained(double limit) {
	double end = seconds() + limit;
	while (left > 0 && seconds() < end)
		pause_for(0.002);
	return left == 0;
}

static void tally(std::vector<worker> &ws, double elapsed, struct row *r) {
	uint64_t total = 0, least = UINT64_MAX;
	for (auto &w : ws) {
		uint64_t t = w.trips.load(std::memory_order_relaxed);
		total += t;
		least = std::min(least, t);
	}
	r->value = 2.0 * (double)total / elapsed;
	r->min_share = total ? (double)least * (double)ws.size() / (double)total : 0;
}

// threads: the main thread makes no progress during the window, so it can end the program if LCI starves the others.
static void threads(const char *impl, int n, double window) {
	struct row r = {};
	r.bench = "threads", r.size = 8, r.threads = n, r.unit = "messages/s";
	std::vector<worker> ws(n);
	std::vector<std::thread> all;
	set_gate(false);
	stop = false;
	left = n;
	r.before = crossing();
	for (int i = 0; i < n; i++)
		all.emplace_back([&ws, i, n] {
			end e(devices[i % devices.size()]);
			e.alone = n == 1;
			enter();
			pair.rank == 0 ? lead(e, i, ws[i]) : follow(e, i);
			left--;
		});
	meet();
	double t = seconds();
	set_gate(true);
	if (pair.rank == 0) {
		pause_for(window);
		tally(ws, seconds() - t, &r);
		stop = true;
		r.after = r.before; // until the threads are gone, the cores cannot be measured again
	}
	if (!drained(pair.rank == 0 ? DRAIN : window + 2 * DRAIN)) {
		r.note = "threads starved: not drained";
		if (pair.rank == 0)
			print_row(impl, &r);
		_exit(86);
	}
	for (auto &t : all)
		t.join();
	r.after = crossing();
	if (pair.rank == 0)
		print_row(impl, &r);
}

static std::vector<size_t> list(const char *s) {
	std::vector<size_t> all;
	for (char *end; *s; s = *end == ',' ? end + 1 : end) {
		all.push_back(strtoull(s, &end, 10));
		if (end == s)
			fail("not a list of numbers");
	}
	return all;
}

static char *buffer(size_t n) {
	char *p = (char *)aligned_alloc(4096, (n + 8191) / 4096 * 4096);
	if (!p)
		fail("out of memory");
	memset(p, 'a', n);
	return p;
}

static char port[16]; // at which the processes find each other

static void play(char **argv) {
	setenv("LCT_PMI_BACKEND", "tcp", 1);
	setenv("LCT_MASTER_ADDR", "127.0.0.1", 1);
	setenv("LCT_MASTER_PORT", port, 1);
	setenv("WORLD_SIZE", "2", 1);
	setenv("RANK", pair.rank == 0 ? "0" : "1", 1);
	auto sizes = list(argv[3]), counts = list(argv[4]);
	bool many = strcmp(argv[1], "threads") == 0;
	double wanted = atof(argv[5]);
	lci::g_runtime_init();
	devices.push_back(lci::get_default_device());
	if (many) {
		const char *most = getenv("PEER_DEVICES");
		size_t want = std::min<size_t>(most ? atoi(most) : 1, *std::max_element(counts.begin(), counts.end()));
		while (devices.size() < want)
			devices.push_back(lci::alloc_device_x().net_max_recvs(lci::get_g_default_attr().net_max_recvs / want)());
		for (auto n : counts)
			threads(argv[2], (int)n, wanted);
	} else {
		size_t largest = std::max<size_t>(64, *std::max_element(sizes.begin(), sizes.end()));
		out = buffer(largest);
		in = buffer(largest);
		for (auto size : sizes)
			pt2pt(argv[1], argv[2], size, wanted);
	}
	for (; devices.size() > 1; devices.pop_back())
		lci::free_device(&devices.back());
	lci::g_runtime_fina();
}

// choose_port takes one that is free.
static void choose_port() {
	struct sockaddr_in at = {};
	socklen_t n = sizeof at;
	int s = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (s < 0 || bind(s, (struct sockaddr *)&at, n) != 0 || getsockname(s, (struct sockaddr *)&at, &n) != 0)
		fail("no free port");
	snprintf(port, sizeof port, "%d", ntohs(at.sin_port));
	close(s);
}

int main(int argc, char **argv) {
	if (argc != 6) {
		fprintf(stderr, "usage: lci BENCH IMPL SIZES THREADS SECONDS\n");
		return 2;
	}
	choose_port();
	return pair_run(argv, play);
}
