package rma

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/transport/shm"
)

// Tests with real processes: the test binary runs itself as rank 1, in a role.

const (
	jobEnv  = "GOLCI_RMA_TEST_JOB"
	bindEnv = "GOLCI_RMA_TEST_BIND" // set for benchmarks: rank i on the i-th core
)

// bind keeps the calling goroutine on a core of its own, if there are enough.
func bind(rank int) {
	runtime.LockOSThread()
	if cpus := affinity.Get(); rank < len(cpus) {
		_ = affinity.Set(cpus[rank]) // a benchmark without binding is only less steady
	}
}

func init() { child = childProcess }

// shmMemory makes rank of a job of two processes.
func shmMemory(rank int, job string, cfg Config) (conduit.Conduit, *am.Endpoint, *Memory, error) {
	c, err := shm.New(shm.Config{Rank: rank, Size: 2, JobID: job, Key: "secret", Local: []int{0, 1}, Timeout: 30 * time.Second})
	if err != nil {
		return nil, nil, nil, err
	}
	e, err := am.New(c, am.Config{})
	if err != nil {
		return nil, nil, nil, err
	}
	if cfg.SegmentSize == 0 {
		cfg.SegmentSize = 4 * testSegment
	}
	m, err := New(e, cfg)
	if err != nil {
		return nil, nil, nil, err
	}
	// No barrier: that rank 1 exists is known from the exchange, and it registers its handlers before it polls.
	return c, e, m, nil
}

// childProcess is rank 1: it lets rank 0 work on its segment until rank 0 is gone, or counts with it.
func childProcess(role string) int {
	if os.Getenv(bindEnv) != "" {
		bind(1)
	}
	c, e, m, err := shmMemory(1, os.Getenv(jobEnv), Config{ActiveMessages: strings.HasSuffix(role, "am")})
	if err == nil {
		switch {
		case strings.HasPrefix(role, "serve"):
			e.Progress().Serve(func() bool { return c.Failed(0) != nil })
		case strings.HasPrefix(role, "work"):
			err = work(m)
		case strings.HasPrefix(role, "echo"):
			err = echo(m)
		case role == "answer":
			err = answerOnce(m)
		}
	}
	if err == nil {
		m.Close()
		e.Close()
		err = c.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rank 1:", err)
		return 1
	}
	return 0
}

func startChild(t testing.TB, role string, cfg Config) (*exec.Cmd, conduit.Conduit, *Memory) {
	job := fmt.Sprintf("rma-%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), roleEnv+"="+role, jobEnv+"="+job)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, _, m, err := shmMemory(0, job, cfg)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatal(err)
	}
	return cmd, c, m
}

// work is what both ranks do at once: puts with notification that the other checks, and atomics on one number.
func work(m *Memory) error {
	peer := 1 - m.Rank()
	const at, shared, n = 4096, 0, 300
	for i := range n {
		size := sizes[i%len(sizes)]
		if err := m.PutNotify(peer, at, pattern(size, i+m.Rank()), 1, 1); err != nil {
			return err
		}
		if _, err := FetchAdd[int64](m, 0, shared, 1); err != nil {
			return err
		}
		if err := m.WaitCounter(1, uint64(i+1), peer); err != nil {
			return err
		}
		if d := differ(m.Segment()[at:at+size], pattern(size, i+peer)); d != "" {
			return fmt.Errorf("round %d: %s", i, d)
		}
		if err := m.PutNotify(peer, 0, nil, 2, 1); err != nil { // seen: it may be overwritten
			return err
		}
		if err := m.WaitCounter(2, uint64(i+1), peer); err != nil {
			return err
		}
	}
	sum, err := Load[int64](m, 0, shared)
	if err == nil && sum < n || sum > 2*n {
		err = fmt.Errorf("%d after %d rounds", sum, n)
	}
	// Rank 0 stays until rank 1 has its answer.
	if m.Rank() == 1 {
		return errors.Join(err, m.PutNotify(0, 0, nil, 3, 1))
	}
	return errors.Join(err, m.WaitCounter(3, 1, 1))
}

// echo answers each notification with one, until rank 0 is gone.
func echo(m *Memory) error {
	for i := uint64(1); ; i++ {
		if err := m.WaitCounter(1, i, 0); err != nil {
			return nil // rank 0 has closed
		}
		if err := m.PutNotify(0, 0, m.Segment()[:8], 1, 1); err != nil {
			return nil
		}
	}
}

// overProcesses runs f as rank 0 with every pair of ways.
func overProcesses(t *testing.T, role string, f func(t *testing.T, m *Memory)) {
	for _, name := range []string{"direct", "am", "mixed-am"} {
		t.Run(name, func(t *testing.T) {
			r := role
			if name != "direct" {
				r += "-am"
			}
			cmd, c, m := startChild(t, r, Config{ActiveMessages: name == "am"})
			if yes, err := direct(m, 1); yes != (name == "direct") || err != nil {
				t.Errorf("direct: %v, %v", yes, err)
			}
			f(t, m)
			m.Close()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("rank 1: %v", err)
			}
		})
	}
}

func TestProcesses(t *testing.T) {
	overProcesses(t, "serve", func(t *testing.T, m *Memory) {
		for i, n := range append(sizes, 1<<20) {
			src, got := pattern(n, i), make([]byte, n)
			if err := errors.Join(m.Put(1, 5, src), m.Get(1, 5, got)); err != nil {
				t.Fatal(err)
			}
			if d := differ(got, src); d != "" {
				t.Fatalf("size %d: %s", n, d)
			}
		}
		for i := range 100 {
			if old, err := FetchAdd(m, 1, 8<<10, 0.5); err == nil && i == 0 {
				if err := Store(m, 1, 8<<10, 0.5); err != nil {
					t.Fatal(err)
				}
			} else if err != nil || old != float64(i)/2 {
				t.Fatalf("%d: %v, %v", i, old, err)
			}
		}
	})
}

func TestProcessesAtWork(t *testing.T) {
	overProcesses(t, "work", func(t *testing.T, m *Memory) {
		if err := work(m); err != nil {
			t.Fatal(err)
		}
	})
}

// TestKilled: when the other process is killed, waits and accesses end with an error, and its memory can still be
// touched.
func TestKilled(t *testing.T) {
	for _, direct := range []bool{true, false} {
		cmd, c, m := startChild(t, "serve", Config{ActiveMessages: !direct})
		if err := m.Put(1, 0, pattern(100, 1)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed, as it should be
		if err := m.WaitCounter(0, 1, 1); !errors.Is(err, am.ErrPeer) || !errors.Is(err, conduit.ErrPeerDied) {
			t.Errorf("counter: %v", err)
		}
		if err := all(accesses(m, 1, 0, 8), am.ErrPeer, "rank 1"); err != nil {
			t.Error(err)
		}
		m.Close()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
