package mpitest

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/rank"
)

var (
	seedFlag     = flag.Uint64("seed", 0, "of the first random program; 0: another one each time")
	programsFlag = flag.Int("programs", 0, "how many random programs there are; 0: a few")
	disagreeFlag = flag.Bool("disagree", false, "have ranks disagree about lengths in some collectives of TestSpreads")
	shrinkFlag   = flag.Int("shrink", 30, "how often a failing program is tried with fewer steps")
)

// patience bounds a job.
const patience = 2 * time.Minute

// way is settings under which a program runs, and what its threads are.
type way struct {
	name     string
	threads  Threads
	settings map[string]string
}

const faults = "loss=0.02,dup=0.05,reorder=0.2,seed=11"

// ways are the ways between the ranks of a process, with small and large limits.
var ways = []way{
	{"local", Goroutines, map[string]string{"GOLCI_CONDUIT": "local"}},
	{"local, all ask first", OSThreads, map[string]string{"GOLCI_CONDUIT": "local", "GOLCI_EAGER": "64"}},
	{"local, light threads, large records", Light, map[string]string{
		"GOLCI_CONDUIT": "local", "GOLCI_EAGER": "130920", "GOLCI_WORKERS": "2", "GOLCI_SERVER": "worker",
	}},
	{"local, small loans that follow demand", Light, map[string]string{
		"GOLCI_CONDUIT": "local", "GOLCI_FLOWCONTROL": "dynamic", "GOLCI_LOAN": "16", "GOLCI_EAGER": "512",
		"GOLCI_WORKERS": "1", "GOLCI_SERVER": "dedicated",
	}},
	{"local, small fixed loans, few unexpected", Goroutines, map[string]string{
		"GOLCI_CONDUIT": "local", "GOLCI_FLOWCONTROL": "static", "GOLCI_LOAN": "32", "GOLCI_UNEXPECTED": "4096",
		"GOLCI_CHECK": "off", "GOLCI_SERVER": "waiter",
	}},
	{"local, collectives over memory", Goroutines, map[string]string{
		"GOLCI_CONDUIT": "local", "GOLCI_COLLECTIVES": "memory",
	}},
	{"local, collectives over memory, light threads", Light, map[string]string{
		"GOLCI_CONDUIT": "local", "GOLCI_COLLECTIVES": "memory", "GOLCI_WORKERS": "2",
	}},
	{"local, collectives by messages", Goroutines, map[string]string{
		"GOLCI_CONDUIT": "local", "GOLCI_COLLECTIVES": "messages",
	}},
	{"udp", Goroutines, map[string]string{"GOLCI_CONDUIT": "udp"}},
	{"udp, no loans, light threads", Light, map[string]string{
		"GOLCI_CONDUIT": "udp", "GOLCI_FLOWCONTROL": "none", "GOLCI_WORKERS": "1",
	}},
	{"udp, faults", OSThreads, map[string]string{
		"GOLCI_CONDUIT": "udp", "GOLCI_UDP_FAULTS": faults,
	}},
}

// do runs a program with the ranks of one process, and gives the digest of each rank.
func do(t *testing.T, w way, p *Program) ([]uint64, error) {
	t.Helper()
	opts := []mpi.Option{mpi.WithoutQuitDump()}
	if w.settings["GOLCI_UDP_FAULTS"] != "" { // what is lost is sent again soon
		opts = append(opts, mpi.WithTuning(rank.Tuning{MinRTO: 200 * time.Microsecond}))
	}
	for env, value := range w.settings {
		opts = append(opts, mpi.With(env, value))
	}
	digests, errs, done := make([]uint64, p.Ranks), make([]error, p.Ranks), make(chan error, 1)
	go func() {
		err := mpi.Run(p.Ranks, func(c *mpi.Comm) error {
			r := c.Rank()
			digests[r], errs[r] = Execute(c, p, w.threads)
			return errs[r]
		}, opts...)
		if err != nil {
			err = fmt.Errorf("%w\nof all ranks: %w", err, errors.Join(errs...))
		}
		done <- err
	}()
	select {
	case err := <-done:
		return digests, err
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s: the job hangs\n%v%s", w.name, p, buf[:runtime.Stack(buf, true)])
		return nil, nil
	}
}

// program is the i-th of the programs from a seed on. Its size depends on its seed only.
func program(seed uint64) *Program {
	r := rand.New(rand.NewPCG(seed, 3))
	return Make(seed, 1+r.IntN(8), 1+r.IntN(3), 10+r.IntN(20))
}

// TestRandomPrograms: programs end as the serial model says, and alike with all settings.
func TestRandomPrograms(t *testing.T) {
	seed, programs := *seedFlag, *programsFlag
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	if programs == 0 {
		if programs = 8; testing.Short() {
			programs = 1
		}
	}
	for i := range programs {
		p := program(seed + uint64(i))
		t.Run(fmt.Sprintf("seed=%d", p.Seed), func(t *testing.T) { everyWay(t, p) })
	}
}

// TestSpreads: in programs of little else than collectives of datatypes with gaps, each byte of memory that no message
// is for stays as it is.
func TestSpreads(t *testing.T) {
	seed, programs := *seedFlag, *programsFlag
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	if programs == 0 {
		if programs = 4; testing.Short() {
			programs = 1
		}
	}
	for i := range programs {
		p := spreadProgram(seed + uint64(i))
		t.Run(fmt.Sprintf("seed=%d", p.Seed), func(t *testing.T) { everyWay(t, p) })
	}
}

// spreadProgram is the i-th such program from a seed on.
func spreadProgram(seed uint64) *Program {
	r := rand.New(rand.NewPCG(seed, 4))
	p := Make(seed, 1+r.IntN(6), 1+r.IntN(2), 60)
	for i := range p.Steps {
		if s := &p.Steps[i]; *disagreeFlag && s.Kind == Spread && s.Seed%4 == 0 {
			s.Kind = Disagree
		}
	}
	return p.withoutStep(func(i int) bool {
		k := p.Steps[i].Kind
		return k < Spread && k != Neighborhood || k == Window
	})
}

// everyWay runs a program in all ways and compares the digests.
func everyWay(t *testing.T, p *Program) {
	t.Logf("-seed %d -programs 1", p.Seed)
	var first []uint64
	for _, w := range ways {
		digests, err := do(t, w, p)
		if err != nil {
			t.Errorf("%s: %v", w.name, err)
			shrunk := shrinkProgram(p, *shrinkFlag, func(q *Program) bool {
				_, err := do(t, w, q)
				return err != nil
			})
			t.Fatalf("fails as well: %v", shrunk)
		}
		if first == nil {
			first = digests
		}
		if fmt.Sprint(digests) != fmt.Sprint(first) {
			t.Errorf("%s: digests %x, %s: %x", ways[0].name, first, w.name, digests)
		}
	}
}
