package shm

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/conformance"
	"github.com/golci/golci/internal/test/fault"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(child(role))
	}
	goleak.VerifyTestMain(m)
}

var jobs atomic.Int64

// newJob returns a job name that no other test on this machine has.
func newJob() string { return fmt.Sprintf("test-%d-%d", os.Getpid(), jobs.Add(1)) }

func ranks(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// together calls New for all ranks at once.
func together(n int, edit func(*Config)) ([]conduit.Conduit, []error) {
	cs, errs := make([]conduit.Conduit, n), make([]error, n)
	job := newJob()
	var wg sync.WaitGroup
	for i := range n {
		cfg := Config{Rank: i, Size: n, JobID: job, Key: "secret", Local: ranks(n), Timeout: 30 * time.Second}
		edit(&cfg)
		wg.Go(func() { cs[i], errs[i] = New(cfg) })
	}
	wg.Wait()
	return cs, errs
}

// inProcess is a factory of conduits that are all in this process.
func inProcess(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	cs, errs := together(n, func(c *Config) { c.Conduit = cfg })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return cs
}

func TestConformance(t *testing.T) { conformance.Run(t, inProcess) }

// TestWrappedConformance runs the suite through the wrapper with all faults at once.
func TestWrappedConformance(t *testing.T) {
	conformance.Run(t, func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
		cs := inProcess(t, n, cfg)
		for i, c := range cs {
			cs[i] = fault.New(c, fault.Config{Seed: 1, Refuse: 50, Hold: 50, Reorder: true, Startle: 100})
		}
		return cs
	})
}

func TestNothingLeft(t *testing.T) {
	before := inventory(t)
	for range 3 {
		for _, c := range inProcess(t, 3, conduit.Config{}) {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after := inventory(t); after != before {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
}

// inventory lists this process's descriptors and shared mappings. It is taken right after Close, so that no finalizer
// can have removed anything.
func inventory(t *testing.T) string {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, fd := range fds {
		to, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err != nil || strings.HasPrefix(to, "/proc/") {
			continue // the directory that was being read
		}
		kind, _, _ := strings.Cut(to, ":")
		kinds[kind]++
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("socket %d, memfd %d, mapped %d", kinds["socket"], kinds["/memfd"],
		strings.Count(string(maps), "memfd:golci"))
}

// TestAddressesComeBack checks that a closed conduit's addresses are unmapped once nobody has it.
func TestAddressesComeBack(t *testing.T) {
	vm := func() int {
		b, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		var pages int
		if _, err := fmt.Sscan(string(b), &pages); err != nil {
			t.Fatal(err)
		}
		return pages * os.Getpagesize()
	}
	const each = 256 << 20
	round := func() {
		for _, c := range inProcess(t, 1, conduit.Config{ReplySpace: each}) {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	round()
	start := vm()
	for range 8 {
		round()
	}
	for end := time.Now().Add(30 * time.Second); vm() > start+3*each; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("%d MiB of addresses more than before", (vm()-start)>>20)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestSetupErrors(t *testing.T) {
	ok := Config{Rank: 0, Size: 2, JobID: "j", Key: "k", Local: []int{0, 1}}
	for name, edit := range map[string]func(*Config){
		"rank outside":   func(c *Config) { c.Rank = 2 },
		"not local":      func(c *Config) { c.Local = []int{1} },
		"local outside":  func(c *Config) { c.Local = []int{0, 2} },
		"local negative": func(c *Config) { c.Local = []int{0, -1} },
		"twice":          func(c *Config) { c.Local = []int{0, 0} },
		"no job":         func(c *Config) { c.JobID = "" },
		"no key":         func(c *Config) { c.Key = "" },
		"bad loan":       func(c *Config) { c.Conduit.Loan = -1 },
		"bad record":     func(c *Config) { c.Conduit.MaxRecord = 8 },
		"bad slots":      func(c *Config) { c.Conduit.BulkSlots = 1 << 20 },
		"bad reply":      func(c *Config) { c.Conduit.ReplySpace = -5 },
	} {
		cfg := ok
		edit(&cfg)
		if c, err := New(cfg); !errors.Is(err, conduit.ErrConfig) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}

func TestMissingRank(t *testing.T) {
	_, errs := together(3, func(c *Config) {
		c.Size, c.Local, c.Timeout = 4, ranks(4), 200*time.Millisecond
	})
	for i, err := range errs {
		if !errors.Is(err, errMissing) || !strings.Contains(err.Error(), "rank 3") {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

func TestWrongKey(t *testing.T) {
	_, errs := together(2, func(c *Config) {
		c.Timeout = 200 * time.Millisecond
		c.Key += fmt.Sprint(c.Rank)
	})
	for i, err := range errs {
		if !errors.Is(err, errMissing) {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

func TestDifferentGeometry(t *testing.T) {
	cs, errs := together(2, func(c *Config) {
		c.Timeout = time.Second
		c.Conduit.Loan = 100 * (1 + c.Rank)
	})
	for i, err := range errs {
		if err == nil {
			t.Errorf("rank %d came up: %v", i, cs[i].Caps())
		}
	}
}

func TestRemoteRankIsUnreachable(t *testing.T) {
	cs, errs := together(2, func(c *Config) { c.Size = 5; c.Local, c.Rank = []int{1, 3}, 1+2*c.Rank })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		if err := c.Failed(2); !errors.Is(err, conduit.ErrUnreachable) {
			t.Errorf("Failed(2) = %v", err)
		}
		if _, st := c.Reserve(4, conduit.Request, 64); st != conduit.Dead {
			t.Errorf("Reserve to another node: %v", st)
		}
		if c.Failed(1) != nil || c.Failed(3) != nil || c.Mine(0) != nil || c.Mine(3) == nil {
			t.Error("the local ranks are mixed up")
		}
	}
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
