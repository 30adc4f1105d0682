package jobtest

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi"
)

const (
	allocWarm  = 1000 // operations before the count, in which pools fill
	allocOps   = 4000 // operations counted
	allocMost  = 100  // objects allowed meanwhile: the runtime's own, and pools that grow to as many as wait at once
	allocTries = 10   // counts of which the lowest tells
	allocLarge = 100_000
	crowdSize  = 16
)

// allocSizes are a message that its envelope holds, one in a packet, and one by rendezvous, of which a tenth is made.
var allocSizes = []int{8, 1000, allocLarge}

// party is one of those that send and receive at the same time, under tags of its own.
type party struct {
	c         *mpi.Comm
	peer, tag int // tag is for the data, the one after for the word that is answered
	out, in   []byte
	word      []byte
}

func newParty(c *mpi.Comm, number, size int) *party {
	return &party{c, 1 - c.Rank(), 2 * number, make([]byte, size), make([]byte, size), make([]byte, 1)}
}

// meet tells the peer that this side is ready, and waits until the peer is. What the peer sent before has arrived then.
func (p *party) meet() error {
	if err := mpi.Send(p.c, p.word, p.peer, p.tag+1); err != nil {
		return err
	}
	_, err := mpi.Recv(p.c, p.word, p.peer, p.tag+1)
	return err
}

// steps are what both ranks do again and again.
var steps = []struct {
	name string
	step func(p *party) error
}{
	{"send, recv", func(p *party) error {
		if p.c.Rank() == 0 {
			if err := mpi.Send(p.c, p.out, p.peer, p.tag); err != nil {
				return err
			}
		}
		if _, err := mpi.Recv(p.c, p.in, p.peer, p.tag); err != nil || p.c.Rank() == 0 {
			return err
		}
		return mpi.Send(p.c, p.out, p.peer, p.tag)
	}},
	{"irecv, send expected, wait", func(p *party) error {
		r, err := mpi.Irecv(p.c, p.in, p.peer, p.tag)
		if err != nil {
			return err
		}
		if err := p.meet(); err != nil { // the peer's receive is posted
			return err
		}
		if err := mpi.Send(p.c, p.out, p.peer, p.tag); err != nil {
			return err
		}
		_, err = r.Wait()
		return err
	}},
	{"isend unexpected, recv, wait", func(p *party) error {
		s, err := mpi.Isend(p.c, p.out, p.peer, p.tag)
		if err != nil {
			return err
		}
		if err := p.meet(); err != nil { // the peer's message is here, and there is no receive
			return err
		}
		if _, err := mpi.Recv(p.c, p.in, p.peer, p.tag); err != nil {
			return err
		}
		_, err = s.Wait()
		return err
	}},
	{"isend, irecv, wait, wait", func(p *party) error {
		s, err := mpi.Isend(p.c, p.out, p.peer, p.tag)
		if err != nil {
			return err
		}
		r, err := mpi.Irecv(p.c, p.in, p.peer, p.tag)
		if err != nil {
			return err
		}
		_, err = r.Wait()
		_, errSend := s.Wait()
		return errors.Join(err, errSend)
	}},
}

// doers are those who do the steps: how many at a time, and as what.
var doers = []struct {
	name string
	n    int
	run  func(c *mpi.Comm, n int, f func(number int) error) error
}{
	{"goroutine", 1, inGoroutines},
	{"thread", 1, inThreads},
	{"goroutines", crowdSize, inGoroutines},
	{"threads", crowdSize, inThreads},
}

func inThreads(c *mpi.Comm, n int, f func(int) error) error {
	errs, threads := make([]error, n), make([]fult.Handle, n)
	for i := range threads {
		var err error
		if threads[i], err = c.Proc().Go(func() { errs[i] = f(i) }); err != nil {
			return err
		}
	}
	for _, h := range threads {
		if err := h.Join(); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

func inGoroutines(_ *mpi.Comm, n int, f func(int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// count has a doer do a step often and returns the objects allocated by this process in the counted part: from when all
// doers of both ranks are warm and wait for a word, to when all wait for the next.
func count(c *mpi.Comm, size, doer, step int) (uint64, error) {
	d := doers[doer]
	ops := allocOps
	if size == allocLarge {
		ops /= 10
	}
	failed := make(chan error, 1)
	go func() {
		failed <- d.run(c, d.n, func(number int) error {
			p := newParty(c, number, size)
			return p.warmAndCount(steps[step].step, allocWarm/d.n, ops/d.n)
		})
	}()
	var before, after runtime.MemStats
	for _, m := range []*runtime.MemStats{&before, &after} {
		if err := cue(c, d.n, m); err != nil {
			return 0, err
		}
	}
	return after.Mallocs - before.Mallocs, <-failed
}

// Tags by which the doers of a rank and its main goroutine talk.
const (
	tagReady = 1000
	tagGo    = 2000
)

// cue waits until n doers of each rank are ready, takes the memory statistics, and has the doers go on.
func cue(c *mpi.Comm, n int, m *runtime.MemStats) error {
	word := make([]byte, 1)
	for i := range n {
		if _, err := mpi.Recv(c, word, c.Rank(), tagReady+i); err != nil {
			return err
		}
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	runtime.ReadMemStats(m)
	if err := c.Barrier(); err != nil {
		return err
	}
	for i := range n {
		if err := mpi.Send(c, word, c.Rank(), tagGo+i); err != nil {
			return err
		}
	}
	return nil
}

// warmAndCount is one doer.
func (p *party) warmAndCount(step func(p *party) error, warm, n int) error {
	for _, times := range []int{warm, n} {
		for range times {
			if err := step(p); err != nil {
				return err
			}
		}
		if err := mpi.Send(p.c, p.word, p.c.Rank(), tagReady+p.tag/2); err != nil {
			return err
		}
		if _, err := mpi.Recv(p.c, p.word, p.c.Rank(), tagGo+p.tag/2); err != nil {
			return err
		}
	}
	return nil
}

// roleAllocs counts for every doer, step and size, and prints the result. The collector is off, because it empties
// pools, which then fill again.
func roleAllocs(c *mpi.Comm) error {
	debug.SetGCPercent(-1)
	return allocations(c, func(line string) { fmt.Println(line) })
}

// lowest counts again while either rank has allocated more than is allowed. Caches of goroutines and processors may
// fill at the cost of the common pools, once and up to a bound. An operation that allocates does so every time.
func lowest(c *mpi.Comm, size, doer, step int) (least uint64, err error) {
	for try := range allocTries {
		n, err := count(c, size, doer, step)
		if err != nil {
			return 0, err
		}
		if least = min(n, least); try == 0 {
			least = n
		}
		worst := []uint64{least}
		if err := mpi.Allreduce(c, mpi.InPlace(worst), worst, mpi.Max); err != nil || worst[0] <= allocMost {
			return least, err
		}
	}
	return least, nil
}

func allocations(c *mpi.Comm, tell func(line string)) error {
	for d := range doers {
		for s := range steps {
			for _, size := range allocSizes {
				n, err := lowest(c, size, d, s)
				if err != nil {
					return fmt.Errorf("%s, %s, %d bytes: %w", doers[d].name, steps[s].name, size, err)
				}
				tell(fmt.Sprintf("%d objects: rank %d, %d %s: %s, %d bytes", n, c.Rank(), doers[d].n, doers[d].name, steps[s].name, size))
			}
		}
	}
	return nil
}

var objectsLine = regexp.MustCompile(`^(\d+) objects: `)

// wantNone checks what the ranks have told.
func wantNone(t *testing.T, told string) {
	t.Helper()
	cases, total := 0, 0
	for line := range strings.Lines(told) {
		m := objectsLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		cases, total = cases+1, total+n
		objects.check(t, float64(n), strings.TrimSuffix(line, "\n"))
	}
	if want := 2 * len(doers) * len(steps) * len(allocSizes); cases != want {
		t.Errorf("%d cases, want %d:\n%s", cases, want, told)
	}
	t.Logf("%d cases of %d operations each: %d objects in all", cases, allocOps, total)
}

// TestAllocationsBetweenProcesses: operations over shared memory allocate nothing.
func TestAllocationsBetweenProcesses(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	j := golci(t, ranks(2, "allocs")...)
	j.succeed()
	wantNone(t, j.out.String())
}

// TestAllocationsInProcess: nor do those over the local conduit. Each of the two ranks counts what both allocate.
func TestAllocationsInProcess(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var told text
	if err := mpi.Run(2, func(c *mpi.Comm) error {
		return allocations(c, func(line string) { fmt.Fprintln(&told, line) })
	}); err != nil {
		t.Fatal(err)
	}
	wantNone(t, told.String())
}
