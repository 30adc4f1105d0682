package mixed_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/conformance"
	"github.com/golci/golci/internal/conduit/mixed/mixedtest"
	"github.com/golci/golci/internal/conduit/shm"
)

var shmJobs atomic.Int64

// overShm makes a job on nodes of two ranks that share memory; between the nodes there is another conduit.
func overShm(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	return mixedtest.Join(t, sharing(t, n, cfg), locals(t, n, cfg), mixedtest.Twos)
}

// sharing makes the conduits of nodes of two ranks.
func sharing(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	job := fmt.Sprintf("mixedtest-%d-%d", os.Getpid(), shmJobs.Add(1))
	near, errs := make([]conduit.Conduit, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		c := shm.Config{
			Rank: i, Size: n, JobID: job, Key: "test", Local: mixedtest.Twos.Node(i, n), Conduit: cfg, Timeout: 5 * time.Minute,
		}
		wg.Go(func() { near[i], errs[i] = shm.New(c) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return near
}

// TestConformanceOverSharedMemory has a near side that leads to some peers only and sleeps in the kernel.
func TestConformanceOverSharedMemory(t *testing.T) { conformance.Run(t, overShm) }

// TestReachOverSharedMemory: ranks of a node reach each other's memory both ways, others neither.
func TestReachOverSharedMemory(t *testing.T) {
	cs := overShm(t, 4, conduit.Config{})
	defer closeAll(t, cs...)
	for i, c := range cs {
		if mem, err := c.(conduit.Memory).Register(64); err != nil || len(mem) != 64 {
			t.Fatalf("rank %d: %d bytes, %v", i, len(mem), err)
		}
	}
	for i, c := range cs {
		for peer := range cs {
			m := c.(conduit.Memory)
			if i/2 != peer/2 {
				if _, err := m.Segment(peer); !errors.Is(err, conduit.ErrUnreachable) || c.(conduit.Remote).Reach(peer).Get {
					t.Errorf("rank %d reaches the memory of rank %d: %v", i, peer, err)
				}
				continue
			}
			mem, err := m.Segment(peer)
			for ; mem == nil && err == nil; mem, err = m.Segment(peer) {
				runtime.Gosched()
			}
			if err != nil || len(mem) != 64 {
				t.Errorf("rank %d, memory of rank %d: %d bytes, %v", i, peer, len(mem), err)
			}
		}
	}
}

// TestSleepInTheKernel has a rank asleep on its futex for messages of both sides.
func TestSleepInTheKernel(t *testing.T) {
	cs := overShm(t, 4, conduit.Config{})
	defer closeAll(t, cs...)
	for _, src := range []int{1, 2, 0, 3} {
		y := &tally{}
		armed := sync.OnceFunc(func() { go send(cs[src], 0) })
		for y.from[src] == 0 {
			if cs[0].Poll(4, y) == 0 {
				cs[0].Sleep(time.Hour, func() bool { armed(); return false })
			}
		}
	}
}
