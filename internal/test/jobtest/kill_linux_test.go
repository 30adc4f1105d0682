package jobtest

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi"
)

// A flood: threads and goroutines pass messages around the ring of ranks until the job ends, some of them large.
const (
	floodThreads    = 64
	floodGoroutines = 4
	floodLarge      = 2 // of the goroutines
	largeBytes      = 4 << 20
	floodMessages   = 2000 // of each rank, after which it says that it floods
	floodLarges     = 3
)

type ring struct {
	c            *mpi.Comm
	small, large atomic.Int64 // messages received
	failed       chan error   // the first failure
}

func roleFlood(c *mpi.Comm) error {
	r := &ring{c: c, failed: make(chan error, 1)}
	for i := range floodThreads {
		if _, err := c.Proc().Go(func() { r.pass(i, 8, &r.small) }); err != nil {
			return err
		}
	}
	for i := range floodGoroutines {
		size, count := 64, &r.small
		if i < floodLarge {
			size, count = largeBytes, &r.large
		}
		go r.pass(floodThreads+i, size, count)
	}
	for told := false; ; time.Sleep(time.Millisecond) {
		if !told && r.small.Load() > floodMessages && r.large.Load() > floodLarges {
			told = true
			fmt.Println("flooding")
		}
		select {
		case err := <-r.failed:
			return err
		default:
		}
	}
}

// pass sends to the next rank and receives from the one before, for ever.
func (r *ring) pass(tag, size int, count *atomic.Int64) {
	n := r.c.Size()
	next, before := (r.c.Rank()+1)%n, (r.c.Rank()+n-1)%n
	out, in := make([]byte, size), make([]byte, size)
	for {
		if _, err := mpi.Sendrecv(r.c, out, next, tag, in, before, tag); err != nil {
			select {
			case r.failed <- err:
			default: // the rank ends with the first one
			}
			return
		}
		count.Add(1)
	}
}

// withinLimit is the time in which a job that has lost a process must be gone. Under the race detector, and beside
// other packages' tests, a rank alone takes seconds.
var withinLimit = func() time.Duration {
	if invariants.Race {
		return 20 * time.Second
	}
	return 2 * time.Second
}()

// flooding starts a flood and looks at what it uses.
func flooding(t *testing.T, n int) (*job, traces) {
	t.Helper()
	j := golci(t, ranks(n, "flood")...).start()
	j.await(n, "flooding")
	x := observe(j.cmd.Process.Pid, j.tmp)
	if len(x.pids) < n+1 || len(x.memory) < segments(n) || len(x.sockets) == 0 {
		t.Fatalf("the job has processes %v, segments %v, sockets %v: not what must be looked for later", x.pids, x.memory, x.sockets)
	}
	return j, x
}

// wantGone waits until nothing is left of the job, for the time it may take since start.
func wantGone(t *testing.T, x traces, start time.Time) {
	t.Helper()
	left := x.left()
	for ; len(left) > 0 && time.Since(start) < withinLimit; left = x.left() {
		time.Sleep(5 * time.Millisecond)
	}
	took := time.Since(start)
	t.Logf("all %d processes, %d segments, %d sockets gone %v after the signal", len(x.pids), len(x.memory), len(x.sockets),
		took.Round(time.Millisecond))
	if len(left) > 0 {
		t.Errorf("left behind after %v: %q", took, left)
	}
}

// TestKillRank: a rank that gets SIGKILL in mid-flood ends the job, which says who it was.
func TestKillRank(t *testing.T) {
	const n = 3
	for victim := range n {
		t.Run(fmt.Sprint("rank=", victim), func(t *testing.T) {
			j, x := flooding(t, n)
			start := time.Now()
			if err := syscall.Kill(j.pids(n)[victim], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			code := j.wait()
			took := time.Since(start)
			t.Logf("the launcher ended after %v with code %d:\n%s", took.Round(time.Millisecond), code, &j.err)
			if took > withinLimit {
				t.Errorf("the job took %v to end", took)
			}
			if code != 128+int(syscall.SIGKILL) {
				t.Errorf("exit code %d", code)
			}
			j.wantTold(fmt.Sprintf("golci: rank %d was killed by signal 9 (SIGKILL)\n", victim))
			wantGone(t, x, start)
		})
	}
}

// TestKillLauncher: a launcher that gets SIGKILL in mid-flood takes all with it.
func TestKillLauncher(t *testing.T) {
	j, x := flooding(t, 2)
	start := time.Now()
	if err := j.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	j.wait()
	wantGone(t, x, start)
}
