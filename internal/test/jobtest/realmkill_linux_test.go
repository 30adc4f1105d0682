package jobtest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/realmtest"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

// orphanRole is a rank of a random job of package realm, of which one rank dies.
const orphanRole = "orphan"

// Variables with the seed of the first random job, and how many there are.
const (
	jobSeed  = "GOLCI_TEST_JOB_SEED"
	jobCount = "GOLCI_TEST_JOB_COUNT"
)

var (
	realmSeed = flag.Uint64("realmseed", 0, "seed of the first random job of package realm; 0: another one each time")
	realmJobs = flag.Int("realmjobs", 0, "how many random jobs of package realm a conduit gets; 0: a few")
)

// seedOfJobs is the seed of the first random job of a test.
func seedOfJobs() uint64 {
	if *realmSeed != 0 {
		return *realmSeed
	}
	return rand.Uint64N(1 << 40)
}

// orphans are the terms of a random job.
type orphans struct {
	ranks, victim int
	delay         time.Duration // from the time that all ranks know each other to the death
}

func orphansOf(seed uint64) orphans {
	rng := rand.New(rand.NewPCG(seed, 1))
	n := 2 + rng.IntN(3)
	return orphans{n, rng.IntN(n), time.Duration(rng.Int64N(int64(40 * time.Millisecond)))}
}

// orphanMain is a rank that dies by its own hand, or sees to it that all others' operations end.
func orphanMain() int {
	signal.Ignore(syscall.SIGTERM)
	seed, _ := strconv.ParseUint(os.Getenv(jobSeed), 10, 64) // the test has written it
	x := orphansOf(seed)
	ctx, stop := context.WithTimeout(context.Background(), patience/2)
	defer stop()
	rt, err := realm.Start(ctx, rank.Config{Processors: true, QuitDump: true, Exit: os.Exit}, realmtest.TestConfig)
	if err == nil {
		fmt.Printf("rank %d pid %d is here\n", rt.Rank(), os.Getpid())
		p := realmtest.New(seed, realmtest.Config{Ranks: x.ranks, Ops: 300, Kill: true})
		err = realmtest.Survive(ctx, rt, p, x.victim, func() {
			time.AfterFunc(x.delay, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 3
	}
	fmt.Printf("rank %d of %d done\n", rt.Rank(), rt.Size())
	_ = rt.Finalize(ctx) // it ends well, or tells of a death that came into the last meeting
	fmt.Printf("rank %d of %d has ended\n", rt.Rank(), rt.Size())
	return 0
}

// TestRealmOrphans kills a rank of random jobs at a random time. On the others every operation ends: done, or with a
// poison that names the rank. They go on without it, and nothing is left of the job.
func TestRealmOrphans(t *testing.T) {
	t.Parallel()
	seed, jobs := seedOfJobs(), *realmJobs
	if jobs == 0 {
		if jobs = 3; testing.Short() {
			jobs = 1
		}
	}
	for _, c := range realmConduits {
		for i := range jobs {
			seed := seed + uint64(i)
			t.Run(fmt.Sprintf("%s/%d", c.name, seed), func(t *testing.T) {
				t.Parallel()
				x := orphansOf(seed)
				t.Logf("-realmseed %d: rank %d of %d dies after %v", seed, x.victim, x.ranks, x.delay)
				flags := append([]string{
					"-grace", "60s", "-env",
					jobSeed + "=" + strconv.FormatUint(seed, 10),
				}, c.flags...)
				j := golci(t, ranks(x.ranks, orphanRole, flags...)...).start()
				j.await(x.ranks, " is here")
				traces := observe(j.cmd.Process.Pid, j.tmp)
				code, end := j.wait(), time.Now()
				out := j.out.String()
				if n := strings.Count(out, " done\n"); n != x.ranks-1 || strings.Count(out, " has ended\n") != n ||
					code != 128+int(syscall.SIGKILL) {
					t.Errorf("code %d, and %d ranks have come to the end\n%s", code, n, j.all())
				}
				wantGone(t, traces, end)
			})
		}
	}
}
