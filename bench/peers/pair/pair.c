//go:build ignore

#define _GNU_SOURCE
#include "pair.h"
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct pair pair = {.rank = -1};

void pair_trade(const void *mine, size_t mine_n, void *theirs, size_t theirs_n) {
	if (write(pair.sock, mine, mine_n) != (ssize_t)mine_n ||
	    recv(pair.sock, theirs, theirs_n, MSG_WAITALL) != (ssize_t)theirs_n)
		fail("exchange");
}

void pair_swap(const void *mine, void *theirs, size_t n) { pair_trade(mine, n, theirs, n); }

double pair_crossing(void) {
	char a = 0, b;
	pair_swap(&a, &b, 1);
	if (pair.rank == 0)
		return lines_lead(pair.lines);
	lines_follow(pair.lines);
	return 0;
}

static void bind_to(int which) {
	cpu_set_t all, one;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return;
	for (int cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n++ == which)
			CPU_SET(cpu, &one);
	if (CPU_COUNT(&one) == 1 && sched_setaffinity(0, sizeof one, &one) != 0)
		fail("binding");
}

int pair_run(char **argv, void (*play)(char **argv)) {
	int ends[2], status;
	char a = 0, b;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		fail("socketpair");
	pair.lines = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pair.lines == MAP_FAILED)
		fail("mmap");
	pid_t parent = getpid(), child[2];
	for (int rank = 0; rank < 2; rank++) {
		if ((child[rank] = fork()) < 0)
			fail("fork");
		if (child[rank] != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(ends[1 - rank]);
		pair.rank = rank;
		pair.sock = ends[rank];
		bind_to(rank);
		play(argv);
		pair_swap(&a, &b, 1);
		_exit(0);
	}
	close(ends[0]);
	close(ends[1]);
	pid_t first = wait(&status); // when one fails the other would wait for ever
	int bad = status != 0;
	if (bad)
		kill(first == child[0] ? child[1] : child[0], SIGKILL);
	wait(&status);
	return bad || status != 0;
}
