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

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/conformance"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/transport/shm"
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
		own, err := c.(conduit.Remote).Allocate(64)
		if err != nil {
			t.Fatalf("rank %d: %v", i, err)
		}
		for peer := range cs {
			m := cs[peer].(conduit.Remote)
			if i/2 != peer/2 {
				_, _, err := m.Map(i, conduit.Key{})
				if r := m.Reach(i); !errors.Is(err, conduit.ErrUnreachable) || r.Get || r.Map {
					t.Errorf("rank %d reaches the memory of rank %d: %v", peer, i, err)
				}
			}
			if i/2 != peer/2 || i == peer {
				continue
			}
			k, _ := c.(conduit.Remote).Expose(peer, own)
			mem, _, err := m.Map(i, k)
			for ; mem == nil && err == nil; mem, _, err = m.Map(i, k) {
				runtime.Gosched()
			}
			if err != nil || len(mem) != 64 {
				t.Errorf("rank %d, memory of rank %d: %d bytes, %v", peer, i, len(mem), err)
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
